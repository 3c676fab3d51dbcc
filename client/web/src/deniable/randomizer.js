// From answers to a submission: only what this module returns may leave the device.
//
// May not: use any randomness but crypto.getRandomValues, do floating-point arithmetic in a channel, let an answer into
// an error message, or keep one.

import { DECLINED, DeniableError, has, hex, isTable, N, refuse } from "./checks.js";
import { isShown } from "./protocol.js";
import { codesOf } from "./survey.js";

/**
 * The submission that these answers give, once, to a verified document. The booklet is drawn unless one is given; only
 * answers to questions that it asks and shows are read. A survey with invitations needs a token, which has the id.
 */
export function randomizeVerified(verified, answers, segments, booklet, token) {
  const { survey, parts, booklets, digest, issuer } = verified;
  const { questions, segments: segmentList = [] } = survey;
  if (!token !== !issuer) refuse("token", token ? "unknown" : "missing", "goes with a survey that has invitations");
  // The order of draws is part of the protocol: the booklet, the id, then the reports in the booklet's order of parts.
  // No answer has been looked at when the booklet is drawn: it reveals nothing, and its parts spend all that is spent.
  booklet ??= drawBooklet(verified);
  const problems = [];
  const attempt = (check) => {
    try {
      return check();
    } catch (error) {
      if (error instanceof DeniableError) problems.push(...error.problems);
      else throw error;
    }
  };
  const finish = () => {
    if (problems[0]) throw new DeniableError(problems[0].place, problems[0].reason, problems[0].message, problems);
  };
  for (const [given, what, known] of [[answers, "answers", questions], [segments, "segments", segmentList]]) {
    if (!isTable(given)) refuse(what, "type", "must be an object from ids to values");
    attempt(() => onlyKnown(given, what, known));
  }
  if (!booklets.some((_, i) => i === booklet)) {
    attempt(() => refuse("booklet", "range", "is not a booklet of this survey"));
    finish();
  }
  const reported = booklets[booklet].parts.map((index) => parts[index]);
  const asked = reported.flatMap(({ items }) => items.map(({ question }) => question));
  const truths = readAnswers(questions.filter((question) => asked.includes(question)), answers, attempt);
  for (const { id, options } of segmentList) {
    attempt(() => {
      if (!has(segments, id)) refuse(id, "missing", "has no code; every segment needs one");
      if (!options.some(({ code }) => code === segments[id])) refuse(id, "range", "is not one of the codes of this segment");
    });
  }
  finish();
  return {
    id: token ? token.id : hex(randomBytes(16)),
    digest,
    booklet,
    reports: reported.map((part) => drawReport(part, truths)),
    segments: Object.fromEntries(segmentList.map(({ id }) => [id, segments[id]])),
    ...(token && { token: { message: token.message, signature: token.signature } }),
  };
}

/** The place of a booklet: each owns as many of the equally likely numbers as its weight says, so P = weight/sum. */
export function drawBooklet({ booklets }) {
  if (!booklets[1]) return 0;
  let left = below(booklets.reduce((sum, { weight }) => sum + weight, 0));
  return booklets.findIndex(({ weight }) => (left -= weight) < 0);
}

/** The questions of a booklet, in the survey's order; of a multi_choice only the options that the booklet reports on. */
export function askedIn({ survey, parts, booklets }, booklet) {
  const items = booklets[booklet].parts.flatMap((index) => parts[index].items);
  return survey.questions.flatMap((question) => {
    const codes = items.filter((item) => item.question === question).map(({ option }) => option);
    if (!codes[0]) return codes.length ? [question] : [];
    return [Object.freeze({ ...question, options: question.options.filter(({ code }) => codes.includes(code)) })];
  });
}

/** What a booklet asks, in the best of these languages. */
export function spoken(verified, booklet, wanted) {
  const document = verified.inLanguage(...wanted);
  const { survey, parts, booklets, language } = document;
  return {
    survey,
    language,
    questions: Object.freeze(askedIn(document, booklet)),
    parts: Object.freeze(booklets[booklet].parts.map((index) => parts[index])),
  };
}

/** Those of the questions that are shown to somebody who has given these answers so far. */
export function shownQuestions(questions, answers) {
  const truths = readAnswers(questions, answers);
  return questions.filter(({ id }) => truths.has(id));
}

function onlyKnown(given, what, known) {
  // The unknown name is not repeated: where arguments were mixed up, it may itself be an answer.
  if (!Object.keys(given).every((key) => known.some(({ id }) => id === key))) {
    refuse(what, "unknown", `holds a name that is not one of ${known.map(({ id }) => id).join(", ")}`);
  }
}

