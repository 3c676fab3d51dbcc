// The panel beside the questions of a draft: what the survey will be able to show.

import { patchChildren } from "./patch.js";

const HELP_AFTER = 1_500; // milliseconds without a change until the page asks what would help
const TRY_AGAIN = 3_000;

const address = document.getElementById("editor").dataset.plan;
const panel = document.getElementById("plan");
let [planning, outdated, helping] = [false, false, null];

/** The figures come at once; what would help takes longer, and is asked for when nothing has changed for a while. One
 * at a time, so that the panel follows however fast somebody types. */
export async function plan(helped = false) {
  clearTimeout(helping);
  outdated = true;
  if (planning) return;
  planning = true;
  while (outdated) {
    outdated = false;
    // Without content where the draft has changed meanwhile: then the new figures come first.
    const response = await fetch(`${address}${helped ? "?help=1" : ""}`).catch(() => null);
    const isNew = response?.status === 200 && !response.redirected;
    if (isNew) show(await response.text());
    if (isNew || response?.status !== 204) panel.classList.toggle("old", !isNew);
    if (outdated) helped = false;
  }
  planning = false;
  if (panel.classList.contains("old")) helping = setTimeout(plan, TRY_AGAIN);
  else if (!helped) helping = setTimeout(plan, HELP_AFTER, true);
}

function show(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  keepHelp(panel, body);
  patchChildren(panel, body);
  const glance = document.getElementById("glance");
  glance.textContent = panel.querySelector(".draft-headline")?.textContent ?? "";
  glance.hidden = !glance.textContent;
}

/** As long as the survey shows the same, what would help is the same, too: it does not blink at every word. */
function keepHelp(old, fresh) {
  const headline = (root) => root.querySelector(".draft-headline")?.textContent;
  if (headline(old) !== headline(fresh)) return;
  for (const empty of fresh.querySelectorAll("[data-later]:empty")) {
    const known = old.querySelector(`[data-later="${empty.dataset.later}"]`);
    if (known) empty.append(...[...known.childNodes].map((each) => each.cloneNode(true)));
  }
}
