// Parts and booklets: what is verified, what is drawn, and that nothing else is looked at.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { randomize, shownQuestions, verify } from "../src/deniable.js";
import { units } from "../src/deniable/checks.js";
import { gaussian } from "../src/deniable/tables.js";
import { decode } from "../src/decode.js";
import { scripted } from "./scripted.js";
import { band, document, everyAnswer, exponential, SURVEY, tree } from "./surveys.js";

const N = 1n << 53n;
const text = document();
const verified = await verify(text);
const segments = { campus: "north" };
const answers = {
  ...{ vaped: true, often: "daily", regret: false, support: ["doctor"], helpful: true },
  ...{ stress: 2, hours: 8 },
};

async function refusal(attempt) {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    assert.equal(error.name, "DeniableError", error.stack);
    return `${error.place} ${error.reason}`;
  }
}

// --- every branch of the sampler, with its exact probability --------------------------------------------------------

/**
 * The module that samples, with its two ways of drawing replaced: `below(n)` takes each of n branches with 1/n, and a
 * word is the least or the largest one, below the favour of the part at hand with F/N and not below it otherwise.
 */
async function branching() {
  const folder = new URL("../src/deniable/", import.meta.url);
  const code = readFileSync(new URL("randomizer.js", folder), "utf8")
    .replace("function below(", "function originalBelow(")
    .replace("function word(", "function originalWord(")
    .replaceAll('from "./', `from "${folder}`);
  const drawn = "function below(n) { return globalThis.branch.below(n); }\nfunction word() { return globalThis.branch.word(); }";
  return import(`data:text/javascript,${encodeURIComponent(`${code}\n${drawn}`)}`);
}

const { randomizeVerified } = await branching();

const WHOLE = 121n * 360n * N * N; // every probability below is a whole number of these parts

/** Every (booklet, reports) that these answers can give, with its probability as a number of parts of WHOLE. */
function outcomes(given) {
  const { parts, booklets } = verified;
  const found = new Map();
  let path = [];
  for (;;) {
    const sizes = [];
    let [numerator, denominator, words, rounded] = [1n, 1n, 0, false];
    let booklet;
    const take = (size) => {
      sizes.push(size);
      return path[sizes.length - 1] ?? 0;
    };
    globalThis.branch = {
      below(n) {
        const taken = n === 1 ? 0 : take(n);
        denominator *= BigInt(n);
        if (booklet === undefined) {
          // The first draw is the booklet's, and its parts say which favour the words are held against.
          let left = taken;
          booklet = booklets.find(({ weight }) => (left -= weight) < 0);
        }
        return taken;
      },
      word() {
        const { channel, items } = parts[booklet.parts[words]];
        if (items[0].question.type === "number" && !rounded) {
          rounded = true;
          return 0; // no hours at all are on a level: whatever the word, it is not rounded up
        }
        words += 1;
        const favour = BigInt(channel.favour);
        const taken = take(2);
        numerator *= taken ? N - favour : favour;
        denominator *= N;
        return taken ? Number(N - 1n) : 0;
      },
    };
    const submission = randomizeVerified(verified, given, segments);
    const key = JSON.stringify([submission.booklet, submission.reports]);
    assert.equal((WHOLE * numerator) % denominator, 0n);
    found.set(key, (found.get(key) ?? 0n) + (WHOLE * numerator) / denominator);
    path = sizes.map((_, i) => path[i] ?? 0);
    while (path.length && path.at(-1) + 1 === sizes[path.length - 1]) path.pop();
    if (!path.length) return found;
    path[path.length - 1] += 1;
  }
}

/** The place among a part's paths that these answers have, from the names and codes alone. */
function placeOf({ items, paths }, given) {
  if (items[0].name === "hours") return 0;
  const code = ({ name, question, option }) => {
    const answer = given[question.id];
    if (answer === undefined) return undefined;
    if (option) return name === `${question.id}.${option}` && answer.includes(option) ? "yes" : "no";
    return typeof answer === "boolean" ? (answer ? "yes" : "no") : `${answer}`;
  };
  const own = items.map(code);
  return paths.findIndex((path) => path.every((place, i) => items[i].codes[place] === own[i]));
}

const tables = [...everyAnswer()].map((given) => [given, outcomes(given)]);

