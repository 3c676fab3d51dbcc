// Verifies documents: one in base64 per line in. Per line out: its digest, the survey in each language, parts and booklets;
// or why it is refused.
import { createInterface } from "node:readline";

import { DeniableError, verify } from "../client/web/src/deniable.js";

async function result(bytes) {
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes); // as the client reads a response
  } catch {
    return { reason: "json", place: "" };
  }
  try {
    const verified = await verify(text);
    const { digest, parts, booklets, languages } = verified;
    const surveys = (languages.length ? languages : [""]).map((language) => verified.inLanguage(language).survey);
    const told = parts.map(({ items, epsilon, channel, paths }) => {
      const names = items.map(({ name }) => name);
      return [names, epsilon, channel, names.length > 1 ? paths : []];
    });
    return { digest, surveys, parts: told, booklets };
  } catch (error) {
    return error instanceof DeniableError ? { reason: error.reason, place: error.place } : { broken: `${error}` };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await result(Buffer.from(line, "base64")))}\n`);
}
