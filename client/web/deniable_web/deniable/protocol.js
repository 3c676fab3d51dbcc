// Reading a published document, and proving on this device that it protects as much as it states.
//
// May not: use the network, storage or a clock, or do floating-point arithmetic. With checks.js, survey.js and
// randomizer.js the twin of the Python package deniable_protocol: shared/vectors/ hold both to the same results,
// shared/PROTOCOL.md describes them.

import {
  choice,
  distinct,
  epsilonString,
  fromUnits,
  has,
  hex,
  integer,
  isTable,
  isText,
  join,
  list,
  MAX_PATHS,
  N,
  refuse,
  strictJson,
  string,
  sum,
  table,
  total,
  UNIT,
  units,
} from "./checks.js";
import { asksShares, checkSurvey, codesOf, measure } from "./survey.js";

const BIG_N = 1n << 53n;
const ONE = 1n << 256n; // fixed-point one of expFloor
export const MAX_BYTES = 1_000_000;
const MOST = 10_000; // of parts, and of the weights of all booklets together

/** L with L / 2^256 <= e^epsilon: Taylor terms, each rounded down. */
export function expFloor(epsilon) {
  let total = 0n;
  for (let term = ONE, i = 1n; term; i++) {
    total += term;
    term = (term * units(epsilon)) / (UNIT * i);
  }
  return total;
}

/** The largest F that keeps epsilon with u unfavoured to v favoured reports. */
export function largestFavour(epsilon, unfavoured, favoured) {
  const weight = expFloor(epsilon) * BigInt(favoured);
  return Number((weight * BIG_N) / (weight + BigInt(unfavoured) * ONE));
}

// --- items and their paths ----------------------------------------------------------------------------------------

/** What parts report on, by name: a question, or, where the survey has an epsilon, each option of a multi_choice. */
function itemsOf(survey) {
  const items = survey.questions.flatMap((question) => {
    const { id, type, options } = question;
    return survey.epsilon && type === "multi_choice"
      ? options.map(({ code }) => ({ name: `${id}.${code}`, question, option: code, codes: ["no", "yes"] }))
      : [{ name: id, question, codes: codesOf(question) }];
  });
  return new Map(items.map((item) => [item.name, item]));
}

/** Whether a question is shown; `chose(id, code)` tells whether this was answered to another one. */
export const isShown = ({ show_if: rule }, chose) =>
  !rule || Object.keys(rule).every((id) => rule[id].some((code) => chose(id, code)));

/** All combinations of answers, the last varying fastest: the place of each among its codes, null where not shown. */
function pathsOf(items, place) {
  return items.reduce((paths, { question, codes }) => {
    const longer = paths.flatMap((path) => {
      const chose = (id, code) =>
        path.some((answer, i) => {
          const { question, option, codes } = items[i];
          return question.id === id && (option ? option === code && answer === 1 : codes[answer] === code);
        });
      return isShown(question, chose) ? codes.map((_, answer) => [...path, answer]) : [[...path, null]];
    });
    if (longer.length > MAX_PATHS) refuse(place, "paths");
    return longer;
  }, [[]]);
}

// --- channels: shape, then proof ----------------------------------------------------------------------------------

const CHANNEL_KEYS = {
  subset: ["options", "size", "favour"],
  band: ["levels", "width", "favour"],
  drawn: ["parts"],
  table: ["weights"],
};

function channelKind({ type, mechanism, decline, ...rest }) {
  if (type === "yes_no") return decline ? "subset" : "band";
  if (type === "multi_choice") return "drawn";
  if (["exponential", "laplace", "gaussian"].includes(mechanism)) return "table";
  if (type === "choice" || mechanism === "krr") return "subset";
  return measure({ type, ...rest }) === "mean" ? "band" : "subset";
}

