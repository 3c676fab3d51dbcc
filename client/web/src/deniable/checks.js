// Checking what was written, and exact decimals.
//
// May not: use the network, storage, randomness or a clock, or do floating-point arithmetic.

export const N = 2 ** 53; // the denominator of every probability; all integers up to it are exact
export const MAX_PATHS = 51;
export const DECLINED = "declined";

/**
 * Everything that Deniable throws on purpose. `reason` is one stable word, `place` says where. Where several things are
 * wrong with what was given, `problems` has them all, and the rest is that of the first.
 */
export class DeniableError extends Error {
  constructor(place, reason, message, problems = [{ place, reason, message }]) {
    super(problems.map((each) => (each.place ? `${each.place}: ${each.message}` : each.message)).join("\n"));
    Object.assign(this, { name: "DeniableError", place, reason, problems });
  }

  // Files that are loaded on demand have a copy of this class: what they throw is the same to everybody else.
  static [Symbol.hasInstance](error) {
    return error?.name === "DeniableError";
  }
}

export const refuse = (place, reason, message = `the document cannot be trusted (${reason})`) => {
  throw new DeniableError(place, reason, message);
};

// --- exact arithmetic ---------------------------------------------------------------------------------------------

export const UNIT = 10n ** 12n;

/** A decimal of at most 12 places, in units of the last. */
export const units = (text) => {
  const [whole, places = ""] = text.split(".");
  return BigInt(whole + places.padEnd(12, "0"));
};

export const fromUnits = (amount) => `${amount}`.padStart(13, "0").replace(/(.{12})$/, ".$1").replace(/\.?0+$/, "");
export const total = (amounts) => amounts.reduce((sum, amount) => sum + units(amount), 0n);

/** The sum of decimals, as a decimal: 0.1 + 0.2 is 0.3 here. */
export const sum = (amounts) => fromUnits(total(amounts));

// --- the shape of a document, the first problem first -------------------------------------------------------------

export const has = (object, key) => Object.hasOwn(object, key);
export const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
export const join = (place, key) => (place ? `${place}.${key}` : key);

/** The tree in a document that is written as JSON.stringify writes it: there is one way of writing it, without marks. */
export function canonicalJson(source) {
  let tree;
  let written;
  try {
    tree = JSON.parse(source);
    written = JSON.stringify(tree);
  } catch {
    refuse("", "json"); // the parser's message may repeat parts of the text
  }
  // Of all escapes only those of the quote, the backslash and the newline have a place in a text.
  if (written !== source || source.replace(/\\["\\n]/g, "").includes("\\")) refuse("", "canonical");
  return tree;
}

/** An object with these keys in this order; those with a question mark may be left out. */
export function table(tree, place, keys) {
  if (!isTable(tree)) refuse(place, "type");
  const known = keys.map((key) => key.replace("?", ""));
  const given = Object.keys(tree);
  for (const key of given) if (!known.includes(key)) refuse(join(place, key), "unknown");
  for (const key of keys) if (!has(tree, key) && !key.endsWith("?")) refuse(join(place, key), "missing");
  if (`${given}` !== `${known.filter((key) => has(tree, key))}`) refuse(place, "order");
}

export function string(value, place) {
  if (typeof value !== "string") refuse(place, "type");
}

// What no text has: controls, spaces but U+0020, what is never drawn or changes the direction of what is, surrogates,
// private use and non-characters.
const HIDDEN = /[^\S ]|[\p{Cc}\p{Co}\p{Cs}\p{DI}\p{NChar}\u2800\ufff9-\ufffc]/u;

/** A text that is not another one which looks the same: in normal form C, with nothing that cannot be seen. */
export function text(value, place) {
  string(value, place);
  if (!value) refuse(place, "range");
  if (/^ | $| {2}/.test(value) || HIDDEN.test(value) || value.normalize() !== value) refuse(place, "format");
}

/** A text of several lines: one newline or two between them. */
export function lines(value, place) {
  string(value, place);
  text(value.replace(/(\S)\n{1,2}(?=\S)/g, "$1 "), place);
}

export function name(value, place, pattern) {
  string(value, place);
  if (!pattern.test(value)) refuse(place, "format");
}

export function choice(value, place, known) {
  string(value, place);
  if (!known.includes(value)) refuse(place, "range");
}

export function number(value, place) {
  if (typeof value !== "number") refuse(place, "type");
  if (!(Math.abs(value) < N)) refuse(place, "range");
}

export function integer(value, place, low, high) {
  number(value, place);
  if (!Number.isInteger(value)) refuse(place, "type");
  if (!(low <= value && value <= high)) refuse(place, "range");
}

export function list(value, place, low, high, each) {
  if (!Array.isArray(value)) refuse(place, "type");
  if (value.length < low || value.length > high) refuse(place, "range");
  value.forEach((item, i) => each(item, `${place}[${i}]`));
}

export function distinct(values, place) {
  if (new Set(values).size < values.length) refuse(place, "duplicate");
}

/** Refuses unless these numbers, or texts, increase. */
export function increasing(values, place) {
  if (values.some((value, i) => value <= values[i - 1])) refuse(place, "order");
}

/** A decimal with one digit or more behind the point, and no more than it needs. */
export function decimalString(value, place, places, low, high) {
  name(value, place, RegExp(`^(0|[1-9][0-9]?)\\.([0-9]|[0-9]{1,${places - 1}}[1-9])$`));
  if (units(value) < units(low) || units(value) > units(high)) refuse(place, "range");
}

export const epsilonString = (value, place) => decimalString(value, place, 4, "0.01", "10");

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
