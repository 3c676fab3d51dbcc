// import "deniable/vue" instead of "deniable": <deniable-survey> is then known to TypeScript in Vue's templates.

import type { HTMLAttributes } from "vue";
import type { SurveyAttributes, SurveyEvents } from "./deniable.js";

export * from "./deniable.js";

type Camel<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${Capitalize<First>}${Camel<Rest>}`
  : Capitalize<Name>;
type Handlers = { [Name in keyof SurveyEvents as `on${Camel<Name>}`]?: (event: SurveyEvents[Name]) => void };

declare module "vue" {
  interface GlobalComponents {
    "deniable-survey": new () => { $props: SurveyAttributes & Handlers & Omit<HTMLAttributes, keyof SurveyAttributes> };
  }
}
