// What is wrong in a draft: beside each field, and as a list with links.

/** All fields that change this. */
export const fields = (at) => [...document.querySelectorAll(`[data-at="${CSS.escape(at)}"]`)];

/** Show the sentences of `faults`, by field: beside those that `complains` allows, and as a list if `listed`. */
export function mark(faults, complains, listed) {
  for (const place of document.querySelectorAll(".fault")) {
    const at = place.dataset.fault ?? place.id.slice(2, -6);
    const text = complains(at) && faults[at];
    place.hidden = !text;
    place.textContent = text || "";
    for (const field of fields(at)) if (text) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
  const list = document.getElementById("faults");
  const number = Object.keys(faults).length;
  list.hidden = !(listed && number);
  list.querySelector("h2").textContent = `${number === 1 ? "One thing" : `${number} things`} to put right before you can publish`;
  list.querySelector("ul").replaceChildren(...Object.entries(faults).map(([at, sentence]) => entry(at, sentence)));
}

/** A line of the list, which leads to its field. */
function entry(at, sentence) {
  const link = Object.assign(document.createElement("a"), { href: `#f-${at}`, textContent: sentence });
  const heading = document.getElementById(`f-${at}`)?.closest(".item")?.querySelector("h3")?.textContent;
  const line = document.createElement("li");
  line.append(heading ? `${heading}: ` : "", link);
  return line;
}

// Links to a field, here and in the panel: where it is folded away, it is opened.
document.addEventListener("click", (event) => {
  const place = event.target.closest("a[href^='#f-']")?.getAttribute("href").slice(1);
  if (!place) return;
  event.preventDefault();
  const field = document.getElementById(place) ?? document.getElementById(`${place}-fault`);
  field?.closest("details")?.setAttribute("open", "");
  field?.scrollIntoView({ block: "center" });
  (field?.matches("fieldset") ? field.querySelector("input") : field)?.focus();
});
