// What respondents read about a channel is what the channel does: checked by going through all of its reports.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Account } from "../src/deniable/account.js";
import {
  evidence,
  likelihood,
  outOf,
  pointsAt,
  PROTECTING,
  protection,
  roundUp,
  roundUpSmall,
} from "../src/deniable/explain.js";
import { verify } from "../src/deniable.js";
import { codesOf } from "../src/deniable/survey.js";
import { readNumber } from "../src/deniable/fields.js";
import { quoted, Texts } from "../src/deniable/texts.js";
import ENGLISH from "../src/deniable/texts/en.js";
import {
  accountInWords,
  answerInWords,
  protectionInWords,
  reportInWords,
  strengthOf,
  totalInWords,
  whyInWords,
} from "../src/deniable/wording.js";
import { document, everyType } from "./surveys.js";

const vectors = JSON.parse(readFileSync(new URL("../../../shared/vectors/randomize.json", import.meta.url), "utf8"));
const texts = new Texts(ENGLISH, undefined, "en");
const close = (a, b) => assert.ok(a === b || Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

const N = 2 ** 53;
const favour = (epsilon, u, v) => Math.floor((N * v * Math.exp(epsilon)) / (v * Math.exp(epsilon) + u));
const band = (epsilon, levels, width) => ({ kind: "band", levels, width, favour: favour(epsilon, levels - 1, width) });

/** A part that reports on this one question. */
const alone = (question, channel) => ({
  items: [{ name: question.id, question, codes: codesOf(question) }],
  epsilon: question.epsilon,
  channel,
});

/** Channels that are rare in practice: a band of width 1, and tables with delta, one of them with zeros. */
const NUMBER = { id: "q", type: "number", text: "?", min: 0, max: 40 };
const unusual = [
  [{ id: "q", type: "scale", text: "?", labels: ["a", "b", "c", "d", "e"], epsilon: "4.0" }, band(4, 5, 1)],
  [{ ...NUMBER, epsilon: "8.0" }, band(8, 17, 1)],
  [{ ...NUMBER, epsilon: "2.5" }, band(2.5, 9, 4)],
  [
    { ...NUMBER, epsilon: "1.0", delta: "0.01", mechanism: "gaussian" },
    {
      kind: "table",
      weights: [
        [0.5, 0.49, 0.01, 0],
        [0.3, 0.5, 0.195, 0.005],
        [0.25, 0.5, 0.25, 0],
      ].map((row) => row.map((chance) => chance * N)),
    },
  ],
].map(([question, channel]) => alone(question, channel));

/** All parts of published documents whose reports can be gone through one by one. */
const sources = [...Object.values(vectors.documents), document(), everyType()];
const verified = await Promise.all(sources.map((text) => verify(text)));
const published = verified
  .flatMap(({ parts }) => parts)
  .filter(({ channel }) => reportsOf(channel).length <= 20_000);

function reportsOf(channel) {
  if (channel.kind === "drawn") return Array.from({ length: 2 * channel.parts.length }, (_, y) => y);
  if (channel.kind === "table") return channel.weights[0].map((_, y) => y);
  if (channel.kind === "band") return Array.from({ length: channel.levels + channel.width - 1 }, (_, y) => y);
  if (channel.options > 16) return Array(20_001); // too many to go through
  const bits = (y) => y.toString(2).replaceAll("0", "").length;
  return Array.from({ length: 2 ** channel.options }, (_, y) => y).filter((y) => bits(y) === channel.size);
}

const asked = [...published, ...unusual];

/** All answers; of a drawn channel those with no option chosen, each alone, and all. */
function answersOf(channel) {
  if (channel.kind !== "drawn")
    return Array.from({ length: channel.options ?? channel.levels ?? channel.weights.length }, (_, i) => i);
  const k = channel.parts.length;
  const alone = Array.from({ length: k }, (_, i) => Array.from({ length: k }, (_, j) => Number(i === j)));
  return [Array(k).fill(0), Array(k).fill(1), ...alone];
}

test("the vectors have every kind of channel", () => {
  const kinds = new Set(asked.map(({ items, channel }) => `${channel.kind} ${items.map(({ question }) => question.type)}`));
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
    "band multi_choice",
    "subset yes_no,choice,yes_no",
  ]) {
    assert.ok(kinds.has(kind), `${kind} is not in ${[...kinds]}`);
  }
});

