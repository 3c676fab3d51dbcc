// Updates the dashboard while it is open. Without this script the page works, but does not update.

const EVERY = 15_000; // milliseconds between two looks
const FOLLOWING = "Following new submissions.";
const TROUBLE = "The server could not be reached. Trying again.";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = button.parentElement.querySelector("input, textarea");
    field.select();
    await navigator.clipboard?.writeText(field.value);
    button.textContent = "Copied";
  });
}

// Times are shown, and typed, where the reader is. Without this script they are in UTC, and the page says so.
for (const time of document.querySelectorAll("main time[datetime]")) {
  const words = { weekday: "long", day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit" };
  time.textContent = new Date(time.dateTime).toLocaleString("en-GB", { ...words, timeZoneName: "short" });
}
const times = document.querySelector("form[data-times]");
if (times) {
  const minute = (date) => date.toISOString().slice(0, 16);
  const shown = new Map();
  for (const field of times.querySelectorAll("input[type=datetime-local]")) {
    const date = new Date(`${field.defaultValue}Z`); // the value may be that of before, when a page is opened again
    if (!isNaN(date)) field.value = minute(new Date(date - date.getTimezoneOffset() * 60_000));
    shown.set(field, field.value);
  }
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  document.getElementById("zone").textContent = `Times are in your time zone: ${timeZone}.`;
  times.addEventListener("formdata", ({ formData }) => {
    for (const [field, value] of shown) {
      const typed = new Date(field.value);
      // What nobody has changed goes back as it came: once a year the same hour is shown twice, for two times.
      if (value && field.value === value) formData.set(field.name, field.defaultValue);
      else if (!isNaN(typed)) formData.set(field.name, minute(typed));
    }
  });
}

const results = document.getElementById("results");
const live = document.getElementById("live");
if (results && live) follow(results, live);

// On paper nothing can be opened. The results print as a summary; other pages print all that they have.
let opened = [];
addEventListener("beforeprint", () => {
  opened = results ? [] : [...document.querySelectorAll(".card details:not([open])")];
  for (const details of opened) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});

// A menu closes when something else is chosen, and by Escape.
const menus = () => document.querySelectorAll("details.menu[open]");
addEventListener("click", (event) => {
  for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of menus()) {
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }
});

function follow(results, live) {
  const button = live.querySelector("button");
  const status = live.querySelector("[role=status]");
  let [following, tag, timer] = [true, null];
  const say = (text) => {
    if (status.textContent !== text) status.textContent = text; // said once, not at every look
  };
  const set = (on, text) => {
    following = on;
    button.textContent = on ? "Pause" : "Follow";
    clearInterval(timer);
    if (on) timer = setInterval(() => document.hidden || look(), EVERY);
    say(text);
  };
  live.hidden = false;
  set(true, FOLLOWING);
  button.addEventListener("click", () => {
    set(!following, following ? "Paused." : FOLLOWING);
    if (following) look();
  });

  async function look() {
    try {
      const headers = tag ? { "If-None-Match": tag } : {};
      const response = await fetch(location.href, { headers, cache: "no-store", redirect: "manual" });
      if (!following) return;
      if (response.type === "opaqueredirect") {
        results.replaceChildren(); // what only those who are signed in may see does not stay on the screen
        return set(false, "The session is over. Reload the page to sign in.");
      }
      if (response.status !== 304 && !response.ok) throw new Error(String(response.status));
      const text = await response.text();
      if (response.status === 304 || !replace(new DOMParser().parseFromString(text, "text/html"))) {
        if (status.textContent === TROUBLE) say(FOLLOWING);
      }
      tag = response.headers.get("ETag");
    } catch {
      if (following) say(TROUBLE);
    }
  }

  /** Shows what has changed; whether anything has. */
  function replace(page) {
    const fresh = page.getElementById("results");
    if (!fresh || fresh.dataset.version === results.dataset.version) return false;
    // What the reader has opened stays open, and the keyboard stays where it was.
    const open = new Set([...results.querySelectorAll("details[open]")].map((details) => details.id));
    const focused = results.contains(document.activeElement) && document.activeElement.closest("details");
    const at = focused ? focused.id : null;
    results.dataset.version = fresh.dataset.version;
    results.replaceChildren(...fresh.childNodes);
    document.getElementById("scope").replaceWith(page.getElementById("scope"));
    for (const details of results.querySelectorAll("details")) {
      details.open = open.has(details.id);
      if (details.id === at) details.querySelector("summary").focus({ preventScroll: true });
    }
    say(`Updated: ${fresh.dataset.submissions} submissions.`);
    return true;
  }
}
