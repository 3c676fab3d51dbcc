// Tokens: blind signatures (RFC 9474), for surveys with invitations. Python's blind_signatures.py has the proof that
// nobody can link a token to what was signed, and says what is secret, what is public, and why timing reveals nothing.
//
// May not: use the network, storage or a clock, do floating-point arithmetic, or use any randomness but
// crypto.getRandomValues.

import { has, hex, isTable, refuse } from "./checks.js";

const HASH = 48; // bytes of SHA-384
const SALT = 48;
const PREFIX = 32;
const MESSAGE = 64;
const BYTES = 256; // of the modulus of an issuer's key, and so of all that it signs

// A public key as SPKI in DER, which has one way to write it: rsaEncryption, then the modulus, then the exponent 65537.
const BEFORE = "30820122300d06092a864886f70d01010105000382010f003082010a0282010100";
const AFTER = "0203010001";

// --- bytes, integers and texts --------------------------------------------------------------------------------------

const toInteger = (bytes) => BigInt(`0x0${hex(bytes)}`);

function toBytes(integer, size) {
  const pairs = integer.toString(16).padStart(2 * size, "0").match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number(`0x${pair}`));
}

/** Bytes as base64url without padding: how keys, blinded values and tokens are written. */
export function toText(bytes) {
  const letters = { "+": "-", "/": "_", "=": "" };
  return btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (letter) => letters[letter]);
}

/** The bytes in a text that is written as toText writes it, if there are so many of them. */
function fromText(text, size, place) {
  let bytes = [];
  try {
    const letters = text.replace(/-/g, "+").replace(/_/g, "/");
    bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
  } catch {
    // not a text, or not base64: no bytes
  }
  // atob also reads padding, white space, the other alphabet and bits that do not count.
  if (bytes.length !== size || toText(bytes) !== text) {
    refuse(place, "format");
  }
  return bytes;
}

const randomBytes = (size) => globalThis.crypto.getRandomValues(new Uint8Array(size));

export async function sha(bits, ...parts) {
  const content = Uint8Array.from(parts.flatMap((part) => [...part]));
  return new Uint8Array(await globalThis.crypto.subtle.digest(`SHA-${bits}`, content));
}

// --- arithmetic -----------------------------------------------------------------------------------------------------

function power(base, exponent, modulus) {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % modulus;
    if (bit === "1") result = (result * base) % modulus;
  }
  return result;
}

/** By Euclid's algorithm, whose steps depend on the value: undefined if it has none. */
function inverse(value, modulus) {
  let [a, b, x, y] = [value, modulus, 1n, 0n];
  while (b) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return a === 1n ? (x + modulus) % modulus : undefined;
}

/** Uniform on 1 ... n-1: as many random bits as n has, drawn until they are such a number. */
function below({ modulus, bits, size }) {
  for (;;) {
    const drawn = toInteger(randomBytes(size)) >> BigInt(-bits & 7);
    if (drawn && drawn < modulus) return drawn;
  }
}

// --- RFC 9474, of all four variants, for keys of any size -----------------------------------------------------------

export function publicKey(modulus, exponent) {
  const bits = modulus.toString(2).length;
  return Object.freeze({ modulus, exponent, bits, size: (bits + 7) >> 3 });
}

/** The message as the randomized variants sign it: 32 random bytes first. The others sign it as it is. */
export const prepare = (message) => Uint8Array.of(...randomBytes(PREFIX), ...message);

/**
 * The blinded message, which is sent, and the inverse of r, which is kept for finalize. Draws the salt, r, and the
 * factor that hides both from Euclid's algorithm, in this order.
 */
export async function blind(key, message, saltLength = SALT) {
  const { modulus: n, exponent, bits, size } = key;
  const m = await encode(message, bits - 1, randomBytes(saltLength));
  const r = below(key);
  const hidden = (m * below(key)) % n;
  const inverted = inverse((hidden * r) % n, n);
  // The modulus has a small factor. The chance is below 2^-1000, unless n is no product of two large primes.
  if (inverted === undefined) refuse("issuer.key", "key");
  return { blinded: toBytes((m * power(r, exponent, n)) % n, size), inverse: toBytes((inverted * hidden) % n, size) };
}

/** The signature of the message. One that is not valid is refused, and must not be used for anything. */
export async function finalize(key, message, blindSignature, inverse, saltLength = SALT) {
  if (blindSignature.length !== key.size) refuse("signature", "format");
  const signature = toBytes((toInteger(blindSignature) * toInteger(inverse)) % key.modulus, key.size);
  if (!(await verify(key, message, signature, saltLength))) {
    refuse("signature", "signature", "the server's signature is not valid");
  }
  return signature;
}

