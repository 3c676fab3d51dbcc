// What a channel does, as facts for people: chances, odds, and what a report points at.
//
// May not: protect anything. This only explains the randomiser, so doubles are fine here; where a figure has to
// be rounded, it is rounded against us: odds, powers and what gives an answer away up, what protects it down.

const N = 2 ** 53;

const choose = (n, s) => {
  let ways = 1;
  for (let i = 1; i <= s; i++) ways = (ways * (n - s + i)) / i;
  return ways;
};

/** Whether a subset's report holds this option. Reports reach 2^51, beyond what bit operators take. */
const holds = (report, option) => Math.floor(report / 2 ** option) % 2 === 1;

/** P(report | answer). The answer is an index in channel order; for a drawn channel, a list with one bit per option. */
export function likelihood(channel, answer, report) {
  if (channel.kind === "drawn") {
    const part = Math.floor(report / 2);
    return likelihood(channel.parts[part], answer[part], report % 2) / channel.parts.length;
  }
  if (channel.kind === "table") return channel.weights[answer][report] / N;
  const favour = channel.favour / N;
  if (channel.kind === "subset") {
    const { options, size } = channel;
    return holds(report, answer) ? favour / choose(options - 1, size - 1) : (1 - favour) / choose(options - 1, size);
  }
  const { levels, width } = channel;
  return answer <= report && report < answer + width ? favour / width : (1 - favour) / (levels - 1);
}

/** How many answers a channel distinguishes. */
const answersOf = (channel) => channel.options ?? channel.levels ?? channel.weights.length;

/**
 * The way a part is described: a bit, one answer (or, for a number, one point), a set of answers, a range of them, one
 * option drawn, a table; of several items one combination of answers, or a set of combinations.
 */
export function formOf({ items, channel }) {
  if (items.length > 1) return channel.size === 1 ? "combination" : "combinations";
  if (channel.kind === "band" && channel.width === 1) {
    if (items[0].question.type === "number") return "point";
    return channel.levels === 2 ? "bit" : "single";
  }
  if (channel.kind === "subset") return channel.size === 1 ? "single" : "set";
  return { band: "range", drawn: "drawn", table: "table" }[channel.kind];
}

/** Only a part by itself can have a delta. */
export const deltaOf = ({ items }) => (items.length > 1 ? null : (items[0].question.delta ?? null));

/** Whether a number is put on levels first: between two of them, by chance on one or the other. */
export const isRounded = (part) =>
  part.items[0].question.type === "number" && ["point", "range", "table"].includes(formOf(part));

/** The chances that protect: they are rounded down. */
export const PROTECTING = ["opposite", "other", "outside", "elsewhere", "far"];

/**
 * What happens to an answer, before it is given. `chances` are [name, probability] pairs to be shown, bounds that
 * hold whatever the answer is: those of PROTECTING lower ones, the others upper ones. `odds` is the most that any
 * report can be likelier under one answer than under another, and `excess` the chance of a report beyond e^epsilon.
 */
export function protection(part) {
  const { channel } = part;
  const form = formOf(part);
  const favour = (channel.kind === "drawn" ? channel.parts[0].favour : channel.favour) / N;
  const facts = { form, odds: oddsOf(channel), excess: excessOf(part) };
  if (form === "bit")
    return {
      ...facts,
      chances: [
        ["same", favour],
        ["opposite", 1 - favour],
      ],
    };
  if (["single", "set", "combination", "combinations"].includes(form)) {
    const [count, size] = channel.kind === "band" ? [channel.levels, 1] : [channel.options, channel.size];
    const other = (favour * (size - 1) + (1 - favour) * size) / (count - 1);
    return {
      ...facts,
      count,
      size,
      others: count - 1,
      miss: 1 - favour,
      chances: [
        ["yours", favour],
        ["other", other],
      ],
    };
  }
  if (form === "range" || form === "point") {
    // A number between two levels is in a range only if both are: less often than the level that it was rounded to.
    const { levels, width } = channel;
    return {
      ...facts,
      levels,
      width,
      miss: 1 - favour,
      chances: [
        [form === "range" ? "inside" : "rounded", favour],
        [form === "range" ? "outside" : "elsewhere", 1 - favour],
      ],
    };
  }
  if (form === "drawn") {
    // Parts may differ in a document that somebody else wrote: the least protected one is described.
    const least = Math.max(...channel.parts.map((part) => part.favour)) / N;
    const count = channel.parts.length;
    return {
      ...facts,
      count,
      chances: [
        ["drawn", 1 / count],
        ["same", least],
        ["opposite", 1 - least],
      ],
    };
  }
  // A number between two levels has been found out where a report points at either of them.
  const { weights } = channel;
  const pointed = weights[0].map((_, y) => pointsAt(channel, y));
  const share = (row, levels) =>
    row.reduce((sum, w, y) => (levels.some((level) => pointed[y].includes(level)) ? sum + w : sum), 0) / N;
  const pointing = Math.max(
    ...weights.flatMap((row, x) =>
      (isRounded(part) ? [[x - 1, x], [x, x + 1]] : [[x]]).map((levels) => share(row, levels)),
    ),
  );
  return {
    ...facts,
    levels: weights.length,
    reports: weights[0].length,
    chances: [
      ["near", pointing],
      ["far", 1 - pointing],
    ],
  };
}

