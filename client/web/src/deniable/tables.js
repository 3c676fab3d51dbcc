// The textbook mechanisms as tables of integers, for surveys that name one; Python's tables.py derives each.
//
// May not: use the network, storage, randomness or a clock, or do floating-point arithmetic. Everything is in units of
// 2^-256, and every division rounds down.

import { UNIT } from "./checks.js";
import { BIG_N, expFloor, ONE } from "./design.js";

const SIDE = 64; // columns of a gaussian table on each side of the middle
const SIGMAS = 10_000n; // a standard deviation is a whole number of these parts of the range

/** e^-(a/b). */
function decay(a, b) {
  return (ONE * ONE) / expFloor(a, b);
}

const numbers = (n) => [...Array(Number(n)).keys()];
const distance = (x, y) => (x > y ? x - y : y - x);

function powers(base, most) {
  const found = [ONE];
  for (let i = 0; i < most; i++) found.push((found[i] * base) / ONE);
  return found;
}

/** Integers in proportion to the masses, summing to N: rounded down, the rest added to the first of the largest. */
function toRow(masses) {
  const total = masses.reduce((a, b) => a + b);
  const row = masses.map((mass) => (mass * BIG_N) / total);
  const largest = row.reduce((a, b) => (b > a ? b : a));
  row[row.indexOf(largest)] += BIG_N - row.reduce((a, b) => a + b);
  return row;
}

const toNumbers = (rows) => rows.map((row) => row.map(Number));

/** Weights e^(-epsilon |x - y| / (2 (k - 1))). */
export function exponential({ rows, amount }) {
  const points = numbers(rows);
  const weights = points.map((apart) => decay(amount * BigInt(apart), 2n * UNIT * (rows - 1n)));
  return toNumbers(points.map((x) => toRow(points.map((y) => weights[distance(x, y)]))));
}

/** Noise with P(j) proportional to e^(-epsilon |j| / (m - 1)); all below the levels are one report, all above another. */
export function laplace({ rows, amount }) {
  const levels = numbers(rows);
  const a = decay(amount * (10n ** 8n - 1n), UNIT * 10n ** 8n * (rows - 1n));
  const near = powers(a, levels.length);
  const beyond = near.map((power) => (power * ONE) / (ONE - a));
  return toNumbers(
    levels.map((x) => toRow([beyond[x + 1], ...levels.map((y) => near[distance(x, y)]), beyond[levels.length - x]])),
  );
}

/** Noise on 129 reports; the standard deviation is found by doubling and halving, so that both ends keep (e, d). */
export function gaussian({ rows, power, delta }) {
  const keeps = (sigma) => {
    const row = normalRow(sigma, 1n, 1n);
    const other = [...row].reverse();
    const excess = row.reduce((sum, x, y) => {
      const more = x * ONE - power * other[y];
      return more > 0n ? sum + more : sum;
    }, 0n);
    return excess * UNIT <= delta * BIG_N * ONE;
  };
  let [low, high] = [SIGMAS / 10n, SIGMAS / 5n];
  while (!keeps(high)) [low, high] = [high, high * 2n];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (keeps(middle)) high = middle;
    else low = middle;
  }
  const above = numbers(rows / 2n + 1n).map((i) => normalRow(high, 2n * BigInt(i), rows - 1n)); // from the middle up
  const below = above.slice(1).map((row) => [...row].reverse()).reverse();
  return toNumbers([...below, ...above]);
}

/** The row of a level that lies offset/(2 span) ranges above the middle: a normal density at every report. */
function normalRow(sigma, offset, span) {
  const reach = SIGMAS + 12n * sigma; // 128 steps between reports, in parts of the range
  const columns = BigInt(2 * SIDE);
  const first = decay(reach ** 2n, 2n * (columns * sigma) ** 2n);
  const bell = [ONE];
  for (let step = first, i = 0; i < SIDE; i++) {
    bell.push((bell[i] * step) / ONE);
    step = (((step * first) / ONE) * first) / ONE;
  }
  const tilt = powers(decay(reach * offset * SIGMAS, 2n * columns * span * sigma ** 2n), 2 * SIDE);
  return toRow(numbers(2 * SIDE + 1).map((j) => (bell[distance(j, SIDE)] * tilt[2 * SIDE - j]) / ONE));
}
