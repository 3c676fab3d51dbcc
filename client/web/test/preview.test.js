// The preview, without a browser: what it asks and randomises is real, and it has no way to send or store anything.
import assert from "node:assert/strict";
import { test } from "node:test";

import { verify } from "../src/deniable.js";
import { openPreview } from "../src/deniable/preview.js";
import { drawBooklet, spoken } from "../src/deniable/randomizer.js";
import { document, inTwoLanguages, SURVEY } from "./surveys.js";

const MODULE = { verify, drawBooklet, spoken };
const PUBLISHED = document();
const ANSWERS = { vaped: true, often: "daily", regret: false, support: ["doctor"], helpful: true, stress: 2, hours: 12 };

/** Runs `work` where every request and every use of a storage is an error. */
async function alone(work) {
  const forbid = () => assert.fail("a preview sends and stores nothing");
  const before = {};
  for (const name of ["fetch", "XMLHttpRequest", "indexedDB", "localStorage", "sessionStorage"]) {
    before[name] = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { configurable: true, get: forbid });
  }
  try {
    return await work();
  } finally {
    for (const [name, descriptor] of Object.entries(before)) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else delete globalThis[name];
    }
  }
}

test("the chosen booklet is asked, and its submission is what a device would send", () =>
  alone(async () => {
    const verified = await verify(PUBLISHED);
    for (const [booklet, { parts }] of verified.booklets.entries()) {
      const client = await openPreview({ document: PUBLISHED, booklet }, MODULE);
      const { survey, questions } = spoken(verified, booklet, []);
      assert.deepEqual([client.booklet, client.questions, client.survey], [booklet, questions, survey]);
      const receipt = await client.submit(ANSWERS, { campus: "south" });
      assert.equal(receipt, client.receipt);
      assert.deepEqual([receipt.status, receipt.booklet, receipt.digest], ["preview", booklet, verified.digest]);
      assert.match(receipt.id, /^[0-9a-f]{32}$/);
      assert.equal(receipt.reports.length, parts.length);
      assert.deepEqual(receipt.segments, { campus: "south" });
      assert.equal(receipt.epsilon, SURVEY.epsilon);
    }
  }));

test("without a choice booklets are drawn: each comes up", () =>
  alone(async () => {
    const { booklets } = await verify(PUBLISHED);
    const total = booklets.reduce((sum, { weight }) => sum + weight, 0);
    const least = Math.min(...booklets.map(({ weight }) => weight)) / total;
    // P(a booklet is missing) is at most booklets · (1 - least)^draws
    const draws = Math.ceil(Math.log(1e-7 / booklets.length) / Math.log(1 - least));
    const seen = new Set();
    for (let i = 0; i < draws; i++) seen.add((await openPreview({ document: PUBLISHED }, MODULE)).booklet);
    assert.equal(seen.size, booklets.length);
  }));

test("an answer is randomised: the same one gives several reports", () =>
  alone(async () => {
    const client = await openPreview({ document: PUBLISHED, booklet: 0 }, MODULE);
    const seen = new Set();
    // Every report of this booklet has probability at most 0.72: all 100 equal in 1e-14 of all runs
    for (let i = 0; i < 100; i++) seen.add(`${(await client.submit(ANSWERS, { campus: "south" })).reports}`);
    assert.ok(seen.size > 1);
  }));

test("it speaks the languages of the survey", () =>
  alone(async () => {
    const client = await openPreview({ document: inTwoLanguages() }, MODULE);
    const titles = client.languages.map((language) => {
      assert.equal(client.useLanguage(language), language);
      return client.survey.title;
    });
    assert.equal(new Set(titles).size, 2);
  }));

test("a document that does not keep its promise is refused, and so is a booklet that is not there", async () => {
  const tampered = document(({ parts }) => parts[0].channel.favour++);
  await assert.rejects(openPreview({ document: tampered }, MODULE), { name: "DeniableError" });
  for (const booklet of [99, -1, 0.5, "constructor"])
    await assert.rejects(openPreview({ document: PUBLISHED, booklet }, MODULE), RangeError);
  await assert.rejects(openPreview({}, MODULE), { name: "DeniableError" });
});