test("every outcome has at most e^epsilon of the survey times the probability under any other answers", () => {
  assert.equal(tables.length, 160);
  const limit = exponential(SURVEY.epsilon);
  const keys = new Set(tables.flatMap(([, table]) => [...table.keys()]));
  let worst = 0;
  for (const key of keys) {
    const chances = tables.map(([, table]) => table.get(key) ?? 0n);
    const [most, least] = [(a, b) => (a > b ? a : b), (a, b) => (a < b ? a : b)].map((pick) => chances.reduce(pick));
    assert.ok(most << 256n <= limit * least, key);
    worst = Math.max(worst, Number((most * 1000n) / least) / 1000);
  }
  assert.ok(worst > 7.38 && worst < 7.3891, `${worst}`); // e^2, and a booklet that uses all of it
});

test("the booklet has its weight's probability, whatever the answers", () => {
  const weights = verified.booklets.map(({ weight }) => BigInt(weight));
  const sum = weights.reduce((a, b) => a + b);
  for (const [, table] of tables) {
    const chances = weights.map(() => 0n);
    for (const [key, chance] of table) chances[JSON.parse(key)[0]] += chance;
    assert.deepEqual(chances, weights.map((weight) => (WHOLE * weight) / sum));
  }
});

test("every report decodes without bias to the path of the answers", () => {
  const add = (sums, key, more) => sums.set(key, (sums.get(key) ?? 0n) + more);
  const ratio = ([a, b], [c, d]) => [a * d + c * b, b * d];
  const known = verified.parts.map(() => new Map()); // decoded once: the same reports come with all answers
  const decoded = (index, report) => {
    if (!known[index].has(report)) known[index].set(report, decode(verified.parts[index].channel, report));
    return known[index].get(report);
  };
  for (const [given, table] of tables) {
    const sent = [...table].map(([key, chance]) => [...JSON.parse(key), chance]);
    verified.booklets.forEach((booklet, b) => {
      const drawn = sent.filter(([number]) => number === b);
      booklet.parts.forEach((index, i) => {
        const part = verified.parts[index];
        const counts = new Map();
        for (const [, reports, chance] of drawn) add(counts, reports[i], chance);
        const total = [...counts.values()].reduce((x, y) => x + y);
        const own = placeOf(part, given);
        assert.ok(own >= 0);
        const [[first]] = counts;
        decoded(index, first).forEach((_, place) => {
          const sums = new Map(); // of numerators, by their denominator
          for (const [report, chance] of counts) {
            const [x, y] = decoded(index, report)[place];
            add(sums, y, x * chance);
          }
          const [x, y] = [...sums].map(([y, x]) => [x, y]).reduce(ratio);
          assert.equal(x, place === own ? y * total : 0n, `${part.questions} ${place}`);
        });
      });
    });
  }
});

// --- paths and what is shown ----------------------------------------------------------------------------------------

test("paths are all ways through the questions, the last varying fastest", () => {
  const [regret, , helpful] = verified.parts;
  assert.deepEqual(regret.paths, [[0, null, null], [1, 0, null], [1, 1, 0], [1, 1, 1]]);
  assert.deepEqual(helpful.paths, [[0, 0, null], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]);
  assert.deepEqual(helpful.items.map(({ name, option, codes }) => [name, option, codes]), [
    ["support.doctor", "doctor", ["no", "yes"]],
    ["support.friend", "friend", ["no", "yes"]],
    ["helpful", undefined, ["no", "yes"]],
  ]);
});

test("questions are shown as their rules say, given the answers so far", () => {
  const shown = (given) => shownQuestions(verified.survey.questions, given).map(({ id }) => id).join(" ");
  assert.equal(shown({}), "vaped support stress hours");
  assert.equal(shown({ vaped: true }), "vaped often support stress hours");
  assert.equal(shown({ vaped: true, often: "daily" }), "vaped often regret support stress hours");
  assert.equal(shown({ vaped: false, often: "daily", regret: 17 }), "vaped support stress hours");
  assert.equal(shown({ support: ["nobody"] }), "vaped support stress hours");
  assert.equal(shown({ support: ["nobody", "friend"] }), "vaped support helpful stress hours");
});