function checkShape(channel, place, kinds) {
  const at = (key) => join(place, key);
  if (!isTable(channel)) refuse(place, "type");
  if (!has(channel, "kind")) refuse(at("kind"), "missing");
  choice(channel.kind, at("kind"), kinds);
  table(channel, place, ["kind", ...CHANNEL_KEYS[channel.kind]]);
  if (has(channel, "favour")) {
    const [many, few] = CHANNEL_KEYS[channel.kind];
    integer(channel[many], at(many), 2, 51);
    integer(channel[few], at(few), 1, channel[many] - 1);
    integer(channel.favour, at("favour"), 1, N - 1);
  } else if (channel.kind === "drawn") {
    list(channel.parts, at("parts"), 2, 50, (part, where) => {
      checkShape(part, where, ["band"]);
      if (part.levels !== 2) refuse(join(where, "levels"), "mismatch");
    });
  } else {
    let columns;
    list(channel.weights, at("weights"), 2, 17, (row, where) => {
      list(row, where, columns ?? 2, columns ?? 1024, (weight, cell) => integer(weight, cell, 0, N - 1));
      columns = row.length;
    });
  }
}

function checkChannel({ items, paths, epsilon, channel }, place) {
  checkShape(channel, place, Object.keys(CHANNEL_KEYS));
  const [{ question, option, codes }, more] = items;
  const kind = more ? "subset" : option ? "band" : channelKind(question);
  if (channel.kind !== kind) refuse(join(place, "kind"), "mismatch");
  const [field] = CHANNEL_KEYS[kind];
  const answers = (more ? paths : codes).length;
  if (answers && (channel[field].length ?? channel[field]) !== answers) {
    refuse(join(place, field), "mismatch");
  }
  if (question.mechanism === "krr" && channel.size !== 1) refuse(join(place, "size"), "mismatch");
  checkPrivacy(channel, epsilon, question.delta, place);
}

/** Refuses unless no answer makes any report more than e^epsilon times as likely as another answer does. */
function checkPrivacy(channel, epsilon, delta, place) {
  if (channel.kind === "drawn") {
    // A part is drawn without looking at the answer, so that the drawn channel keeps what each part keeps.
    channel.parts.forEach((part, i) => checkPrivacy(part, epsilon, undefined, `${place}.parts[${i}]`));
  } else if (channel.kind === "table") {
    checkTable(channel.weights, expFloor(epsilon), delta, join(place, "weights"));
  } else {
    // v favoured reports share F/N evenly and u others the rest, for every answer: the odds are F*u / ((N-F)*v).
    const [u, v] = contrast(channel);
    const favour = BigInt(channel.favour);
    const likely = favour * BigInt(u);
    const unlikely = (BIG_N - favour) * BigInt(v);
    const at = join(place, "favour");
    if (likely * ONE > expFloor(epsilon) * unlikely) refuse(at, "favour_high", "less private than stated");
    // Below even odds the proof turns upside down: a small F reveals what the answer is *not*.
    if (likely <= unlikely) refuse(at, "favour_low");
  }
}

export const contrast = ({ kind, options, size, levels, width }) =>
  kind === "subset" ? [options - size, size] : [levels - 1, width];

const largest = (values) => values.reduce((a, b) => (a > b ? a : b));

function checkTable(weights, expEpsilon, delta, place) {
  const rows = weights.map((row) => row.map(BigInt));
  rows.forEach((row, i) => {
    if (row.reduce((sum, weight) => sum + weight) !== BIG_N) refuse(`${place}[${i}]`, "row_sum");
  });
  rows[0].forEach((_, y) => {
    const column = rows.map((row) => row[y]);
    const most = largest(column);
    if (!most) refuse(place, "unreachable");
    if (!delta && column.some((weight) => most * ONE > expEpsilon * weight)) refuse(place, "ratio");
  });
  if (!delta) return;
  for (const first of rows) {
    for (const second of rows) {
      const excess = first.reduce((sum, x, y) => sum + largest([0n, x * ONE - expEpsilon * second[y]]), 0n);
      if (excess * UNIT > units(delta) * BIG_N * ONE) refuse(place, "delta");
    }
  }
}

// --- parts and booklets -------------------------------------------------------------------------------------------

