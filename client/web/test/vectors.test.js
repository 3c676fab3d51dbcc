// Every vector of shared/vectors, none skipped.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { verify } from "../src/deniable.js";
import * as tokens from "../src/deniable/blind-signatures.js";
import { UNIT, units } from "../src/deniable/checks.js";
import { bestSize, design, expFloor, largestFavour } from "../src/deniable/design.js";
import { readCode } from "../src/deniable/invitations.js";
import * as tables from "../src/deniable/tables.js";
import { decode } from "../src/decode.js";
import { parseAddress } from "../src/deniable/transport.js";
import { scripted } from "./scripted.js";

const folder = new URL("../../../shared/vectors/", import.meta.url);
const load = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8"));

async function refusal(attempt) {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    assert.equal(error.name, "DeniableError", `not a refusal but a crash: ${error.stack}`);
    const { reason, place, problems } = error;
    return { reason, place, problems: problems.map((each) => [each.place, each.reason]) };
  }
}

const names = [];

function run(name, each) {
  names.push(name);
  test(`every vector of ${name}.json`, async () => {
    const file = load(name);
    let count = 0;
    for (const vector of file.tests) {
      try {
        await each(vector, file);
      } catch (error) {
        error.message = `${name}.json #${vector.id} (${vector.comment}): ${error.message}`;
        throw error;
      }
      count += 1;
    }
    assert.ok(count > 0 && count === file.tests.length);
    console.log(`${name}: ${count} vectors`);
  });
}

run("favour", ({ epsilon, subset, band, widths, number }) => {
  const power = expFloor(units(epsilon), UNIT);
  subset.forEach(([size, favour], i) => {
    assert.equal(bestSize(i + 2, power), size);
    assert.equal(largestFavour(power, i + 2 - size, size), favour);
  });
  band.forEach(([width, favour], i) => assert.equal(largestFavour(power, i + 1, width), favour));
  const alone = (question, codes) => design({ items: [{ question, codes }], epsilon });
  widths.forEach((width, i) => {
    const codes = Array.from({ length: i + 2 });
    assert.equal(alone({ type: "scale", measure: "mean" }, codes).width, width);
  });
  const { width, favour } = alone({ type: "number" }, []);
  assert.deepEqual([width, favour], number);
});

run("tables", ({ mechanism, rows, epsilon, delta = "0", first, sha256 }) => {
  const amount = units(epsilon);
  const asked = { rows: BigInt(rows), amount, power: expFloor(amount, UNIT), delta: units(delta) };
  const weights = tables[mechanism](asked);
  assert.equal(weights[0][0], first);
  assert.equal(createHash("sha256").update(JSON.stringify(weights)).digest("hex"), sha256);
});

run("verify", async ({ document, repeat, result, reason, place }) => {
  const text = repeat ? document.replace('"x"', `"${"x".repeat(repeat)}"`) : document;
  const refused = await refusal(() => verify(text));
  assert.deepEqual(refused, result === "valid" ? undefined : { reason, place, problems: [[place, reason]] });
});

run("randomize", async (vector, { documents }) => {
  const { document, answers, segments, booklet, bytes, result, submission, problems } = vector;
  const verified = await verify(documents[document]);
  const token = vector.token && { id: await tokens.submissionId(vector.token.message), ...vector.token };
  await scripted(bytes, async () => {
    let got;
    const refused = await refusal(() => {
      got = verified.randomize(answers, segments, { booklet, token });
    });
    if (result === "valid") return assert.deepEqual(got, submission);
    const [[place, reason]] = problems;
    assert.deepEqual(refused, { reason, place, problems });
  });
});

run("decode", ({ channel, report, z }) => {
  const got = decode(channel, report).map(([numerator, denominator]) => `${numerator}/${denominator}`);
  assert.deepEqual(got, z);
});

