// Deniable in the browser: a survey, verified on this device, and the one submission that this device makes to it.
//
// May not: write, log or send an answer. submit() randomises first, and hands on nothing but the randomised submission.

import {
  atMost,
  describe,
  hurry,
  insist,
  moment,
  receiptOf,
  receipts,
  refuseSecond,
  send,
} from "./deniable/delivery.js";
import {
  drop,
  enter,
  exactBudget,
  findDocument,
  forgetSurvey,
  isPersistent,
  keepSurvey,
  keepTokens,
  today,
} from "./deniable/device.js";
import { Account, DEFAULT_BUDGET } from "./deniable/account.js";
import { DeniableError, has, isTable, refuse } from "./deniable/checks.js";
import { documentIn, readDocument } from "./deniable/protocol.js";
import { drawBooklet, randomizeVerified, shownQuestions, spoken } from "./deniable/randomizer.js";
import { parseAddress, request } from "./deniable/transport.js";

export { Account, DEFAULT_BUDGET, DeniableError, shownQuestions };

const invitations = () => import("./deniable/invitations.js");

/**
 * The verified document: `survey`, `parts` with their items and paths, `booklets`, `digest`, `content` (of the survey
 * alone), the `account` of one submission, `languages`, `inLanguage(...wanted)`, which gives the same in another one, and
 * `randomize(answers, segments, { booklet, token })`. With `pinned`, any other document is refused.
 */
export async function verify(source, pinned) {
  const verified = await readDocument(source, pinned, { tables: () => import("./deniable/tables.js"), invitations });
  const inLanguage = (...wanted) => {
    const document = documentIn(verified, wanted);
    const randomize = (answers, segments = {}, { booklet, token } = {}) =>
      randomizeVerified(document, answers, segments, booklet, token);
    return Object.freeze({ ...document, inLanguage, randomize });
  };
  return inLanguage();
}

/** Published text and answers in, a submission out; no network, no storage. Draws the booklet where none is given. */
export async function randomize(source, answers, segments, options) {
  return (await verify(source)).randomize(answers, segments, options);
}

export class Client {
  #document;
  #booklet;
  #token;
  #entry;
  #budget;
  #timeout;

