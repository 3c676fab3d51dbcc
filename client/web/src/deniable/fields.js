// The controls of a question or a segment, and what was entered in them.
//
// A field is { id, node, read, answered, clear, focus, complain }. `read` gives { value }, or, with the name of a text,
// { problem: [name, values] }.
//
// May not: keep an answer anywhere but in the controls themselves, or write one into an attribute.

import { bar, make, surveyText } from "./dom.js";
import { isNumbered, protectionInWords } from "./wording.js";
import { quoted } from "./texts.js";

const MANY = 12; // more options than these are shown in columns
const fitInARow = (labels) =>
  labels.length <= 5 && labels.every((label) => label.split(/\s/).every((word) => word.length <= 12));

export function segmentField(segment, texts, onChange) {
  const choices = segment.options.map(({ code, text }) => ({ value: code, label: surveyText("span", text) }));
  const hint = make("strong", {}, texts.say("section.segmentNote")); // whatever the survey's own text says
  return radioField(segment, choices, { texts, onChange, hint, missing: "error.chooseSegment" });
}

/** `part` is the one that reports on this question and on no other, if there is one. */
export function questionField(question, part, texts, onChange) {
  const after = part ? protectionBox(part, texts) : null;
  const decline = question.decline ? [{ value: "declined", label: make("span", {}, texts.say("declined")) }] : [];
  const radios = (choices, layout) =>
    radioField(question, [...choices, ...decline], {
      texts,
      onChange,
      after,
      layout,
      missing: question.decline ? "error.chooseOrDecline" : "error.choose",
    });
  const optionChoices = () =>
    question.options.map(({ code, text }) => ({ value: code, label: surveyText("span", text) }));
  switch (question.type) {
    case "yes_no":
      return radios(
        [true, false].map((value) => ({ value, label: make("span", {}, texts.say(value ? "yes" : "no")) })),
        "short",
      );
    case "choice":
      return radios(optionChoices());
    case "scale":
      return radios(
        question.labels.map((label, i) => ({
          value: i + 1,
          label: make(
            "span",
            {},
            isNumbered(question) ? null : make("b", { class: "point" }, texts.number(i + 1), " "),
            surveyText("span", label),
          ),
        })),
        fitInARow(question.labels) ? "scale" : undefined,
      );
    case "multi_choice":
      return checkboxField(question, optionChoices(), { texts, onChange, after });
    default:
      return numberField(question, { texts, onChange, after });
  }
}

// --- what all fields have -------------------------------------------------------------------------------------------

/** A group with its question as the legend, a place for a hint and one for what is wrong, and its controls. */
function group({ id, text }, { role, hint, controls, after, parts }) {
  // Only suffixes: no question id contains a "-", so no two of these are the same.
  const described = [hint && `${id}-hint`, `${id}-error`].filter(Boolean).join(" ");
  const error = make("p", { id: `${id}-error`, class: "error", hidden: true });
  const node = make(
    "fieldset",
    { id: `${id}-field`, class: "question", part: "question", role, "aria-describedby": described, ...parts },
    make("legend", {}, surveyText("h3", text, { tabindex: "-1" })),
    hint ? make("p", { id: `${id}-hint`, class: "hint" }, hint) : null,
    error,
    controls,
    after,
  );
  return { node, error };
}

function complainer(node, error, marked, texts) {
  return (problem) => {
    error.hidden = !problem;
    error.textContent = problem ? texts.say(...problem) : "";
    node.classList.toggle("wrong", Boolean(problem));
    for (const element of marked) {
      if (problem) element.setAttribute("aria-invalid", "true");
      else element.removeAttribute("aria-invalid");
    }
  };
}

/** A control and its text, together one large target. */
function option(input, label) {
  return make("label", { class: "option", part: "option" }, input, label);
}

function radioField(asked, choices, { texts, onChange, hint, after, layout, missing }) {
  const inputs = choices.map(() => make("input", { type: "radio", name: `answer-${asked.id}`, autocomplete: "off" }));
  const many = choices.length > MANY ? "many" : layout;
  const controls = make(
    "div",
    { class: `options ${many ?? ""}`.trim() },
    ...choices.map(({ label }, i) => option(inputs[i], label)),
  );
  const { node, error } = group(asked, { role: "radiogroup", hint, controls, after, parts: { "aria-required": "true" } });
  const complain = complainer(node, error, [node], texts);
  const chosen = () => inputs.findIndex((input) => input.checked);
  node.addEventListener("change", () => {
    complain(null);
    onChange();
  });
  return {
    id: asked.id,
    node,
    read: () => (chosen() < 0 ? { problem: [missing] } : { value: choices[chosen()].value }),
    answered: () => chosen() >= 0,
    clear: () => inputs.forEach((input) => (input.checked = false)),
    focus: () => inputs[Math.max(chosen(), 0)].focus(),
    complain,
  };
}