test("under each answer the likelihoods of all reports add up to 1", () => {
  for (const { channel } of asked) {
    for (const answer of answersOf(channel)) {
      close(
        reportsOf(channel).reduce((sum, report) => sum + likelihood(channel, answer, report), 0),
        1,
      );
    }
  }
});

test("no answer makes a report more than e^epsilon times as likely as another, and the shown odds say so", () => {
  for (const part of asked) {
    const { channel, epsilon } = part;
    const [{ question }] = part.items;
    let worst = 0;
    for (const report of reportsOf(channel)) {
      const chances = answersOf(channel).map((answer) => likelihood(channel, answer, report));
      const ratio = Math.max(...chances) / Math.min(...chances);
      worst = Math.max(worst, ratio);
      const told = evidence(part, report);
      close(Math.log(told.odds), Math.log(ratio));
      assert.ok(roundUp(told.odds) >= ratio * (1 - 1e-9));
      if (!question.delta) assert.ok(ratio <= Math.exp(Number(epsilon)) * (1 + 1e-9));
      assert.equal(told.rare, ratio > Math.exp(Number(epsilon)) * (1 + 1e-9));
    }
    if (worst < Infinity) close(Math.log(protection(part).odds), Math.log(worst));
  }
});

test("the chances below a question are those of the channel, whatever the answer", () => {
  for (const part of asked) {
    const { channel, epsilon } = part;
    const [{ question }] = part.items;
    const { form, chances } = protection(part);
    const told = Object.fromEntries(chances);
    for (const answer of answersOf(channel)) {
      const sum = (test) =>
        reportsOf(channel).reduce(
          (total, report) => (test(report) ? total + likelihood(channel, answer, report) : total),
          0,
        );
      if (form === "bit") close(told.same, likelihood(channel, answer, answer));
      if (form === "single" || form === "set") {
        const other = (answer + 1) % answersOf(channel).length;
        close(
          told.yours,
          sum((report) => pointsAt(channel, report).includes(answer)),
        );
        close(
          told.other,
          sum((report) => pointsAt(channel, report).includes(other)),
        );
      }
      if (form === "range" || form === "point")
        close(
          told.inside ?? told.rounded,
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

test("what the receipt says of a report: its likelihood under the answers it points at, and the least under others", () => {
  for (const part of asked) {
    const { channel, epsilon } = part;
    const [{ question }] = part.items;
    for (const report of reportsOf(channel)) {
      const told = evidence(part, report);
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
      });
    }
  }
});

test("every report of every channel has words, without a gap", () => {
  for (const part of asked) {
    const { channel, epsilon } = part;
    const [{ question }] = part.items;
    const before = protectionInWords(part, texts);
    const said = [
      before.line,
      ...before.details,
      ...before.bounds,
      ...before.chances.flatMap(({ name, cases }) => [name, cases]),
    ];
    for (const report of reportsOf(channel).slice(0, 300)) {
      said.push(reportInWords(part, report, texts), whyInWords(part, report, texts));
    }
    for (const text of said) assert.doesNotMatch(text, /\{|undefined|NaN|null|Infinity/, `${question.type}: ${text}`);
  }
});

test("the published favour for epsilon 1 in words", () => {
  const question = { id: "q", type: "yes_no", text: "?", epsilon: "1.0" };
  const channel = { kind: "band", levels: 2, width: 1, favour: 6584790284608188 };
  const part = alone(question, channel);
  const { line, bounds } = protectionInWords(part, texts);
  assert.equal(line, "Protected: at least 26 times in 100, your device sends the opposite.");
  assert.deepEqual(bounds, [
    "Whatever is sent, one answer makes it at most 2.72 times as likely as another.",
    "For experts: ε = 1.",
  ]);
  assert.equal(reportInWords(part, 1, texts), "Yes");
  const why = whyInWords(part, 0, texts).replace(/[\u2068\u2069]/g, "");
  assert.equal(
    why,
    "At least 26 in 100 people who answer “Yes” send exactly this, too. Of those who answer “No”, at most 74 do." +
      " One answer makes it at most 2.72 times as likely as another.",
  );
});

test("a band of numbers in words", () => {
  const question = { id: "q", type: "number", text: "?", epsilon: "2.0", min: 0, max: 40, unit: "drinks" };
  const channel = { kind: "band", levels: 9, width: 4, favour: 7085216846282137 };
  const plain = (report) => reportInWords(alone(question, channel), report, texts).replace(/[\u2068\u2069]/g, "");
  assert.equal(plain(0), "Near 0 drinks");
  assert.equal(plain(5), "From 10 to 25 drinks"); // of the levels 2 to 5
  assert.equal(plain(11), "Near 40 drinks");
});

test("how often a guess succeeds is rounded up", () => {
  for (const [epsilon, percent] of [
    ["0.1", "5.6"],
    ["0.5", "8.3"],
    ["1", "13.6"],
    ["2", "37"],
    ["4", "98.3"],
  ]) {
    assert.match(accountInWords(new Account(epsilon), texts), new RegExp(`the truth at most ${percent}% of the time\\.`));
  }
  for (const epsilon of ["10", "2000"]) {
    const total = totalInWords({ parts: [{}, {}], account: new Account(epsilon) }, texts);
    assert.match(total.join(" "), new RegExp(`protects hardly at all.*ε = ${epsilon}\\.`));
  }
});

test("the total counts delta: in the figure, in words and in symbols", () => {
  // What two hundred questions at epsilon 0.01 may spend with 0.0001 each: 5% e^2 is 36.95%, and delta adds 2%.
  const [meaning, experts] = totalInWords({ parts: [{}], account: new Account("2", "0.02") }, texts);
  assert.equal(experts, "For experts: ε = 2, δ = 0.02.");
  assert.match(meaning, /the truth at most 39% of the time\. This includes δ = 0\.02: .* as if 2 in 100 people sent/);
  for (const [delta, people] of [
    ["0.000001", "1 in 1,000,000"],
    ["0.000007", "7 in 1,000,000"],
    ["0.000015", "15 in 1,000,000"],
    ["0.00012345", "13 in 100,000"],
    ["0.000000000001", "1 in 1,000,000,000,000"],
  ]) {
    assert.ok(accountInWords(new Account("1", delta), texts).includes(`it is as if ${people} people sent`), delta);
  }
  assert.doesNotMatch(accountInWords(new Account("1"), texts), /δ|unchanged/);
});

test("what respondents are told first follows from the total, delta included", () => {
  const told = (epsilon, delta) => strengthOf(new Account(epsilon, delta));
  assert.deepEqual(["0.5", "2", "2.3", "2.4", "4", "6.8", "7", "22"].map((epsilon) => told(epsilon)), [
    ...["fair", "fair", "fair"],
    ...["weak", "weak", "weak"],
    ...["hardly", "hardly"],
  ]);
  assert.deepEqual([told("2.3"), told("2.3", "0.02")], ["fair", "weak"]);
});

test("counts are out of enough people to show the smallest chance, rounded against us, and add up", () => {
  const both = (most, least) => outOf({ most: [most], least: [least] });
  assert.deepEqual(both(0.731, 0.269), { total: 100, most: [74], least: [26] });
  assert.deepEqual(both(0.75, 0.25), { total: 100, most: [75], least: [25] });
  assert.deepEqual(both(0.9813, 0.0187), { total: 1000, most: [982], least: [18] });
  assert.deepEqual(both(0.9999546, 0.0000454), { total: 1_000_000, most: [999_955], least: [45] });
  assert.equal(outOf({ least: [1e-12] }), null);
  for (let epsilon = 1; epsilon <= 1000; epsilon++) {
    const chance = favour(epsilon / 100, 1, 1) / N;
    const { total, most, least } = both(chance, 1 - chance);
    assert.equal(most[0] + least[0], total);
    assert.ok(least[0] <= (1 - chance) * total && least[0] >= 5);
  }
});

test("small chances are rounded up to two digits", () => {
  for (const [value, shown] of [
    [0, 0],
    [0.00001371, 0.000014],
    [0.5, 0.5],
    [0.501, 0.51],
    [1.01e-12, 2e-12],
    [0.0021, 0.0021],
  ]) {
    close(roundUpSmall(value) * 1e12, shown * 1e12);
  }
});

/** The share that a text such as "at least 26 of 100" or "26 times in 100" names. */
function share(text) {
  const [, count, total = "1"] = /(?:^|at (?:least|most) )([\d.,]+)(?: (?:of|in|times in) ([\d,]+))?/i.exec(text);
  return Number(count.replaceAll(",", "")) / Number(total.replaceAll(",", ""));
}

test("no figure promises more protection than there is", () => {
  let checked = 0;
  for (const part of asked) {
    const { channel, epsilon } = part;
    const [{ question }] = part.items;
    const { chances } = protection(part);
    const told = protectionInWords(part, texts);
    chances.forEach(([name, chance], i) => {
      const { cases } = told.chances[i];
      if (name === "drawn") return close(share(cases), chance);
      const protects = PROTECTING.includes(name);
      assert.ok(cases.startsWith(protects ? "at least " : "at most "), cases);
      assert.ok((protects ? chance - share(cases) : share(cases) - chance) >= -1e-15, `${name} ${cases} ${chance}`);
    });
    const [lost] = /at least [\d,]+ times in [\d,]+/i.exec(told.line);
    const giving = chances.filter(([name]) => !PROTECTING.includes(name)).map(([, chance]) => chance);
    assert.ok(share(lost) <= 1 - Math.max(...giving) + 1e-15, told.line);
    for (const report of reportsOf(channel).slice(0, 300)) {
      const { high, low } = evidence(part, report);
      const why = whyInWords(part, report, texts);
      const said = /(At least [\d,]+ in ([\d,]+)) people .* (at most [\d,]+) do\./.exec(why);
      if (!said) continue; // too unlikely to be counted in people
      assert.ok(share(`${said[3]} in ${said[2]}`) >= high - 1e-15 && share(said[1]) <= low + 1e-15, why);
      checked++;
    }
  }
  assert.ok(checked > asked.length);
});

test("a report is called a single answer, a single point, or a range of its width", () => {
  const [narrow, point, range] = unusual;
  const line = (part) => protectionInWords(part, texts).line;
  assert.equal(line(narrow), "Protected: at least 6 times in 100, your device sends another answer.");
  assert.equal(reportInWords(narrow, 3, texts), "d");
  assert.match(line(point), /^Protected: at least 5 times in 1,000, your device sends a number that is not the nearest/);
  assert.match(line(range), /^Protected: your device sends a rough range, .* At least 14 times in 100/);
  assert.match(protectionInWords(range, texts).details[0], /a range of up to 4 of 9 points/);
});

test("between two levels a range contains a number no more often than stated", () => {
  for (const part of asked) {
    const { channel, epsilon } = part;
    const [{ question }] = part.items;
    if (question.type !== "number" || channel.kind !== "band") continue;
    const { chances } = protection(part);
    for (let level = 0; level + 1 < channel.levels; level++) {
      for (const up of [0.01, 0.5, 0.99]) {
        const holds = reportsOf(channel).filter((report) => {
          const points = pointsAt(channel, report);
          return points.includes(level) && points.includes(level + 1);
        });
        const chance = (report) =>
          (1 - up) * likelihood(channel, level, report) + up * likelihood(channel, level + 1, report);
        assert.ok(holds.reduce((sum, report) => sum + chance(report), 0) <= chances[0][1] + 1e-12);
      }
    }
  }
});

test("with delta, the chance that the odds are exceeded is the table's, not delta", () => {
  const tables = asked.filter(({ items }) => items[0].question.delta);
  assert.ok(tables.length >= 2);
  for (const part of tables) {
    const { channel, epsilon } = part;
    const growth = Math.exp(Number(epsilon));
    const worst = Math.max(
      ...channel.weights.flatMap((x) =>
        channel.weights.map((y) => x.reduce((sum, w, i) => (w > growth * y[i] ? sum + w : sum), 0) / N),
      ),
    );
    const { excess } = protection(part);
    assert.ok(excess >= worst && excess <= 2 * worst, `${excess} for ${worst}`);
    const [odds] = protectionInWords(part, texts).bounds;
    assert.ok(share(/chance of (at most [\d.]*\d)/.exec(odds)[1]) >= worst, odds);
    const rare = reportsOf(channel).filter((report) => evidence(part, report).rare);
    assert.ok(rare.length > 0);
    for (const report of rare) {
      const why = whyInWords(part, report, texts);
      assert.ok(share(/report is (at most [\d.]*\d)/.exec(why)[1]) >= worst, why);
    }
  }
  assert.match(whyInWords(unusual[3], 3, texts), /Some answers never lead to this report\./);
});

test("weak protection of one answer is called weak, before and after sending; good protection of one is no promise", () => {
  const yesNo = (epsilon) => alone({ id: "q", type: "yes_no", text: "?", epsilon }, band(Number(epsilon), 2, 1));
  for (const [epsilon, warned] of [
    ["2.0", null],
    ["3.0", ENGLISH.line.weak],
    ["10.0", ENGLISH.line.weak],
  ]) {
    const { warning, bounds, details, line } = protectionInWords(yesNo(epsilon), texts);
    assert.equal(warning, warned);
    const why = whyInWords(yesNo(epsilon), 1, texts);
    assert.equal(why.startsWith(ENGLISH.line.weak), warned !== null);
    for (const text of [why, line, ...details, ...bounds]) assert.doesNotMatch(text, /Suppose|find the truth/);
  }
});

test("two questions about the same thing reveal more than each alone, and the total's limit covers it", () => {
  const chance = favour(1, 1, 1) / N;
  // The best test at 5%: accuse at two reports of yes, and with the rest of the 5% at one of them.
  const [none, one] = [(1 - chance) ** 2, 2 * chance * (1 - chance)];
  assert.ok(none > 0.05); // so it accuses at two reports of yes, and not even always
  const power = (0.05 / none) * chance ** 2;
  assert.ok(one > 0 && power > 0.369 && power > new Account("1").power());
  assert.ok(power <= new Account("2").power());
  const total = totalInWords({ parts: [{}, {}], account: new Account("2") }, texts);
  assert.match(total.join(" "), /at most 37% of .* about that answer alone\. What is sent for all questions adds up/);
});

test("several questions in one report are described together: their combinations, those it speaks for, the total", () => {
  const [, joint] = verified.at(-2).parts; // vaped, often and stress: 12 combinations
  const { line, warning, bounds, chances } = protectionInWords(joint, texts);
  assert.equal(
    line,
    "Protected: your answers are sent as one. At least 80 times in 100, your device sends other answers.",
  );
  assert.equal(warning, null);
  assert.deepEqual(chances.map(({ name }) => name), ["Your combination is sent", "A particular other combination is sent"]);
  assert.equal(bounds.at(-1), "For experts: ε = 1.");
  const plain = (part, report) => reportInWords(part, report, texts).replace(/[\u2068\u2069]/g, "");
  assert.equal(plain(joint, 1), "No · none");
  assert.equal(plain(joint, 2 ** 3), "No · Prefer not to say");
  assert.equal(plain(joint, 2 ** 10), "Yes · daily · much");
  assert.match(whyInWords(joint, 1, texts), /^At least \d+ in 100 people with any other answers send exactly this, too\. Of those with these answers, at most 20 do\./);
  const support = verified.at(-2).parts[2];
  assert.equal(
    plain(support, 2 ** 0 + 2 ** 3),
    "doctor: no · friend: no; doctor: yes · friend: no · No",
  );
  assert.match(protectionInWords(support, texts).line, /a set of 2 of the 7 possible combinations .* yours is not in it\./);
  const option = verified.at(-2).parts[3];
  assert.equal(plain(option, 1), "nobody: yes");
  assert.match(whyInWords(option, 1, texts).replace(/[\u2068\u2069]/g, ""), /Of those who answer “nobody: yes”, at most/);
  const whole = totalInWords({ parts: [joint], account: new Account("1.0") }, texts);
  assert.match(whole.join(" "), /from everything that was sent.* at most 13\.6% of the time\. For experts: ε = 1\.$/);
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
    ENGLISH,
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
  assert.equal(new Texts(ENGLISH, undefined, "not a language!").say("yes"), "Yes");
});

test("a page's own text that fails or gives none leaves the English one", () => {
  const fails = () => {
    throw new Error("x");
  };
  const own = new Texts(ENGLISH, { yes: fails, no: () => undefined, progress: () => 7, none: () => "" }, "en");
  assert.equal(own.say("yes"), "Yes");
  assert.equal(own.say("no"), "No");
  assert.equal(own.say("progress", { done: 1, total: 2 }), "1 of 2");
  assert.equal(own.say("none"), "");
});

test("a survey's text cannot turn a sentence around, nor fill in another's placeholder", () => {
  assert.equal(quoted("a\u202eb\u2069c"), "\u2068abc\u2069");
  assert.equal(
    texts.say("report.drawnYes", { option: "{report} $& {constructor}" }),
    "{report} $& {constructor}: yes",
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
