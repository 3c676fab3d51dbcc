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

/** From one of the ordered answers to another: "10 to 30 drinks", the unit said once. */
function rangeOf(question, names, points, texts) {
  const [first, last] = [points[0], points.at(-1)];
  if (first === last) return names[first];
  const low = question.type === "number" ? texts.number(levelValues(question, names.length)[first]) : names[first];
  return texts.say("range", { low, high: names[last] });
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

const count = (texts, name, count, total) =>
  texts.say(name, { count: texts.number(count), total: texts.number(total) });

/** A probability in cases, such as "26 of 100": a lower bound where it protects, and an upper one elsewhere. */
function casesOf(texts, chance, protects) {
  const counted = outOf(protects ? { least: [chance] } : { most: [chance] });
  if (counted) return count(texts, "cases", (protects ? counted.least : counted.most)[0], counted.total);
  return texts.number(protects ? Math.floor(chance * 1e12) / 1e12 : roundUpSmall(chance));
}

const SUFFIX = { set: "InSet", combination: "Combination", combinations: "CombinationInSet" };

/**
 * The line below a question, or below those of a part, a warning if the answer is protected weakly, what is in the details, and the chances that
 * the picture shows.
 */
export function protectionInWords(part, texts) {
  const [{ question }] = part.items;
  const { form, chances, odds, excess, ...facts } = protection(part);
  const account = accountOf(part);
  const joint = part.items.length > 1;
  const values = Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, texts.number(value)]));
  if (facts.miss !== undefined) values.miss = casesOf(texts, facts.miss, true);
  const shown = chances.map(([name, chance]) => {
    const protects = PROTECTING.includes(name);
    const cases = name === "drawn" ? count(texts, "cases", 1, facts.count) : casesOf(texts, chance, protects);
    values[name] = cases;
    const limit = protects ? "atLeast" : "atMost";
    return {
      name: texts.say(`chance.${name}${SUFFIX[form] ?? ""}`),
      chance,
      cases: name === "drawn" ? cases : texts.say(limit, { cases }),
    };
  });
  const details = [];
  if (isRounded(part)) {
    const steps = phrases(part, texts);
    const points = rangeOf(question, steps, [0, steps.length - 1], texts);
    details.push(texts.say("protection.rounding", { levels: values.levels, points }));
  }
  details.unshift(texts.say(`protection.${form}`, values));
  return {
    line: texts.say(`line.${form}`, values),
    warning: warningOf(part, texts),
    details,
    chances: shown,
    bounds: [oddsInWords(odds, excess, account, texts), texts.say("protection.experts", { symbols: inSymbols(account) })],
  };
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
  const cases = count(texts, "people", Math.ceil((people * total) / all), total);
  return texts.say("meaning.delta", { delta, people: cases });
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

/** That this device picked its questions by chance; null where everybody is asked everything. */
export function pickedInWords({ survey, questions }, texts) {
  if (countItems(questions) === countItems(survey.questions)) return null;
  const [picked, total] = [questions.length, survey.questions.length];
  const values = { picked: texts.number(picked), total: texts.number(total) };
  return `${texts.say(picked === total ? "picked.options" : "picked.questions", values)} ${texts.say("picked.why")}`;
}

/** The protection of everything that is sent; of several parts, also that they add up. */
export function totalInWords({ parts, account }, texts) {
  const sentences = [texts.say("total.line", { symbols: inSymbols(account) }), accountInWords(account, texts)];
  return parts.length > 1 ? [...sentences, texts.say("total.each")] : sentences;
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
  const answer = rangeOf(question, names, points, texts);
  if (form === "table")
    return texts.say("report.table", { number: texts.number(report + 1), reports: texts.number(reports), answer });
  return texts.say(points.length === 1 ? "report.near" : "report.between", { answer });
}

/** What a report reveals: how likely it was under the answers it points at, and under the others. */
export function whyInWords(part, report, texts) {
  const { form, points, bit, high, low, odds, rare } = evidence(part, report);
  const shares = outOf({ most: [high], least: [low] });
  const sentences = [];
  if (shares && low > 0) {
    const values = {
      high: count(texts, "people", shares.most[0], shares.total),
      low: count(texts, "people", shares.least[0], shares.total),
    };
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
    sentences.push(texts.say(low > 0 ? "why.rare" : "why.never", values));
  } else sentences.push(texts.say("why.odds", { odds: texts.number(roundUp(odds)) }));
  // Odds of ten thousand protect nobody: then we say so first.
  return [warningOf(part, texts), ...sentences].filter(Boolean).join(" ");
}