/** Adds the items of a part and their paths to it, once they can be reported together and the channel keeps epsilon. */
function checkPart(part, place, survey, known) {
  table(part, place, ["questions", "epsilon", "channel"]);
  const at = join(place, "questions");
  list(part.questions, at, 1, MAX_PATHS, (value, where) => {
    string(value, where);
    if (!known.has(value)) refuse(where, "unknown");
  });
  const order = [...known.keys()];
  const places = part.questions.map((value) => order.indexOf(value));
  if (places.some((value, i) => value <= places[i - 1])) refuse(at, "order");
  const items = part.questions.map((value) => known.get(value));
  const isWhole = ({ question, option }) => question.type === "multi_choice" && !option;
  const alone = (item) => isWhole(item) || !asksShares(item.question);
  if (items[1] && (!survey.epsilon || items.some(alone))) refuse(at, "conflict");
  // What decides whether an item is shown is in the part, and so is what decides about that: each item is checked.
  const depends = ({ question: { show_if: rule = {} } }) =>
    Object.keys(rule).flatMap((id) => (known.has(id) ? [id] : rule[id].map((code) => `${id}.${code}`)));
  if (items.flatMap(depends).some((need) => !part.questions.includes(need))) refuse(at, "missing");
  part.items = items;
  part.paths = isWhole(items[0]) ? [] : pathsOf(items, at);
  epsilonString(part.epsilon, join(place, "epsilon"));
  if ((items[0].question.epsilon ?? part.epsilon) !== part.epsilon) {
    refuse(join(place, "epsilon"), "mismatch");
  }
  checkChannel(part, join(place, "channel"));
}

function checkBooklet(booklet, place, parts, epsilon) {
  table(booklet, place, ["parts", "weight"]);
  const at = join(place, "parts");
  list(booklet.parts, at, 1, parts.length, (value, where) => integer(value, where, 0, parts.length - 1));
  integer(booklet.weight, join(place, "weight"), 1, MOST);
  distinct(booklet.parts.flatMap((index) => parts[index].questions), at); // nothing is reported on twice
  // Basic composition over independent reports: epsilons add up. They are decimals, and whole units add up exactly.
  if (total(booklet.parts.map((index) => parts[index].epsilon)) > units(epsilon)) {
    refuse(at, "budget");
  }
}

/** That the booklets can be drawn, leave nothing out, and with an epsilon per question are one that has them all. */
function checkWhole({ survey, parts, booklets }, known) {
  if (booklets.reduce((sum, { weight }) => sum + weight, 0) > MOST) refuse("booklets", "range");
  const used = new Set(booklets.flatMap((booklet) => booklet.parts));
  parts.forEach((_, i) => used.has(i) || refuse(`parts[${i}]`, "unused"));
  const reported = new Set(parts.flatMap(({ questions }) => questions));
  for (const each of known.keys()) if (!reported.has(each)) refuse("parts", "missing");
  if (survey.epsilon) return;
  if (parts.some(({ questions }, i) => questions[0] !== survey.questions[i]?.id)) refuse("parts", "order");
  const [first, more] = booklets;
  if (more || first.weight !== 1 || first.parts.some((index, i) => index !== i)) refuse("booklets", "mismatch");
}

/** What the worst booklet has beyond epsilon: deltas add up, too. */
const deltaOf = ({ parts, booklets }) => {
  const deltas = booklets.map((booklet) => total(booklet.parts.map((index) => parts[index].items[0].question.delta ?? "0")));
  return fromUnits(largest(deltas));
};

/** The verified document, frozen. With `pinned`, any other document is refused. */
export async function readDocument(source, pinned) {
  if (!globalThis.crypto?.subtle || !globalThis.crypto.getRandomValues) {
    refuse("", "crypto", "no secure randomness here: use https and a current browser");
  }
  if (typeof source !== "string" || !isText(source)) refuse("", "json");
  const bytes = new TextEncoder().encode(source);
  const digest = hex(new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes)));
  if (pinned !== undefined && pinned !== digest) refuse("", "digest", "this is not the document that the link pins");
  if (bytes.length > MAX_BYTES) refuse("", "size");
  const tree = strictJson(source);
  table(tree, "", ["deniable", "survey", "parts", "booklets"]);
  if (tree.deniable !== 1) refuse("deniable", "version");
  const { survey, parts, booklets } = tree;
  checkSurvey(survey, "survey");
  const known = itemsOf(survey);
  const epsilon = survey.epsilon ?? sum(survey.questions.map((question) => question.epsilon));
  list(parts, "parts", 1, MOST, (part, place) => checkPart(part, place, survey, known));
  list(booklets, "booklets", 1, MOST, (booklet, place) => checkBooklet(booklet, place, parts, epsilon));
  checkWhole(tree, known);
  return deepFreeze({ survey, parts, booklets, digest, epsilon, delta: deltaOf(tree) });
}

function deepFreeze(value) {
  if (!Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
