// What this device keeps: the documents it has seen, and the ledger of what it has spent. The ledger's waiting entries
// are the outbox.
//
// May not: hold an answer, or the time of one. Only published documents and randomised submissions are written.

import { DeniableError, refuse } from "./protocol.js";

const memory = { documents: [], ledger: [] };
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
      request.result.createObjectStore("documents", { keyPath: "address" });
      const ledger = request.result.createObjectStore("ledger", { keyPath: "number", autoIncrement: true });
      for (const key of ["id", "address", "digest"]) ledger.createIndex(key, key, { unique: true });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  }).finally(() => clearTimeout(timer));
}

/** What `work` makes of the rows of a store, and of those it puts there: one transaction, which other tabs wait for. */
async function transact(name, key, work) {
  if (!(await isPersistent())) {
    const rows = memory[name];
    return work(rows.filter(({ address }) => !key || address === key), (row) => rows.includes(row) || rows.push(row));
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
          result = work(target.result, (row) => store.put(row));
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

// --- budgets, exactly: 0.1 + 0.2 is 0.3 here ----------------------------------------------------------------------

const units = (text) => {
  const [whole, places = ""] = text.split(".");
  return BigInt(whole + places.padEnd(12, "0"));
};

/** The sum of decimals, as a decimal. */
export function sum(amounts) {
  const digits = String(amounts.reduce((total, amount) => total + units(amount), 0n)).padStart(13, "0");
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, "");
}

/** The budget as the decimal that was written: 0.3 means 0.3. */
export function exactBudget(budget) {
  if (budget === undefined || budget === null) return undefined;
  if (!/^\d+(\.\d{1,12})?$/.test(budget)) throw new RangeError("budget must be a decimal such as 10 or 3.5");
  return sum([`${budget}`]);
}
