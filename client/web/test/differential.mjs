// Runs cases that Python made: one JSON case per line in, one result per line out.
import { createInterface } from "node:readline";

import { DeniableError, verify } from "../src/deniable.js";
import { scripted } from "./scripted.js";

async function result({ document, answers, segments, booklet, bytes }) {
  try {
    const verified = await verify(document);
    if (answers === undefined) return { digest: verified.digest };
    let submission;
    await scripted(bytes, () => {
      submission = verified.randomize(answers, segments, { booklet });
    });
    return { submission };
  } catch (error) {
    if (!(error instanceof DeniableError)) throw error;
    return { reason: error.reason, place: error.place };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await result(JSON.parse(line)))}\n`);
}
