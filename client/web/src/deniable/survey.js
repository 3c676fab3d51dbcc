// Reading the survey of a published document: the same checks as in Python, in the same order.
//
// May not: use the network, storage, randomness or a clock, or do floating-point arithmetic.

import {
  choice,
  decimalString,
  DECLINED,
  distinct,
  epsilonString,
  has,
  increasing,
  isTable,
  join,
  lines,
  list,
  MAX_PATHS,
  name,
  number,
  refuse,
  string,
  table,
  text as oneLine,
} from "./checks.js";

const OWN_KEYS = {
  yes_no: [],
  choice: ["options", "mechanism?"],
  multi_choice: ["options"],
  scale: ["labels", "measure?", "mechanism?"],
  number: ["min", "max", "unit?", "price?", "measure?", "bins?", "mechanism?", "delta?"],
};
const MECHANISMS = { choice: ["krr"], scale: ["krr", "exponential"], number: ["laplace", "gaussian"] };

/** A check of a text, or of a table with the text in each language; a text that is the same in all is written once. */
const inEach = (languages, check) => (value, place) => {
  if (!languages || !isTable(value)) return check(value, place);
  table(value, place, languages);
  for (const tag of languages) check(value[tag], join(place, tag));
  if (new Set(Object.values(value)).size < 2) refuse(place, "duplicate");
};

const TEXTS = { title: oneLine, asked_by: oneLine, contact: oneLine, notice: lines, closing: lines };

export function checkSurvey(survey, place) {
  const at = (key) => join(place, key);
  const shown = ["languages?", "title", "asked_by?", "contact?", "notice?", "closing?"];
  table(survey, place, ["id", ...shown, "invitations?", "epsilon?", "together?", "segments?", "questions"]);
  name(survey.id, at("id"), /^[a-z0-9][a-z0-9-]{1,62}$/);
  const { questions, languages } = survey;
  if (has(survey, "languages")) {
    list(languages, at("languages"), 1, 30, (tag, where) => name(tag, where, /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$/));
    distinct(languages, at("languages"));
  }
  const text = inEach(languages, oneLine);
  for (const key in TEXTS) if (has(survey, key)) inEach(languages, TEXTS[key])(survey[key], at(key));
  trueOrLeftOut(survey, "invitations", place);
  const shared = has(survey, "epsilon");
  if (shared) epsilonString(survey.epsilon, at("epsilon"));
  else if (!Array.isArray(questions) || !questions.some((item) => isTable(item) && has(item, "epsilon"))) {
    refuse(at("epsilon"), "missing");
  }
  const taken = new Set();
  if (has(survey, "segments")) {
    list(survey.segments, at("segments"), 1, 10, (item, where) => {
      table(item, where, ["id", "text", "options"]);
      checkId(item.id, join(where, "id"), taken);
      text(item.text, join(where, "text"));
      checkOptions(item.options, join(where, "options"), 200, text);
    });
  }
  const seen = new Map();
  list(questions, at("questions"), 1, 200, (item, where) => {
    checkQuestion(item, where, taken, shared, text);
    if (has(item, "show_if")) checkShowIf(item, join(where, "show_if"), shared, seen, questions);
    seen.set(item.id, item);
  });
  if (has(survey, "together")) {
    const order = [];
    list(survey.together, at("together"), 1, 100, (names, where) => {
      const places = [];
      list(names, where, 2, 3, (value, which) => places.push(checkTogether(value, which, seen)));
      distinct(names, where);
      increasing(places, where);
      order.push(places.join(""));
    });
    increasing(order, at("together"));
    if (!shared) refuse(at("together"), "conflict");
  }
}

function checkShowIf(question, place, shared, seen, questions) {
  const rule = question.show_if;
  if (!shared || !asksShares(question)) refuse(place, "conflict");
  if (!isTable(rule)) refuse(place, "type");
  const [parent, more] = Object.keys(rule);
  if (parent === undefined || more !== undefined) refuse(place, "range");
  const where = join(place, parent);
  if (!seen.has(parent)) {
    const later = questions.some((other) => isTable(other) && other.id === parent);
    refuse(where, later ? "order" : "unknown");
  }
  if (!asksShares(seen.get(parent))) refuse(where, "conflict");
  const codes = codesOf(seen.get(parent));
  list(rule[parent], where, 1, MAX_PATHS, (code, which) => choice(code, which, codes));
  distinct(rule[parent], where);
  increasing(rule[parent].map((code) => codes.indexOf(code)), where);
}

/** Gives the place of what is named, as a text that sorts by it. */
function checkTogether(value, place, seen) {
  string(value, place);
  const [id, ...code] = value.split(".");
  const question = seen.get(id) ?? refuse(place, "unknown");
  if (!asksShares(question)) refuse(place, "conflict");
  if (code.length && !(question.type === "multi_choice" && codesOf(question).includes(code.join(".")))) {
    refuse(place, "unknown");
  }
  return String.fromCharCode([...seen.keys()].indexOf(id), code.length && codesOf(question).indexOf(code.join(".")) + 1);
}

function trueOrLeftOut(item, key, place) {
  if (has(item, key) && item[key] !== true) refuse(join(place, key), item[key] === false ? "range" : "type");
}

