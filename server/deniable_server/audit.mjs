// Runs the browser client under node for the audit: a task on standard input, one line of reports per chunk out.
import { readFileSync } from "node:fs";

const { verify } = await import(process.argv[2]);
const { document, panels, segments, draws, chunk } = JSON.parse(readFileSync(0, "utf8"));
const verified = await verify(document);
const questions = Object.keys(panels);

for (let start = 0; start < draws; start += chunk) {
  const reports = Object.fromEntries(questions.map((question) => [question, []]));
  for (let t = start; t < Math.min(start + chunk, draws); t++) {
    const answers = Object.fromEntries(questions.map((question) => [question, panels[question][t % panels[question].length]]));
    const submission = verified.randomize(answers, segments);
    for (const question of questions) reports[question].push(submission.reports[question]);
  }
  process.stdout.write(`${JSON.stringify(reports)}\n`);
}
