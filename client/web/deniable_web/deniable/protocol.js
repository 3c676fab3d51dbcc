// Reading a published survey, and proving on this device that it protects as much as it states.
//
// May not: use the network, storage or a clock, or do floating-point arithmetic. With randomizer.js the twin of the
// Python package deniable_protocol: shared/vectors/ hold both to the same results, shared/PROTOCOL.md describes them.

export const N = 2 ** 53; // the denominator of every probability; all integers up to it are exact
const BIG_N = 1n << 53n;
const ONE = 1n << 256n; // fixed-point one of expFloor
export const MAX_BYTES = 1_000_000;
const MAX_PATHS = 51;
const MAX_PARTS = 10_000;
const MAX_WEIGHT = 10_000; // of all booklets together
export const DECLINED = "declined";

/** Everything that Deniable throws on purpose. `reason` is one stable word, `place` says where. */
export class DeniableError extends Error {
  constructor(place, reason, message) {
    super(place ? `${place}: ${message}` : message);
    this.name = "DeniableError";
    this.place = place;
    this.reason = reason;
  }
}

export const refuse = (place, reason, message = `the document is not valid (${reason})`) => {
  throw new DeniableError(place, reason, message);
};

// --- exact arithmetic ---------------------------------------------------------------------------------------------

const UNIT = 10n ** 12n;

/** A decimal of at most 12 places, in units of the last. */
export const units = (text) => {
  const [whole, places = ""] = text.split(".");
  return BigInt(whole + places.padEnd(12, "0"));
};

const fromUnits = (amount) => `${amount}`.padStart(13, "0").replace(/(.{12})$/, ".$1").replace(/\.?0+$/, "");
const total = (amounts) => amounts.reduce((sum, amount) => sum + units(amount), 0n);

/** The sum of decimals, as a decimal: 0.1 + 0.2 is 0.3 here. */
export const sum = (amounts) => fromUnits(total(amounts));

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

// --- reading a document -------------------------------------------------------------------------------------------

export const has = (object, key) => Object.hasOwn(object, key);
export const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const join = (place, key) => (place ? `${place}.${key}` : key);
// Half of a surrogate pair matches; a whole pair is one code point under the u flag and does not.
const isText = (value) => !/\p{Surrogate}/u.test(value);

function strictJson(text) {
  let keys = 0;
  let tree;
  try {
    tree = JSON.parse(text, (key, value) => {
      if (!isText(key) || (typeof value === "string" && !isText(value))) throw new SyntaxError();
      if (isTable(value)) keys += Object.keys(value).length;
      return value;
    });
  } catch {
    refuse("", "json"); // the parser's message may repeat parts of the text
  }
  // JSON.parse keeps the last of two equal keys. Outside strings, every colon belongs to one key of the text.
  if (text.replace(/"(?:[^"\\]|\\.)*"/g, "").split(":").length - 1 !== keys) refuse("", "json", "a key occurs twice");
  return tree;
}

function table(tree, place, required, optional = []) {
  if (!isTable(tree)) refuse(place, "type");
  for (const key of Object.keys(tree)) {
    if (!required.includes(key) && !optional.includes(key)) refuse(join(place, key), "unknown");
  }
  for (const key of required) if (!has(tree, key)) refuse(join(place, key), "missing");
}

function string(value, place) {
  if (typeof value !== "string") refuse(place, "type");
}

function text(value, place) {
  string(value, place);
  if (!value) refuse(place, "range");
}

function name(value, place, pattern) {
  string(value, place);
  if (!pattern.test(value)) refuse(place, "format");
}

function choice(value, place, known) {
  string(value, place);
  if (!known.includes(value)) refuse(place, "range");
}

function number(value, place) {
  if (typeof value !== "number") refuse(place, "type");
  if (!(Math.abs(value) < N)) refuse(place, "range");
}

function integer(value, place, low, high) {
  number(value, place);
  if (!Number.isInteger(value)) refuse(place, "type");
  if (!(low <= value && value <= high)) refuse(place, "range");
}

function list(value, place, low, high, each) {
  if (!Array.isArray(value)) refuse(place, "type");
  if (value.length < low || value.length > high) refuse(place, "range");
  value.forEach((item, i) => each(item, `${place}[${i}]`));
}

