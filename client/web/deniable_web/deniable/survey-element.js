// <deniable-survey>: the whole questionnaire, from loading to the receipt.
//
//   <deniable-survey src="/s/campus-health"></deniable-survey>
//
// Attributes: src (a link to a survey; #<digest> pins it), hide-notice (the page shows the notice itself), budget (the
// most that this device may spend: an epsilon, or an epsilon and a delta with a space between them).
// Properties: texts (see texts.js), budget (as for Client; stronger than the attribute).
// Events, on the element: deniable-ready {survey, digest, closed, receipt}, deniable-submitted {receipt},
// deniable-failed {reason}, deniable-removed {}.
//
// May not: keep an answer beyond the page's own life. Answers are in the controls, and for the receipt in one variable;
// both are emptied when the page is left, so that going back on a shared computer shows nothing.

import { button, make, surveyText } from "./dom.js";
import { Form } from "./form.js";
import { receiptView } from "./receipt.js";
import { reviewView } from "./review.js";
import { styleSheet } from "./style.js";
import { ENGLISH, Texts } from "./texts.js";

const shown = new WeakMap();

/** Show the questionnaire in this element, which has just become part of a page; `module` is what loaded this one. */
export function connect(host, module) {
  shown.get(host)?.stop();
  for (const name of ["texts", "budget"]) watch(host, name);
  const questionnaire = new Questionnaire(host, module);
  shown.set(host, questionnaire);
  questionnaire.load();
}

/** Forget everything: the element was removed. */
export function disconnect(host) {
  shown.get(host)?.stop();
  shown.delete(host);
}

/** A property that may be set at any time, before or after the element is in a page; setting it starts again. */
function watch(host, name) {
  if (Object.getOwnPropertyDescriptor(host, name)?.set) return;
  let value = host[name];
  const set = (given) => {
    value = given;
    shown.get(host)?.load();
  };
  Object.defineProperty(host, name, { configurable: true, enumerable: true, get: () => value, set });
}

/** The link to load. If it leads to the page it is on, the digest in that page's address applies to it, too. */
function linkOf(host) {
  const link = host.getAttribute("src") ?? "";
  if (link.includes("#") || !URL.canParse(link, document.baseURI)) return link;
  const { origin, pathname } = new URL(link, document.baseURI);
  if (origin !== location.origin || pathname !== location.pathname) return link;
  // Not location.hash: it is the same for a link that lost the digest after its "#" and for one without any.
  return link + /#.*|$/s.exec(location.href)[0];
}

class Questionnaire {
  #host;
  #module;
  #root;
  #texts;
  #link;
  #client = null;
  #form = null;
  #answers = null; // { questions, segments }: the true ones, from review until the page is left
  #sending = false;
  #receipt = null;
  #view = null;
  #attempt = 0; // counts loads, so that a late one does not overtake
  #listening = new AbortController();

  constructor(host, module) {
    this.#host = host;
    this.#module = module;
    this.#root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.#root.adoptedStyleSheets = [styleSheet()];
    const { signal } = this.#listening;
    window.addEventListener("pagehide", () => this.#forget(), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.#forget(), { signal });
    window.addEventListener("hashchange", () => this.#follow(), { signal });
  }

  stop() {
    this.#attempt++;
    this.#listening.abort();
    this.#drop();
    this.#root.replaceChildren();
  }

  /** The page's address has changed. What it asks for now may be what was verified already: that stays as it is. */
  #follow() {
    const link = linkOf(this.#host);
    const verified = this.#client?.digest;
    const [, pin = verified] = link.split("#");
    if (link !== this.#link && !(verified && pin.toLowerCase() === verified)) this.load();
  }

  /** From the start: load and verify the survey, then ask, or show what was sent from this device before. */
  async load() {
    const attempt = ++this.#attempt;
    const host = this.#host;
    this.#drop();
    this.#texts = new Texts(host.texts, host.closest("[lang]")?.lang || document.documentElement.lang);
    this.#show("message", make("p", { role: "status" }, this.#say("loading")));
    this.#link = linkOf(host);
    try {
      const budget = host.budget ?? host.getAttribute("budget")?.split(" ");
      const client = await this.#module.Client.load(this.#link, { budget });
      if (attempt !== this.#attempt) return;
      this.#client = client;
      const { survey, digest, closed, receipt } = client;
      this.#announce("ready", { survey, digest, closed, receipt });
      if (receipt) this.#showReceipt(receipt, { before: true });
      else if (closed) this.#showFailure("closed");
      else this.#makeForm();
    } catch (error) {
      if (attempt !== this.#attempt) return;
      if (error.reason === undefined) console.error(error); // a fault of the program; there are no answers yet
      this.#fail(error, "tampered");
    }
  }

  #say(name, values) {
    return this.#texts.say(name, values);
  }

  #announce(name, detail) {
    this.#host.dispatchEvent(new CustomEvent(`deniable-${name}`, { detail, bubbles: true, composed: true }));
  }

  /** Replace what is shown. */
  #show(name, ...content) {
    this.#view = make("div", { class: `view ${name}`, part: name }, ...content);
    this.#root.replaceChildren(this.#view);
  }

  /** A heading that focus can move to, so that a screen reader goes on where the view begins. */
  #heading(text) {
    return make("h2", { tabindex: "-1" }, text);
  }

  #focusHeading() {
    this.#view.querySelector("h2").focus();
    this.#host.scrollIntoView({ block: "start" });
  }

