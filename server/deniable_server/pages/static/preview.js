// Shows the questionnaire at once as it is chosen. Without this script, the button Show does.

const form = document.getElementById("choices");
const frame = document.getElementById("questionnaire");

/** Open the frame as chosen, from the start. It replaces what is there: going back leads out of this page. */
function open() {
  const chosen = new URLSearchParams(new FormData(form));
  frame.contentWindow.location.replace(`${frame.dataset.address}?${chosen}`);
  frame.className = chosen.get("width");
  history.replaceState(history.state, "", `?${chosen}`); // the same when this page is loaded again
}

if (form && frame) {
  form.addEventListener("change", open);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    open();
  });
  form.querySelector("button").textContent = "Start over";
}