function distinct(values, place) {
  if (new Set(values).size < values.length) refuse(place, "duplicate");
}

function decimalString(value, place, pattern, low, high) {
  string(value, place);
  if (!pattern.test(value)) refuse(place, "format");
  if (units(value) < units(low) || units(value) > units(high)) refuse(place, "range");
}

const OWN_KEYS = {
  yes_no: [[], []],
  choice: [["options"], ["mechanism"]],
  multi_choice: [["options"], []],
  scale: [["labels"], ["measure", "mechanism"]],
  number: [["min", "max"], ["unit", "measure", "bins", "mechanism", "delta"]],
};
const MECHANISMS = { choice: ["krr"], scale: ["krr", "exponential"], number: ["laplace", "gaussian"] };

const epsilonString = (value, place) => decimalString(value, place, /^[0-9]{1,2}(\.[0-9]{1,4})?$/, "0.01", "10");

function checkSurvey(survey, place) {
  const at = (key) => join(place, key);
  table(survey, place, ["id", "title", "questions"], ["notice", "epsilon", "together", "segments"]);
  name(survey.id, at("id"), /^[a-z0-9][a-z0-9-]{1,62}$/);
  for (const key of ["title", "notice"]) if (has(survey, key)) text(survey[key], at(key));
  const { questions } = survey;
  const shared = has(survey, "epsilon");
  if (shared) epsilonString(survey.epsilon, at("epsilon"));
  else if (!Array.isArray(questions) || !questions.some((item) => isTable(item) && has(item, "epsilon"))) {
    refuse(at("epsilon"), "missing");
  }
  const taken = new Set();
  if (has(survey, "segments")) {
    list(survey.segments, at("segments"), 0, 10, (item, where) => {
      table(item, where, ["id", "text", "options"]);
      checkId(item.id, join(where, "id"), taken);
      text(item.text, join(where, "text"));
      checkOptions(item.options, join(where, "options"), 200);
    });
  }
  const seen = new Map();
  list(questions, at("questions"), 1, 200, (item, where) => {
    checkQuestion(item, where, taken, shared);
    if (has(item, "show_if")) checkShowIf(item, join(where, "show_if"), shared, seen, questions);
    seen.set(item.id, item);
  });
  if (has(survey, "together")) {
    list(survey.together, at("together"), 1, 100, (names, where) => {
      list(names, where, 2, 3, (value, which) => checkTogether(value, which, seen));
      distinct(names, where);
    });
    if (!shared) refuse(at("together"), "conflict");
  }
}

function checkShowIf(question, place, shared, seen, questions) {
  const rule = question.show_if;
  if (!shared) refuse(place, "conflict");
  if (!asksShares(question)) refuse(place, "conflict");
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
}

function checkTogether(value, place, seen) {
  string(value, place);
  const [id, ...code] = value.split(".");
  const question = seen.get(id) ?? refuse(place, "unknown");
  if (!asksShares(question)) refuse(place, "conflict");
  if (code.length && !(question.type === "multi_choice" && codesOf(question).includes(code.join(".")))) {
    refuse(place, "unknown");
  }
}

function checkId(value, place, taken) {
  name(value, place, /^[a-z][a-z0-9_]{0,40}$/);
  if (taken.has(value)) refuse(place, "duplicate");
  taken.add(value);
}

function checkOptions(options, place, high) {
  const codes = new Set([DECLINED]);
  list(options, place, 2, high, (item, where) => {
    table(item, where, ["code", "text"]);
    name(item.code, join(where, "code"), /^[A-Za-z0-9][A-Za-z0-9_.-]{0,40}$/);
    if (codes.has(item.code)) refuse(join(where, "code"), "duplicate");
    codes.add(item.code);
    text(item.text, join(where, "text"));
  });
}