/** Any number of options. None of them is an answer, too, and has to be meant: it has a box of its own. */
function checkboxField(question, choices, { texts, onChange, after }) {
  const inputs = choices.map(() => make("input", { type: "checkbox", autocomplete: "off" }));
  const none = make("input", { type: "checkbox", autocomplete: "off" });
  const controls = make(
    "div",
    { class: choices.length > MANY ? "options many" : "options" },
    ...choices.map(({ label }, i) => option(inputs[i], label)),
    option(none, make("span", {}, texts.say("none"))),
  );
  const { node, error } = group(question, { hint: texts.say("hint.multiChoice"), controls, after });
  const complain = complainer(node, error, [...inputs, none], texts);
  node.addEventListener("change", (event) => {
    if (event.target === none) inputs.forEach((input) => (input.checked = false));
    else none.checked = false;
    complain(null);
    onChange();
  });
  const answered = () => none.checked || inputs.some((input) => input.checked);
  return {
    id: question.id,
    node,
    read: () =>
      answered()
        ? { value: choices.filter((_, i) => inputs[i].checked).map(({ value }) => value) }
        : { problem: ["error.chooseSome"] },
    answered,
    clear: () => [...inputs, none].forEach((input) => (input.checked = false)),
    focus: () => inputs[0].focus(),
    complain,
  };
}

function numberField(question, { texts, onChange, after }) {
  const { id, min, max, unit, decline } = question;
  const range = { low: texts.number(min), high: texts.number(max), unit: unit && quoted(unit) };
  const input = make("input", {
    id: `${id}-number`,
    type: "text",
    inputmode: min < 0 ? "text" : "decimal", // phones offer no minus sign with digits
    autocomplete: "off",
    spellcheck: "false",
    "aria-required": decline ? null : "true",
    "aria-describedby": `${id}-error`,
  });
  const declined = decline ? make("input", { type: "checkbox", autocomplete: "off" }) : null;
  const controls = make(
    "div",
    { class: "number" },
    make("label", { for: `${id}-number` }, texts.say(unit ? "hint.numberUnit" : "hint.number", range)),
    make(
      "div",
      { class: "entry" },
      input,
      unit ? surveyText("span", unit, { "aria-hidden": "true", class: "unit" }) : null,
    ),
    declined ? make("div", { class: "options" }, option(declined, make("span", {}, texts.say("declined")))) : null,
  );
  const { node, error } = group(question, { controls, after });
  const complain = complainer(node, error, [input], texts);
  input.addEventListener("input", () => {
    if (declined) declined.checked = false;
    complain(null);
    onChange();
  });
  declined?.addEventListener("change", () => {
    input.value = "";
    complain(null);
    onChange();
  });
  const read = () => {
    if (declined?.checked) return { value: "declined" };
    if (!input.value.trim()) return { problem: [decline ? "error.numberOrDecline" : "error.numberMissing"] };
    const readings = readNumber(input.value);
    const [value, second] = readings.filter((number) => min <= number && number <= max);
    if (!readings.length || second !== undefined) return { problem: ["error.notNumber"] };
    return value === undefined ? { problem: ["error.outside", range] } : { value };
  };
  return {
    id,
    node,
    read,
    answered: () => "value" in read(),
    clear: () => {
      input.value = "";
      if (declined) declined.checked = false;
    },
    focus: () => input.focus(),
    complain,
  };
}

/**
 * The numbers that a text can be read as: none, one or two. A decimal point and a decimal comma are both fine, so that
 * "1,200" is 1200 to some and 1.2 to others; where the question's range leaves both open, guessing would be wrong.
 */
export function readNumber(text) {
  const plain = text
    .trim()
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15)) // Arabic and Persian digits
    .replace(/\u2212/g, "-")
    .replace(/\u066b/g, ",")
    .replace(/(?<=\d)[\s'\u2019](?=\d{3}(?!\d))/g, "");
  const readings = [];
  if (/^[+-]?(\d+([.,]\d*)?|[.,]\d+)$/.test(plain)) readings.push(Number(plain.replace(",", ".")));
  if (/^[+-]?[1-9]\d{0,2}([.,])\d{3}(\1\d{3})*$/.test(plain)) readings.push(Number(plain.replace(/[.,]/g, "")));
  return readings;
}

// --- how the answer is protected ------------------------------------------------------------------------------------

/** How what is sent for a part is protected; `about` names its questions where that is not clear from the place. */
export function protectionBox(part, texts, about = null) {
  const { line, warning, details, chances, bounds } = protectionInWords(part, texts);
  const rows = chances.map(({ name, chance, cases }) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, name),
      make("td", { class: "picture" }, bar(chance)),
      make("td", { class: "figure" }, cases),
    ),
  );
  return make(
    "div",
    { class: "protection", part: "protection" },
    about,
    warning ? make("p", { class: "weak" }, warning) : null,
    make("p", {}, line),
    make(
      "details",
      {},
      make("summary", {}, texts.say("protection.title")),
      ...details.map((text) => make("p", {}, text)),
      make("p", {}, texts.say("protection.always")),
      make("table", { class: "chances" }, make("tbody", {}, ...rows)),
      ...bounds.map((text) => make("p", {}, text)),
    ),
  );
}
