// The types of decode.js.

import type { Channel } from "./deniable.js";

/** Numerator and denominator, in lowest terms. */
export type Fraction = readonly [bigint, bigint];

/** One fraction per answer (for "drawn": per option), whose expected value is 1 for the true answer and 0 for the others. */
export function decode(channel: Channel, report: number): Fraction[];
