// Reading a published survey, and proving on this device that it protects as much as it states.
//
// May not: use the network, storage or a clock, or do floating-point arithmetic. With randomizer.js the twin of the
// Python package deniable_protocol: shared/vectors/ hold both to the same results, shared/PROTOCOL.md describes them.

export const N = 2 ** 53; // the denominator of every probability; all integers up to it are exact
const BIG_N = 1n << 53n;
const ONE = 1n << 256n; // fixed-point one of expFloor
export const MAX_BYTES = 1_000_000;
const MAX_PATHS = 51;
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

export const refuse = (place, reason, message) => {
  throw new DeniableError(place, reason, message);
};

// --- exact arithmetic ---------------------------------------------------------------------------------------------

const decimal = (text) => {
  const [whole, places = ""] = text.split(".");
  return [BigInt(whole + places), 10n ** BigInt(places.length)];
};

/** A decimal of at most 12 places as a number of their units. */
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
  const [a, b] = decimal(epsilon);
  let total = 0n;
  for (let term = ONE, i = 1n; term; i++) {
    total += term;
    term = (term * a) / (b * i);
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
  const bad = (why) => refuse("", "json", `the document is not valid JSON: ${why}`);
  let tree;
  try {
    tree = JSON.parse(text, (key, value) => {
      if (typeof value === "string" && !isText(value)) bad("half of a surrogate pair is not text");
      if (isTable(value)) keys += Object.keys(value).length;
      if (!isText(key)) bad("half of a surrogate pair is not text");
      return value;
    });
  } catch (error) {
    if (error instanceof DeniableError) throw error;
    bad("it cannot be parsed"); // the parser's message may repeat parts of the text
  }
  // JSON.parse keeps the last of two equal keys. Outside strings, every colon belongs to one key of the text.
  if (text.replace(/"(?:[^"\\]|\\.)*"/g, "").split(":").length - 1 !== keys) bad("a key occurs twice in one object");
  return tree;
}

function table(tree, place, required, optional = []) {
  if (!isTable(tree)) refuse(place, "type", "must be an object");
  for (const key of Object.keys(tree)) {
    if (!required.includes(key) && !optional.includes(key)) refuse(join(place, key), "unknown", "no such key here");
  }
  for (const key of required) if (!has(tree, key)) refuse(join(place, key), "missing", "missing");
}

function text(value, place) {
  if (typeof value !== "string") refuse(place, "type", "must be text");
  if (!value) refuse(place, "range", "must not be empty");
}

function name(value, place, pattern) {
  if (typeof value !== "string") refuse(place, "type", "must be text");
  if (!pattern.test(value)) refuse(place, "format", `does not match ${pattern.source}`);
}

function choice(value, place, known) {
  if (typeof value !== "string") refuse(place, "type", "must be text");
  if (!known.includes(value)) refuse(place, "range", `is not one of ${known.join(", ")}`);
}

function number(value, place) {
  if (typeof value !== "number") refuse(place, "type", "must be a number");
  if (!(Math.abs(value) < N)) refuse(place, "range", "must be a number between -(2^53 - 1) and 2^53 - 1");
}

function integer(value, place, low, high) {
  number(value, place);
  if (!Number.isInteger(value)) refuse(place, "type", "must be an integer");
  if (!(low <= value && value <= high)) refuse(place, "range", `is not between ${low} and ${high}`);
}

function list(value, place, low, high, each) {
  if (!Array.isArray(value)) refuse(place, "type", "must be a list");
  if (value.length < low || value.length > high) refuse(place, "range", `must have ${low} to ${high} entries`);
  value.forEach((item, i) => each(item, `${place}[${i}]`));
}

function decimalString(value, place, pattern, low, high) {
  if (typeof value !== "string") refuse(place, "type", "must be a decimal string");
  if (!pattern.test(value)) refuse(place, "format", "is not such a decimal");
  const within = (small, large) => {
    const [[a, b], [c, d]] = [decimal(small), decimal(large)];
    return a * d <= c * b;
  };
  if (!within(low, value) || !within(value, high)) refuse(place, "range", `is not between ${low} and ${high}`);
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
  table(survey, place, ["id", "title", "questions"], ["notice", "epsilon", "together", "segments"]);
  name(survey.id, join(place, "id"), /^[a-z0-9][a-z0-9-]{1,62}$/);
  for (const key of ["title", "notice"]) if (has(survey, key)) text(survey[key], join(place, key));
  if (has(survey, "epsilon")) epsilonString(survey.epsilon, join(place, "epsilon"));
  const taken = new Set();
  if (has(survey, "segments")) {
    list(survey.segments, join(place, "segments"), 0, 10, (item, where) => {
      table(item, where, ["id", "text", "options"]);
      checkId(item.id, join(where, "id"), taken);
      text(item.text, join(where, "text"));
      checkOptions(item.options, join(where, "options"), 200);
    });
  }
  list(survey.questions, join(place, "questions"), 1, 200, (item, where) => checkQuestion(item, where, taken));
}

