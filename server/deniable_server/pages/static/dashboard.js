// Makes the dashboard follow the submissions while it is open. Without this script the page works, and stands still.

const EVERY = 15_000; // milliseconds between two looks

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = button.parentElement.querySelector("input");
    field.select();
    await navigator.clipboard?.writeText(field.value);
    button.textContent = "Copied";
  });
}

const results = document.getElementById("results");
const live = document.getElementById("live");
if (results && live) follow(results, live);

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll(".card details:not([open])")];
  for (const details of opened) details.open = true; // on paper nothing can be opened
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});

function follow(results, live) {
  const button = live.querySelector("button");
  const status = live.querySelector("[role=status]");
  const running = () => button.getAttribute("aria-pressed") === "true";
  let tag = null;
  live.hidden = false;
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(!running()));
    button.textContent = running() ? "Pause" : "Follow";
    status.textContent = running() ? "Following." : "Paused.";
    if (running()) look();
  });
  setInterval(() => {
    if (running() && !document.hidden) look();
  }, EVERY);

  async function look() {
    try {
      const headers = tag ? { "If-None-Match": tag } : {};
      const response = await fetch(location.href, { headers, cache: "no-store", redirect: "error" });
      if (response.status === 304 || !running()) return;
      if (!response.ok) throw new Error(String(response.status));
      tag = response.headers.get("ETag");
      replace(new DOMParser().parseFromString(await response.text(), "text/html").getElementById("results"));
    } catch {
      status.textContent = "The server could not be reached, or the session is over. Trying again.";
    }
  }

  function replace(fresh) {
    if (!fresh || fresh.dataset.version === results.dataset.version) return;
    // What the reader has opened stays open, and the keyboard stays where it was.
    const open = new Set([...results.querySelectorAll("details[open]")].map((details) => details.id));
    const at = results.contains(document.activeElement) ? document.activeElement.closest("details")?.id : null;
    for (const details of fresh.querySelectorAll("details")) details.open = open.has(details.id);
    results.dataset.version = fresh.dataset.version;
    results.replaceChildren(...fresh.childNodes);
    if (at) document.getElementById(at)?.querySelector("summary").focus({ preventScroll: true });
    status.textContent = `Updated: ${fresh.dataset.submissions} submissions.`;
  }
}
