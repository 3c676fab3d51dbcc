// The screen that asks for an invitation code, and why a personal link gives nobody away.

import { button, make } from "./dom.js";

/**
 * The code, to be typed; `problem` is the name of what is wrong with the one that was `typed`. Nothing here keeps it: the
 * device does, once it is about to be sent, until it has its token.
 */
export function invitationView({ texts, heading, problem, typed, onCode }) {
  const say = (name) => texts.say(`invitation.${name}`);
  const input = make("input", {
    id: "invitation",
    type: "text",
    dir: "ltr",
    autocomplete: "off",
    autocapitalize: "characters",
    spellcheck: "false",
    required: true,
    "aria-required": "true",
    "aria-invalid": problem ? "true" : null,
    "aria-describedby": "invitation-error invitation-hint",
  });
  input.value = typed ?? "";
  const form = make(
    "form",
    { class: "invitation-form", novalidate: true, autocomplete: "off" },
    make("label", { for: "invitation" }, say("label")),
    make("p", { id: "invitation-error", class: "error", role: problem ? "alert" : null }, problem ? say(problem) : null),
    make("div", { class: "entry" }, input),
    make("p", { id: "invitation-hint", class: "hint" }, say("hint")),
    make("p", { class: "actions wide" }, button(say("go"), null, { type: "submit" })),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onCode(input.value);
  });
  return [heading, make("p", {}, say("text")), form, make("ul", { class: "reasons" }, ...reasons(texts))];
}

const reasons = (texts) => ["only", "blind"].map((name) => make("li", {}, texts.say(`invitation.${name}`)));

/** Why an invitation does not break anonymity, in three lines, with the fingerprint of the key; for the first screen. */
export const whyAnonymous = (fingerprint, texts) =>
  make(
    "details",
    {},
    make("summary", {}, texts.say("invitation.why")),
    make(
      "ul",
      { class: "reasons" },
      ...reasons(texts),
      make("li", {}, texts.say("invitation.key"), " ", make("code", { dir: "ltr" }, fingerprint)),
    ),
  );
