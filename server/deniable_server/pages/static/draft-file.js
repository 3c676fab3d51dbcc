// Applying a file: where the session has ended, the text stays on the page until one has signed in again.

const form = document.querySelector("form[data-sign-in]");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const page = await fetch(location.href, { redirect: "manual" }).catch(() => null);
  const fresh = page?.ok ? new DOMParser().parseFromString(await page.text(), "text/html") : null;
  const word = fresh?.querySelector("form[data-sign-in] [name=word]")?.value;
  if (word) {
    form.elements.word.value = word; // each session has its own
    form.submit();
    return;
  }
  const trouble = document.getElementById("trouble");
  const link = Object.assign(document.createElement("a"), { href: form.dataset.signIn, target: "_blank", textContent: "Sign in in a new tab" });
  const why = page ? "You are signed out. " : "The server cannot be reached. ";
  trouble.replaceChildren(why, ...(page ? [link, ", and press Apply again."] : ["Press Apply again in a moment."]), " Your text is still here.");
  trouble.hidden = false;
  trouble.focus();
});