/** The most that one answer can raise the probability of a report over another; Infinity where delta allows zeros. */
function oddsOf(channel) {
  if (channel.kind === "drawn") return Math.max(...channel.parts.map(oddsOf));
  if (channel.kind === "table") {
    return Math.max(
      ...channel.weights[0].map((_, y) => {
        const column = channel.weights.map((row) => row[y]);
        return Math.max(...column) / Math.min(...column);
      }),
    );
  }
  const [u, v] =
    channel.kind === "subset" ? [channel.options - channel.size, channel.size] : [channel.levels - 1, channel.width];
  return (channel.favour * u) / ((N - channel.favour) * v);
}

const exceeds = ({ epsilon }, ratio) => ratio > Math.exp(Number(epsilon)) * (1 + 1e-9);

/**
 * With delta: the most likely that a report is one which some answer makes more than e^epsilon times as likely as
 * another. This is more than delta, which only limits how far the probabilities go beyond that ratio. Numbers between
 * two levels are covered: their chances are means of those of the levels.
 */
function excessOf(part) {
  const { channel } = part;
  if (!deltaOf(part)) return 0;
  const beyond = channel.weights[0].map((_, y) => {
    const column = channel.weights.map((row) => row[y]);
    return exceeds(part, Math.max(...column) / Math.min(...column));
  });
  return Math.max(...channel.weights.map((row) => row.reduce((sum, w, y) => (beyond[y] ? sum + w : sum), 0))) / N;
}

/** The answers, in channel order, under which a report is likeliest: what it points at, rightly or wrongly. */
export function pointsAt(channel, report) {
  const chances = Array.from({ length: answersOf(channel) }, (_, answer) => likelihood(channel, answer, report));
  const most = Math.max(...chances);
  return chances.flatMap((chance, answer) => (chance === most ? [answer] : []));
}

/**
 * What a report reveals once it has been sent: the answers it points at, P(report) under them (`high`), the least under any
 * other (`low`), and their ratio. `rare` says that it is one of those which delta allows for.
 */
export function evidence(part, report) {
  const { channel } = part;
  const form = formOf(part);
  if (form === "drawn") {
    const option = Math.floor(report / 2);
    const favour = channel.parts[option].favour / N;
    return {
      form,
      option,
      bit: report % 2,
      count: channel.parts.length,
      high: favour,
      low: 1 - favour,
      odds: favour / (1 - favour),
      rare: false,
    };
  }
  const chances = Array.from({ length: answersOf(channel) }, (_, answer) => likelihood(channel, answer, report));
  const [high, low] = [Math.max(...chances), Math.min(...chances)];
  return {
    form,
    points: pointsAt(channel, report),
    reports: channel.weights?.[0].length,
    high,
    low,
    odds: high / low,
    rare: Boolean(deltaOf(part)) && exceeds(part, high / low),
  };
}

/** The values of a number's levels, to a thousandth of the range: 10.83, where 10.833333333333 would say no more. */
export function levelValues({ min, max }, levels) {
  const places = Math.min(12, Math.max(0, 3 - Math.floor(Math.log10(max - min))));
  const rounded = (value) => Number(value.toFixed(places));
  const level = (i) => rounded(min + ((max - min) * i) / (levels - 1));
  return Array.from({ length: levels }, (_, i) => (i === levels - 1 ? max : i ? level(i) : min));
}

export function binEdges({ min, max, bins }) {
  return [min, ...bins.filter((edge) => min < edge && edge < max), max];
}

/** An upper bound with two decimals. */
export const roundUp = (value) => Math.ceil(value * (1 - 1e-12) * 100) / 100;

/** An upper bound with two digits, at most twelve of them decimals. */
export function roundUpSmall(value) {
  if (value === 0) return 0;
  const places = Math.min(12, 1 - Math.floor(Math.log10(value)));
  return Math.ceil(value * 10 ** places * (1 - 1e-12)) / 10 ** places;
}

/**
 * Probabilities as counts out of the same round number of people, the smallest that shows each as 5 or more;
 * null where even a million people are too few. `most` are upper bounds and rounded up, `least` down: where one of
 * each adds up to 1, so do the counts.
 */
export function outOf({ most = [], least = [] }) {
  const smallest = Math.min(...[...most, ...least].flatMap((p) => [p, 1 - p]).filter((p) => p > 1e-15));
  const total = [100, 1000, 10_000, 100_000, 1_000_000].find((people) => smallest * people >= 5);
  if (total === undefined) return null;
  return {
    total,
    most: most.map((p) => Math.ceil(p * total * (1 - 1e-12))),
    least: least.map((p) => Math.floor(p * total * (1 + 1e-12))),
  };
}
