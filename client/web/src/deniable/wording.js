// A question's answers, protection and reports in words: the facts of explain.js through the texts of texts.js.
//
// May not: touch the page. Everything here returns plain text.

import { Account } from "./account.js";
import {
  binEdges,
  deltaOf,
  evidence,
  isRounded,
  levelValues,
  outOf,
  PROTECTING,
  protection,
  roundUp,
  roundUpSmall,
} from "./explain.js";
import { quoted } from "./texts.js";

const DECLINED = "declined";

function amount(texts, question, value) {
  const number = texts.number(value);
  return question.unit ? texts.say("amount", { number, unit: quoted(question.unit) }) : number;
}

const quote = (texts, text) => texts.say("quote", { text: quoted(text) });

/** The names of an item's answers, in channel order; `mark` may put texts, but not numbers, in quotation marks. */
function namesOf({ question, option, codes }, texts, mark) {
  if (option) {
    const { text } = question.options.find(({ code }) => code === option);
    return codes.map((code) => mark(texts.say(code === "yes" ? "optionYes" : "optionNo", { option: text })));
  }
  let own;
  if (question.type === "yes_no") own = codes.filter((code) => code !== DECLINED).map((code) => mark(texts.say(code)));
  else if (question.type === "scale") own = question.labels.map((label) => mark(label));
  else if (question.type === "number") {
    const edges = binEdges(question);
    own = edges.slice(1).map((edge, i) => {
      const last = i === edges.length - 2;
      return texts.say(last ? "range" : "bin", { low: texts.number(edges[i]), high: amount(texts, question, edge) });
    });
  } else own = question.options.map(({ text }) => mark(text));
  return question.decline ? [...own, mark(texts.say("declined"))] : own;
}

/** The names of what a part's channel tells apart; in a sentence, texts are in quotation marks and numbers are not. */
function phrases({ items, paths, channel }, texts, mark = (text) => quote(texts, text)) {
  const [{ question }] = items;
  if (items.length > 1) {
    const names = items.map((item) => namesOf(item, texts, quoted));
    const shown = (path) => path.flatMap((place, i) => (place === null ? [] : [names[i][place]]));
    return paths.map((path) => shown(path).join(" · "));
  }
  if (question.type === "number" && !question.bins) {
    const levels = levelValues(question, channel.levels ?? channel.weights.length);
    return levels.map((value) => amount(texts, question, value));
  }
  return namesOf(items[0], texts, mark);
}

/** The lowest and the highest of some ordered answers: "10" and "30 drinks", the unit once. */
function limitsOf(question, names, points, texts) {
  const [first, last] = [points[0], points.at(-1)];
  const low = question.type === "number" ? texts.number(levelValues(question, names.length)[first]) : names[first];
  return { low, high: names[last] };
}

/** From one of the ordered answers to another: "10 to 30 drinks". */
function rangeOf(question, names, points, texts) {
  if (points[0] === points.at(-1)) return names[points[0]];
  return texts.say("range", limitsOf(question, names, points, texts));
}

/** Labels such as "0" or "10 Extremely" are numbered already, and perhaps otherwise than the points. */
export const isNumbered = ({ labels }) => labels.some((label) => /^\p{Nd}/u.test(label));

/** A true answer, for the eyes of the person who gave it. */
export function answerInWords(question, answer, texts) {
  if (answer === DECLINED && question.decline) return texts.say("declined");
  const textOf = (wanted) => question.options.find(({ code }) => code === wanted).text;
  switch (question.type) {
    case "yes_no":
      return texts.say(answer ? "yes" : "no");
    case "choice":
      return textOf(answer);
    case "multi_choice":
      return answer.length ? answer.map((code) => quoted(textOf(code))).join(", ") : texts.say("none");
    case "scale":
      if (isNumbered(question)) return question.labels[answer - 1];
      return texts.say("point", { point: texts.number(answer), label: quoted(question.labels[answer - 1]) });
    default:
      return amount(texts, question, answer);
  }
}

/** "26 of 100" as numbers: a lower bound where it protects, and an upper one elsewhere; null where none is round. */
function casesOf(texts, chance, protects) {
  const counted = outOf(protects ? { least: [chance] } : { most: [chance] });
  if (!counted) return null;
  const [count] = protects ? counted.least : counted.most;
  return { count: texts.number(count), total: texts.number(counted.total) };
}

const SUFFIX = { set: "InSet", combination: "Combination", combinations: "CombinationInSet" };
const MISSES = { bit: "opposite", drawn: "opposite", range: "outside", table: "far" };