/** The submission that these random bytes give. */
async function withBytes(given, options, bytes = "5a".repeat(200)) {
  let submission;
  await scripted(bytes, () => (submission = verified.randomize(given, segments, options)), { all: false });
  return submission;
}

test("an answer to a question that is not shown leaves no trace, whatever it is", async () => {
  const plain = { vaped: false, support: ["nobody"], stress: 1, hours: 0 };
  for (const booklet of [0, 1]) {
    const expected = await withBytes(plain, { booklet });
    for (const often of ["rarely", "daily", "SECRET", 17, null, undefined, ["daily"]]) {
      for (const regret of [true, false, "SECRET"]) {
        const given = { ...plain, often, regret, helpful: regret };
        assert.deepEqual(await withBytes(given, { booklet }), expected);
      }
    }
  }
});

test("answers may be those of the booklet or all; others than the booklet's are not looked at", async () => {
  for (const [booklet, names] of [
    [0, ["vaped", "often", "regret"]],
    [1, ["vaped", "often", "support", "helpful", "stress"]],
    [2, ["support", "stress"]],
    [3, ["hours"]],
  ]) {
    const own = Object.fromEntries(names.map((name) => [name, answers[name]]));
    const nonsense = Object.fromEntries(Object.keys(answers).map((name) => [name, Symbol("SECRET")]));
    const expected = await withBytes(answers, { booklet });
    assert.equal(expected.booklet, booklet);
    assert.equal(expected.reports.length, verified.booklets[booklet].parts.length);
    assert.deepEqual(await withBytes(own, { booklet }), expected);
    assert.deepEqual(await withBytes({ ...nonsense, ...own }, { booklet }), expected);
    for (const name of names) {
      const { [name]: _, ...rest } = own;
      assert.equal(await refusal(() => randomize(text, rest, segments, { booklet })), `${name} missing`);
    }
    assert.equal(await refusal(() => randomize(text, { ...own, other: 1 }, segments, { booklet })), "answers unknown");
  }
});

test("a booklet that the survey does not have is refused", async () => {
  for (const booklet of [-1, 4, 0.5, "0", null, true, NaN, "length", []]) {
    if (booklet === null) continue; // none is given: one is drawn
    assert.equal(await refusal(() => randomize(text, answers, segments, { booklet })), "booklet range");
  }
});

// --- verification ---------------------------------------------------------------------------------------------------

test("what one submission may spend", async () => {
  assert.deepEqual([verified.account.epsilon, verified.account.delta], ["2.0", "0"]);
  const noise = { id: "noise", type: "number", text: "?", min: 0, max: 1, mechanism: "gaussian", delta: "0.000001" };
  const amount = units("0.5");
  const table = (delta) => ({
    kind: "table",
    weights: gaussian({ rows: 9n, amount, power: exponential("0.5"), delta: units(delta) }),
  });
  const edited = document(({ survey, parts, booklets }) => {
    survey.questions.push(noise, { ...noise, id: "more", delta: "0.00002" });
    parts.push({ questions: ["noise"], epsilon: "0.5", channel: table("0.000001") });
    parts.push({ questions: ["more"], epsilon: "0.5", channel: table("0.00002") });
    booklets.push({ parts: [6, 7], weight: 1 });
  });
  assert.equal((await verify(edited)).account.delta, "0.000021");
});

