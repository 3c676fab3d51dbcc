// The form: the questions of this device's booklet, one at a time or all on one page, and what is still missing.
//
// May not: keep an answer anywhere but in the controls.

import { button, make } from "./dom.js";
import { questionField, segmentField } from "./fields.js";
import { jointParts, totalBox } from "./review.js";
import { quoted } from "./texts.js";
import { homeOf } from "./wording.js";

export class Form {
  #client;
  #shownQuestions;
  #texts;
  #fields; // of all questions of the booklet, those that are not shown included, and of the segments
  #steps; // fields that are on the screen together
  #step = null; // null: all on one page
  #missing = []; // [field, its entry in the error summary]
  #progress = make("progress", { max: 1, value: 0, "aria-labelledby": "progress-text" });
  #progressText = make("span", { id: "progress-text" });
  #announced = make("p", { class: "unseen", role: "status" });
  #summary = make("div", { class: "summary", part: "summary", role: "alert" });
  #openly; // the heading of what is sent unchanged
  #boxes; // how questions that are reported together are protected
  #next;

  /**
   * `shownQuestions` is that of deniable.js. `onNext` is called when the step that is shown is complete, `onBack` by its
   * button. With `onePage`, there is one step.
   */
  constructor({ client, shownQuestions, texts, onePage, onNext, onBack }) {
    this.#client = client;
    this.#shownQuestions = shownQuestions;
    this.#texts = texts;
    const { survey, questions, parts } = client;
    const update = () => this.#update();
    const asked = questions.map((question) => {
      const part = parts.find((each) => homeOf(each, parts) === question.id);
      return questionField(question, part, texts, update);
    });
    // What is sent unchanged comes last: nobody should take it for what the rest is like.
    const segments = (survey.segments ?? []).map((segment) => segmentField(segment, texts, update));
    this.#fields = [...asked, ...segments];
    this.#steps = onePage ? [this.#fields] : [...this.#withFollowUps(asked), ...(segments.length ? [segments] : [])];
    this.#openly = segments.length ? make("h2", { class: "openly" }, texts.say("section.segments")) : null;
    this.#boxes = jointParts(client, texts);
    this.#next = make("button", { type: "submit", part: "button" });
    this.progress = make("div", { class: "progress", part: "progress" }, this.#progress, this.#progressText);
    const back = button(texts.say("button.back"), onBack, { class: "quiet" });
    // method="dialog" outside of a dialog goes nowhere: even without its listener no answer gets into an address.
    this.node = make(
      "form",
      { method: "dialog", autocomplete: "off", novalidate: true },
      this.#summary,
      ...asked.map(({ node }) => node),
      ...this.#boxes.map(({ node }) => node),
      onePage ? totalBox(client, texts) : null,
      this.#openly,
      ...segments.map(({ node }) => node),
      this.#announced,
      make("p", { class: "actions" }, this.#next, " ", back),
    );
    this.node.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#check(this.#onScreen())) onNext();
    });
    this.show(0);
  }

