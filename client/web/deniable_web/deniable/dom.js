// Making elements. Text goes in as text only: nothing here parses markup.

/** An element with attributes and children; null and false attributes are left out. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A text of the survey, which may be in any language and direction. */
export const surveyText = (tag, text, attributes = {}) => make(tag, { dir: "auto", ...attributes }, text);

export function button(text, onClick, attributes = {}) {
  const made = make("button", { type: "button", part: "button", ...attributes }, text);
  if (onClick) made.addEventListener("click", onClick);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/** A bar that is filled to this share. The number is next to it, so screen readers skip the bar. */
export function bar(share) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of [
    ["viewBox", "0 0 100 6"],
    ["preserveAspectRatio", "none"],
    ["aria-hidden", "true"],
    ["class", "bar"],
  ])
    svg.setAttribute(name, value);
  for (const [part, width] of [
    ["bar-rest", 100],
    ["bar-share", 100 * share],
  ]) {
    const rect = document.createElementNS(SVG, "rect");
    for (const [name, value] of [
      ["class", part],
      ["width", width],
      ["height", 6],
    ])
      rect.setAttribute(name, String(value));
    svg.append(rect);
  }
  return svg;
}
