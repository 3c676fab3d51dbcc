// Deniable in the browser: a survey, verified on this device, and the one submission that this device makes to it.
//
// May not: write, log or send an answer. submit() randomises first, and hands on nothing but the randomised submission.

import { describe, flush, receiptOf, refuseSecond, send } from "./deniable/delivery.js";
import {
  exactBudget,
  findDocument,
  findEntry,
  forgetSurvey,
  isPersistent,
  keepBooklet,
  keepDocument,
  waiting,
} from "./deniable/device.js";
import { DeniableError, has, isTable, refuse } from "./deniable/checks.js";
import { contrast, expFloor, largestFavour, readDocument } from "./deniable/protocol.js";
import { askedIn, drawBooklet, randomizeVerified, shownQuestions } from "./deniable/randomizer.js";
import { parseAddress, request } from "./deniable/transport.js";

export { contrast, DeniableError, expFloor, largestFavour, shownQuestions };

/**
 * The verified document: `survey`, `parts` with their items and paths, `booklets`, `digest`, the `epsilon` and `delta`
 * of one submission, and `randomize(answers, segments, { booklet })`. With `pinned`, any other document is refused.
 */
export async function verify(source, pinned) {
  const document = await readDocument(source, pinned);
  const randomize = (answers, segments = {}, { booklet } = {}) =>
    randomizeVerified(document, answers, segments, booklet);
  return Object.freeze({ ...document, randomize });
}

/** Published text and answers in, a submission out; no network, no storage. Draws the booklet where none is given. */
export async function randomize(source, answers, segments, options) {
  return (await verify(source)).randomize(answers, segments, options);
}

export class Client {
  #randomize;
  #entry;
  #budget;
  #timeout;

  /**
   * Loads a survey, and delivers what an earlier visit left in the outbox. `budget`, a number or a decimal as text, is
   * the most epsilon that all surveys answered on this site may spend together. Every `timeout` is in seconds.
   */
  static async load(link, { budget, timeout = 10 } = {}) {
    const { url, survey, digest: pinned } = parseAddress(`${link}`, globalThis.document?.baseURI);
    const loading = request(url, milliseconds(timeout)).catch((error) => ({ error }));
    const client = new Client();
    client.#budget = exactBudget(budget);
    client.#timeout = timeout;
    (await waiting()).forEach(receiptOf);
    const response = await loading;
    const offline = !isDocument(response);
    const published = offline ? await findDocument(url) : response.text;
    if (published === undefined) {
      if (response.error instanceof DeniableError) throw response.error;
      refuse("", "unreachable", `the survey cannot be loaded (${describe(response)}). Check the link and the network`);
    }
    const document = await verify(published, pinned);
    if (document.survey.id !== survey) refuse("survey.id", "mismatch", `the link is for the survey ${survey}`);
    if (!offline && (await keepDocument(url, published, pinned)) !== published) {
      const seen = "a published survey never changes, but this device has seen another document here";
      refuse("", "changed", `${seen}. Ask the people who run the survey`);
    }
    const { digest, epsilon } = document;
    client.#entry = { address: url, digest, epsilon, status: "waiting" };
    const earlier = await findEntry(client.#entry);
    // Drawn before anything is asked, and kept: no answer and no reload can have an influence on it.
    const kept = earlier?.digest === digest && receiptOf(earlier);
    const { booklet } = kept || (await keepBooklet(client.#entry, () => drawBooklet(document)));
    client.#randomize = (answers, segments) => document.randomize(answers, segments, { booklet });
    return Object.assign(client, {
      survey: document.survey,
      booklet,
      questions: Object.freeze(askedIn(document, booklet)),
      parts: Object.freeze(document.booklets[booklet].parts.map((index) => document.parts[index])),
      digest,
      epsilon,
      delta: document.delta,
      offline,
      closed: response.headers?.get("Deniable-Status") === "closed",
      persistent: await isPersistent(),
      receipt: earlier ? receiptOf(earlier) : null,
    });
  }

  /**
   * Randomises the answers, to the questions of this device's booklet or to all, writes the submission to the outbox, and
   * waits up to `timeout` seconds for its delivery. Once written it is never randomised again: where the time runs out,
   * delivery goes on, at a later visit if need be.
   */
  async submit(answers, segments = {}, { timeout = this.#timeout } = {}) {
    const patience = milliseconds(timeout);
    if (this.receipt) refuseSecond(this.receipt);
    if (this.closed) refuse("", "closed", "the survey no longer accepts submissions");
    if (!this.#entry) refuse("", "forgotten", "this device has forgotten the survey. Load it again");
    const submission = this.#randomize(answers, segments);
    const entry = { ...this.#entry, id: submission.id, body: JSON.stringify(submission) };
    try {
      this.receipt = await send(entry, this.#budget, patience);
      return this.receipt;
    } catch (error) {
      this.receipt = error.receipt ?? null;
      this.closed ||= error.reason === "closed";
      throw error;
    }
  }

  /**
   * Removes all that this device keeps of the survey; refused while its submission waits in the outbox. Loaded again, the
   * survey can be answered once more, with a new booklet: two submissions reveal more than one.
   */
  async forget() {
    if (this.#entry) await forgetSurvey(this.#entry);
    this.#entry = this.receipt = null;
  }

  /** Delivers what waits in the outbox, of other surveys too, for up to `timeout` seconds. True when nothing waits. */
  flush(timeout = this.#timeout) {
    return flush(milliseconds(timeout));
  }
}

/** Whether this claims to be a document. If not, it is a portal's or a proxy's word, and as good as no network. */
function isDocument({ status, text }) {
  try {
    const tree = JSON.parse(text);
    return status === 200 && isTable(tree) && has(tree, "deniable");
  } catch {
    return false;
  }
}

function milliseconds(timeout) {
  if (!(timeout >= 0 && timeout <= 86_400)) throw new RangeError("timeout must be from 0 to 86400 seconds");
  return timeout * 1000;
}

// <deniable-survey src="/s/campus-health">: what renders the questionnaire is loaded only where there is one.
if (globalThis.customElements && !customElements.get("deniable-survey")) {
  class SurveyElement extends HTMLElement {
    static observedAttributes = ["src"];
    // Frameworks set a property only where an element has it; it may have been set before this module was loaded.
    texts = this.texts;
    budget = this.budget;
    #present = false;

    connectedCallback() {
      this.#update(true);
    }

    disconnectedCallback() {
      this.#update(false);
    }

    attributeChangedCallback() {
      if (this.#present) this.#update(true);
    }

    async #update(present) {
      this.#present = present;
      let element;
      try {
        element = await import("./deniable/survey-element.js");
      } catch {
        if (this.#present) this.#fail();
        return;
      }
      if (this.#present) element.connect(this, { Client, shownQuestions });
      else element.disconnect(this);
    }

    /** What would render, and has the words for it, did not arrive. */
    #fail() {
      const text = "The survey cannot be shown: a part of this page did not arrive. Please load the page again.";
      const told = Object.assign(document.createElement("p"), { role: "alert", textContent: text });
      (this.shadowRoot ?? this.attachShadow({ mode: "open" })).replaceChildren(told);
      const detail = { reason: "unreachable" };
      this.dispatchEvent(new CustomEvent("deniable-failed", { detail, bubbles: true, composed: true }));
    }
  }
  customElements.define("deniable-survey", SurveyElement);
}