/** Whether this is a signature (RSASSA-PSS with SHA-384) of the message. */
export async function verify({ modulus, exponent, bits, size }, message, signature, saltLength = SALT) {
  const s = toInteger(signature);
  if (signature.length !== size || s >= modulus) return false;
  // With its salt, an encoding is determined: it is valid if it is the one that we make with that salt.
  const encoded = power(s, exponent, modulus);
  if (encoded >> BigInt(bits - 1)) return false;
  return encoded === (await encode(message, bits - 1, await saltIn(encoded, bits - 1, saltLength)));
}

/** EMSA-PSS-ENCODE of RFC 8017: zeros, a one and the salt, under a mask; the hash that made the mask; 0xbc. */
async function encode(message, bits, salt) {
  const digest = await sha(384, new Uint8Array(8), await sha(384, message), salt);
  const masked = toInteger([1, ...salt]) ^ (await mask(digest, bits, salt.length));
  return (masked << BigInt(8 * (HASH + 1))) | toInteger([...digest, 0xbc]);
}

/** The salt that an encoding would have, if it is one. */
async function saltIn(encoded, bits, length) {
  const digest = toBytes(BigInt.asUintN(8 * (HASH + 1), encoded), HASH + 1).subarray(0, HASH);
  const unmasked = (encoded >> BigInt(8 * (HASH + 1))) ^ (await mask(digest, bits, length));
  return toBytes(BigInt.asUintN(8 * length, unmasked), length);
}

/** MGF1 with SHA-384: the mask of an encoding of so many bits, in front of its hash and 0xbc. */
async function mask(seed, bits, saltLength) {
  const width = ((bits + 7) >> 3) - HASH - 1;
  if (width <= saltLength) refuse("issuer.key", "key"); // too short for SHA-384
  const bytes = [];
  for (let i = 0; bytes.length < width; i++) bytes.push(...(await sha(384, seed, [0, 0, 0, i])));
  return BigInt.asUintN(bits - 8 * (HASH + 1), toInteger(bytes.slice(0, width)));
}

// --- tokens ---------------------------------------------------------------------------------------------------------

/** The key in a document: a modulus of exactly 2048 bits and the exponent 65537, in the one way to write it. */
export function readPublicKey(text) {
  const content = fromText(text, 294, "issuer.key");
  const [, digits] = hex(content).match(`^${BEFORE}(.*[13579bdf])${AFTER}$`) ?? [];
  const key = publicKey(BigInt(`0x0${digits ?? ""}`), 65537n);
  if (key.bits !== 8 * BYTES) refuse("issuer.key", "key");
  return key;
}

/** What two people can compare. The digest of the document is what pins the key. */
export async function fingerprint({ modulus }) {
  const spki = toBytes(BigInt(`0x${BEFORE}${modulus.toString(16)}${AFTER}`), 294);
  return hex(await sha(256, spki)).slice(0, 16).replace(/\B(?=(.{4})+$)/g, " ");
}

/**
 * A token that is not signed yet: `message`, `blinded` and `inverse`, as texts. Only `blinded` leaves the device; drop
 * the rest once the token is finished.
 */
export async function draw(key) {
  const message = prepare(randomBytes(MESSAGE - PREFIX));
  const { blinded, inverse } = await blind(key, message);
  return { message: toText(message), blinded: toText(blinded), inverse: toText(inverse) };
}

/** The token, `message` and `signature` as texts, that a blind signature (a text) makes of what `draw` gave. */
export async function finish(key, { message, inverse }, blindSignature) {
  const given = fromText(blindSignature, BYTES, "signature");
  const kept = [fromText(message, MESSAGE, "token.message"), fromText(inverse, BYTES, "token.inverse")];
  return { message, signature: toText(await finalize(key, kept[0], given, kept[1])) };
}

/** Whether the issuer signed this token, as a submission has it. */
export async function verifyToken(key, token) {
  if (!isTable(token) || !has(token, "message") || !has(token, "signature") || Object.keys(token).length !== 2) {
    refuse("token", "type", "this is not an object with message and signature");
  }
  const message = fromText(token.message, MESSAGE, "token.message");
  return verify(key, message, fromText(token.signature, BYTES, "token.signature"));
}

/** The id of the submission that a token with this message (a text) is for: spent twice, it gives the same id twice. */
export async function submissionId(message) {
  return hex(await sha(256, fromText(message, MESSAGE, "token.message"))).slice(0, 32);
}
