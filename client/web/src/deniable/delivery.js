// Delivery: what the server's responses mean, when a submission is tried again, and its receipt.
//
// May not: change a byte of what it sends, or know an answer: it gets entries of the ledger, which hold none. It may
// send a submission twice, since a delivery that was not confirmed may yet have happened; the server counts it once. It
// may not send what waits for another survey or address: its server would learn when this device visits others.

import { enter, settle } from "./device.js";
import { DeniableError, isTable, refuse } from "./checks.js";
import { request } from "./transport.js";

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 60_000;
const LONGEST_RETRY_AFTER = 3_600_000;
const ATTEMPT = 30_000;

// A stranger's text, fit for a message: one line, and not too much of it.
const printable = (text) => text.slice(0, 300).replace(/[\p{C}\p{Z}]/gu, " ").trim();

/** What came instead of what was asked for. */
export const describe = ({ error, status, type }) =>
  printable(error ? `${error}` : `the server answered ${status} with ${type || "no content type"}`);

const isCount = (value) => Number.isInteger(value) && value >= 0;

/**
 * What a response to a submission means. Only one in the server's own form settles anything: what a captive portal or
 * a proxy says is not the server's word, and trying again is harmless, since the same submission counts once.
 */
export function judge(response, now) {
  const { status, type, text } = response;
  try {
    const tree = JSON.parse(text);
    if (status === 200 || status === 201) {
      const { accepted, duplicates } = tree;
      if (isCount(accepted) && isCount(duplicates) && accepted + duplicates === 1) return { status: "delivered" };
    } else if (tree?.type === "urn:deniable:problem:survey-not-open") {
      // Only a wrong clock or a changed schedule gets here: it is delivered once the survey is open.
    } else if ([400, 409, 413, 415, 422].includes(status) && type === "application/problem+json" && isTable(tree)) {
      const [kind, title, detail] = ["type", "title", "detail"].map((key) => printable(tree[key] ?? ""));
      return { status: "refused", refusal: { type: kind, title, detail } };
    }
  } catch {
    // not in the server's form
  }
  const after = retryAfter(response.headers.get("Retry-After") ?? "", now);
  return { trouble: describe(response), reached: true, after };
}

/** A time that a response names. */
export const moment = (value) => new Date(value);

/** The milliseconds that a response asks to wait, given in seconds or as a date, and at most an hour. */
export function retryAfter(value, now) {
  const asked = /^\d+$/.test(value.trim()) ? value * 1000 : Date.parse(value) - now;
  return Math.min(Math.max(asked || 0, 0), LONGEST_RETRY_AFTER);
}

/** Exponential backoff with full jitter, so that devices that failed together do not come back together. */
export function jitter(failures) {
  const [chance] = crypto.getRandomValues(new Uint32Array(1));
  return (chance / 2 ** 32) * Math.min(FIRST_PAUSE * 2 ** failures, LONGEST_PAUSE);
}

const post = (address, body, timeout, keepalive) =>
  request(address, timeout, { method: "POST", body, headers: { "Content-Type": "application/json" }, keepalive });

async function attempt({ address, body }) {
  try {
    const keepalive = body.length < 60_000; // it then outlives the page; browsers allow no more
    return judge(await post(`${address}/submissions`, body, ATTEMPT, keepalive), Date.now());
  } catch (error) {
    return { trouble: describe({ error }), reached: false, after: 0 };
  }
}

const pauses = [];

/** Waits as long as the server asked for, and then longer unless someone is in a hurry. */
const pause = (asked, longer) =>
  new Promise((resolve) => {
    const earliest = performance.now() + asked;
    const timer = setTimeout(resolve, asked + longer);
    pauses.push(() => {
      clearTimeout(timer);
      setTimeout(resolve, earliest - performance.now());
    });
  });

