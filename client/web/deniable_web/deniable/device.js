// What this device keeps: the documents it has seen, the booklets it has drawn, and the ledger of what it has spent. The
// ledger's waiting entries are the outbox.
//
// May not: hold an answer, or the time of one. Only published documents, booklets and randomised submissions are written.

import { DeniableError, refuse, sum, units } from "./checks.js";

const memory = { documents: [], booklets: [], ledger: [] };
const PATIENCE = 10_000;
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
      for (const name of ["documents", "booklets"]) request.result.createObjectStore(name, { keyPath: "address" });
      const ledger = request.result.createObjectStore("ledger", { keyPath: "number", autoIncrement: true });
      for (const key of ["id", "address", "digest"]) ledger.createIndex(key, key, { unique: true });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  }).finally(() => clearTimeout(timer));
}

/** What `work` makes of the rows of a store, with what it puts and removes: one transaction, which other tabs wait for. */
async function transact(name, key, work) {
  if (!(await isPersistent())) {
    const rows = memory[name];
    const put = (row) => rows.includes(row) || rows.push(row);
    return work(rows.filter(({ address }) => !key || address === key), put, (row) => rows.splice(rows.indexOf(row), 1));
  }
  let database;
  try {
    database = await open();
    return await new Promise((resolve, reject) => {
      let result;
      const transaction = database.transaction(name, "readwrite", { durability: "strict" });
      const store = transaction.objectStore(name);
      store.getAll(key).onsuccess = ({ target }) => {
        try {
          result = work(target.result, (row) => store.put(row), (row) => store.delete(row[store.keyPath]));
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

export const findDocument = (address) => transact("documents", address, ([row]) => row?.published);

/** Remembers a document, unless one is known for this address and no link pins this one. Gives the remembered one. */
export const keepDocument = (address, published, pinned) =>
  transact("documents", address, ([row], put) => {
    if (row && !pinned) return row.published;
    put(Object.assign(row ?? { address }, { published }));
    return published;
  });

/** The row with this device's booklet of a survey: the first that was drawn, in whichever tab, stays. */
export const keepBooklet = (survey, draw) =>
  transact("booklets", pinned(survey), ([row], put) => {
    if (!row) put((row = { address: pinned(survey), booklet: draw() }));
    return row;
  });

const pinned = ({ address, digest }) => `${address}#${digest}`;

const readLedger = (work) => transact("ledger", undefined, work);
const sameSurvey = (rows, { address, digest }) => rows.find((row) => row.address === address || row.digest === digest);

/** What the ledger holds for a survey: at this address, or with this digest at any. */
export const findEntry = (survey) => readLedger((rows) => sameSurvey(rows, survey));

export const waiting = () => readLedger((rows) => rows.filter(({ status }) => status === "waiting"));

/** Writes the entry if its survey is not in the ledger and the budget allows it. Gives what the ledger then holds. */
export const record = (entry, budget) =>
  readLedger((rows, put) => {
    const earlier = sameSurvey(rows, entry);
    if (earlier) return earlier;
    const spent = sum(rows.map(({ epsilon }) => epsilon));
    if (budget !== undefined && units(sum([spent, entry.epsilon])) > units(budget)) {
      const left = `${spent} of the budget of ${budget} is already spent`;
      refuse("", "budget", `this survey spends ${entry.epsilon}, but ${left}`);
    }
    put(entry);
    return entry;
  });

/** The status of an entry, after recording how its delivery ended if it has. Delivered stays delivered. */
export const settle = (id, outcome) =>
  readLedger((rows, put) => {
    const row = rows.find((row) => row.id === id);
    if (row && outcome && row.status !== "delivered") put(Object.assign(row, outcome));
    return row;
  });

/**
 * Removes the survey's document, booklet and entry in the ledger, unless its submission is still to be delivered. The
 * survey can be answered again then, with a booklet drawn afresh, and nobody counts what was spent before.
 */
export async function forgetSurvey(survey) {
  const { address } = survey;
  await readLedger((rows, _, remove) => {
    const entry = sameSurvey(rows, survey);
    if (entry?.status === "waiting") refuse("", "waiting", "the submission is not delivered yet");
    if (entry) remove(entry);
  });
  const forget = (rows, _, remove) => rows.forEach(remove);
  await transact("booklets", pinned(survey), forget);
  await transact("documents", address, forget);
}

/** The budget as the decimal that was written: 0.3 means 0.3. */
export function exactBudget(budget) {
  if (budget === undefined || budget === null) return undefined;
  if (!/^\d+(\.\d{1,12})?$/.test(budget)) throw new RangeError("budget must be a decimal such as 10 or 3.5");
  return sum([`${budget}`]);
}
