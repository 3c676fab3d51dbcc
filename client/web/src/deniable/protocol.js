// Reading a published document, and proving on this device that it protects as much as it states.
//
// May not: use the network, storage or a clock, or do floating-point arithmetic. With checks.js, survey.js and
// randomizer.js the twin of the Python package deniable_protocol: shared/vectors/ hold both to the same results,
// shared/PROTOCOL.md describes them.

import { Account } from "./account.js";
import {
  canonicalJson,
  choice,
  distinct,
  epsilonString,
  fromUnits,
  has,
  hex,
  increasing,
  integer,
  join,
  list,
  MAX_PATHS,
  refuse,
  string,
  sum,
  table,
  total,
  units,
} from "./checks.js";
import { design } from "./design.js";
import { asksShares, bestLanguage, checkSurvey, codesOf, inLanguage } from "./survey.js";

export const MAX_BYTES = 1_000_000;
const MOST = 10_000; // of parts, and of the weights of all booklets together

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

// --- parts and booklets -------------------------------------------------------------------------------------------

/**
 * Adds the items of a part and their paths to it, once they can be reported together and the channel is the one that
 * this device designs: the most useful that keeps epsilon, so that nothing else is to prove. Gives its place in order.
 */
function checkPart(part, place, survey, known, tables) {
  table(part, place, ["questions", "epsilon", "channel"]);
  const at = join(place, "questions");
  list(part.questions, at, 1, MAX_PATHS, (value, where) => {
    string(value, where);
    if (!known.has(value)) refuse(where, "unknown");
  });
  const order = [...known.keys()];
  const places = part.questions.map((value) => order.indexOf(value));
  increasing(places, at);
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
  const { channel } = part;
  if (JSON.stringify(channel) !== JSON.stringify(design(part, channel?.size, tables))) {
    refuse(join(place, "channel"), "channel");
  }
  return `${String.fromCharCode(...places.map((value) => value + 1))}\0${part.epsilon}\0${channel.size === 1 ? 1 : 2}`;
}

function checkBooklet(booklet, place, parts, epsilon) {
  table(booklet, place, ["parts", "weight"]);
  const at = join(place, "parts");
  list(booklet.parts, at, 1, parts.length, (value, where) => integer(value, where, 0, parts.length - 1));
  integer(booklet.weight, join(place, "weight"), 1, MOST);
  increasing(booklet.parts, at);
  distinct(booklet.parts.flatMap((index) => parts[index].questions), at); // nothing is reported on twice
  // Basic composition over independent reports: epsilons add up. They are decimals, and whole units add up exactly.
  if (total(booklet.parts.map((index) => parts[index].epsilon)) > units(epsilon)) {
    refuse(at, "budget");
  }
}

/** That the booklets can be drawn, leave nothing out, and with an epsilon per question are one that has them all. */
function checkWhole({ survey, parts, booklets }, known) {
  increasing(booklets.map((booklet) => String.fromCharCode(...booklet.parts)), "booklets");
  const weights = booklets.map(({ weight }) => weight);
  const divisor = weights.reduce(function common(a, b) {
    return b ? common(b, a % b) : a;
  });
  if (divisor > 1 || weights.reduce((sum, weight) => sum + weight) > MOST) refuse("booklets", "range");
  const used = new Set(booklets.flatMap((booklet) => booklet.parts));
  parts.forEach((_, i) => used.has(i) || refuse(`parts[${i}]`, "unused"));
  const reported = new Set(parts.flatMap(({ questions }) => questions));
  for (const each of known.keys()) if (!reported.has(each)) refuse("parts", "missing");
  if (survey.epsilon) return;
  if (parts.some(({ questions }, i) => questions[0] !== survey.questions[i]?.id)) refuse("parts", "order");
  const [first, more] = booklets;
  if (more || first.weight !== 1 || first.parts.some((index, i) => index !== i)) refuse("booklets", "mismatch");
}

/** What one submission spends in the worst booklet: the stated epsilon, and the largest sum of deltas. */
const accountOf = ({ parts, booklets }, epsilon) => {
  const deltas = booklets.map((booklet) => total(booklet.parts.map((index) => parts[index].items[0].question.delta ?? "0")));
  return new Account(epsilon, fromUnits(deltas.reduce((a, b) => (a > b ? a : b))));
};

async function sha256(text) {
  return hex(new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

/** That the issuer's key can be one, of a survey with invitations. No other has one: it would be room for a mark. */
function checkIssuer({ issuer }, { readPublicKey }) {
  if (issuer === undefined) refuse("issuer", "missing");
  table(issuer, "issuer", ["kind", "key"]);
  choice(issuer.kind, "issuer.kind", ["RSABSSA-SHA384-PSS-Randomized"]);
  readPublicKey(issuer.key);
}

/**
 * The verified document, with its texts in all languages. With `pinned`, any other is refused. `load` imports tables.js
 * or invitations.js, if it is needed.
 */
export async function readDocument(source, pinned, load) {
  if (!globalThis.crypto?.subtle || !globalThis.crypto.getRandomValues) {
    refuse("", "crypto", "no secure randomness here: use https and a current browser");
  }
  // Half of a surrogate pair matches; a whole pair is one code point under the u flag and does not.
  if (typeof source !== "string" || /\p{Surrogate}/u.test(source)) refuse("", "json");
  const digest = await sha256(source);
  if (pinned !== undefined && pinned !== digest) refuse("", "digest", "this is not the document that the link pins");
  if (new TextEncoder().encode(source).length > MAX_BYTES) refuse("", "size");
  const tree = canonicalJson(source);
  table(tree, "", ["deniable", "survey", "parts", "booklets", "issuer?"]);
  if (tree.deniable !== 1) refuse("deniable", "version");
  const { survey, parts, booklets, issuer } = tree;
  checkSurvey(survey, "survey");
  if (survey.invitations) checkIssuer(tree, await load.invitations());
  else if (has(tree, "issuer")) refuse("issuer", "unknown");
  const known = itemsOf(survey);
  const epsilon = survey.epsilon ?? sum(survey.questions.map((question) => question.epsilon));
  const tables = survey.questions.some(({ mechanism = "krr" }) => mechanism !== "krr") && (await load.tables());
  const order = [];
  list(parts, "parts", 1, MOST, (part, place) => order.push(checkPart(part, place, survey, known, tables)));
  increasing(order, "parts");
  list(booklets, "booklets", 1, MOST, (booklet, place) => checkBooklet(booklet, place, parts, epsilon));
  checkWhole(tree, known);
  const content = await sha256(JSON.stringify(survey));
  return { survey, parts, booklets, issuer, digest, content, epsilon, account: accountOf(tree, epsilon) };
}

/** A verified document with its texts in the best of these languages, frozen. */
export function documentIn(verified, wanted) {
  const { languages = [] } = verified.survey;
  const language = bestLanguage(wanted, languages);
  const survey = inLanguage(verified.survey, languages, language);
  const known = itemsOf(survey);
  const parts = verified.parts.map((part) => ({ ...part, items: part.questions.map((each) => known.get(each)) }));
  return deepFreeze({ ...verified, survey, parts, languages, language });
}

function deepFreeze(value) {
  if (!Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
