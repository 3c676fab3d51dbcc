// Tokens: what the vectors cannot show.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { DeniableError } from "../src/deniable.js";
import * as tokens from "../src/deniable/blind-signatures.js";
import { scripted } from "./scripted.js";

const { blind, draw, finish, publicKey, readPublicKey, verify, verifyToken } = tokens;
const vectors = new URL("../../../shared/vectors/blind_signatures.json", import.meta.url);
const first = JSON.parse(readFileSync(vectors, "utf8")).tests.find(({ comment }) => comment === "a token");
const key = readPublicKey(first.key);

test("two blindings have nothing in common", async () => {
  const [one, other] = [await draw(key), await draw(key)];
  for (const name of ["message", "blinded", "inverse"]) assert.notEqual(one[name], other[name]);
});

test("the same message is blinded differently each time", async () => {
  const message = new Uint8Array(64);
  const seen = await Promise.all([1, 2, 3].map(async () => `${(await blind(key, message)).blinded}`));
  assert.equal(new Set(seen).size, 3);
});

test("a modulus with a small factor is refused, not blinded with", async () => {
  const small = publicKey(3n * ((1n << 2046n) | 1n), 65537n);
  const three = "03".padStart(2 * small.size, "0");
  await scripted("00".repeat(48) + three + three, () =>
    assert.rejects(blind(small, new Uint8Array(64)), { reason: "key", place: "issuer.key" }),
  );
});

test("a modulus without room for hash and salt is refused", async () => {
  const [short, enough] = [777n, 778n].map((bits) => publicKey((1n << bits) - 1n, 3n));
  await assert.rejects(verify(short, [], new Uint8Array(98)), { reason: "key" });
  assert.equal(await verify(enough, [], new Uint8Array(98)), false);
  assert.equal(await verify(short, [], new Uint8Array(98), 47), false);
});

test("each bit of a token counts", async () => {
  assert.equal(await verifyToken(key, first.token), true);
  for (const name of ["message", "signature"]) {
    const bytes = Buffer.from(first.token[name], "base64url");
    for (let i = 0; i < bytes.length; i += 7) {
      const changed = Buffer.from(bytes);
      changed[i] ^= 1 << i % 8;
      assert.equal(await verifyToken(key, { ...first.token, [name]: changed.toString("base64url") }), false);
    }
  }
});

test("what is refused is a DeniableError, also as a file of its own", async () => {
  const refused = await finish(key, first.blinding, "A".repeat(342)).catch((error) => error);
  assert.ok(refused instanceof DeniableError);
  assert.ok(!(new Error("DeniableError") instanceof DeniableError) && !(undefined instanceof DeniableError));
});