function checkId(value, place, taken) {
  name(value, place, /^[a-z][a-z0-9_]{0,40}$/);
  if (taken.has(value)) refuse(place, "duplicate", "is already used by another question or segment");
  taken.add(value);
}

function checkOptions(options, place, high) {
  const codes = new Set([DECLINED]);
  list(options, place, 2, high, (item, where) => {
    table(item, where, ["code", "text"]);
    name(item.code, join(where, "code"), /^[A-Za-z0-9][A-Za-z0-9_.-]{0,40}$/);
    if (codes.has(item.code)) refuse(join(where, "code"), "duplicate", "is already used");
    codes.add(item.code);
    text(item.text, join(where, "text"));
  });
}

function checkQuestion(item, place, taken) {
  if (!isTable(item)) refuse(place, "type", "must be an object");
  const at = (key) => join(place, key);
  if (!has(item, "type")) refuse(at("type"), "missing", "missing");
  choice(item.type, at("type"), Object.keys(OWN_KEYS));
  const kind = item.type;
  const isNumber = kind === "number";
  const [required, optional] = OWN_KEYS[kind];
  const needed = ["id", "type", "text", "epsilon", ...required];
  if (isNumber && item.measure === "shares") needed.push("bins");
  if (isNumber && item.mechanism === "gaussian") needed.push("delta");
  table(item, place, needed, ["decline", ...optional]);
  checkId(item.id, at("id"), taken);
  text(item.text, at("text"));
  decimalString(item.epsilon, at("epsilon"), /^[0-9]{1,2}(\.[0-9]{1,4})?$/, "0.01", "10");
  if (has(item, "decline") && typeof item.decline !== "boolean") refuse(at("decline"), "type", "must be true or false");
  if (required.includes("options")) checkOptions(item.options, at("options"), 50);
  if (kind === "scale") list(item.labels, at("labels"), 2, 11, text);
  if (has(item, "measure")) choice(item.measure, at("measure"), ["shares", "mean"]);
  const measured = measure(item);
  if (has(item, "mechanism")) choice(item.mechanism, at("mechanism"), MECHANISMS[kind]);
  if (isNumber) {
    number(item.min, at("min"));
    number(item.max, at("max"));
    if (!(item.min < item.max)) refuse(at("max"), "range", "must be above min");
    if (has(item, "unit")) text(item.unit, at("unit"));
    if (has(item, "bins")) {
      if (measured !== "shares") refuse(at("bins"), "conflict", 'bins go with measure = "shares"');
      checkBins(item, at("bins"));
    }
    if (has(item, "delta")) {
      if (item.mechanism !== "gaussian") refuse(at("delta"), "conflict", 'delta goes with mechanism = "gaussian"');
      decimalString(item.delta, at("delta"), /^0\.[0-9]{1,12}$/, "0.000000001", "0.01");
    }
    if (item.mechanism && measured === "shares") refuse(at("mechanism"), "conflict", 'goes with measure = "mean"');
  }
  if (item.decline && (kind === "multi_choice" || measured === "mean" || item.mechanism === "exponential")) {
    refuse(at("decline"), "conflict", "this question cannot be declined");
  }
}

function checkBins({ min, max, bins }, place) {
  list(bins, place, 1, 51, number);
  bins.forEach((edge, i) => {
    if (!(min <= edge && edge <= max)) refuse(`${place}[${i}]`, "range", "must lie between min and max");
    if (i && !(bins[i - 1] < edge)) refuse(`${place}[${i}]`, "range", "must be above the edge before it");
  });
  const inner = innerEdges({ min, max, bins }).length;
  if (inner < 1 || inner > 49) refuse(place, "range", "must make 2 to 50 bins");
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
  const own = {
    yes_no: () => (decline ? ["yes", "no"] : ["no", "yes"]),
    scale: () => labels.map((_, i) => `${i + 1}`),
    number: () => edges.slice(1).map((high, i) => `${edges[i]}..${high}`),
  }[type] ?? (() => options.map(({ code }) => code));
  return decline ? [...own(), DECLINED] : own();
}

// --- items and their paths ----------------------------------------------------------------------------------------

/** What parts report on, by name, in the survey's order: a question, or with a survey's epsilon each option of a multi_choice. */
function itemsOf(survey) {
  const options = (question) =>
    question.options.map(({ code }) => ({ name: `${question.id}.${code}`, question, option: code, codes: ["no", "yes"] }));
  const item = (question) => [{ name: question.id, question, codes: codesOf(question) }];
  const all = survey.questions.flatMap((question) =>
    has(survey, "epsilon") && question.type === "multi_choice" ? options(question) : item(question),
  );
  return all;
}

/** Whether a question is shown to somebody for whom `chose(id, code)` says what was answered. */
export const isShown = ({ show_if: rule }, chose) =>
  !rule || Object.keys(rule).every((id) => rule[id].some((code) => chose(id, code)));