/**
 * The line below a question, or below those of a part, a warning if the answer is protected weakly, what is in the details,
 * and the chances that the picture shows.
 */
export function protectionInWords(part, texts) {
  const [{ question }] = part.items;
  const { form, chances, odds, excess, miss, count, ...facts } = protection(part);
  const account = accountOf(part);
  const values = Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, texts.number(value)]));
  if (count) values.options = texts.number(count);
  const missed = casesOf(texts, Object.fromEntries(chances)[MISSES[form]] ?? miss, true);
  const shown = chances.map(([name, chance]) => ({
    name: texts.say(`chance.${name}${SUFFIX[form] ?? ""}`),
    chance,
    cases: chanceInWords(name, chance, values, texts),
  }));
  const details = [texts.say(`protection.${form}`, values)];
  if (isRounded(part)) {
    const steps = phrases(part, texts);
    const points = rangeOf(question, steps, [0, steps.length - 1], texts);
    details.push(texts.say("protection.rounding", { levels: values.levels, points }));
  }
  return {
    line: missed ? texts.say(`line.${form}`, { ...values, ...missed }) : texts.say("line.seldom"),
    warning: warningOf(part, texts),
    details,
    chances: shown,
    bounds: [oddsInWords(odds, excess, account, texts), texts.say("protection.experts", { symbols: inSymbols(account) })],
  };
}

function chanceInWords(name, chance, { options }, texts) {
  if (name === "drawn") return texts.say("chance.exactly", { count: texts.number(1), total: options });
  const protects = PROTECTING.includes(name);
  const cases = casesOf(texts, chance, protects);
  if (cases) return texts.say(protects ? "chance.atLeast" : "chance.atMost", cases);
  return texts.say(protects ? "chance.atLeast" : "chance.rare", {
    chance: texts.number(roundUpSmall(chance)),
    count: texts.number(Math.floor(chance * 1e12)),
    total: texts.number(1e12),
  });
}

function oddsInWords(odds, excess, { epsilon, delta }, texts) {
  if (!Number(delta)) return texts.say("protection.odds", { odds: texts.number(roundUp(odds)) });
  const chance = texts.number(roundUpSmall(excess));
  return texts.say("protection.oddsDelta", { odds: texts.number(roundUp(Math.exp(epsilon))), chance });
}

/** What a part's report spends. */
const accountOf = (part) => new Account(part.epsilon, deltaOf(part) ?? "0");

/** For experts. */
export const inSymbols = ({ epsilon, delta }) => `ε = ${Number(epsilon)}${Number(delta) ? `, δ = ${delta}` : ""}`;

const WEAK = 50; // percent: a guess is more often right than not

/** How often a guess succeeds at most if it is wrong about 5% of people: in percent, rounded up to a tenth. */
const foundPercent = (account) => Math.ceil(account.power() * 1000) / 10;

/** How well an account protects: "fair", "weak" or "hardly". */
export function strengthOf(account) {
  const percent = foundPercent(account);
  if (percent >= 100) return "hardly";
  return percent > WEAK ? "weak" : "fair";
}

/** A warning where a part by itself protects weakly. That it does not is no reassurance: only the total can be. */
function warningOf(part, texts) {
  if (strengthOf(accountOf(part)) === "fair") return null;
  return texts.say(part.items.length > 1 ? "line.weakTogether" : "line.weak");
}

/** What an account means for one person; the server says the same, in its wording.py. */
export function accountInWords(account, texts) {
  const strength = strengthOf(account);
  const sentences = [texts.say("meaning.suppose")];
  if (strength === "hardly") sentences.push(texts.say("meaning.hardly"));
  else sentences.push(texts.say("meaning.found", { percent: texts.number(foundPercent(account)) }));
  if (strength === "weak") sentences.push(texts.say("meaning.weak"));
  if (Number(account.delta)) sentences.push(deltaInWords(account, texts));
  return sentences.join(" ");
}

/**
 * Whatever is sent can be made from something else: with probability delta the truth itself, and otherwise a report that
 * keeps epsilon. Delta is shown as so many in so many people: two digits at most, the last rounded up.
 */
function deltaInWords({ delta }, texts) {
  const all = 1e12; // a delta has twelve decimals, so these are integers
  const people = Math.round(delta * all);
  let total = 10;
  while (people * total < all) total *= 10;
  if ((people * total) % all) total *= 10;
  const count = texts.number(Math.ceil((people * total) / all));
  return texts.say("meaning.delta", { delta, count, total: texts.number(total) });
}

const idsOf = ({ items }) => new Set(items.map(({ question }) => question.id));

