// <deniable-survey>: the whole questionnaire, from loading to "Thank you".
//
//   <deniable-survey src="/s/campus-health" lang="es"></deniable-survey>
//
// Attributes: src (a link to a survey; #<digest> pins it, and an invitation may follow: #<digest>.<code>), lang (otherwise
// the browser chooses among the survey's languages), one-page (all questions on one page), kiosk (a device that many people
// answer on), logo (the address of a picture, on the survey's own server), budget (the most that this device may spend: an
// epsilon, or an epsilon and a delta with a space between them).
// Properties: texts (see texts.js), budget (as for Client; stronger than the attribute), preview (see preview.js).
// Events, on the element: deniable-ready {survey, digest, closed, opens, receipt}, deniable-language {language, direction, title},
// deniable-submitted {receipt}, deniable-failed {reason}, deniable-removed {}.
//
// May not: keep an answer beyond the page's own life. Answers are in the controls, and nowhere else. They are emptied when
// the page is left, so that going back on a shared computer shows nothing.

import { howView } from "./coin.js";
import { button, make, surveyText } from "./dom.js";
import { Form } from "./form.js";
import { invitationView } from "./invitation-view.js";
import { reviewView } from "./review.js";
import { startView, whoView } from "./start.js";
import { hideInvitation, Steps } from "./steps.js";
import { styleSheet } from "./style.js";
import { bestLanguage } from "./survey.js";
import { directionOf, loadTexts } from "./texts.js";
import { thanksView } from "./thanks.js";

const shown = new WeakMap();
const KIOSK_PAUSE = 60_000; // after "Thank you", until the next person is asked

/** Show the questionnaire in this element, which has just become part of a page; `module` is what loaded this one. */
export function connect(host, module) {
  shown.get(host)?.stop();
  const questionnaire = new Questionnaire(host, module);
  shown.set(host, questionnaire);
  questionnaire.load();
}