/** All combinations of answers to these items, the last varying fastest: places among the codes, null where not shown. */
function pathsOf(items, place) {
  return items.reduce((paths, { question, codes }) => {
    const longer = paths.flatMap((path) => {
      const chose = (id, code) =>
        items.some((item, i) => {
          if (item.question.id !== id) return false;
          return item.option ? item.option === code && path[i] === 1 : item.codes[path[i]] === code;
        });
      return isShown(question, chose) ? codes.map((_, answer) => [...path, answer]) : [[...path, null]];
    });
    if (longer.length > MAX_PATHS) refuse(place, "paths", `makes more than ${MAX_PATHS} paths`);
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
  if (!isTable(channel)) refuse(place, "type", "must be an object");
  if (!has(channel, "kind")) refuse(at("kind"), "missing", "missing");
  choice(channel.kind, at("kind"), kinds);
  table(channel, place, ["kind", ...CHANNEL_KEYS[channel.kind]]);
  if (channel.kind === "subset") {
    integer(channel.options, at("options"), 2, 51);
    integer(channel.size, at("size"), 1, channel.options - 1);
    integer(channel.favour, at("favour"), 1, N - 1);
  } else if (channel.kind === "band") {
    integer(channel.levels, at("levels"), 2, 17);
    integer(channel.width, at("width"), 1, channel.levels - 1);
    integer(channel.favour, at("favour"), 1, N - 1);
  } else if (channel.kind === "drawn") {
    list(channel.parts, at("parts"), 2, 50, (part, where) => {
      checkShape(part, where, ["band"]);
      if (part.levels !== 2) refuse(join(where, "levels"), "mismatch", "each part reports one bit");
    });
  } else {
    let columns;
    list(channel.weights, at("weights"), 2, 17, (row, where) => {
      list(row, where, columns ?? 2, columns ?? 1024, (weight, cell) => integer(weight, cell, 0, N - 1));
      columns = row.length;
    });
  }
}

function checkChannel(question, channel, place) {
  checkShape(channel, place, Object.keys(CHANNEL_KEYS));
  const kind = channelKind(question);
  if (channel.kind !== kind) refuse(join(place, "kind"), "mismatch", `this question goes with a ${kind} channel`);
  const field = { subset: "options", band: "levels", drawn: "parts", table: "weights" }[kind];
  const answers = answerCount(question);
  if (answers !== undefined && (channel[field].length ?? channel[field]) !== answers) {
    refuse(join(place, field), "mismatch", `the question has ${answers} possible answers`);
  }
  if (question.mechanism === "krr" && channel.size !== 1) refuse(join(place, "size"), "mismatch", "must be 1");
  checkPrivacy(channel, question.epsilon, question.delta, place);
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
    if (likely <= unlikely) refuse(join(place, "favour"), "favour_low", "favoured reports must be the likelier ones");
  }
}

export const contrast = ({ kind, options, size, levels, width }) =>
  kind === "subset" ? [options - size, size] : [levels - 1, width];

function checkTable(weights, expEpsilon, delta, place) {
  const rows = weights.map((row) => row.map(BigInt));
  rows.forEach((row, i) => {
    if (row.reduce((sum, weight) => sum + weight) !== BIG_N) refuse(`${place}[${i}]`, "row_sum", "a row must sum to 2^53");
  });
  rows[0].forEach((_, y) => {
    const column = rows.map((row) => row[y]);
    const most = column.reduce((a, b) => (a > b ? a : b));
    const least = column.reduce((a, b) => (a < b ? a : b));
    if (!most) refuse(place, "unreachable", `no answer gives report ${y}`);
    if (!delta && most * ONE > expEpsilon * least) refuse(place, "ratio", `report ${y} reveals more than stated`);
  });
  if (!delta) return;
  const [a, b] = decimal(delta);
  for (const first of rows) {
    for (const second of rows) {
      const excess = first.reduce((sum, x, y) => {
        const over = x * ONE - expEpsilon * second[y];
        return over > 0n ? sum + over : sum;
      }, 0n);
      if (excess * b > a * BIG_N * ONE) refuse(place, "delta", "exceeds epsilon by more than delta");
    }
  }
}

/** The verified document: `survey`, `channels` and `digest`, frozen. With `pinned`, any other document is refused. */
export async function readDocument(source, pinned) {
  if (!globalThis.crypto?.subtle || !globalThis.crypto.getRandomValues) {
    refuse("", "crypto", "this browser gives no secure randomness here: use https and a current browser");
  }
  if (typeof source !== "string" || !isText(source)) refuse("", "json", "the document is not Unicode text");
  const bytes = new TextEncoder().encode(source);
  const digest = hex(new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes)));
  if (pinned !== undefined && pinned !== digest) refuse("", "digest", "this is not the document that the link pins");
  if (bytes.length > MAX_BYTES) refuse("", "size", `the document is larger than ${MAX_BYTES} bytes`);
  const tree = strictJson(source);
  table(tree, "", ["deniable", "survey", "channels"]);
  if (tree.deniable !== 1) refuse("deniable", "version", "this client knows version 1 of the document only");
  const { survey, channels } = tree;
  checkSurvey(survey, "survey");
  table(channels, "channels", survey.questions.map((question) => question.id));
  for (const question of survey.questions) checkChannel(question, channels[question.id], `channels.${question.id}`);
  return deepFreeze({ survey, channels, digest });
}

function deepFreeze(value) {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