test("documents that would reveal more than they state, or cannot be drawn from, are refused for the reason", async () => {
  const many = ({ survey, parts, booklets }) => {
    for (let i = 0; i < 6; i++) survey.questions.push({ id: `more${i}`, type: "yes_no", text: "?" });
    const questions = survey.questions.slice(-6).map(({ id }) => id);
    parts.push({ questions, epsilon: "1.0", channel: { kind: "subset", options: 51, size: 1, favour: 2 ** 52 } });
    booklets.push({ parts: [6], weight: 1 });
  };
  const cases = [
    ["booklets[1].parts budget", ({ booklets }) => booklets[1].parts.push(3, 5)],
    ["booklets[2].parts budget", ({ parts }) => Object.assign(parts[3], { epsilon: "1.5", channel: band(2, "1.5", 1) })],
    ["parts[0].channel channel", ({ parts }) => (parts[0].channel.favour += 1)],
    ["parts[0].channel channel", ({ parts }) => (parts[0].channel.favour -= 1)],
    ["parts[5].channel channel", ({ parts }) => (parts[5].channel = band(49, "0.25", 24))],
    ["parts order", ({ parts }) => parts.splice(3, 2, parts[4], parts[3])],
    ["booklets order", ({ booklets }) => booklets.reverse()],
    ["booklets[1].parts order", ({ booklets }) => booklets[1].parts.reverse()],
    ["booklets range", ({ booklets }) => booklets.forEach((booklet) => (booklet.weight *= 3))],
    ["parts[6].questions paths", many],
    ["parts[0].questions missing", ({ parts }) => parts[0].questions.splice(0, 1)],
    ["parts[2].questions missing", ({ parts }) => parts[2].questions.splice(1, 1)],
    ["parts[0].questions order", ({ parts }) => parts[0].questions.reverse()],
    ["parts[0].channel channel", ({ parts }) => parts[0].questions.pop()],
    ["parts[0].questions conflict", ({ parts }) => parts[0].questions.push("hours")],
    ["parts[3].questions[0] unknown", ({ parts }) => (parts[3].questions = ["support"])],
    ["booklets[0].parts duplicate", ({ booklets }) => booklets[0].parts.push(1)],
    ["booklets[0].parts order", ({ booklets }) => booklets[0].parts.push(0)],
    ["booklets[0].parts[0] range", ({ booklets }) => (booklets[0].parts = [6])],
    ["booklets[0].weight range", ({ booklets }) => (booklets[0].weight = 0)],
    ["booklets range", ({ booklets }) => (booklets[0].weight = 9_993)],
    ["parts[5] unused", ({ booklets }) => booklets.pop()],
    ["parts missing", ({ survey }) => survey.questions.push({ id: "more", type: "yes_no", text: "?" })],
    ["survey.questions[0].epsilon conflict", ({ survey }) => (survey.questions[0].epsilon = "1.0")],
    ["survey.epsilon missing", ({ survey }) => delete survey.epsilon],
    ["survey.questions[1].show_if.stress order", ({ survey }) => (survey.questions[1].show_if = { stress: ["1"] })],
    ["survey.questions[1].show_if.nobody unknown", ({ survey }) => (survey.questions[1].show_if = { nobody: ["1"] })],
    ["survey.questions[1].show_if.vaped[0] range", ({ survey }) => (survey.questions[1].show_if = { vaped: ["1"] })],
    [
      "survey.questions[6].show_if conflict",
      ({ survey }) => {
        const { id, type, text, ...own } = survey.questions[6];
        survey.questions[6] = { id, type, text, show_if: { vaped: ["yes"] }, ...own };
      },
    ],
    ["survey.together[0][1] conflict", ({ survey }) => (survey.together = [["vaped", "hours"]])],
  ];
  assert.equal(await refusal(() => verify(document())), undefined);
  for (const [expected, edit] of cases) assert.equal(await refusal(() => verify(document(edit))), expected);
});

test("a part of a booklet that is within epsilon alone is counted with the others, to the last decimal", async () => {
  const exact = document(({ parts, booklets }) => {
    Object.assign(parts[4], { epsilon: "0.9999", channel: tree().parts[4].channel });
    booklets[2].parts = [3, 4];
  });
  assert.equal(await refusal(() => verify(exact)), "parts[4].channel channel");
  const sums = [["0.1", "0.2", "0.3"], ["0.7", "0.1", "0.8"], ["1.1", "2.2", "3.3"]];
  for (const [first, second, epsilon] of sums) {
    assert.ok(Number(first) + Number(second) !== Number(epsilon)); // floating point would refuse, or let more pass
    const questions = ["a", "b"].map((id) => ({ id, type: "yes_no", text: "?" }));
    const shared = (share, i) => ({ questions: ["ab"[i]], epsilon: share, channel: band(2, share, 1) });
    const parts = [first, second].map(shared);
    const made = { deniable: 1, survey: { id: "sum", title: "Sum", epsilon, questions }, parts };
    const booklets = [{ parts: [0, 1], weight: 1 }];
    assert.equal((await verify(JSON.stringify({ ...made, booklets }))).epsilon, epsilon);
    parts[1] = shared(`${second}001`, 1);
    assert.equal(await refusal(() => verify(JSON.stringify({ ...made, booklets }))), "booklets[0].parts budget");
  }
});