/** Forget everything: the element was removed. */
export function disconnect(host) {
  shown.get(host)?.stop();
  shown.delete(host);
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

/** What the respondent cannot repair is for the console. There are no answers yet. */
function tellDeveloper(host, error) {
  if (error.reason === undefined) return void console.error(error); // a fault of the program
  if (!["address", "unreachable"].includes(error.reason)) return;
  const what = host.hasAttribute("src") ? error.message : "the attribute src is missing";
  const right = '<deniable-survey src="https://survey.example.org/s/campus-health">';
  console.error(`<deniable-survey>: ${what}. What it should look like: ${right}, with your server and your survey.`, host);
}

const askBeforeLeaving = (event) => event.preventDefault();

class Questionnaire {
  #host;
  #module;
  #root;
  #texts;
  #language = "en"; // of the survey's texts
  #link;
  #client = null;
  #form = null; // the answers are in its controls, until they were sent or the page is left
  #steps = null; // the screens so far
  #changing = null; // the id of the question that is being opened from the review
  #sending = false;
  #receipt = null;
  #view = null;
  #attempt = 0; // counts loads, so that a late one does not overtake
  #guarding = false;
  #listening = new AbortController();

  constructor(host, module) {
    this.#host = host;
    this.#module = module;
    this.#root = host.shadowRoot;
    this.#root.adoptedStyleSheets = [styleSheet()];
    const { signal } = this.#listening;
    window.addEventListener("pagehide", () => this.#forget(), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.#forget(), { signal });
    window.addEventListener("hashchange", () => this.#follow(), { signal });
    for (const name of ["input", "change"]) this.#root.addEventListener(name, () => this.#guard(), { signal });
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
    if (link !== this.#link && !(verified && pin.toLowerCase() === verified)) this.load(); // or another invitation
  }

  /**
   * From the start: load and verify the survey, then ask, or say that it was answered on this device before. `typed` is
   * the code of an invitation, if somebody has typed one.
   */
  async load(typed) {
    const attempt = ++this.#attempt;
    const host = this.#host;
    const again = this.#root.activeElement !== null; // by a button, which is about to go
    this.#drop();
    const texts = await loadTexts(this.#wanted([])[0], host.texts).catch(() => null);
    if (attempt !== this.#attempt) return;
    if (!texts) return void this.#module.fail();
    [this.#texts, this.#language] = [texts, texts.language];
    this.#show("message", make("p", { role: "status" }, this.#say("loading")));
    this.#link = linkOf(host);
    try {
      const client = await this.#open(typed);
      const next = host.hasAttribute("kiosk") && client.receipt && client.receipt.status !== "waiting";
      if (next) await client.forget();
      if (attempt !== this.#attempt) return;
      if (next) return void this.load();
      hideInvitation();
      this.#client = client;
      const { languages } = client;
      const best = bestLanguage(this.#wanted(languages), languages) ?? texts.language;
      await this.#speak(best, host.getAttribute("lang") || best);
      if (attempt !== this.#attempt) return;
      const { survey, digest, closed, opens, receipt } = client;
      this.#announce("ready", { survey, digest, closed, opens, receipt });
      if (receipt) this.#showThanks(receipt, { before: true });
      else if (closed) this.#showFailure("closed");
      else if (opens) this.#showFailure("not_open", { time: this.#texts.time(opens) });
      else this.#begin();
      if (again && !receipt) this.#focusHeading();
    } catch (error) {
      if (attempt !== this.#attempt) return;
      if (error.place === "invitation" && this.#showInvitation(error.reason, typed)) return;
      tellDeveloper(host, error);
      this.#fail(error, "tampered");
    }
  }

  /**
   * The survey of the link; or a preview, where a script of the page has set that property. No address and no attribute
   * can: people who have answered must be able to believe that they have.
   */
  #open(typed) {
    const host = this.#host;
    if (host.preview) return this.#module.openPreview(host.preview);
    const budget = host.budget ?? host.getAttribute("budget")?.split(" ");
    return this.#module.Client.load(this.#link, { budget, invitation: typed });
  }

  /** The languages to speak, best first: the element's own; otherwise the reader's if there is a choice, or the page's. */
  #wanted(languages) {
    const own = this.#host.getAttribute("lang");
    if (own) return [own];
    return languages.length ? navigator.languages : [this.#host.closest("[lang]")?.lang || "en"];
  }

  /** Speak this language: the survey's texts, and ours as far as there are any. A page may want ours in another one. */
  async #speak(language, ours = language) {
    this.#language = this.#client.useLanguage(language) ?? language;
    this.#texts = await loadTexts(ours, this.#host.texts);
    const { title } = this.#client.survey;
    this.#announce("language", { language: this.#language, direction: directionOf(this.#language), title });
  }

  #say(name, values) {
    return this.#texts.say(name, values);
  }

  #announce(name, detail) {
    this.#host.dispatchEvent(new CustomEvent(`deniable-${name}`, { detail, bubbles: true, composed: true }));
  }

  /** Replace what is shown. */
  #show(name, ...content) {
    const { language } = this.#texts;
    this.#view = make(
      "div",
      { class: `view ${name}`, part: name, lang: language, dir: directionOf(language) },
      ...content,
    );
    // Our own words may be in English around a survey in another language.
    for (const text of this.#view.querySelectorAll("[dir=auto]")) text.lang = this.#language;
    this.#root.replaceChildren(this.#view);
  }

  /** A heading that focus can move to, so that a screen reader goes on where the view begins. */
  #heading(text) {
    return make("h2", { tabindex: "-1" }, text);
  }

  #title(name) {
    return surveyText("h2", this.#client.survey.title, { class: name, tabindex: "-1" });
  }

  #focusHeading() {
    this.#view.querySelector("h2").focus({ preventScroll: true });
    this.#host.scrollIntoView({ block: "start" });
  }

  #drop() {
    this.#steps?.stop();
    this.#steps = null;
    this.#forgetForm();
    this.#receipt = this.#client = null;
    this.#sending = false;
  }

  #forgetForm() {
    this.#form?.clear();
    this.#form = null;
    this.#guard();
  }

  /** Ask before the page is left, as long as there are answers to lose. Without any, no listener: it costs the cache. */
  #guard() {
    const needed = (this.#form?.begun && !this.#host.preview) ?? false;
    if (needed === this.#guarding) return;
    this.#guarding = needed;
    if (needed) window.addEventListener("beforeunload", askBeforeLeaving);
    else window.removeEventListener("beforeunload", askBeforeLeaving);
  }

  /** The page is left, or was restored from the browser's memory: nothing of the answers may be seen again. */
  #forget() {
    this.#form?.clear();
    if (this.#receipt) this.#showThanks(this.#receipt, { before: true });
    else if (this.#sending) this.#show("message", make("p", { role: "status" }, this.#say("status.sending")));
    else if (this.#form) this.#begin();
  }

  /** Ask for the code of an invitation, if there is none yet (`missing`), or if another one would help. */
  #showInvitation(reason, typed) {
    const problem = reason === "missing" ? null : reason;
    if (problem && !this.#texts.has(`invitation.${problem}`)) return false;
    const heading = this.#heading(this.#say("invitation.title"));
    const onCode = (code) => this.load(code);
    this.#show("invitation", ...invitationView({ texts: this.#texts, heading, problem, typed, onCode }));
    if (problem) this.#announce("failed", { reason: `invitation-${problem}` });
    if (typed !== undefined) this.#view.querySelector("input").focus();
    return true;
  }

  // --- the screens before sending -------------------------------------------------------------------------------------

  /** A new form, at the first screen. */
  #begin() {
    this.#steps?.stop();
    this.#steps = new Steps((entry) => this.#move(entry));
    this.#makeForm();
    this.#showStart();
  }

  #makeForm() {
    this.#form = new Form({
      client: this.#client,
      shownQuestions: this.#module.shownQuestions,
      texts: this.#texts,
      onePage: this.#host.hasAttribute("one-page"),
      onNext: () => this.#next(),
      onBack: () => this.#steps.back(),
    });
    this.#guard();
  }

  #next() {
    const { screen, change } = this.#steps.current;
    if (change) this.#steps.back();
    else this.#steps.open(screen + 1 < this.#form.length ? screen + 1 : "review");
  }

  /** Show the screen of an entry of the history, which may be an old one. */
  #move({ screen, change }) {
    if (!this.#form || this.#sending) return;
    if (screen === "start") this.#showStart();
    else if (screen === "how") this.#showMore("how.title", howView(this.#texts));
    else if (screen === "who") this.#showMore("who.title", this.#whoView());
    else if (screen === "review") this.#showReview();
    else this.#showQuestions(screen, change);
    if (typeof screen === "number") this.#focusQuestion();
    else this.#focusHeading();
  }

  #focusQuestion() {
    this.#host.scrollIntoView({ block: "start" });
    if (this.#changing) this.#form.focus(this.#changing);
    else this.#form.focusQuestion();
  }

  #showStart() {
    const open = (screen) => () => this.#steps.open(screen);
    const actions = {
      start: open(0),
      how: open("how"),
      who: open("who"),
      speak: async (language) => {
        await this.#speak(language);
        this.#form.clear();
        this.#makeForm();
        this.#showStart();
        this.#view.querySelector("select").focus();
      },
    };
    const heading = this.#title("survey-title");
    this.#show(
      "start",
      ...startView({
        client: this.#client,
        texts: this.#texts,
        host: this.#host,
        language: this.#language,
        heading,
        actions,
      }),
    );
  }

  #whoView() {
    const pinned = this.#link.split("#")[1]?.toLowerCase().startsWith(this.#client.digest);
    return whoView({ client: this.#client, texts: this.#texts, pinned });
  }

  #showMore(title, content) {
    const close = button(this.#say("button.close"), () => this.#steps.back());
    this.#show("more-view", this.#heading(this.#say(title)), ...content, make("p", { class: "actions wide" }, close));
  }

  #showQuestions(step, change) {
    this.#form.show(step, change);
    this.#show("form", this.#title("running-title"), this.#form.progress, this.#form.node);
  }

  #showReview() {
    const missing = this.#form.firstMissing();
    if (missing >= 0) return void this.#steps.open(missing);
    const { questions } = this.#client;
    const values = this.#form.values();
    const asked = questions.filter(({ id }) => Object.hasOwn(values, id));
    const onChange = (id) => {
      this.#changing = id; // not in the history: the id of a follow-up shows that it was asked
      this.#steps.open(this.#form.stepOf(id), true);
      this.#changing = null;
    };
    const status = make("p", { class: "status", role: "status" });
    const send = button(this.#say("button.send"), () => this.#send(status));
    const back = button(this.#say("button.back"), () => this.#steps.back(), { class: "quiet" });
    this.#show(
      "review",
      this.#heading(this.#say("section.review")),
      ...reviewView({ client: this.#client, questions: asked, values, texts: this.#texts, onChange }),
      status,
      make("p", { class: "actions" }, send, " ", back),
    );
  }

  async #send(status) {
    const [client, attempt] = [this.#client, this.#attempt];
    if (this.#sending || !this.#form) return;
    const values = this.#form.values();
    const take = (asked) =>
      Object.fromEntries(asked.filter(({ id }) => Object.hasOwn(values, id)).map(({ id }) => [id, values[id]]));
    this.#sending = true; // nothing can be changed from here on
    for (const control of this.#view.querySelectorAll("button")) control.disabled = true;
    status.textContent = this.#say("status.sending");
    let receipt, error;
    try {
      receipt = await client.submit(take(client.questions), take(client.survey.segments ?? []));
    } catch (thrown) {
      error = thrown;
    }
    if (attempt !== this.#attempt) return;
    this.#sending = false;
    if (receipt) {
      if (receipt.status !== "preview") this.#announce("submitted", { receipt });
      this.#showThanks(receipt);
      this.#focusHeading();
    } else if (error.reason === "already_answered" && error.receipt) {
      this.#announce("failed", { reason: error.reason });
      this.#showThanks(error.receipt, { before: true });
      this.#focusHeading();
    } else this.#fail(error, "unexpected", "unsure");
  }

  // --- thank you ------------------------------------------------------------------------------------------------------

  /** `before`: on an earlier visit, perhaps by somebody else. What was sent is then nobody's business. */
  #showThanks(receipt, { before = false } = {}) {
    this.#forgetForm();
    this.#steps?.end();
    this.#steps = null;
    this.#receipt = receipt;
    const { status } = receipt;
    const preview = status === "preview";
    before &&= !preview;
    if (before && status !== "waiting")
      return this.#showFailure(["refused", "expired"].includes(status) ? status : "already_answered");
    const attempt = this.#attempt;
    const kiosk = this.#host.hasAttribute("kiosk");
    const isShown = () => attempt === this.#attempt && this.#receipt === receipt;
    const next = () => isShown() && this.load();
    const nextButton = button(this.#say("kiosk.next"), next, { disabled: true });
    const wait = make("span", { class: "hint" }, this.#say("kiosk.wait"));
    const onSettled = () => {
      nextButton.disabled = false;
      wait.remove();
      if (kiosk && !preview) setTimeout(next, KIOSK_PAUSE);
    };
    const again = () => button(this.#say("preview.again"), next);
    const actions = preview ? [again()] : kiosk ? [nextButton, wait] : [this.#removeButton()];
    const heading = this.#heading("");
    const [client, texts] = [this.#client, this.#texts];
    this.#show("thanks", ...thanksView({ client, receipt, texts, before, heading, actions, isShown, onSettled }));
  }

  // --- removing it from this device ---------------------------------------------------------------------------------

  #removeButton() {
    return button(this.#say("button.remove"), () => this.#askToRemove(), { class: "quiet" });
  }

  /** Say what it means first. */
  #askToRemove() {
    const receipt = this.#receipt;
    const unsent = receipt.status === "waiting";
    const remove = button(this.#say("button.removeNow"), () => this.#remove(unsent));
    const keep = button(this.#say("button.keep"), () => this.#showThanks(receipt, { before: true }), { class: "quiet" });
    const about = [unsent ? "remove.unsent" : "remove.sent", "remove.again"].map((name) => this.#say(name));
    this.#showMessage("remove.title", about, [remove, keep]);
  }

  #showMessage(title, sentences, actions = []) {
    this.#show(
      "message",
      this.#heading(this.#say(title)),
      ...sentences.map((text) => make("p", {}, text)),
      make("p", { class: "actions" }, ...actions),
    );
    this.#focusHeading();
  }

  async #remove(unsent) {
    const attempt = this.#attempt;
    try {
      await this.#client.forget({ unsent });
      if (attempt !== this.#attempt) return;
      this.#receipt = null;
      this.#showMessage("remove.doneTitle", [this.#say("remove.done")]);
      this.#announce("removed", {});
    } catch (error) {
      if (attempt === this.#attempt) this.#fail(error, "unexpected");
    }
  }

  // --- failure ------------------------------------------------------------------------------------------------------

  /** Known reasons have words of their own; any other is what `otherwise` says, and a fault what `fault` says. */
  #fail(error, otherwise, fault = "unexpected") {
    const { reason } = error;
    const name = reason === undefined ? fault : this.#texts.has(`failure.${reason}.title`) ? reason : otherwise;
    this.#announce("failed", { reason: reason ?? "unexpected" });
    this.#showFailure(name);
  }

  #showFailure(name, values) {
    // What the server has refused for good is settled: going back could only make a second submission.
    const final = ["closed", "refused", "expired", "already_answered", "unsure"].includes(name);
    const actions = [];
    if (this.#form && !final)
      actions.push(
        button(this.#say("button.answers"), () => {
          this.#showReview();
          this.#focusHeading();
        }),
      );
    else if (["unreachable", "storage", "unexpected", "unsure", "not_open"].includes(name))
      actions.push(button(this.#say("button.again"), () => this.load()));
    if (this.#receipt) actions.push(this.#removeButton());
    const asked = Boolean(this.#form);
    const isNowhere = document.activeElement === document.body; // or it is the page's business where it is
    if (final) this.#forgetForm();
    this.#show(
      "message",
      make(
        "div",
        { role: "alert" },
        this.#heading(this.#say(`failure.${name}.title`, values)),
        make("p", {}, this.#say(`failure.${name}.text`)),
      ),
      actions.length ? make("p", { class: "actions" }, ...actions) : null,
    );
    if (asked) this.#focusHeading();
    else if (isNowhere) this.#view.querySelector("h2").focus({ preventScroll: true });
  }
}
