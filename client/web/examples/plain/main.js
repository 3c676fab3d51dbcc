import "deniable";

document.addEventListener("deniable-submitted", ({ detail: { receipt } }) => {
  document.title = receipt.delivered ? "Thank you" : "Not sent yet";
});
