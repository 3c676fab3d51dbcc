// Checking what was written, and exact decimals.
//
// May not: use the network, storage, randomness or a clock, or do floating-point arithmetic.

export const N = 2 ** 53; // the denominator of every probability; all integers up to it are exact
export const MAX_PATHS = 51;
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
// Half of a surrogate pair matches; a whole pair is one code point under the u flag and does not.
export const isText = (value) => !/\p{Surrogate}/u.test(value);

export function strictJson(text) {
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
  if (text.replace(/"(?:[^"\\]|\\.)*"/g, "").split(":").length - 1 !== keys) refuse("", "json");
  return tree;
}

export function table(tree, place, required, optional = []) {
  if (!isTable(tree)) refuse(place, "type");
  for (const key of Object.keys(tree)) {
    if (!required.includes(key) && !optional.includes(key)) refuse(join(place, key), "unknown");
  }
  for (const key of required) if (!has(tree, key)) refuse(join(place, key), "missing");
}

export function string(value, place) {
  if (typeof value !== "string") refuse(place, "type");
}

export function text(value, place) {
  string(value, place);
  if (!value) refuse(place, "range");
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

export function decimalString(value, place, pattern, low, high) {
  name(value, place, pattern);
  if (units(value) < units(low) || units(value) > units(high)) refuse(place, "range");
}

export const epsilonString = (value, place) => decimalString(value, place, /^[0-9]{1,2}(\.[0-9]{1,4})?$/, "0.01", "10");

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
