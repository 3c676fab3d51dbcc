// Documents for tests, with channels of this module's own making.
import { UNIT, units } from "../src/deniable/checks.js";
import { expFloor, largestFavour } from "../src/deniable/design.js";

export const exponential = (epsilon) => expFloor(units(epsilon), UNIT);
const yesNo = (id, own) => ({ id, type: "yes_no", text: `${id}?`, ...own });
const options = (...codes) => codes.map((code) => ({ code, text: code }));

/** A survey with one epsilon: a follow-up, one of a follow-up, one of an option, a scale that can be declined. */
export const SURVEY = {
  id: "joint",
  title: "Joint",
  epsilon: "2.0",
  together: [["vaped", "stress"]],
  segments: [{ id: "campus", text: "Campus?", options: options("north", "south") }],
  questions: [
    yesNo("vaped"),
    { id: "often", type: "choice", text: "How often?", show_if: { vaped: ["yes"] }, options: options("rarely", "daily") },
    yesNo("regret", { show_if: { often: ["daily"] } }),
    { id: "support", type: "multi_choice", text: "Who helped?", options: options("doctor", "friend", "nobody") },
    yesNo("helpful", { show_if: { support: ["doctor", "friend"] } }),
    { id: "stress", type: "scale", text: "Stress?", decline: true, labels: ["none", "some", "much"] },
    { id: "hours", type: "number", text: "Hours?", min: 0, max: 80 },
  ],
};

const subset = (options, epsilon, size) => ({
  kind: "subset",
  options,
  size,
  favour: largestFavour(exponential(epsilon), options - size, size),
});
export const band = (levels, epsilon, width) => ({
  kind: "band",
  levels,
  width,
  favour: largestFavour(exponential(epsilon), levels - 1, width),
});
const part = (epsilon, channel, ...questions) => ({ questions, epsilon, channel });

/** A question of every type, each with its channel. */
const EVERY = [
  [{ id: "bit", type: "yes_no" }, band(2, "1.0", 1)],
  [{ id: "declinable", type: "yes_no", decline: true }, subset(3, "1.0", 1)],
  [{ id: "choice", type: "choice", options: options("a", "b", "c") }, subset(3, "1.0", 1)],
  [{ id: "several", type: "multi_choice", options: options("a", "b") }, { kind: "drawn", parts: [band(2, "1.0", 1), band(2, "1.0", 1)] }],
  [{ id: "scale", type: "scale", labels: ["x", "y", "z"] }, subset(3, "1.0", 1)],
  [{ id: "mean", type: "scale", labels: ["x", "y", "z"], measure: "mean" }, band(3, "1.0", 2)],
  [{ id: "number", type: "number", min: 0, max: 10 }, band(49, "1.0", 48)],
  [{ id: "bins", type: "number", min: 0, max: 10, measure: "shares", bins: [2, 5] }, subset(3, "1.0", 1)],
];
export const everyType = () =>
  textbook("every", EVERY.map(([{ id, type, ...own }]) => ({ id, type, text: "?", epsilon: "1.0", ...own })), EVERY.map(([, channel]) => channel));
export const EVERY_ANSWER = {
  ...{ bit: true, declinable: "declined", choice: "b", several: ["a"], scale: 2, mean: 3, number: 2.5, bins: 4 },
};

/** The tree of a document with booklets of one part and of two, which share the epsilon. */
export const tree = () => ({
  deniable: 1,
  survey: structuredClone(SURVEY),
  parts: [
    part("2.0", subset(4, "2.0", 1), "vaped", "often", "regret"), // no; yes, rarely; yes, daily, no; … yes
    part("1.0", subset(12, "1.0", 1), "vaped", "often", "stress"),
    part("0.75", subset(7, "0.75", 2), "support.doctor", "support.friend", "helpful"),
    part("1.0", band(2, "1.0", 1), "support.nobody"),
    part("1.0", subset(4, "1.0", 1), "stress"),
    part("0.25", band(49, "0.25", 48), "hours"),
  ],
  booklets: [
    { parts: [0], weight: 3 },
    { parts: [1, 2], weight: 5 }, // 1.75
    { parts: [3, 4], weight: 1 }, // 2.0, all of it
    { parts: [5], weight: 2 },
  ],
});

/** The same survey in English and Spanish: a table for some texts, and one text where both are the same. */
export function inTwoLanguages(id = SURVEY.id) {
  const survey = structuredClone(SURVEY);
  survey.title = { en: "Joint", es: "Conjunta" };
  survey.segments[0].options[0].text = { en: "north", es: "norte" };
  survey.questions[0].text = { en: "vaped?", es: "¿vaped?" };
  return JSON.stringify({ ...tree(), survey: { id, languages: ["en", "es"], ...survey, id } });
}

/** The document of a survey whose one question, or each of these, has an epsilon of its own. */
export function textbook(id, questions = [{ ...yesNo("q"), epsilon: "1.0" }], channels = [band(2, "1.0", 1)]) {
  const parts = questions.map(({ id, epsilon }, i) => part(epsilon, channels[i], id));
  const booklets = [{ parts: parts.map((_, i) => i), weight: 1 }];
  return JSON.stringify({ deniable: 1, survey: { id, title: "Textbook", questions }, parts, booklets });
}

export const document = (edit = () => {}) => {
  const made = tree();
  edit(made);
  return JSON.stringify(made);
};

/** Every complete set of answers to the questions other than numbers, those to hidden questions left out. */
export function* everyAnswer() {
  const supports = [[], ["doctor"], ["friend"], ["doctor", "friend"], ["nobody"], ["doctor", "friend", "nobody"]];
  const ways = [{ vaped: false }, { vaped: true, often: "rarely" }];
  for (const regret of [true, false]) ways.push({ vaped: true, often: "daily", regret });
  for (const way of ways) {
    for (const support of supports) {
      const asked = support.includes("doctor") || support.includes("friend");
      for (const helpful of asked ? [true, false] : [undefined]) {
        for (const stress of [1, 2, 3, "declined"]) {
          yield { ...way, support, ...(asked ? { helpful } : {}), stress, hours: 0 };
        }
      }
    }
  }
}