  /**
   * Loads a survey, and delivers what an earlier visit left in the outbox for it. `budget` is the most that all surveys
   * answered on this site may spend together: an epsilon, or an epsilon and a delta as in [2, "0.00001"]; without it, ten
   * and a millionth. Every `timeout` is in seconds. `invitation` is a code as it was typed, if the link has none.
   */
  static async load(link, { budget, timeout = 10, invitation } = {}) {
    const { url, survey, digest: pinned, invitation: code } = parseAddress(`${link}`, globalThis.document?.baseURI);
    const client = new Client();
    client.#budget = exactBudget(budget);
    client.#timeout = timeout;
    const response = await request(url, milliseconds(timeout)).catch((error) => ({ error }));
    const offline = !isDocument(response);
    const published = offline ? await findDocument(url) : response.text;
    if (published === undefined) {
      if (response.error instanceof DeniableError) throw response.error;
      refuse("", "unreachable", `the survey cannot be loaded (${describe(response)}). Check the link and the network`);
    }
    const document = await verify(published, pinned);
    const { digest, content, epsilon, account } = document;
    if (document.survey.id !== survey) refuse("survey.id", "mismatch", `the link is for the survey ${survey}`);
    client.#entry = { content, epsilon, delta: account.delta, address: url };
    const header = (name) => response.headers?.get(`Deniable-${name}`);
    const opens = header("Status") === "scheduled" ? moment(header("Opens")) : null;
    const earlier = await enter(client.#entry, client.#budget);
    // Drawn before anything is asked, and kept: no answer and no reload can have an influence on it.
    const booklet = await keepSurvey(document, url, published, pinned || earlier, () => drawBooklet(document));
    if (document.issuer && earlier) await drop("tokens", content);
    else if (document.issuer && !opens) {
      // Before anything is asked: what entitles this device is fetched now, and spent much later.
      const ask = (body, read) => insist(`${url}/tokens`, body, milliseconds(timeout), read);
      client.#token = await (await invitations()).tokenFor(document, invitation ?? code, keepTokens, ask);
    }
    client.#document = document;
    client.#booklet = booklet;
    Object.assign(client, {
      booklet,
      languages: document.languages,
      digest,
      epsilon,
      account,
      offline,
      closed: header("Status") === "closed",
      opens,
      persistent: await isPersistent(),
      fingerprint: client.#token?.fingerprint,
      receipt: earlier ? receiptOf(earlier, url) : null,
    });
    client.useLanguage();
    return client;
  }

  /** Has the texts of the survey in the best of these languages, and gives that one: undefined where it names none. */
  useLanguage(...wanted) {
    return Object.assign(this, spoken(this.#document, this.#booklet, wanted)).language;
  }

  /**
   * Randomises the answers, to the questions of this device's booklet or to all, writes the submission to the outbox, and
   * waits up to `timeout` seconds for its delivery. Once written it is never randomised again: where the time runs out,
   * delivery goes on, at later visits if need be, for up to 14 days.
   */
  async submit(answers, segments = {}, { timeout = this.#timeout } = {}) {
    const patience = milliseconds(timeout);
    if (this.receipt) refuseSecond(this.receipt);
    if (this.closed) refuse("", "closed", "the survey no longer accepts submissions");
    if (this.opens) refuse("", "not_open", "the survey was not open yet. Load it again when it is");
    if (!this.#entry) refuse("", "forgotten", "this device has forgotten the survey. Load it again");
    const submission = this.#document.randomize(answers, segments, { booklet: this.#booklet, token: this.#token });
    const body = JSON.stringify(submission);
    const entry = { ...this.#entry, status: "waiting", id: submission.id, body, day: today() };
    try {
      this.receipt = await send(entry, this.#budget, patience);
      return this.receipt;
    } catch (error) {
      this.receipt = error.receipt ?? null;
      this.closed ||= error.reason === "closed";
      throw error;
    } finally {
      if (this.#token && this.receipt) await drop("tokens", this.#entry.content).catch(() => {});
    }
  }

  /**
   * Removes all that this device keeps of the survey. While its submission waits in the outbox, this is refused, unless
   * `unsent` says that it need not be sent. Loaded again, the survey can be answered once more, with a new booklet: two
   * submissions reveal more than one.
   */
  async forget({ unsent = false } = {}) {
    if (this.#entry) {
      const { content, address } = this.#entry;
      await forgetSurvey(content, unsent);
      receipts.delete(content + address);
    }
    this.#entry = this.receipt = null;
  }

  /** Delivers what waits for this survey, for up to `timeout` seconds. True when nothing waits. */
  async flush(timeout = this.#timeout) {
    hurry();
    await atMost(milliseconds(timeout), this.receipt?.settled);
    return this.receipt?.status !== "waiting";
  }
}

const openPreview = async (given) =>
  (await import("./deniable/preview.js")).openPreview(given, { verify, drawBooklet, spoken });

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
    static observedAttributes = ["src", "budget", "lang"];
    #present = false;

    constructor() {
      super();
      this.attachShadow({ mode: "open" }); // what is inside the element was for pages without this module
      // Frameworks set a property only where an element has it; it may have been set before this module was loaded.
      for (const name of ["texts", "budget", "preview"]) {
        let value = this[name];
        const set = (given) => {
          value = given;
          this.attributeChangedCallback();
        };
        Object.defineProperty(this, name, { get: () => value, set });
      }
    }

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
      const fail = () => this.#fail();
      if (this.#present) element.connect(this, { Client, shownQuestions, openPreview, fail });
      else element.disconnect(this);
    }

    /** What would render, and has the words for it, did not arrive. */
    #fail() {
      const text = "The survey cannot be shown: a part of this page did not arrive. Please load the page again.";
      const told = Object.assign(document.createElement("p"), { role: "alert", textContent: text });
      this.shadowRoot.replaceChildren(told);
      const detail = { reason: "unreachable" };
      this.dispatchEvent(new CustomEvent("deniable-failed", { detail, bubbles: true, composed: true }));
    }
  }
  customElements.define("deniable-survey", SurveyElement);
}
