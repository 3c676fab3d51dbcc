// Tokens with Python and with another package: one JSON request per line in, one answer per line out. Bytes are texts.
import { createInterface } from "node:readline";

import { draw, finish, readPublicKey, verifyToken } from "../src/deniable/blind-signatures.js";

const toText = (bytes) => Buffer.from(bytes).toString("base64url");
const toBytes = (text) => new Uint8Array(Buffer.from(text, "base64url"));

const ours = {
  draw: ({ key }) => draw(readPublicKey(key)),
  finish: ({ key, blinding, signature }) => finish(readPublicKey(key), blinding, signature),
  verify: ({ key, token }) => verifyToken(readPublicKey(key), token),
};

/** The same by @cloudflare/blindrsa-ts, which also signs. */
async function peer() {
  const { RSABSSA } = await import("@cloudflare/blindrsa-ts");
  const suite = RSABSSA.SHA384.PSS.Randomized();
  const imported = (format, text, use) =>
    crypto.subtle.importKey(format, toBytes(text), { name: "RSA-PSS", hash: "SHA-384" }, true, [use]);
  const open = (key) => imported("spki", key, "verify");
  return {
    async draw({ key }) {
      const message = suite.prepare(crypto.getRandomValues(new Uint8Array(32)));
      const { blindedMsg, inv } = await suite.blind(await open(key), message);
      return { message: toText(message), blinded: toText(blindedMsg), inverse: toText(inv) };
    },
    sign: async ({ secret, blinded }) =>
      toText(await suite.blindSign(await imported("pkcs8", secret, "sign"), toBytes(blinded))),
    async finish({ key, blinding: { message, inverse }, signature }) {
      const given = [message, signature, inverse].map(toBytes);
      return { message, signature: toText(await suite.finalize(await open(key), ...given)) };
    },
    verify: async ({ key, token }) => suite.verify(await open(key), toBytes(token.signature), toBytes(token.message)),
  };
}

const steps = process.argv[2] === "peer" ? await peer() : ours;
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(await steps[request.step](request))}\n`);
}
