// A question's answers, protection and reports in words: the facts of explain.js through the texts of texts.js.
//
// May not: touch the page. Everything here returns plain text.

import { binEdges, detectionPercent, evidence, levelValues, outOf, protection, roundUp } from "./explain.js";
import { quoted } from "./texts.js";

const DECLINED = "declined";

function amount(texts, question, value) {
  const number = texts.number(value);
  return question.unit ? texts.say("amount", { number, unit: quoted(question.unit) }) : number;
}

const quote = (texts, text) => texts.say("quote", { text: quoted(text) });

/** How the answers are called, in channel order; inside a sentence with texts in quotation marks, numbers plain. */
function phrases(question, channel, texts, mark = (text) => quote(texts, text)) {
  if (question.type === "number" && !question.bins) {
    const levels = levelValues(question, channel.levels ?? channel.weights.length);
    return levels.map((value) => amount(texts, question, value));
  }
  let own;
  if (question.type === "yes_no")
    own = (question.decline ? ["yes", "no"] : ["no", "yes"]).map((name) => mark(texts.say(name)));
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

/** Probabilities as texts such as "27 of 100", all out of the same number. */
function written(texts, name, probabilities) {
  const counted = outOf(...probabilities);
  return (
    counted?.counts.map((count) =>
      texts.say(name, { count: texts.number(count), total: texts.number(counted.total) }),
    ) ?? null
  );
}

/** The line below a question, what is in its details, and the chances that the picture shows. */
export function protectionInWords(question, channel, texts) {
  const { form, chances, odds, epsilon, delta, ...facts } = protection(question, channel);
  const names = chances.map(([name]) => name);
  const cases = chances.map(([, chance]) => written(texts, "cases", [chance])?.[0] ?? texts.number(chance));
  const values = Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, texts.number(value)]));
  names.forEach((name, i) => (values[name] = cases[i]));
  if (facts.miss !== undefined) values.miss = written(texts, "cases", [facts.miss])?.[0] ?? texts.number(facts.miss);
  const details = [];
  if (question.type === "number" && (form === "range" || form === "table")) {
    const steps = phrases(question, channel, texts);
    const points = rangeOf(question, steps, [0, steps.length - 1], texts);
    details.push(texts.say("protection.rounding", { levels: values.levels, points }));
  }
  details.unshift(texts.say(`protection.${form}`, values));
  const inSet = form === "set" ? "InSet" : "";
  return {
    line: texts.say(`line.${form}`, values),
    details,
    chances: chances.map(([name, chance], i) => ({
      name: texts.say(`chance.${name}${inSet}`),
      chance,
      cases: cases[i],
    })),
    bounds: [
      oddsInWords(odds, epsilon, delta, texts),
      testInWords("protection", epsilon, delta, texts),
      epsilonInWords(epsilon, delta, texts),
    ],
  };
}

function oddsInWords(odds, epsilon, delta, texts) {
  if (!delta) return texts.say("protection.odds", { odds: texts.number(roundUp(odds)) });
  return texts.say("protection.oddsDelta", { odds: texts.number(roundUp(Math.exp(Number(epsilon)))), delta });
}

function epsilonInWords(epsilon, delta, texts) {
  return texts.say(delta ? "protection.epsilonDelta" : "protection.epsilon", { epsilon, delta });
}

/** What an epsilon means for one person, in the words of deniable_protocol's accounting. */
function testInWords(kind, epsilon, delta, texts) {
  const percent = detectionPercent(Number(epsilon), Number(delta ?? 0));
  return percent >= 100 ? texts.say(`${kind}.hardly`) : texts.say(`${kind}.test`, { percent: texts.number(percent) });
}

/** The whole survey's protection: its epsilons add up. */
export function totalInWords(survey, epsilon, texts) {
  const delta = survey.questions.reduce((sum, question) => sum + Number(question.delta ?? 0), 0);
  const values = { count: texts.number(survey.questions.length), epsilon };
  return [texts.say("total.line", values), testInWords("total", epsilon, delta, texts), texts.say("total.each")];
}

/** What left the device, in words. */
export function reportInWords(question, channel, report, texts) {
  const { form, points, part, bit, reports } = evidence(question, channel, report);
  if (form === "drawn")
    return texts.say(bit ? "report.drawnYes" : "report.drawnNo", { option: quote(texts, question.options[part].text) });
  if (form === "bit" || form === "single") return phrases(question, channel, texts, (text) => text)[points[0]];
  const names = phrases(question, channel, texts);
  if (form === "set")
    return texts.say("report.oneOf", { answers: texts.either(points.map((answer) => names[answer])) });
  const answer = rangeOf(question, names, points, texts);
  if (form === "table")
    return texts.say("report.table", { number: texts.number(report + 1), reports: texts.number(reports), answer });
  return texts.say(points.length === 1 ? "report.near" : "report.between", { answer });
}

/** Why this report proves nothing: how likely it was under the answers it points at, and under the others. */
export function whyInWords(question, channel, report, texts) {
  const { form, points, bit, high, low, odds, exact, rare } = evidence(question, channel, report);
  const shares = written(texts, "people", [high, low]);
  const sentences = [];
  if (shares && low > 0) {
    const values = { high: shares[0], low: shares[1] };
    if (form === "drawn") sentences.push(texts.say(bit ? "why.drawnYes" : "why.drawnNo", values));
    else {
      const names = phrases(question, channel, texts);
      const ordered = form === "range" || form === "table";
      values.answer = ordered
        ? rangeOf(question, names, points, texts)
        : texts.either(points.map((answer) => names[answer]));
      values.other = names[1 - points[0]];
      const twoWay = form === "bit" && exact;
      sentences.push(texts.say(twoWay ? "why.bit" : exact ? "why.exact" : "why.least", values));
    }
  }
  if (rare) sentences.push(texts.say("why.rare", { delta: question.delta }));
  else sentences.push(texts.say("why.odds", { odds: texts.number(roundUp(odds)) }));
  // Odds of ten thousand are no reason why nobody can tell: then the reader is told so.
  if (detectionPercent(Number(question.epsilon)) > 50)
    sentences.push(testInWords("protection", question.epsilon, question.delta, texts));
  return sentences.join(" ");
}
