// What respondents are told about a channel is what the channel does: checked by going through all of its reports.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  detectionPercent,
  evidence,
  likelihood,
  outOf,
  pointsAt,
  protection,
  roundUp,
} from "../deniable_web/deniable/explain.js";
import { readNumber } from "../deniable_web/deniable/fields.js";
import { ENGLISH, quoted, Texts } from "../deniable_web/deniable/texts.js";
import {
  answerInWords,
  protectionInWords,
  reportInWords,
  totalInWords,
  whyInWords,
} from "../deniable_web/deniable/wording.js";

const vectors = JSON.parse(readFileSync(new URL("../../../shared/vectors/randomize.json", import.meta.url), "utf8"));
const texts = new Texts(undefined, "en");
const close = (a, b) => assert.ok(a === b || Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

/** All questions of the published documents whose reports can be gone through one by one, with their channels. */
const asked = Object.values(vectors.documents).flatMap((text) => {
  const { survey, channels } = JSON.parse(text);
  return survey.questions
    .map((question) => [question, channels[question.id]])
    .filter(([, channel]) => reportsOf(channel).length <= 20_000);
});

function reportsOf(channel) {
  if (channel.kind === "drawn") return Array.from({ length: 2 * channel.parts.length }, (_, y) => y);
  if (channel.kind === "table") return channel.weights[0].map((_, y) => y);
  if (channel.kind === "band") return Array.from({ length: channel.levels + channel.width - 1 }, (_, y) => y);
  if (channel.options > 16) return Array(20_001); // too many to go through
  const bits = (y) => y.toString(2).replaceAll("0", "").length;
  return Array.from({ length: 2 ** channel.options }, (_, y) => y).filter((y) => bits(y) === channel.size);
}

/** All answers; of a drawn channel those with no option chosen, each alone, and all. */
function answersOf(channel) {
  if (channel.kind !== "drawn")
    return Array.from({ length: channel.options ?? channel.levels ?? channel.weights.length }, (_, i) => i);
  const k = channel.parts.length;
  const alone = Array.from({ length: k }, (_, i) => Array.from({ length: k }, (_, j) => Number(i === j)));
  return [Array(k).fill(0), Array(k).fill(1), ...alone];
}

test("the vectors have every kind of channel", () => {
  const kinds = new Set(asked.map(([question, channel]) => `${channel.kind} ${question.type}`));
  for (const kind of [
    "subset choice",
    "subset yes_no",
    "band yes_no",
    "band scale",
    "band number",
    "drawn multi_choice",
    "table scale",
    "table number",
    "subset number",
  ]) {
    assert.ok(kinds.has(kind), `${kind} is not in ${[...kinds]}`);
  }
});

test("under each answer the likelihoods of all reports add up to 1", () => {
  for (const [, channel] of asked) {
    for (const answer of answersOf(channel)) {
      close(
        reportsOf(channel).reduce((sum, report) => sum + likelihood(channel, answer, report), 0),
        1,
      );
    }
  }
});

test("no answer makes a report more than e^epsilon times as likely as another, and the shown odds say so", () => {
  for (const [question, channel] of asked) {
    let worst = 0;
    for (const report of reportsOf(channel)) {
      const chances = answersOf(channel).map((answer) => likelihood(channel, answer, report));
      const ratio = Math.max(...chances) / Math.min(...chances);
      worst = Math.max(worst, ratio);
      const told = evidence(question, channel, report);
      close(Math.log(told.odds), Math.log(ratio));
      assert.ok(roundUp(told.odds) >= ratio * (1 - 1e-9));
      if (!question.delta) assert.ok(ratio <= Math.exp(Number(question.epsilon)) * (1 + 1e-9));
      assert.equal(told.rare, ratio > Math.exp(Number(question.epsilon)) * (1 + 1e-9));
    }
    if (worst < Infinity) close(Math.log(protection(question, channel).odds), Math.log(worst));
  }
});

test("the chances below a question are those of the channel, whatever the answer", () => {
  for (const [question, channel] of asked) {
    const { form, chances } = protection(question, channel);
    const told = Object.fromEntries(chances);
    for (const answer of answersOf(channel)) {
      const sum = (test) =>
        reportsOf(channel).reduce(
          (total, report) => (test(report) ? total + likelihood(channel, answer, report) : total),
          0,
        );
      if (form === "bit") close(told.same, likelihood(channel, answer, answer));
      if (form === "single" || form === "set") {
        const other = (answer + 1) % channel.options;
        close(
          told.yours,
          sum((report) => pointsAt(channel, report).includes(answer)),
        );
        close(
          told.other,
          sum((report) => pointsAt(channel, report).includes(other)),
        );
      }
      if (form === "range")
        close(
          told.inside,
          sum((report) => pointsAt(channel, report).includes(answer)),
        );
      if (form === "drawn") {
        close(
          told.drawn,
          sum((report) => Math.floor(report / 2) === 0),
        );
        close(
          told.same,
          sum((report) => report % 2 === answer[Math.floor(report / 2)]),
        );
      }
      if (form === "table") assert.ok(told.near >= sum((report) => pointsAt(channel, report).includes(answer)) - 1e-12);
    }
    if (form !== "drawn") assert.equal(chances.length, 2);
  }
});

test("what is said of a report: its likelihood under the answers it points at, and the least under others", () => {
  for (const [question, channel] of asked) {
    for (const report of reportsOf(channel)) {
      const told = evidence(question, channel, report);
      if (told.form === "drawn") {
        const [part, k] = [Math.floor(report / 2), channel.parts.length];
        const chosen = Array.from({ length: k }, (_, i) => Number(i === part));
        const [yes, no] = [chosen, Array(k).fill(0)].map((answer) => k * likelihood(channel, answer, report));
        close(told.high, report % 2 ? yes : no);
        close(told.low, report % 2 ? no : yes);
        continue;
      }
      const chances = answersOf(channel).map((answer) => likelihood(channel, answer, report));
      assert.deepEqual(
        told.points.map((answer) => chances[answer]),
        told.points.map(() => told.high),
      );
      chances.forEach((chance, answer) => {
        if (told.points.includes(answer)) return;
        assert.ok(chance >= told.low);
        if (told.exact) close(chance, told.low);
      });
    }
  }
});

test("every report of every channel has words, without a gap", () => {
  for (const [question, channel] of asked) {
    const before = protectionInWords(question, channel, texts);
    const said = [
      before.line,
      ...before.details,
      ...before.bounds,
      ...before.chances.flatMap(({ name, cases }) => [name, cases]),
    ];
    for (const report of reportsOf(channel).slice(0, 300)) {
      said.push(reportInWords(question, channel, report, texts), whyInWords(question, channel, report, texts));
    }
    for (const text of said) assert.doesNotMatch(text, /\{|undefined|NaN|null|Infinity/, `${question.type}: ${text}`);
  }
});

test("the published favour for epsilon 1 in words", () => {
  const question = { id: "q", type: "yes_no", text: "?", epsilon: "1.0" };
  const channel = { kind: "band", levels: 2, width: 1, favour: 6584790284608188 };
  const { line, bounds } = protectionInWords(question, channel, texts);
  assert.equal(line, "In 27 of 100 cases the opposite of your answer is sent.");
  assert.match(bounds[1], /more than 13\.6% of the time/);
  assert.equal(reportInWords(question, channel, 1, texts), "Yes");
  const why = whyInWords(question, channel, 0, texts).replace(/[\u2068\u2069]/g, "");
  assert.equal(
    why,
    "This report comes from 73 in 100 people who answer “No”, and from 27 in 100 who answer “Yes”. " +
      "One answer makes it at most 2.72 times as likely as another.",
  );
});

test("a band of numbers in words", () => {
  const question = { id: "q", type: "number", text: "?", epsilon: "2.0", min: 0, max: 40, unit: "drinks" };
  const channel = { kind: "band", levels: 9, width: 4, favour: 7085216846282137 };
  const plain = (report) => reportInWords(question, channel, report, texts).replace(/[\u2068\u2069]/g, "");
  assert.equal(plain(0), "Near 0 drinks");
  assert.equal(plain(5), "Somewhere from 10 to 25 drinks"); // of the levels 2 to 5
  assert.equal(plain(11), "Near 40 drinks");
});

test("the words for a test are those of the accounting, rounded up", () => {
  for (const [epsilon, percent] of [
    [0.1, 5.6],
    [0.5, 8.3],
    [1, 13.6],
    [2, 37],
    [4, 98.3],
    [10, 100],
  ]) {
    assert.equal(detectionPercent(epsilon), percent);
  }
  assert.ok(detectionPercent(1, 0.01) > detectionPercent(1));
  const survey = { questions: [{ epsilon: "1" }, { epsilon: "9" }] };
  assert.match(totalInWords(survey, "10", texts).join(" "), /2 answers, ε = 10.*hardly protected/);
});

test("counts are out of enough people to show the smallest chance", () => {
  assert.deepEqual(outOf(0.731, 0.269), { total: 100, counts: [73, 27] });
  assert.deepEqual(outOf(0.982, 0.018), { total: 1000, counts: [982, 18] });
  assert.deepEqual(outOf(0.9999546, 0.0000454), { total: 1_000_000, counts: [999_955, 45] });
  assert.equal(outOf(1e-12), null);
});

test("numbers are read with a decimal point or comma, and never guessed", () => {
  for (const [text, readings] of [
    ["12.5", [12.5]],
    ["12,5", [12.5]],
    [" 1200 ", [1200]],
    ["1 200", [1200]],
    ["1\u202f200,5", [1200.5]],
    ["-3", [-3]],
    ["\u22123", [-3]],
    [",5", [0.5]],
    ["5.", [5]],
    ["+7", [7]],
    ["0,125", [0.125]],
    ["٣٫٥", [3.5]],
    ["۱۲", [12]],
    ["1'000", [1000]],
    ["1,200", [1.2, 1200]],
    ["1.200", [1.2, 1200]],
    ["1,200,000", [1_200_000]],
    ["", []],
    ["twelve", []],
    ["1e3", []],
    ["0x10", []],
    ["1,2,3", []],
    ["1.200,5", []],
    ["12.5.", []],
    ["--1", []],
    ["Infinity", []],
    ["NaN", []],
    ["1 2", []],
    [".", []],
  ]) {
    assert.deepEqual(readNumber(text), readings, text);
  }
});

test("texts can be replaced one by one, by templates and by functions", () => {
  const own = new Texts(
    {
      yes: "Ja",
      button: { send: () => "Absenden" },
      progress: ({ done, total }) => `${done}/${total}`,
      no: 7,
      failure: null,
      unknown: "x",
    },
    "de",
  );
  assert.equal(own.say("yes"), "Ja");
  assert.equal(own.say("button.send"), "Absenden");
  assert.equal(own.say("button.back"), ENGLISH.button.back);
  assert.equal(own.say("progress", { done: 3, total: 9 }), "3/9");
  assert.equal(own.say("no"), "No");
  assert.equal(own.say("failure.closed.title"), ENGLISH.failure.closed.title);
  assert.equal(own.number(1234.5), "1.234,5");
  assert.equal(new Texts(undefined, "not a language!").say("yes"), "Yes");
});

test("a survey's text cannot turn a sentence around, nor fill in another's placeholder", () => {
  assert.equal(quoted("a\u202eb\u2069c"), "\u2068abc\u2069");
  assert.equal(
    texts.say("report.drawnYes", { option: "{report} $& {constructor}" }),
    "About {report} $& {constructor}: yes",
  );
});

test("an answer in words", () => {
  const options = [
    { code: "a", text: "One" },
    { code: "b", text: "Two" },
  ];
  const words = (question, answer) => answerInWords(question, answer, texts).replace(/[\u2068\u2069]/g, "");
  assert.equal(words({ type: "yes_no" }, false), "No");
  assert.equal(words({ type: "yes_no", decline: true }, "declined"), "Prefer not to say");
  assert.equal(words({ type: "choice", options }, "b"), "Two");
  assert.equal(words({ type: "multi_choice", options }, []), "None of these");
  assert.equal(words({ type: "multi_choice", options }, ["a", "b"]), "One, Two");
  assert.equal(words({ type: "scale", labels: ["Low", "High"] }, 2), "2: High");
  assert.equal(words({ type: "scale", labels: ["0 Low", "1", "2 High"] }, 3), "2 High");
  assert.equal(words({ type: "number", unit: "EUR" }, 1234.5), "1,234.5 EUR");
});
