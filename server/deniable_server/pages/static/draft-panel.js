// The panel beside the questions of a draft: what the survey will be able to show.

import { patchChildren } from "./patch.js";

const HELP_AFTER = 1_500; // milliseconds without a change until the page asks what would help

const address = document.getElementById("editor").dataset.plan;
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
    if (response?.status === 200 && !response.redirected) show(await response.text());
    if (outdated) helped = false;
  }
  planning = false;
  if (!helped) helping = setTimeout(plan, HELP_AFTER, true);
}

function show(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  const place = document.getElementById("plan");
  keepHelp(place, body);
  patchChildren(place, body);
  const glance = document.getElementById("glance");
  glance.textContent = place.querySelector(".draft-headline")?.textContent ?? "";
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
