// What the browser client promises beyond the vectors.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { randomize, verify } from "../src/deniable.js";
import { band, document, EVERY_ANSWER as answers, everyType, inTwoLanguages, textbook } from "./surveys.js";

const text = everyType();
const segments = {};

test("the module's public names", async () => {
  const names = ["Account", "Client", "DEFAULT_BUDGET", "DeniableError", "randomize", "shownQuestions", "verify"];
  assert.deepEqual(Object.keys(await import("../src/deniable.js")).sort(), names);
  const types = readFileSync(new URL("../src/deniable.d.ts", import.meta.url), "utf8");
  assert.deepEqual([...types.matchAll(/^export (?:class|const|function) (\w+)/gm)].map(([, name]) => name).sort(), names);
});

test("without crypto nothing is verified or randomised", async () => {
  const real = globalThis.crypto;
  for (const value of [undefined, {}, { subtle: real.subtle }, { getRandomValues() {} }]) {
    Object.defineProperty(globalThis, "crypto", { value, configurable: true });
    try {
      await assert.rejects(randomize(text, answers, segments), { name: "DeniableError", reason: "crypto" });
    } finally {
      Object.defineProperty(globalThis, "crypto", { value: real, configurable: true });
    }
  }
});

test("an error never repeats an answer", async () => {
  const verified = await verify(text);
  const secret = "SECRET-73193";
  const bad = [secret, [secret], { [secret]: true }, 73193, -73193.5, NaN, Infinity, null, undefined, 10n ** 400n, Symbol(secret)];
  let refused = 0;
  for (const id of Object.keys(answers)) {
    for (const answer of bad) {
      try {
        verified.randomize({ ...answers, [id]: answer }, segments);
        assert.fail(`${id} took ${typeof answer}`);
      } catch (error) {
        assert.equal(error.name, "DeniableError", error.stack);
        assert.equal(error.place, id);
        assert.doesNotMatch(error.message, /SECRET|73193|NaN|Infinity|000000/);
        refused += 1;
      }
    }
  }
  assert.equal(refused, Object.keys(answers).length * bad.length);
  for (const mixed of [{ ...answers, [secret]: 1 }, secret, null, [], 3]) {
    assert.throws(() => verified.randomize(mixed, segments), (error) => error.name === "DeniableError" && !error.message.includes(secret));
  }
  const joint = await verify(document());
  assert.throws(() => joint.randomize({}, { campus: secret }), (error) => !error.message.includes(secret));
});

test("inherited names are no answers", async () => {
  const verified = await verify(text);
  const inherited = Object.create(answers);
  assert.throws(() => verified.randomize(inherited, segments), { reason: "missing" });
});

test("a verified document cannot be changed afterwards", async () => {
  const verified = await verify(text);
  assert.throws(() => {
    verified.parts[0].channel.favour = 9007199254740990;
  }, TypeError);
  assert.throws(() => {
    verified.booklets[0].weight = 2;
  }, TypeError);
  assert.throws(() => {
    verified.survey.questions[0].epsilon = "10";
  }, TypeError);
});

test("2,000 submissions have 2,000 ids", async () => {
  const verified = await verify(text);
  const seen = new Set();
  for (let i = 0; i < 2000; i++) seen.add(verified.randomize(answers, segments).id);
  assert.equal(seen.size, 2000); // a clash by chance: below 10^-32
});

test("everything that is wrong with what was given comes at once", async () => {
  const joint = await verify(document());
  const attempt = () => joint.randomize({ vaped: true, often: "hourly", stress: 9, more: 1 }, {}, { booklet: 1 });
  assert.throws(attempt, (error) => {
    const found = error.problems.map(({ place, reason }) => `${place} ${reason}`);
    const wrong = ["answers unknown", "often range", "support missing", "stress range", "campus missing"];
    assert.deepEqual(found, wrong);
    assert.deepEqual([error.place, error.reason], ["answers", "unknown"]);
    assert.equal(error.message.split("\n").length, wrong.length);
    assert.match(error.message, /^campus: has no code/m);
    return true;
  });
});

// --- languages ------------------------------------------------------------------------------------------------------

test("a survey in several languages is one survey", async () => {
  const translated = await verify(inTwoLanguages());
  assert.deepEqual([translated.languages, translated.language], [["en", "es"], "en"]);
  const spanish = translated.inLanguage("de", "es-MX");
  assert.equal(spanish.language, "es");
  const [vaped, often] = spanish.survey.questions;
  assert.deepEqual([spanish.survey.title, vaped.text, often.show_if], ["Conjunta", "¿vaped?", { vaped: ["yes"] }]);
  assert.deepEqual(spanish.survey.segments[0].options.map(({ text }) => text), ["norte", "south"]);
  assert.equal(spanish.parts[0].items[0].question, vaped);
  for (const same of ["digest", "content", "epsilon"]) assert.equal(spanish[same], translated[same]);
  assert.equal(spanish.inLanguage("fr").survey.title, "Joint");
  const answers = { vaped: false, support: [], stress: 1, hours: 3 };
  assert.equal(spanish.randomize(answers, { campus: "north" }).digest, translated.digest);
});

test("what has the shape of a translation stays what it is", async () => {
  const names = { id: "id", min: "min" }; // languages, and names of keys
  const survey = { id: "keys", languages: ["id", "min"], title: names, questions: [] };
  survey.questions = [{ id: "min", type: "number", text: "?", epsilon: "1.0", min: 0, max: 9 }];
  const shown = { ...JSON.parse(textbook("keys", survey.questions, [band(49, "1.0", 48)])), survey };
  const { survey: read } = (await verify(JSON.stringify(shown))).inLanguage("min");
  assert.deepEqual([read.title, read.id, read.questions[0].id, read.questions[0].min], ["min", "keys", "min", 0]);
});
