// The texts of the questionnaire: every language has every text, in its own typography, and no sentence is made of pieces.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { LANGUAGES } from "../src/deniable/texts.js";

const SOURCES = new URL("../src/deniable/", import.meta.url);

/** [name, text] pairs, such as ["button.send", "Send"], in the order of the file. */
const flat = (texts, prefix = "") =>
  Object.entries(texts).flatMap(([key, text]) =>
    typeof text === "object" ? flat(text, `${prefix}${key}.`) : [[prefix + key, text]],
  );

const files = readdirSync(new URL("texts/", SOURCES)).map((file) => file.replace(/\.js$/, ""));
const all = {};
for (const each of files) all[each] = flat((await import(new URL(`texts/${each}.js`, SOURCES))).default);
const english = new Map(all.en);

/** "language name: text" of each text about which `wrong` is true. */
const found = (languages, wrong) =>
  languages.flatMap((language) =>
    all[language].flatMap(([name, text]) => (wrong(text, name, language) ? [`${language} ${name}: ${text}`] : [])),
  );
const none = (languages, wrong) => assert.deepEqual(found(languages, wrong), []);

test("the languages that the questionnaire offers are those that have texts", () => {
  assert.deepEqual([...LANGUAGES].sort(), [...files].sort());
});

for (const language of LANGUAGES)
  test(`${language}: the same names as in English, in the same order, and no empty text`, () => {
    assert.deepEqual(all[language].map(([name]) => name), [...english.keys()]);
    none([language], (text) => typeof text !== "string" || text === "" || text !== text.trim() || / {2}/.test(text));
  });

test("each text has the placeholders of the English one, each as often", () => {
  const placeholders = (text) => `${text.match(/\{\w*\}/g)?.sort()}`;
  none(LANGUAGES, (text, name) => placeholders(text) !== placeholders(english.get(name)));
  none(LANGUAGES, (text) => /[{}]/.test(text.replace(/\{\w+\}/g, ""))); // no brace that is not part of one
});

// Words that two languages share, and templates without words
const SAME = {
  es: ["no", "point", "optionNo", "amount", "report.drawnNo"],
  fr: ["amount", "receipt.question"],
  de: ["point", "amount"],
  ar: ["point", "amount"],
};

test("no text was left in English", () => {
  const same = (language) => all[language].filter(([name, text]) => text === english.get(name)).map(([name]) => name);
  for (const language of Object.keys(SAME)) assert.deepEqual(same(language), SAME[language], language);
  none(["ar"], (text) => /[a-z]/i.test(text.replace(/\{\w+\}|deniable verify|https/g, "")));
});

// --- typography -----------------------------------------------------------------------------------------------------

const QUOTES = { en: /“[^“”]+”/g, es: /«[^«»]+»/g, fr: /«\u202f[^«»]+\u202f»/g, de: /„[^„“]+“/g, ar: /«[^«»]+»/g };

test("quotation marks are those of the language, in pairs, and never straight", () => {
  none(LANGUAGES, (text, _, language) => /["'`‘“”„‚«»‹›]/.test(text.replace(QUOTES[language], "")));
});

test("punctuation is that of the language, and no character is invisible", () => {
  const count = (text, mark) => text.split(mark).length - 1;
  none(["fr"], (text) => /[^\u202f][:;?!»%]|«(?!\u202f)/.test(text));
  none(["es"], (text) => count(text, "?") !== count(text, "¿") || count(text, "!") !== count(text, "¡"));
  none(["es", "de"], (text) => /[^\u00a0]%/.test(text));
  none(["ar"], (text) => /[,;?%]/.test(text));
  none(LANGUAGES, (text) => /\p{C}|[\u034f\u115f\u2028\u2029\u3164]|\.\.\./u.test(text));
});

test("a text that refers to an answer has the words of that answer", () => {
  for (const language of LANGUAGES) {
    const texts = new Map(all[language]);
    const quoted = (name) => texts.get("quote").replace("{text}", texts.get(name));
    for (const name of ["error.chooseOrDecline", "error.numberOrDecline"])
      assert.ok(texts.get(name).includes(quoted("declined")), `${language} ${name}`);
    for (const name of ["error.chooseSome", "hint.multiChoice"])
      assert.ok(texts.get(name).includes(quoted("none")), `${language} ${name}`);
  }
});

// --- whole sentences ------------------------------------------------------------------------------------------------

// In a picture, a table or a list, not in a sentence
const LABELS = ["start.sent", "chance.atLeast", "chance.atMost", "receipt.raw"];
const BEFORE_A_LIST = ["who.digest", "protection.always", "invitation.key"]; // end in a colon: what follows is on lines of its own
const PREPOSITIONS = {
  en: "about|and|at|by|for|from|in|of|on|or|than|that|the|to|with",
  es: "a|al|con|de|del|el|en|la|o|para|por|que|sobre|y",
  fr: "au|avec|de|des|du|en|et|la|le|les|ou|par|pour|que|sur|à",
  de: "als|an|auf|bei|dass|der|die|das|für|in|mit|oder|und|von|zu",
  ar: "أن|أو|إلى|على|عن|في|مع|من",
};

test("no text is the end of a sentence that another one begins", () => {
  const languages = LANGUAGES.filter((each) => each !== "ar"); // which has no upper case
  const begins = (text) => /^[¿¡\p{Pi}\p{Ps}]*[\p{Lu}\p{N}{]/u.test(text);
  none(languages, (text, name) => text.split(/\s+/).length > 3 && !LABELS.includes(name) && !begins(text));
});

test("no text is the beginning of a sentence that another one ends", () => {
  none(LANGUAGES, (text, name) => /[,،;؛:–(]$/.test(text) && !BEFORE_A_LIST.includes(name));
  none(LANGUAGES, (text, _, language) => new RegExp(`(^|\\s)(${PREPOSITIONS[language]})$`, "iu").test(text));
});

// --- texts and modules ----------------------------------------------------------------------------------------------

const modules = readdirSync(SOURCES).filter((file) => file.endsWith(".js"));
const source = modules.map((file) => readFileSync(new URL(file, SOURCES), "utf8")).join("\n");
const literals = [...source.matchAll(/"([\w.]+)"/g)].map(([, name]) => name);

test("a module uses every text", () => {
  const prefixes = [...source.matchAll(/`(\w+\.)\$\{/g)].map(([, prefix]) => prefix); // such as `line.${form}`
  assert.ok(prefixes.includes("line."));
  const unsaid = [...english.keys()].filter(
    (name) => !literals.includes(name) && !prefixes.some((prefix) => name.startsWith(prefix)),
  );
  assert.deepEqual(unsaid, []);
});

test("every text that a module says is there", () => {
  const tables = new Set([...english.keys()].filter((name) => name.includes(".")).map((name) => name.split(".")[0]));
  const dotted = literals.filter((name) => name.includes(".") && tables.has(name.split(".")[0]));
  const said = [...source.matchAll(/\.#?say\(([^,)]*)/g)].flatMap(([, inside]) =>
    [...inside.matchAll(/(?<!=== )"([\w.]+)"/g)].map(([, name]) => name),
  );
  assert.ok(dotted.length > 50 && said.length > 50);
  assert.deepEqual([...dotted, ...said].filter((name) => !english.has(name)), []);
});
