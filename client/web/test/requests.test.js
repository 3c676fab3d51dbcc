// What leaves this device besides the submission, and how surely it keeps what it has promised to send.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "../src/deniable.js";
import { Account } from "../src/deniable/account.js";
import { Texts } from "../src/deniable/texts.js";
import ENGLISH from "../src/deniable/texts/en.js";
import { totalInWords } from "../src/deniable/wording.js";
import { textbook } from "./surveys.js";

/** As much of the browser's database as the client uses; `durabilities` notes how surely each transaction is kept. */
function fakeDatabase(durabilities) {
  const stores = new Map();
  const later = (request, result) => (setTimeout(() => request.onsuccess?.({ target: { result } })), request);
  const transaction = (names, mode, { durability } = {}) => {
    if (mode === "readwrite") durabilities.push(durability);
    const made = {
      objectStore(name) {
        const { keyPath, autoIncrement, rows } = stores.get(name);
        const matching = (key) => [...rows.values()].filter((row) => key === undefined || row[keyPath] === key);
        return {
          keyPath,
          getAll: (key) => later({}, matching(key)),
          get: (key) => later({}, matching(key)[0]),
          put: (row) => {
            if (autoIncrement) row[keyPath] ??= rows.size + 1;
            rows.set(row[keyPath], row);
          },
          delete: (key) => rows.delete(key),
        };
      },
    };
    setTimeout(() => setTimeout(() => made.oncomplete?.()));
    return made;
  };
  const createObjectStore = (name, options) => {
    stores.set(name, { ...options, rows: new Map() });
    return { createIndex() {} };
  };
  const objectStoreNames = { contains: (name) => stores.has(name), [Symbol.iterator]: () => stores.keys() };
  return {
    open() {
      const request = { result: { transaction, createObjectStore, objectStoreNames, deleteObjectStore() {}, close() {} } };
      setTimeout(() => {
        if (!stores.size) request.onupgradeneeded?.({ target: request, oldVersion: 0 });
        request.onsuccess?.({ target: request });
      });
      return request;
    },
  };
}

const durabilities = [];
globalThis.indexedDB = fakeDatabase(durabilities); // before the client first looks for one

/** The options of every request that a visit makes: it loads a survey, and answers it. */
async function visit(id) {
  const seen = [];
  const real = globalThis.fetch;
  globalThis.fetch = async (url, options) => {
    seen.push(options);
    const [status, text] = options?.method === "POST" ? [201, '{"accepted": 1, "duplicates": 0}'] : [200, textbook(id)];
    return new Response(text, { status, headers: { "Content-Type": "application/json" } });
  };
  try {
    const client = await Client.load(`http://127.0.0.1/s/${id}`);
    const receipt = await client.submit({ q: true });
    assert.ok(receipt.delivered);
  } finally {
    globalThis.fetch = real;
  }
  assert.equal(seen.length, 2);
  return seen;
}

test("no request shows who sends it: no cookie, referrer, language or tag of a cached answer, and no redirect", async () => {
  for (const options of await visit("says-nothing")) {
    const { mode, credentials, referrerPolicy, cache, redirect, headers } = options;
    assert.deepEqual(
      { mode, credentials, referrerPolicy, cache, redirect },
      { mode: "cors", credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", redirect: "error" },
    );
    assert.equal(headers["Accept-Language"], "*");
  }
});

test("the ledger is on disk before anything is sent: every transaction asks the browser for that", async () => {
  await visit("kept-on-disk");
  assert.ok(durabilities.length >= 3, `${durabilities.length}`);
  assert.deepEqual(new Set(durabilities), new Set(["strict"]));
});

test("what is said about all answers together counts delta", () => {
  const texts = new Texts(ENGLISH, undefined, "en");
  const percent = (epsilon, delta) => {
    const total = totalInWords({ parts: [{}], account: new Account(epsilon, delta) }, texts).join(" ");
    return Number(/at most ([\d.]+)% of the time/.exec(total)[1]);
  };
  assert.ok(percent("0.5", "0.01") > percent("0.5", "0"));
  assert.ok(percent("0.4", "0.4") >= 47);
});