function checkId(value, place, taken) {
  name(value, place, /^[a-z][a-z0-9_]{0,40}$/);
  if (taken.has(value)) refuse(place, "duplicate");
  taken.add(value);
}

function checkOptions(options, place, high, text) {
  const codes = new Set([DECLINED]);
  list(options, place, 2, high, (item, where) => {
    table(item, where, ["code", "text"]);
    name(item.code, join(where, "code"), /^[A-Za-z0-9][A-Za-z0-9_.-]{0,40}$/);
    if (codes.has(item.code)) refuse(join(where, "code"), "duplicate");
    codes.add(item.code);
    text(item.text, join(where, "text"));
  });
}

function checkQuestion(item, place, taken, shared, text) {
  if (!isTable(item)) refuse(place, "type");
  const at = (key) => join(place, key);
  if (!has(item, "type")) refuse(at("type"), "missing");
  choice(item.type, at("type"), Object.keys(OWN_KEYS));
  const kind = item.type;
  const isNumber = kind === "number";
  const keys = ["id", "type", "text", `epsilon${shared ? "?" : ""}`, "decline?", "show_if?", ...OWN_KEYS[kind]];
  const needed = { "bins?": item.measure === "shares" && "bins", "delta?": item.mechanism === "gaussian" && "delta" };
  table(item, place, keys.map((key) => needed[key] || key));
  checkId(item.id, at("id"), taken);
  text(item.text, at("text"));
  if (!shared) epsilonString(item.epsilon, at("epsilon"));
  else if (has(item, "epsilon")) refuse(at("epsilon"), "conflict");
  trueOrLeftOut(item, "decline", place);
  if (has(item, "options")) checkOptions(item.options, at("options"), 50, text);
  if (kind === "scale") list(item.labels, at("labels"), 2, 11, text);
  if (has(item, "measure")) choice(item.measure, at("measure"), [isNumber ? "shares" : "mean"]);
  const measured = measure(item);
  if (has(item, "mechanism")) choice(item.mechanism, at("mechanism"), MECHANISMS[kind]);
  if (isNumber) {
    number(item.min, at("min"));
    number(item.max, at("max"));
    if (!(item.min < item.max)) refuse(at("max"), "range");
    if (has(item, "unit")) text(item.unit, at("unit"));
    trueOrLeftOut(item, "price", place);
    if (item.price && item.min < 0) refuse(at("price"), "range");
    if (has(item, "bins")) {
      if (measured !== "shares") refuse(at("bins"), "conflict");
      checkBins(item, at("bins"));
    }
    if (has(item, "delta")) {
      if (item.mechanism !== "gaussian") refuse(at("delta"), "conflict");
      decimalString(item.delta, at("delta"), 12, "0.000000001", "0.0001");
    }
    if (item.mechanism && measured === "shares") refuse(at("mechanism"), "conflict");
  }
  if (item.decline && (kind === "multi_choice" || measured === "mean" || item.mechanism === "exponential")) {
    refuse(at("decline"), "conflict");
  }
}

function checkBins({ min, max, bins }, place) {
  list(bins, place, 1, 49, number);
  bins.forEach((edge, i) => {
    if (edge <= min || edge >= max || edge <= bins[i - 1]) refuse(`${place}[${i}]`, "range");
  });
}

export const measure = (question) => question.measure ?? { scale: "shares", number: "mean" }[question.type];

export const asksShares = (question) => !question.mechanism && measure(question) !== "mean";

/** A number as people write it, never with an exponent. */
const plain = (number) =>
  `${number}`.replace(/(\d)(?:\.(\d+))?e-(.+)/, (_, first, rest = "", places) => `0.${"0".repeat(places - 1)}${first}${rest}`);

/** The codes of a question's answers in channel order, "declined" last; none where answers are not options. */
export function codesOf(question) {
  const { type, decline, options, labels, min, max, bins } = question;
  const edges = bins ? [min, ...bins, max].map(plain) : [];
  let own = edges.slice(1).map((high, i) => `${edges[i]}..${high}`);
  if (type === "yes_no") own = decline ? ["yes", "no"] : ["no", "yes"];
  if (options) own = options.map(({ code }) => code);
  if (labels) own = labels.map((_, i) => `${i + 1}`);
  return decline ? [...own, DECLINED] : own;
}

/** The first of the wanted languages that is available, or one of another country or script; else the first available. */
export function bestLanguage(wanted, available) {
  const primary = (tag) => tag.toLowerCase().split("-")[0];
  for (const want of wanted) {
    const near = available.filter((tag) => primary(tag) === primary(want));
    if (near[0]) return near.find((tag) => tag.toLowerCase() === want.toLowerCase()) ?? near[0];
  }
  return available[0];
}

/** The same tree with its texts in one language. Only a text has just the languages for keys: nothing else can. */
export function inLanguage(tree, languages, language) {
  if (typeof tree !== "object" || !languages[1]) return tree;
  const keys = Object.keys(tree);
  if (!Array.isArray(tree) && `${keys}` === `${languages}`) return tree[language];
  const each = keys.map((key) => [key, inLanguage(tree[key], languages, language)]);
  return Array.isArray(tree) ? each.map(([, value]) => value) : Object.fromEntries(each);
}