run("digest", async ({ document, digest, content }) => {
  assert.equal((await verify(document)).content, content);
  assert.equal((await verify(document)).digest, digest);
  assert.equal((await verify(document, digest)).digest, digest);
  assert.deepEqual(await refusal(() => verify(document, digest.replace(/./, (c) => (c === "0" ? "1" : "0")))), {
    reason: "digest",
    place: "",
    problems: [["", "digest"]],
  });
});

run("address", async ({ link, result, url, survey, digest, invitation }) => {
  let got;
  const refused = await refusal(() => {
    got = parseAddress(link);
  });
  if (result === "valid") assert.deepEqual(got, { url, survey, digest: digest ?? undefined, invitation });
  else assert.deepEqual(refused, { reason: "address", place: "", problems: [["", "address"]] });
});

run("invitations", async ({ text, result, code, reason, place }) => {
  let got;
  const refused = await refusal(async () => {
    got = await readCode(text);
  });
  assert.deepEqual([got, refused], result === "valid" ? [code, undefined] : [undefined, { reason, place, problems: [[place, reason]] }]);
});

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hexOf = (bytes) => Buffer.from(bytes).toString("hex");

run("rfc9474", async ({ variant, n, e, msg, msg_prefix, prepared_msg, salt, inv, blinded_msg, blind_sig, sig }) => {
  const key = tokens.publicKey(BigInt(`0x${n}`), BigInt(`0x${e}`));
  let message = bytesOf(msg);
  if (variant.endsWith("Randomized")) await scripted(msg_prefix, () => (message = tokens.prepare(message)));
  assert.equal(hexOf(message), prepared_msg);
  const length = salt.length / 2;
  await scripted(salt + inverseOf(inv, n) + "01".repeat(key.size), async () => {
    const { blinded, inverse } = await tokens.blind(key, message, length);
    assert.deepEqual([hexOf(blinded), hexOf(inverse)], [blinded_msg, inv]);
    assert.equal(hexOf(await tokens.finalize(key, message, bytesOf(blind_sig), inverse, length)), sig);
  });
  assert.equal(await tokens.verify(key, message, bytesOf(sig), length), true);
  assert.equal(await tokens.verify(key, Uint8Array.of(...message, 46), bytesOf(sig), length), false);
});

/** Both in hex: r, of which the RFC's vectors have the inverse only. */
function inverseOf(value, modulus) {
  const n = BigInt(`0x${modulus}`);
  let [a, b, x, y] = [BigInt(`0x${value}`), n, 1n, 0n];
  while (b) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return ((x + n) % n).toString(16).padStart(modulus.length, "0");
}

const tokenChecks = {
  async draw({ key, fingerprint, bytes, blinding, blind_signature, token, submission }) {
    const read = tokens.readPublicKey(key);
    assert.equal(await tokens.fingerprint(read), fingerprint);
    await scripted(bytes, async () => assert.deepEqual(await tokens.draw(read), blinding));
    assert.deepEqual(await tokens.finish(read, blinding, tokens.toText(bytesOf(blind_signature))), token);
    assert.equal(await tokens.submissionId(token.message), submission);
    return true;
  },
  key: ({ key }) => Boolean(tokens.readPublicKey(key)),
  finish: ({ key, blinding, blind_signature }) =>
    tokens.finish(tokens.readPublicKey(key), blinding, tokens.toText(bytesOf(blind_signature))),
  token: ({ key, token }) => tokens.verifyToken(tokens.readPublicKey(key), token),
};

run("blind_signatures", async (vector) => {
  const { check, result = "valid", reason, place } = vector;
  let valid;
  const refused = await refusal(async () => {
    valid = await tokenChecks[check](vector);
  });
  assert.deepEqual(refused, reason && { reason, place, problems: [[place, reason]] });
  assert.equal(Boolean(valid), result === "valid");
});

test("every file of vectors is run", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const here = files.map((name) => name.slice(0, -5)).filter((name) => name !== "submission"); // what a server receives
  assert.deepEqual(here.sort(), names.sort());
});
