// import "deniable/svelte" instead of "deniable": <deniable-survey> is then known to TypeScript in Svelte 5.

import type { HTMLAttributes } from "svelte/elements";
import type { SurveyAttributes, SurveyElement, SurveyHandlers } from "./deniable.js";

export * from "./deniable.js";

declare module "svelte/elements" {
  interface SvelteHTMLElements {
    "deniable-survey": SurveyAttributes & SurveyHandlers & Omit<HTMLAttributes<SurveyElement>, keyof SurveyAttributes>;
  }
}
