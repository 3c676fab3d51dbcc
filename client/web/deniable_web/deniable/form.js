// The form: the questions of this device's booklet, those of them that are shown, and what is still missing.
//
// May not: keep an answer anywhere but in the controls.

import { button, make } from "./dom.js";
import { questionField, segmentField } from "./fields.js";
import { protectionBoxes, totalBox } from "./review.js";
import { quoted } from "./texts.js";
import { homeOf, pickedInWords, strengthOf } from "./wording.js";

export class Form {
  #client;
  #shownQuestions;
  #texts;
  #fields; // of the segments and of all questions of the booklet, those that are not shown included
  #missing = []; // [field, its entry in the error summary]
  #progress = make("progress", { max: 1, value: 0, "aria-labelledby": "progress-text" });
  #progressText = make("span", { id: "progress-text" });
  #announced = make("p", { class: "unseen", role: "status" });
  #summary = make("div", { class: "summary", part: "summary", role: "alert" });

  /** `shownQuestions` is that of deniable.js; `onReview` gets the answers to what is shown, by id, once all are there. */
  constructor({ client, shownQuestions, texts, onReview }) {
    this.#client = client;
    this.#shownQuestions = shownQuestions;
    this.#texts = texts;
    const { survey, questions, parts } = client;
    const update = () => this.#update();
    const segments = (survey.segments ?? []).map((segment) => segmentField(segment, texts, update));
    const asked = questions.map((question) => {
      const part = parts.find((each) => homeOf(each, parts) === question.id);
      return questionField(question, part, texts, update);
    });
    this.#fields = [...segments, ...asked];
    const section = (name, fields, note, strength) => [
      make("h2", {}, texts.say(`section.${name}`)),
      note ? make("p", { class: "picked" }, note) : null,
      make("p", { class: "hint" }, texts.say(`section.${name}Hint`)),
      strength ? make("p", { class: strength === "fair" ? "hint" : "hint weak" }, texts.say(`strength.${strength}`)) : null,
      ...fields.map(({ node }) => node),
    ];
    this.progress = make("div", { class: "progress", part: "progress" }, this.#progressText, this.#progress);
    // method="dialog" outside of a dialog goes nowhere: even without its listener no answer gets into an address.
    this.node = make(
      "form",
      { method: "dialog", autocomplete: "off", novalidate: true },
      this.#summary,
      ...(segments.length ? section("segments", segments) : []),
      ...section("questions", asked, pickedInWords(client, texts), strengthOf(client.account)),
      this.#announced,
      ...protectionBoxes(client, texts),
      totalBox(client, texts),
      make("p", { class: "actions" }, make("button", { type: "submit", part: "button" }, texts.say("button.review"))),
    );
    this.node.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#check(onReview);
    });
    this.#update();
    this.#announced.textContent = ""; // nothing has changed yet
  }

  clear() {
    for (const field of this.#fields) field.clear();
  }

  /** Go to a field, or to the first. */
  focus(id = this.#fields[0].id) {
    this.#fields.find((field) => field.id === id).focus();
  }

  #shown() {
    return this.#fields.filter(({ node }) => !node.hidden);
  }

  #update() {
    this.#followUps();
    const fields = this.#shown();
    const [done, total] = [fields.filter((field) => field.answered()).length, fields.length];
    this.#progress.value = done / total;
    const values = { done: this.#texts.number(done), total: this.#texts.number(total) };
    this.#progressText.textContent = this.#texts.say("progress", values);
    const settled = ([field]) => field.answered() || field.node.hidden;
    for (const entry of this.#missing) if (settled(entry)) entry[1].remove();
    if (this.#missing.every(settled)) this.#summary.replaceChildren();
  }

  /**
   * Show the follow-ups that the answers so far call for, and hide the others. What was entered in a question that goes
   * away is gone at once. Screen readers are told; the focus stays where it is.
   */
  #followUps() {
    const { questions } = this.#client;
    const readings = this.#fields.map((field) => [field.id, field.read()]).filter(([, reading]) => "value" in reading);
    const answers = Object.fromEntries(readings.map(([id, { value }]) => [id, value]));
    const shown = new Set(this.#shownQuestions(questions, answers));
    const changes = questions.flatMap((question) => {
      const field = this.#fields.find(({ id }) => id === question.id);
      const hidden = !shown.has(question);
      if (field.node.hidden === hidden) return [];
      field.node.hidden = hidden;
      if (hidden) {
        field.clear();
        field.complain(null);
      }
      const name = hidden ? "followUp.hidden" : "followUp.shown";
      return [this.#texts.say(name, { question: quoted(question.text) })];
    });
    if (changes.length) this.#announced.textContent = changes.join(" ");
  }

  /** Go on to the review, or say next to each field what is still wrong, and go to the first. */
  #check(onReview) {
    const readings = this.#shown().map((field) => [field, field.read()]);
    const wrong = readings.filter(([, { problem }]) => problem);
    for (const [field, { problem }] of readings) field.complain(problem ?? null);
    this.#summary.replaceChildren();
    if (!wrong.length) {
      onReview(Object.fromEntries(readings.map(([field, { value }]) => [field.id, value])));
      return;
    }
    const { survey } = this.#client;
    const texts = Object.fromEntries([...(survey.segments ?? []), ...survey.questions].map(({ id, text }) => [id, text]));
    // Buttons, not links: a link would change the page's address, whose fragment may pin the survey.
    this.#missing = wrong.map(([field]) => {
      const go = button(texts[field.id], () => field.focus(), { class: "link", dir: "auto" });
      return [field, make("li", {}, go)];
    });
    this.#summary.append(
      make("h2", {}, this.#texts.say("error.summary")),
      make("p", {}, this.#texts.say("error.why")),
      make("ul", {}, ...this.#missing.map(([, item]) => item)),
    );
    wrong[0][0].focus();
  }
}
