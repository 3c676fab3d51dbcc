// The channel of a part: the most useful one that keeps epsilon. A device designs every channel itself and accepts no
// other, so that each keeps what is stated and none has room for a hidden mark.
//
// May not: use the network, storage, randomness or a clock, or do floating-point arithmetic.

import { UNIT, units } from "./checks.js";
import { measure } from "./survey.js";

export const BIG_N = 1n << 53n;
export const ONE = 1n << 256n; // fixed-point one of expFloor

/** L with L / 2^256 <= e^(a/b): Taylor terms, each rounded down. */
export function expFloor(a, b) {
  let total = 0n;
  for (let term = ONE, i = 1n; term; i++) {
    total += term;
    term = (term * a) / (b * i);
  }
  return total;
}

/** The largest F that keeps epsilon with u unfavoured to v favoured reports: F*u*2^256 <= L*(N-F)*v. */
export function largestFavour(power, unfavoured, favoured) {
  const weight = power * BigInt(favoured);
  return Number((weight * BIG_N) / (weight + BigInt(unfavoured) * ONE));
}

/** The d that minimises (d*r + k - d)^2 / (d*(k - d)), r = e^epsilon; of equals, the smaller. */
export function bestSize(options, power) {
  const k = BigInt(options);
  const error = (d) => [(d * power + (k - d) * ONE) ** 2n, d * (k - d)];
  let best = 1n;
  for (let d = 2n; d < k; d++) {
    const [[a, b], [c, e]] = [error(d), error(best)];
    if (a * e < c * b) best = d;
  }
  return Number(best);
}

// For each number of levels, the hundredths of epsilon from which a band has width 1, 2 and so on; else levels - 1.
const WIDTHS = {
  3: [139],
  4: [250, 154],
  5: [347, 157, 157],
  6: [415, 268, 213, 158],
  7: [475, 330, 177, 177, 158],
  8: [523, 386, 269, 214, 214, 156],
  9: [566, 396, 353, 187, 187, 187, 155],
  10: [603, 459, 344, 265, 208, 208, 208, 154],
  11: [636, 486, 373, 360, 191, 191, 191, 191, 153],
  49: [9999, 950, 850, 750, 750, 650, 650, 540, 540, 540, 540, 440, 440, 440, 440, 320, 320, 320, 320, 320, 320, 320, 320, 170],
};

/** The channel that goes with a part; `size` is 1 where its subsets are to have one option, and `tables` tables.js. */
export function design({ items, paths, epsilon }, size, tables) {
  const [{ question, option, codes }, more] = items;
  const { type, mechanism, decline, delta } = question;
  const amount = units(epsilon);
  const power = expFloor(amount, UNIT);
  const band = (levels) => {
    const width = WIDTHS[levels]?.findIndex((least) => amount * 100n >= BigInt(least) * UNIT) + 1 || levels - 1;
    return { kind: "band", levels, width, favour: largestFavour(power, levels - 1, width) };
  };
  const subset = (options) => {
    const d = size === 1 || mechanism === "krr" ? 1 : bestSize(options, power);
    return { kind: "subset", options, size: d, favour: largestFavour(power, options - d, d) };
  };
  if (more) return subset(paths.length);
  if (option || (type === "yes_no" && !decline)) return band(2);
  if (type === "multi_choice") return { kind: "drawn", parts: codes.map(() => band(2)) };
  if (mechanism && mechanism !== "krr") {
    const rows = codes.length || (amount < 4n * UNIT ? 9 : 17);
    return { kind: "table", weights: tables[mechanism]({ rows: BigInt(rows), amount, power, delta: units(delta ?? "0") }) };
  }
  return measure(question) === "mean" && !mechanism ? band(codes.length || 49) : subset(codes.length);
}
