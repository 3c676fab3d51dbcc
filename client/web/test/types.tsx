// What TypeScript accepts, and what it refuses: tests/system/test_npm_package.py asks tsc --strict for an error in each
// line that ends in "wrong", and in no other. Nothing here is run.

import { useRef } from "react";
import type { GlobalComponents } from "vue";
import type { SvelteHTMLElements } from "svelte/elements";
import { Client, DeniableError, randomize, shownQuestions, verify, type Receipt, type SurveyElement } from "deniable";
import { decode } from "deniable/decode";
import "deniable/react";
import "deniable/svelte";
import "deniable/vue";

export async function client() {
  const client = await Client.load("/s/campus-health", { budget: [20, "0.00001"], timeout: 5 });
  const language: string | undefined = client.useLanguage("es", "en");
  const first: string | undefined = client.languages[0];
  const shown = shownQuestions(client.questions, { vaped: true }).map(({ id, text }) => `${id}: ${text}`);
  const receipt: Receipt = await client.submit({ vaped: true, support: ["doctor"], drinks: 2.5 }, { campus: "north" });
  const reports: readonly number[] = (await receipt.settled).reports;
  const text: string = receipt.reports; // wrong
  receipt.reports.push(1); // wrong
  client.closed = false; // wrong
  await Client.load("/s/campus-health", { budgets: 20 }); // wrong
  await client.submit({ vaped: { yes: true } }); // wrong
  await client.submit({ vaped: true }, { campus: 3 }); // wrong
  await client.forget({ unsend: true }); // wrong
  new Client(); // wrong
  return [language, first, shown, reports, text, client.survey.asked_by, client.survey.closing];
}

export async function withoutNetwork(published: string) {
  const verified = await verify(published, "0".repeat(64));
  const title: string = verified.inLanguage("ar").survey.title;
  const { booklet, reports } = await randomize(published, { vaped: true }, {}, { booklet: 0 });
  const fractions = verified.parts.map((part, i) => decode(part.channel, reports[i] ?? 0));
  const numerator: bigint | undefined = fractions[0]?.[0]?.[0];
  verify(published).survey; // wrong
  await randomize(published, { vaped: true }, {}, { seed: 1 }); // wrong
  verified.randomize({ vaped: null }); // wrong
  return [title, booklet, numerator];
}

export function problems(error: unknown): string[] {
  if (!(error instanceof DeniableError)) return [];
  error.problem; // wrong
  return error.problems.map(({ place, reason, message }) => [place, reason, message].join());
}

export function element() {
  const survey = document.querySelector("deniable-survey")!;
  survey.budget = "3.5";
  survey.texts = { button: { send: "Send it" }, progress: ({ done, total }) => `${done} of ${total}` };
  survey.addEventListener("deniable-language", ({ detail }) => (document.dir = detail.direction));
  document.addEventListener("deniable-failed", ({ detail: { reason } }) => (document.title = reason));
  document.addEventListener("deniable-submitted", ({ detail }) => detail.receipt.id);
  survey.preview = { document: "{}", booklet: 2 };
  survey.texts = { button: 3 }; // wrong
  survey.preview = { booklet: 2 }; // wrong
  survey.addEventListener("deniable-submitted", ({ detail }) => detail.answers); // wrong
}

export function React() {
  const ref = useRef<SurveyElement>(null);
  const src = "/s/campus-health";
  return (
    <>
      <deniable-survey src={src} ref={ref} lang="es" one-page kiosk logo="/logo.svg" className="wide" id="survey" />
      <deniable-survey src={src} ondeniable-ready={({ detail: { survey, closed } }) => closed || survey.title} />
      <deniable-survey />{/* wrong */}
      <deniable-survey src={src} texts="Send it" />{/* wrong */}
      <deniable-survey src={src} ondeniable-ready={({ detail }) => detail.answers} />{/* wrong */}
      <deniable-surveys src={src} />{/* wrong */}
    </>
  );
}

type Vue = InstanceType<GlobalComponents["deniable-survey"]>["$props"];
export const vue: Vue[] = [
  { src: "/s/campus-health", budget: 20, onDeniableSubmitted: ({ detail: { receipt } }) => receipt.id, class: "wide" },
  { src: 3 }, // wrong
  { src: "/s/campus-health", onDeniableReady: ({ detail }) => detail.answers }, // wrong
];

type Svelte = SvelteHTMLElements["deniable-survey"];
export const svelte: Svelte[] = [
  { src: "/s/campus-health", kiosk: true, "ondeniable-removed": () => undefined, class: "wide" },
  { budget: 20 }, // wrong
  { src: "/s/campus-health", "ondeniable-ready": ({ detail }) => detail.answers }, // wrong
];
