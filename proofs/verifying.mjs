// Verifies documents: one in base64 per line in; per line out its digest, survey and channels, or why it is refused.
import { createInterface } from "node:readline";

import { DeniableError, verify } from "../client/web/deniable_web/deniable.js";

async function result(bytes) {
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes); // as the client reads a response
  } catch {
    return { reason: "json", place: "" };
  }
  try {
    const { digest, survey, channels } = await verify(text);
    return { digest, survey, channels };
  } catch (error) {
    return error instanceof DeniableError ? { reason: error.reason, place: error.place } : { broken: `${error}` };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await result(Buffer.from(line, "base64")))}\n`);
}
