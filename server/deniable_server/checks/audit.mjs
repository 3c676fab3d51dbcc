// Runs the browser client under node for the audit: a task on standard input, one line of booklets and reports per chunk out.
import { readFileSync } from "node:fs";

// A call into the system's source for every eight bytes is three quarters of the time. The same source is read in
// blocks here; the randomiser gets the same bytes in the same order, each of them once.
const read = globalThis.crypto.getRandomValues.bind(globalThis.crypto);
const block = new Uint8Array(65536);
let used = block.length;
globalThis.crypto.getRandomValues = (array) => {
  if (used + array.length > block.length) {
    read(block);
    used = 0;
  }
  array.set(block.subarray(used, (used += array.length)));
  return array;
};

const { verify } = await import(process.argv[2]);
const { document, sets, segments, draws, chunk } = JSON.parse(readFileSync(0, "utf8"));
const verified = await verify(document);

for (let start = 0; start < draws; start += chunk) {
  const booklets = [];
  const reports = [];
  for (let t = start; t < Math.min(start + chunk, draws); t++) {
    const submission = verified.randomize(sets[t % sets.length], segments);
    booklets.push(submission.booklet);
    reports.push(submission.reports);
  }
  process.stdout.write(`${JSON.stringify([booklets, reports])}\n`);
}