/** The one question that a part is about and that no other part is about; null where there are more. */
export function homeOf(part, parts) {
  const [id, more] = idsOf(part);
  return more || parts.filter((each) => idsOf(each).has(id)).length > 1 ? null : id;
}

/** How much can be reported on: a multi_choice counts by its options. */
const countItems = (questions) =>
  questions.reduce((sum, { type, options }) => sum + (type === "multi_choice" ? options.length : 1), 0);

const SECONDS = 20; // that a question takes

/** How many questions this device asks, whether it picked them by chance, and how long that takes. */
export function sizeInWords({ survey, questions }, texts) {
  const [picked, total] = [questions.length, survey.questions.length];
  const asked = picked + (survey.segments?.length ?? 0);
  const minutes = texts.minutes(Math.max(1, Math.ceil((asked * SECONDS) / 60)));
  const name = !isPicked({ survey, questions }) ? "all" : picked === total ? "options" : "picked";
  return texts.say(`start.${name}`, { picked: texts.number(picked), total: texts.number(total), minutes });
}

/** Whether this device picked by chance what it asks. */
export const isPicked = ({ survey, questions }) => countItems(questions) !== countItems(survey.questions);

/** The texts of what is sent unchanged, as a list. */
export const openlyInWords = ({ survey: { segments = [] } }, texts) =>
  texts.all(segments.map(({ text }) => quote(texts, text)));

/** The protection of everything that is sent; of several parts, also that they add up. */
export function totalInWords({ parts, account }, texts) {
  const sentences = [accountInWords(account, texts), texts.say("protection.experts", { symbols: inSymbols(account) })];
  return parts.length > 1 ? [...sentences, texts.say("meaning.each")] : sentences;
}

/** The combinations of answers that a report of several questions speaks for; null for one question. */
export function combinationsInWords(part, report, texts) {
  if (part.items.length === 1) return null;
  const names = phrases(part, texts);
  return evidence(part, report).points.map((path) => names[path]);
}

/** What left the device, in words. */
export function reportInWords(part, report, texts) {
  const [{ question }] = part.items;
  const combinations = combinationsInWords(part, report, texts);
  if (combinations) return combinations.join("; ");
  const { form, points, option, bit, reports } = evidence(part, report);
  if (form === "drawn")
    return texts.say(bit ? "report.drawnYes" : "report.drawnNo", { option: quote(texts, question.options[option].text) });
  if (form === "bit" || form === "single") return phrases(part, texts, (text) => text)[points[0]];
  const names = phrases(part, texts);
  if (form === "set")
    return texts.say("report.oneOf", { answers: texts.either(points.map((answer) => names[answer])) });
  if (form === "table") {
    const answer = rangeOf(question, names, points, texts);
    return texts.say("report.table", { number: texts.number(report + 1), reports: texts.number(reports), answer });
  }
  if (points.length === 1) return texts.say("report.near", { answer: names[points[0]] });
  return texts.say("report.between", limitsOf(question, names, points, texts));
}

/** What a report reveals: how likely it was under the answers it points at, and under the others. */
export function whyInWords(part, report, texts) {
  const { form, points, bit, odds, rare, ...chances } = evidence(part, report);
  const shares = outOf({ most: [chances.high], least: [chances.low] });
  const sentences = [];
  if (shares && chances.low > 0) {
    const [high, low, total] = [shares.most[0], shares.least[0], shares.total].map((number) => texts.number(number));
    const values = { high, low, total };
    if (form === "drawn") sentences.push(texts.say(bit ? "why.drawnYes" : "why.drawnNo", values));
    else if (part.items.length > 1) sentences.push(texts.say(`why.${form}`, values));
    else {
      const names = phrases(part, texts);
      const ordered = ["point", "range", "table"].includes(form);
      values.answer = ordered
        ? rangeOf(part.items[0].question, names, points, texts)
        : texts.either(points.map((answer) => names[answer]));
      values.other = names[1 - points[0]];
      sentences.push(texts.say(form === "bit" ? "why.bit" : "why.others", values));
    }
  }
  if (rare) {
    const { excess } = protection(part);
    const values = { odds: texts.number(roundUp(odds)), chance: texts.number(roundUpSmall(excess)) };
    sentences.push(texts.say(chances.low > 0 ? "why.rare" : "why.never", values));
  } else sentences.push(texts.say("why.odds", { odds: texts.number(roundUp(odds)) }));
  // Odds of ten thousand protect nobody: then we say so first.
  return [warningOf(part, texts), ...sentences].filter(Boolean).join(" ");
}
