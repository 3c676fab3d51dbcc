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

/** A drawing of these shapes, each a tag and its attributes. The words are next to it, so screen readers skip it. */
export function picture(viewBox, shapes, name, more = {}) {
  const draw = (tag, attributes) => {
    const shape = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, String(value));
    return shape;
  };
  const svg = draw("svg", { viewBox, class: name, "aria-hidden": "true", ...more });
  svg.append(...shapes.map(([tag, attributes]) => draw(tag, attributes)));
  return svg;
}

/** A bar that is filled to this share. */
export const bar = (share) =>
  picture(
    "0 0 100 6",
    [
      ["rect", { class: "bar-rest", width: 100, height: 6 }],
      ["rect", { class: "bar-share", width: 100 * share, height: 6 }],
    ],
    "bar",
    { preserveAspectRatio: "none" },
  );