  /** Questions that are always shown, each with those that depend on it. */
  #withFollowUps(asked) {
    const steps = [];
    const stepOf = {};
    this.#client.questions.forEach(({ id, show_if: condition }, i) => {
      const parent = condition && Object.keys(condition)[0];
      const step = stepOf[parent] ?? steps.push([]) - 1;
      stepOf[id] = step;
      steps[step].push(asked[i]);
    });
    return steps;
  }

  get length() {
    return this.#steps.length;
  }

  clear() {
    for (const field of this.#fields) field.clear();
  }

  /** Whether there is anything that leaving the page would lose. */
  get begun() {
    return this.#fields.some((field) => field.answered());
  }

  /** Show a step; with `change`, to go back to the review from there. */
  show(step, change = false) {
    this.#step = step;
    this.#summary.replaceChildren();
    this.#update();
    this.#announced.textContent = ""; // nothing has changed on this screen yet
    const last = change || step === this.#steps.length - 1;
    this.#next.textContent = this.#texts.say(last ? "button.review" : "button.next");
  }

  stepOf(id) {
    return this.#steps.findIndex((fields) => fields.some((field) => field.id === id));
  }

  /** The first step that lacks an answer; -1 where there is none. */
  firstMissing() {
    return this.#steps.findIndex((fields) => fields.some((field) => this.#isAsked(field) && !field.answered()));
  }

  /** Go to a field, or to the first that is on the screen. */
  focus(id = this.#onScreen()[0].id) {
    this.#fields.find((field) => field.id === id).focus();
  }

  /** Focus on the question itself, so that a screen reader goes on there. */
  focusQuestion() {
    this.#onScreen()[0].node.querySelector("h3").focus();
  }

  /** The answers to what is asked, by id. */
  values() {
    return Object.fromEntries(this.#fields.filter(this.#isAsked, this).map((field) => [field.id, field.read().value]));
  }

  #asked = new Set(); // the ids of what the answers so far call for

  #isAsked({ id }) {
    return this.#asked.has(id);
  }

  #onScreen() {
    return this.#steps[this.#step].filter(this.#isAsked, this);
  }

  #update() {
    this.#followUps();
    const onScreen = this.#onScreen();
    for (const field of this.#fields) field.node.hidden = !onScreen.includes(field);
    if (this.#openly) {
      const ids = (this.#client.survey.segments ?? []).map(({ id }) => id);
      this.#openly.hidden = !onScreen.some(({ id }) => ids.includes(id));
    }
    for (const { ids, node } of this.#boxes) node.hidden = !onScreen.some(({ id }) => ids.has(id));
    this.#showProgress(onScreen);
    const settled = ([field]) => field.answered() || field.node.hidden;
    for (const entry of this.#missing) if (settled(entry)) entry[1].remove();
    if (this.#missing.every(settled)) this.#summary.replaceChildren();
  }

  /** On one page how many are answered; otherwise where one is: what is on the way does not depend on answers. */
  #showProgress(onScreen) {
    const all = this.#steps.length === 1;
    const [done, total] = all
      ? [onScreen.filter((field) => field.answered()).length, onScreen.length]
      : [this.#step + 1, this.#steps.length];
    this.#progress.value = done / total;
    const values = { done: this.#texts.number(done), total: this.#texts.number(total) };
    this.#progressText.textContent = this.#texts.say(all ? "answered" : "progress", values);
  }

  /**
   * Find the follow-ups that the answers so far call for. What was entered in a question that goes away is gone at once.
   * Screen readers are told; the focus stays where it is.
   */
  #followUps() {
    const { questions, survey } = this.#client;
    const readings = this.#fields.map((field) => [field.id, field.read()]).filter(([, reading]) => "value" in reading);
    const answers = Object.fromEntries(readings.map(([id, { value }]) => [id, value]));
    const shown = new Set(this.#shownQuestions(questions, answers));
    const changes = questions.flatMap((question) => {
      const hidden = !shown.has(question);
      if (this.#asked.has(question.id) !== hidden) return [];
      if (hidden) {
        const field = this.#fields.find(({ id }) => id === question.id);
        field.clear();
        field.complain(null);
      }
      const name = hidden ? "followUp.hidden" : "followUp.shown";
      return [this.#texts.say(name, { question: quoted(question.text) })];
    });
    this.#asked = new Set([...shown, ...(survey.segments ?? [])].map(({ id }) => id));
    if (changes.length) this.#announced.textContent = changes.join(" ");
  }

  /** Whether these are complete. If not, say next to each what is wrong, and go to the first. */
  #check(fields) {
    const readings = fields.map((field) => [field, field.read()]);
    const wrong = readings.filter(([, { problem }]) => problem);
    for (const [field, { problem }] of readings) field.complain(problem ?? null);
    this.#summary.replaceChildren();
    if (!wrong.length) return true;
    if (this.#steps.length === 1) this.#summarize(wrong);
    wrong[0][0].focus();
    return false;
  }

  #summarize(wrong) {
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
  }
}