function checkQuestion(item, place, taken, shared) {
  if (!isTable(item)) refuse(place, "type");
  const at = (key) => join(place, key);
  if (!has(item, "type")) refuse(at("type"), "missing");
  choice(item.type, at("type"), Object.keys(OWN_KEYS));
  const kind = item.type;
  const isNumber = kind === "number";
  const [required, optional] = OWN_KEYS[kind];
  const needed = ["id", "type", "text", ...(shared ? [] : ["epsilon"]), ...required];
  if (isNumber && item.measure === "shares") needed.push("bins");
  if (isNumber && item.mechanism === "gaussian") needed.push("delta");
  table(item, place, needed, ["epsilon", "decline", "show_if", ...optional]);
  checkId(item.id, at("id"), taken);
  text(item.text, at("text"));
  if (!shared) epsilonString(item.epsilon, at("epsilon"));
  else if (has(item, "epsilon")) refuse(at("epsilon"), "conflict");
  if (has(item, "decline") && typeof item.decline !== "boolean") refuse(at("decline"), "type");
  if (required.includes("options")) checkOptions(item.options, at("options"), 50);
  if (kind === "scale") list(item.labels, at("labels"), 2, 11, text);
  if (has(item, "measure")) choice(item.measure, at("measure"), ["shares", "mean"]);
  const measured = measure(item);
  if (has(item, "mechanism")) choice(item.mechanism, at("mechanism"), MECHANISMS[kind]);
  if (isNumber) {
    number(item.min, at("min"));
    number(item.max, at("max"));
    if (!(item.min < item.max)) refuse(at("max"), "range");
    if (has(item, "unit")) text(item.unit, at("unit"));
    if (has(item, "bins")) {
      if (measured !== "shares") refuse(at("bins"), "conflict");
      checkBins(item, at("bins"));
    }
    if (has(item, "delta")) {
      if (item.mechanism !== "gaussian") refuse(at("delta"), "conflict");
      decimalString(item.delta, at("delta"), /^0\.[0-9]{1,12}$/, "0.000000001", "0.01");
    }
    if (item.mechanism && measured === "shares") refuse(at("mechanism"), "conflict");
  }
  if (item.decline && (kind === "multi_choice" || measured === "mean" || item.mechanism === "exponential")) {
    refuse(at("decline"), "conflict");
  }
}

function checkBins({ min, max, bins }, place) {
  list(bins, place, 1, 51, number);
  bins.forEach((edge, i) => {
    if (!(min <= edge && edge <= max)) refuse(`${place}[${i}]`, "range");
    if (i && !(bins[i - 1] < edge)) refuse(`${place}[${i}]`, "range");
  });
  const inner = innerEdges({ min, max, bins }).length;
  if (inner < 1 || inner > 49) refuse(place, "range");
}

const measure = (question) => question.measure ?? { scale: "shares", number: "mean" }[question.type];
export const innerEdges = ({ min, max, bins }) => bins.filter((edge) => min < edge && edge < max);

const asksShares = (question) => !question.mechanism && measure(question) !== "mean";

/** A number as people write it, never with an exponent. */
const plain = (number) =>
  `${number}`.replace(/(\d)(?:\.(\d+))?e-(.+)/, (_, first, rest = "", places) => `0.${"0".repeat(places - 1)}${first}${rest}`);

