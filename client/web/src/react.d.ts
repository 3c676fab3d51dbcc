// import "deniable/react" instead of "deniable": <deniable-survey> is then known to TypeScript in React 19's JSX.

import type { HTMLAttributes, RefAttributes } from "react";
import type { SurveyAttributes, SurveyElement, SurveyHandlers } from "./deniable.js";

export * from "./deniable.js";

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "deniable-survey": SurveyAttributes &
        SurveyHandlers &
        RefAttributes<SurveyElement> &
        Omit<HTMLAttributes<SurveyElement>, keyof SurveyAttributes>;
    }
  }
}
