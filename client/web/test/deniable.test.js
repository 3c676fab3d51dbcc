// What the browser client promises beyond the vectors.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { randomize, verify } from "../src/deniable.js";
import { document, EVERY_ANSWER as answers, everyType } from "./surveys.js";

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