/** The codes of a question's answers in channel order, "declined" last; none where answers are not options. */
export function codesOf(question) {
  const { type, decline, options, labels, min, max, bins } = question;
  const edges = bins ? [min, ...innerEdges(question), max].map(plain) : [];
  let own = edges.slice(1).map((high, i) => `${edges[i]}..${high}`);
  if (type === "yes_no") own = decline ? ["yes", "no"] : ["no", "yes"];
  if (options) own = options.map(({ code }) => code);
  if (labels) own = labels.map((_, i) => `${i + 1}`);
  return decline ? [...own, DECLINED] : own;
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

/** What was answered on the way so far: per item the place of its answer, null where it is not shown. */
export const choseOn = (items, path) => (id, code) =>
  path.some((place, i) => {
    const { question, option, codes } = items[i];
    return question.id === id && (option ? option === code && place === 1 : codes[place] === code);
  });

/** All combinations of answers to these items, the last varying fastest. */
function pathsOf(items, place) {
  return items.reduce((paths, { question, codes }) => {
    const longer = paths.flatMap((path) =>
      isShown(question, choseOn(items, path)) ? codes.map((_, answer) => [...path, answer]) : [[...path, null]],
    );
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
    integer(channel[many], at(many), 2, channel.kind === "subset" ? 51 : 17);
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
    if (likely * ONE > expFloor(epsilon) * unlikely) refuse(join(place, "favour"), "favour_high", "less private than stated");
    // Below even odds the proof turns upside down: a small F reveals what the answer is *not*.
    if (likely <= unlikely) refuse(join(place, "favour"), "favour_low");
  }
}

export const contrast = ({ kind, options, size, levels, width }) =>
  kind === "subset" ? [options - size, size] : [levels - 1, width];

function checkTable(weights, expEpsilon, delta, place) {
  const rows = weights.map((row) => row.map(BigInt));
  rows.forEach((row, i) => {
    if (row.reduce((sum, weight) => sum + weight) !== BIG_N) refuse(`${place}[${i}]`, "row_sum");
  });
  rows[0].forEach((_, y) => {
    const column = rows.map((row) => row[y]);
    const most = column.reduce((a, b) => (a > b ? a : b));
    const least = column.reduce((a, b) => (a < b ? a : b));
    if (!most) refuse(place, "unreachable");
    if (!delta && most * ONE > expEpsilon * least) refuse(place, "ratio", "less private than stated");
  });
  if (!delta) return;
  for (const first of rows) {
    for (const second of rows) {
      const excess = first.reduce((sum, x, y) => {
        const over = x * ONE - expEpsilon * second[y];
        return over > 0n ? sum + over : sum;
      }, 0n);
      if (excess * UNIT > units(delta) * BIG_N * ONE) refuse(place, "delta", "less private than stated");
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
  if (items.flatMap(depends).some((need) => !part.questions.includes(need))) {
    refuse(at, "missing");
  }
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
  integer(booklet.weight, join(place, "weight"), 1, MAX_WEIGHT);
  distinct(booklet.parts.flatMap((index) => parts[index].questions), at); // nothing is reported on twice
  // Basic composition over independent reports: epsilons add up. They are decimals, and whole units add up exactly.
  if (total(booklet.parts.map((index) => parts[index].epsilon)) > units(epsilon)) {
    refuse(at, "budget", "less private than stated");
  }
}

/** That the booklets can be drawn, leave nothing out, and with an epsilon per question are one that has them all. */
function checkWhole({ survey, parts, booklets }, known) {
  if (booklets.reduce((sum, { weight }) => sum + weight, 0) > MAX_WEIGHT) refuse("booklets", "range");
  const used = new Set(booklets.flatMap((booklet) => booklet.parts));
  parts.forEach((_, i) => used.has(i) || refuse(`parts[${i}]`, "unused"));
  const reported = new Set(parts.flatMap(({ questions }) => questions));
  for (const each of known.keys()) if (!reported.has(each)) refuse("parts", "missing");
  const [first, more] = booklets;
  if (!survey.epsilon && (more || first.weight !== 1 || first.parts.some((index, i) => index !== i))) {
    refuse("booklets", "mismatch");
  }
}

/** What the worst booklet has beyond epsilon: deltas add up, too. */
const deltaOf = ({ parts, booklets }) => {
  const deltas = booklets.map((booklet) => total(booklet.parts.map((index) => parts[index].items[0].question.delta ?? "0")));
  return fromUnits(deltas.reduce((most, delta) => (delta > most ? delta : most)));
};

/** The verified document, frozen. With `pinned`, any other document is refused. */
export async function readDocument(source, pinned) {
  if (!globalThis.crypto?.subtle || !globalThis.crypto.getRandomValues) {
    refuse("", "crypto", "this browser gives no secure randomness here: use https and a current browser");
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
  list(parts, "parts", 1, MAX_PARTS, (part, place) => checkPart(part, place, survey, known));
  list(booklets, "booklets", 1, MAX_WEIGHT, (booklet, place) => checkBooklet(booklet, place, parts, epsilon));
  checkWhole(tree, known);
  return deepFreeze({ survey, parts, booklets, digest, epsilon, delta: deltaOf(tree) });
}

function deepFreeze(value) {
  if (!Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