/** The answer as a channel takes it: a place among the codes, a part of the way from min to max, or a bit per option. */
function encode(question, answer) {
  const { id, type, decline } = question;
  const codes = codesOf(question);
  if (decline && answer === DECLINED) return codes.length - 1;
  if (type === "yes_no") {
    if (typeof answer !== "boolean") refuse(id, "type", "takes true or false");
    return codes.indexOf(answer ? "yes" : "no");
  }
  if (type === "choice") {
    if (typeof answer !== "string") refuse(id, "type", "takes the code of one of its options");
    if (!codes.includes(answer)) refuse(id, "range", "takes the code of one of its options");
    return codes.indexOf(answer);
  }
  if (type === "multi_choice") {
    if (!Array.isArray(answer) || !answer.every((code) => typeof code === "string")) {
      refuse(id, "type", "takes a list of the codes of its options, each at most once");
    }
    if (new Set(answer).size < answer.length || !answer.every((code) => codes.includes(code))) {
      refuse(id, "range", "takes a list of the codes of its options, each at most once");
    }
    return codes.map((code) => (answer.includes(code) ? 1 : 0));
  }
  if (typeof answer !== "number") refuse(id, "type", "takes a number");
  if (type === "scale") {
    if (!codes.includes(`${answer}`)) refuse(id, "range", `takes a whole number from 1 to ${question.labels.length}`);
    return answer - 1;
  }
  const { min, max, bins } = question;
  if (!(min <= answer && answer <= max)) refuse(id, "range", `takes a number from ${min} to ${max}`);
  return bins ? bins.filter((edge) => edge <= answer).length : (answer - min) / (max - min);
}

/**
 * The encoded answers by id, of those questions only that are shown. An answer to another one is never looked at: all
 * that follows is the same as if it had not been given. With `attempt`, every one is needed, and it hears what is wrong.
 */
function readAnswers(questions, answers, attempt) {
  const truths = new Map();
  const chosen = new Map();
  for (const question of questions) {
    const { id } = question;
    if (!isShown(question, (parent, code) => chosen.get(parent)?.includes(code))) continue;
    const read = () => {
      if (has(answers, id)) return encode(question, answers[id]);
      if (attempt) refuse(id, "missing", "has no answer; every question that is shown needs one");
    };
    const truth = (attempt ? attempt(read) : read()) ?? null;
    truths.set(id, truth);
    chosen.set(id, codesOf(question).filter((_, i) => truth === i || truth?.[i]));
  }
  return truths;
}

/**
 * What a part's channel takes for these answers: of several items the place of their path. The paths are all ways
 * through the questions that the rules of display allow, no two alike, and the answers have passed the same rules, by
 * questions that are all in the part: exactly one path is theirs.
 */
function placeOf({ items, paths }, truths) {
  const own = items.map(({ question, option }) => {
    const truth = truths.get(question.id) ?? null;
    return option && truth ? truth[codesOf(question).indexOf(option)] : truth;
  });
  return items[1] ? paths.findIndex((path) => path.every((place, i) => place === own[i])) : own[0];
}

function drawReport(part, truths) {
  const { items, channel } = part;
  const { type, bins } = items[0].question;
  const levels = channel.levels ?? channel.weights?.length;
  const truth = placeOf(part, truths);
  return draw(channel, type === "number" && !bins ? roundToLevel(truth * (levels - 1)) : truth);
}

/** One of the two levels around a position, so that its mean is kept. Encoding, not protection. */
function roundToLevel(position) {
  const level = Math.floor(position);
  return word() < (position - level) * N ? level + 1 : level;
}

// --- the randomiser: integers only --------------------------------------------------------------------------------

const randomBytes = (n) => globalThis.crypto.getRandomValues(new Uint8Array(n));

/** Uniform on 0 ... N-1: eight bytes, most significant first, the low 11 bits dropped. */
function word() {
  const view = new DataView(randomBytes(8).buffer);
  return view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11);
}

/** Uniform on 0 ... n-1: words at or above the largest multiple of n are thrown away, so each has probability 1/n. */
function below(n) {
  if (n === 1) return 0;
  const limit = N - (N % n);
  for (;;) {
    const drawn = word();
    if (drawn < limit) return drawn % n;
  }
}

// CHOOSE[n][s]: subsets of size s out of n things, by Pascal's rule; the largest, C(50, 25), is below 2^47.
const CHOOSE = [[1]];
for (let n = 1; n <= 50; n++) {
  CHOOSE.push(Array.from({ length: n + 1 }, (_, s) => (CHOOSE[n - 1][s - 1] ?? 0) + (CHOOSE[n - 1][s] ?? 0)));
}

/** The subset of this rank among those of `size` out of n places, which never holds `gap`: a sum of powers of two. */
function subset(n, size, rank, gap) {
  let report = 0;
  for (let place = n - 1; size; place--) {
    const without = CHOOSE[place][size] ?? 0;
    if (rank >= without) {
      rank -= without;
      size--;
      report += 2 ** (place < gap ? place : place + 1);
    }
  }
  return report;
}

function draw(channel, answer) {
  if (channel.kind === "drawn") {
    const part = below(channel.parts.length); // P = 1/k for each part, whatever the answer
    return 2 * part + draw(channel.parts[part], answer[part]);
  }
  if (channel.kind === "table") {
    let left = word(); // report y owns as many of the N words as its weight says
    return channel.weights[answer].findIndex((weight) => left < weight || ((left -= weight), false));
  }
  const favoured = word() < channel.favour; // P = F/N
  if (channel.kind === "band") {
    if (favoured) return answer + below(channel.width); // then each of the w favoured reports equally
    const other = below(channel.levels - 1); // or each of the m-1 others: those below the band, those above it
    return other < answer ? other : other + channel.width;
  }
  const others = channel.options - 1;
  const size = favoured ? channel.size - 1 : channel.size; // how many other options the report holds
  const rest = subset(others, size, below(CHOOSE[others][size]), answer);
  return favoured ? 2 ** answer + rest : rest;
}