/** Sends the same for up to `patience` milliseconds, until `read` makes something of a response, and gives that. */
export async function insist(address, body, patience, read) {
  const until = performance.now() + patience;
  for (let failures = 0; ; failures++) {
    const left = Math.max(Math.ceil(until - performance.now()), 1);
    const response = await post(address, body, left).catch((error) => ({ error }));
    const found = read(response);
    if (found) return found;
    const [after, longer] = [retryAfter(response.headers?.get("Retry-After") ?? "", Date.now()), jitter(failures)];
    if (performance.now() + after + longer > until) {
      refuse("", "unreachable", `the server does not answer (${describe(response)}). Check the network`);
    }
    await pause(after, longer);
  }
}

/** Cuts short every pause, down to what the server asked for. */
export const hurry = () => pauses.splice(0).forEach((cut) => cut());
globalThis.addEventListener?.("online", hurry);

/**
 * One submission, as it is sent: this is all that the server, or anyone, gets to know. Its status is live. Once it is
 * settled, the ledger has no reports any more: at a later visit the receipt is empty.
 */
class Receipt {
  #status;
  #refusal = {};
  #trouble = null;
  #reached = false;

  constructor(entry, address) {
    const { epsilon, delta, status, body = "{}" } = entry;
    const { id, digest, booklet, reports = [], segments = {} } = JSON.parse(body);
    this.#status = status;
    const settled = this.#deliver(entry, address);
    Object.freeze(Object.assign(this, { id, digest, booklet, reports, segments, epsilon, delta, settled }));
  }

  /** "waiting", "delivered", "refused", "expired" (given up after two weeks), or "forgotten" on this device. */
  get status() {
    return this.#status;
  }

  get delivered() {
    return this.#status === "delivered";
  }

  /** The server's reason, where it has refused the submission for good; empty at a later visit. */
  get refused() {
    return this.#status === "refused" ? this.#refusal : null;
  }

  /** Why the last attempt to deliver it failed. */
  get trouble() {
    return this.#trouble;
  }

  /** Whether a server, or somebody in its place, responded to that attempt. */
  get reached() {
    return this.#reached;
  }

  async #deliver(entry, address) {
    for (let failures = 0; this.#status === "waiting" && entry.address === address; failures++) {
      const { status, refusal, trouble, reached, after } = await attempt(entry);
      if (trouble) {
        this.#trouble = trouble;
        this.#reached = reached;
        await pause(after, jitter(failures));
      }
      this.#refusal = refusal ?? this.#refusal;
      // Another tab may have been faster. Where the ledger cannot be written, the next visit sends it once more.
      this.#status = await settle(entry, status).catch(() => status ?? "waiting");
      // What this page has forgotten ends here, even where the ledger cannot be read.
      if (receipts.get(entry.content + address) !== this) this.#status = "forgotten";
    }
    this.#trouble = null;
    return this;
  }
}

export const receipts = new Map(); // by survey and address

/** The one receipt of an entry in this page. One that waits for this address is on its way from now on. */
export function receiptOf(entry, address) {
  const key = entry.content + address;
  let receipt = receipts.get(key);
  if (!receipt || (entry.id ?? receipt.id) !== receipt.id) receipts.set(key, (receipt = new Receipt(entry, address)));
  return receipt;
}

const refuseWith = (receipt, reason, message) => {
  throw Object.assign(new DeniableError("", reason, message), { receipt });
};

export const refuseSecond = (receipt) =>
  refuseWith(receipt, "already_answered", "this device has already answered this survey. Nothing more was sent");

/** Writes an entry to the ledger, and waits for its delivery, but not for long. */
export async function send(entry, budget, patience) {
  const kept = await enter(entry, budget);
  const receipt = receiptOf(kept, entry.address);
  if (kept.id !== entry.id) refuseSecond(receipt);
  await atMost(patience, receipt.settled);
  if (receipt.refused) {
    const { type, title, detail } = receipt.refused;
    const reason = type === "urn:deniable:problem:survey-closed" ? "closed" : "refused";
    const words = [title, detail].filter(Boolean).join(": ") || "it gave no reason";
    refuseWith(receipt, reason, `the server refused the submission for good: ${words}`);
  }
  return receipt;
}

/** Waits for a promise, but not for long. */
export async function atMost(patience, promise) {
  let timer;
  await Promise.race([promise, new Promise((resolve) => (timer = setTimeout(resolve, patience)))]);
  clearTimeout(timer);
}