  #drop() {
    this.#forgetForm();
    this.#answers = this.#receipt = this.#client = null;
    this.#sending = false;
  }

  #forgetForm() {
    this.#form?.clear();
    this.#form = null;
  }

  /** The page is left, or was restored from the browser's memory: nothing of the answers may be seen again. */
  #forget() {
    this.#form?.clear();
    this.#answers = null;
    if (this.#receipt) this.#showReceipt(this.#receipt);
    else if (this.#sending) this.#show("message", make("p", { role: "status" }, this.#say("status.sending")));
    else if (this.#form) this.#makeForm();
  }

  // --- the form -----------------------------------------------------------------------------------------------------

  #makeForm() {
    const { shownQuestions } = this.#module;
    const onReview = (values) => this.#showReview(values);
    this.#form = new Form({ client: this.#client, shownQuestions, texts: this.#texts, onReview });
    this.#showForm();
  }

  #showForm() {
    const { survey, offline } = this.#client;
    const note = offline ? make("p", { class: "note" }, this.#say("offline")) : null;
    this.#show("form", this.#form.progress, this.#notice(survey), note, this.#form.node);
  }

  #notice(survey) {
    return survey.notice && !this.#host.hasAttribute("hide-notice")
      ? surveyText("p", survey.notice, { class: "notice" })
      : null;
  }

  // --- the review ---------------------------------------------------------------------------------------------------

  #showReview(values) {
    const { survey, questions } = this.#client;
    const shown = questions.filter(({ id }) => Object.hasOwn(values, id));
    const take = (asked) => Object.fromEntries(asked.map(({ id }) => [id, values[id]]));
    this.#answers = { questions: take(shown), segments: take(survey.segments ?? []) };
    const onChange = (id) => {
      this.#answers = null;
      this.#showForm();
      this.#form.focus(id);
    };
    const status = make("p", { class: "status", role: "status" });
    const send = button(this.#say("button.send"), () => this.#send(status));
    const back = button(this.#say("button.back"), () => onChange(), { class: "quiet" });
    this.#show(
      "review",
      this.#heading(this.#say("section.review")),
      ...reviewView({ client: this.#client, questions: shown, values, texts: this.#texts, onChange }),
      status,
      make("p", { class: "actions" }, send, " ", back),
    );
    this.#focusHeading();
  }

  async #send(status) {
    const [client, attempt, answers] = [this.#client, this.#attempt, this.#answers];
    if (this.#sending || !answers) return;
    // Nothing can be changed from here on: the receipt is to show what was sent.
    this.#sending = true;
    for (const control of this.#view.querySelectorAll("button")) control.disabled = true;
    status.textContent = this.#say("status.sending");
    let receipt, error;
    try {
      receipt = await client.submit(answers.questions, answers.segments);
    } catch (thrown) {
      error = thrown;
    }
    if (attempt !== this.#attempt) return;
    this.#sending = false;
    this.#answers &&= answers; // unless the page was left meanwhile
    if (receipt) {
      this.#announce("submitted", { receipt });
      this.#showReceipt(receipt);
      this.#focusHeading();
    } else if (error.reason === "already_answered" && error.receipt) {
      this.#answers = null;
      this.#announce("failed", { reason: error.reason });
      this.#showReceipt(error.receipt, { before: true });
      this.#focusHeading();
    } else this.#fail(error, "unexpected", "unsure");
  }

  // --- the receipt --------------------------------------------------------------------------------------------------

  #showReceipt(receipt, { before = false } = {}) {
    this.#forgetForm();
    this.#receipt = receipt;
    // What was sent on an earlier visit is not kept. What waits may have been made from another document than the one
    // that the link now pins.
    const { digest, booklet } = this.#client;
    if (receipt.digest !== digest || receipt.booklet !== booklet) {
      const { status } = receipt;
      return this.#showFailure(["refused", "expired"].includes(status) ? status : "already_answered");
    }
    try {
      this.#writeReceipt(receipt, before);
    } catch (error) {
      if (!this.#answers) console.error(error);
      this.#showFailure("receipt");
    }
  }

  #statusOf({ status, refused, reached }) {
    if (refused) return ["bad", this.#say("status.refused", refused)];
    if (status === "expired") return ["bad", this.#say("failure.expired.text")];
    if (status === "delivered") return ["good", this.#say("status.sent")];
    const [waiting, then] = [reached ? "waitingServer" : "waiting", this.#client.persistent ? "comeBack" : "stay"];
    return ["waiting", `${this.#say(`status.${waiting}`)} ${this.#say(`status.${then}`)}`];
  }

  #writeReceipt(receipt, before) {
    const attempt = this.#attempt;
    const status = make("p", { role: "status" });
    const update = () => {
      // Another view is shown, or another survey: nobody needs this any more.
      if (attempt !== this.#attempt || this.#receipt !== receipt) return clearInterval(timer);
      const [kind, text] = this.#statusOf(receipt);
      if (status.textContent !== text) status.textContent = text; // or a screen reader would say it each time
      status.className = `status ${kind}`;
      if (kind !== "waiting") clearInterval(timer);
    };
    const timer = setInterval(update, 1000); // why it waits may change from one attempt to the next
    update();
    receipt.settled?.then(update);
    this.#show(
      "receipt-view",
      this.#heading(this.#say("section.receipt")),
      before ? make("p", {}, this.#say("status.before")) : null,
      status,
      ...receiptView({ client: this.#client, receipt, answers: this.#answers, texts: this.#texts }),
      make("p", { class: "actions" }, this.#removeButton()),
    );
  }

  // --- removing it from this device ---------------------------------------------------------------------------------

  #removeButton() {
    return button(this.#say("button.remove"), () => this.#askToRemove(), { class: "quiet" });
  }

  /** Say what it means first. What was answered is gone from here on. */
  #askToRemove() {
    const receipt = this.#receipt;
    const unsent = receipt.status === "waiting";
    this.#answers = null;
    const remove = button(this.#say("button.removeNow"), () => this.#remove(unsent));
    const keep = button(this.#say("button.keep"), () => this.#showReceipt(receipt), { class: "quiet" });
    this.#show(
      "message",
      this.#heading(this.#say("remove.title")),
      make("p", {}, this.#say(unsent ? "remove.unsent" : "remove.sent")),
      make("p", {}, this.#say("remove.again")),
      make("p", { class: "actions" }, remove, " ", keep),
    );
    this.#focusHeading();
  }

  async #remove(unsent) {
    const attempt = this.#attempt;
    try {
      await this.#client.forget({ unsent });
      if (attempt !== this.#attempt) return;
      this.#receipt = null;
      this.#show("message", this.#heading(this.#say("remove.doneTitle")), make("p", {}, this.#say("remove.done")));
      this.#focusHeading();
      this.#announce("removed", {});
    } catch (error) {
      if (attempt === this.#attempt) this.#fail(error, "unexpected");
    }
  }

  // --- failure ------------------------------------------------------------------------------------------------------

  /** Known reasons have words of their own; any other is what `otherwise` says, and a fault what `fault` says. */
  #fail(error, otherwise, fault = "unexpected") {
    const { reason } = error;
    const name = reason === undefined ? fault : Object.hasOwn(ENGLISH.failure, reason) ? reason : otherwise;
    this.#announce("failed", { reason: reason ?? "unexpected" });
    this.#showFailure(name);
  }

  #showFailure(name) {
    // What the server has refused for good is settled: going back could only make a second submission.
    const final = ["closed", "refused", "expired", "already_answered", "unsure", "receipt"].includes(name);
    const answered = this.#answers && !final;
    const actions = [];
    if (answered)
      actions.push(
        button(this.#say("button.answers"), () =>
          this.#showReview({ ...this.#answers.questions, ...this.#answers.segments }),
        ),
      );
    else if (["unreachable", "storage", "unexpected", "unsure", "receipt"].includes(name))
      actions.push(button(this.#say("button.again"), () => this.load()));
    if (this.#receipt) actions.push(this.#removeButton());
    if (!answered) this.#answers = null;
    if (final) this.#forgetForm();
    const { survey } = this.#client ?? {};
    this.#show(
      "message",
      survey ? this.#notice(survey) : null,
      make(
        "div",
        { role: "alert" },
        this.#heading(this.#say(`failure.${name}.title`)),
        make("p", {}, this.#say(`failure.${name}.text`)),
      ),
      actions.length ? make("p", { class: "actions" }, ...actions) : null,
    );
  }
}
