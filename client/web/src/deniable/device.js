// What this device keeps: the surveys it has seen with the booklets it has drawn, the tokens for those with invitations,
// and the ledger of what it has spent. The ledger's waiting entries are the outbox. What was delivered leaves nothing but
// what it has spent.
//
// May not: hold an answer, or the time of one: a submission that waits has a day, until it is settled. Only published
// documents, booklets, tokens and randomised submissions are written.

import { Account, DEFAULT_BUDGET } from "./account.js";
import { DeniableError, refuse } from "./checks.js";

const KEYS = { surveys: "address", ledger: "content", tokens: "digest" };
const memory = { surveys: new Map(), ledger: new Map(), tokens: new Map() };
const PATIENCE = 10_000;
const LONGEST_WAIT = 14; // days; each attempt shows its server that this device is back
let asked;

/**
 * Whether what is kept outlives the page. Some private windows have no database: then it is kept in memory. Any other
 * failure hides a ledger that counts, and must not be taken for an empty one.
 */
export function isPersistent() {
  asked ??= open().then(
    (database) => (database.close(), true),
    (error) => {
      if (["NotSupportedError", "SecurityError", "InvalidStateError"].includes(error.name)) return false;
      asked = undefined;
      fail(error);
    },
  );
  return asked;
}

const fail = (error) =>
  refuse("", "storage", `the browser's storage cannot be used (${error?.name}). Free some space, then reload the page`);

function open() {
  let timer;
  return new Promise((resolve, reject) => {
    if (!globalThis.indexedDB) throw new DOMException("", "NotSupportedError");
    const request = indexedDB.open("deniable", 1);
    const giveUp = () => {
      reject(new DOMException("", "TimeoutError"));
      request.onsuccess = () => request.result.close();
    };
    timer = setTimeout(giveUp, PATIENCE);
    request.onblocked = giveUp;
    request.onupgradeneeded = () => {
      for (const name in KEYS) request.result.createObjectStore(name, { keyPath: KEYS[name] });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  }).finally(() => clearTimeout(timer));
}

/**
 * What `work` makes of the rows of a store, with what it puts and removes: one transaction, which other tabs wait for. A
 * store that is missing, or a row that cannot be read, is an error, and nothing is written.
 */
async function transact(name, work) {
  const key = KEYS[name];
  if (!(await isPersistent())) {
    const rows = memory[name];
    return work([...rows.values()], (row) => rows.set(row[key], row), (row) => rows.delete(row[key]));
  }
  let database;
  try {
    database = await open();
    return await new Promise((resolve, reject) => {
      let result;
      const transaction = database.transaction(name, "readwrite", { durability: "strict" });
      const store = transaction.objectStore(name);
      store.getAll().onsuccess = ({ target }) => {
        try {
          result = work(target.result, (row) => store.put(row), (row) => store.delete(row[key]));
        } catch (error) {
          reject(error);
          transaction.abort();
        }
      };
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(transaction.error);
    });
  } catch (error) {
    throw error instanceof DeniableError ? error : fail(error);
  } finally {
    database?.close();
  }
}

export const findDocument = (address) =>
  transact("surveys", (rows) => rows.find((row) => row.address === address)?.published);

/**
 * Remembers a survey, and this device's booklet of it: the first that was drawn stays, in whichever tab and at whichever
 * address. Refuses another document at this address, and other booklets of the same survey, unless it is `trusted`: then
 * it takes their place.
 */
export const keepSurvey = ({ content, digest, booklets }, address, published, trusted, draw) =>
  transact("surveys", (rows, put, remove) => {
    const others = rows.filter(
      (row) => row.digest !== digest && (row.address === address || row.content === content),
    );
    if (others.length && !trusted) {
      const seen = "a published survey never changes, but this device has seen another document of it";
      refuse("", "changed", `${seen}. Ask the people who run the survey`);
    }
    others.forEach(remove);
    const { booklet = draw() } = rows.find((row) => row.digest === digest) ?? {};
    if (!booklets[booklet]) throw new RangeError();
    put({ address, content, digest, published, booklet });
    return booklet;
  });

/** For invitations.js: what `work` makes of the tokens, each by the digest of its document, finished or not. */
export const keepTokens = (work) => transact("tokens", work);

/** Removes what the device keeps of a survey in this store. */
export const drop = (name, content) =>
  transact(name, (rows, _, remove) => rows.filter((row) => row.content === content).forEach(remove));

const settled = ({ content, epsilon, delta }, status) => ({ content, epsilon, delta, status });

/** What `work` makes of a survey's row, and of the sum of all. What has waited too long leaves only what it spent. */
const readLedger = (content, work) =>
  transact("ledger", (rows, put, remove) => {
    let [found, spent] = [undefined, new Account()];
    for (let row of rows) {
      if (row.status === "waiting" && !(JSON.parse(row.body) && row.day >= today() - LONGEST_WAIT)) {
        put((row = settled(row, "expired")));
      }
      spent = spent.plus(row);
      if (row.content === content) found = row;
    }
    return work(found, put, remove, spent);
  });

/** Days since 1970: the finest time that is ever kept. */
export const today = () => Math.floor(Date.now() / 86_400_000);

/**
 * What the ledger has for a survey. If it has nothing, an entry that the budget does not allow is refused, and one with a
 * body is written.
 */
export const enter = (entry, budget) =>
  readLedger(entry.content, (earlier, put, _, spent) => {
    if (earlier) return earlier;
    if (!spent.plus(entry).within(budget)) {
      const [own, before, limit] = [entry, spent, budget].map(({ epsilon, delta }) => `ε = ${epsilon}, δ = ${delta}`);
      refuse("", "budget", `this survey spends ${own}, and ${before} is already spent: more than the budget of ${limit}`);
    }
    if (entry.body) return put(entry), entry;
  });

/** The status of a submission, after recording how its delivery ended if it has. Delivered stays delivered. */
export const settle = ({ content, id }, status) =>
  readLedger(content, (row, put) => {
    if (!row || (row.id ?? id) !== id) return "forgotten";
    if (status && row.status !== "delivered") put((row = settled(row, status)));
    return row.status;
  });

/**
 * Removes the survey, its booklet, token and entry in the ledger; a submission that is still to be delivered only where
 * `unsent` says so. The survey can be answered again then, with a booklet drawn afresh, and nobody counts what was spent.
 */
export async function forgetSurvey(content, unsent) {
  await readLedger(content, (entry, _, remove) => {
    if (entry?.status === "waiting" && !unsent) refuse("", "waiting", "the submission is not delivered yet");
    if (entry) remove(entry);
  });
  await drop("tokens", content);
  await drop("surveys", content);
}

/** A budget as it was written, an epsilon or an epsilon and a delta: 0.3 means 0.3. The rest is that of the default. */
export function exactBudget(budget) {
  const [epsilon = DEFAULT_BUDGET.epsilon, delta = DEFAULT_BUDGET.delta, ...more] = [budget ?? []].flat();
  if (more.length || [epsilon, delta].some((amount) => !/^\d+(\.\d{1,12})?$/.test(amount))) {
    throw new RangeError("budget must be a decimal such as 3.5, or two of them: epsilon and delta");
  }
  return new Account(`${epsilon}`, `${delta}`);
}
