// What was spent, or may be: (epsilon, delta) in one place. Everything that is said about it, and every refusal, comes
// from here.

import { sum, units } from "./checks.js";

/** Whatever is answered, no event becomes more likely than e^epsilon times as likely as otherwise, plus delta. */
export class Account {
  /** Both are decimals as text: exact, and fit to be kept. */
  constructor(epsilon = "0", delta = "0") {
    Object.freeze(Object.assign(this, { epsilon, delta }));
  }

  /** Independent reports add up in both (basic composition). Takes what is left of an account in a database, too. */
  plus({ epsilon, delta }) {
    return new Account(sum([this.epsilon, epsilon]), sum([this.delta, delta]));
  }

  within({ epsilon, delta }) {
    return units(this.epsilon) <= units(epsilon) && units(this.delta) <= units(delta);
  }

  /**
   * The most often that the best test finds the truth, if it is wrong about at most this share of other people: let it
   * accept with probability b under the truth and a under something else; then b <= e^epsilon a + delta, and for its
   * complement 1 - a <= e^epsilon (1 - b) + delta. The factor covers the last places of exp.
   */
  power(falseAlarms = 0.05) {
    const growth = Math.exp(this.epsilon);
    const delta = Number(this.delta);
    return Math.min(1, Math.min(falseAlarms * growth + delta, 1 - (1 - falseAlarms - delta) / growth) * (1 + 1e-10));
  }
}

/** What clients accept in total where the app names no budget. */
export const DEFAULT_BUDGET = new Account("10", "0.000001");
