// What a channel does, as facts for people: chances, odds, and what a report points at.
//
// May not: protect anything. This is explanation beside the randomiser, so doubles are fine here; where a figure has to
// be rounded, the bounds are rounded against us: odds and powers up.

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

/** How many answers a channel tells apart. */
const answersOf = (channel) => channel.options ?? channel.levels ?? channel.weights.length;

/** The way a channel is described: a bit, one answer, a set of answers, a range of them, one option drawn, a table. */
export function formOf(question, channel) {
  if (channel.kind === "band" && channel.levels === 2 && question.type !== "number") return "bit";
  if (channel.kind === "subset") return channel.size === 1 ? "single" : "set";
  return { band: "range", drawn: "drawn", table: "table" }[channel.kind];
}

/**
 * What happens to an answer, before it is given. `chances` are [name, probability] pairs to be shown; they are the same
 * whatever the answer is. `odds` is the most that any report can be likelier under one answer than under another.
 */
export function protection(question, channel) {
  const form = formOf(question, channel);
  const favour = (channel.kind === "drawn" ? channel.parts[0].favour : channel.favour) / N;
  const facts = { form, epsilon: question.epsilon, delta: question.delta ?? null, odds: oddsOf(channel) };
  if (form === "bit")
    return {
      ...facts,
      chances: [
        ["same", favour],
        ["opposite", 1 - favour],
      ],
    };
  if (form === "single" || form === "set") {
    const { options: count, size } = channel;
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
  if (form === "range") {
    const { levels, width } = channel;
    return {
      ...facts,
      levels,
      width,
      chances: [
        ["inside", favour],
        ["outside", 1 - favour],
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
  const pointing = Math.max(
    ...channel.weights.map(
      (row, x) => row.reduce((sum, w, y) => (pointsAt(channel, y).includes(x) ? sum + w : sum), 0) / N,
    ),
  );
  return {
    ...facts,
    levels: channel.weights.length,
    reports: channel.weights[0].length,
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

/** The answers, in channel order, under which a report is likeliest: what it points at, rightly or wrongly. */
export function pointsAt(channel, report) {
  const chances = Array.from({ length: answersOf(channel) }, (_, answer) => likelihood(channel, answer, report));
  const most = Math.max(...chances);
  return chances.flatMap((chance, answer) => (chance === most ? [answer] : []));
}

/**
 * What a report tells once it has left: the answers it points at, P(report) under them (`high`), the least under any
 * other (`low`), and their ratio. `exact` says that every other answer has just the chance `low`.
 */
export function evidence(question, channel, report) {
  const form = formOf(question, channel);
  if (form === "drawn") {
    const part = Math.floor(report / 2);
    const favour = channel.parts[part].favour / N;
    return {
      form,
      part,
      bit: report % 2,
      count: channel.parts.length,
      high: favour,
      low: 1 - favour,
      odds: favour / (1 - favour),
      exact: true,
      rare: false,
    };
  }
  const chances = Array.from({ length: answersOf(channel) }, (_, answer) => likelihood(channel, answer, report));
  const [high, low] = [Math.max(...chances), Math.min(...chances)];
  const others = new Set(chances.filter((chance) => chance !== high));
  // A number between two levels is rounded to one of them at random: its chance lies between theirs.
  const rounded = question.type === "number" && form !== "single" && form !== "set";
  return {
    form,
    points: pointsAt(channel, report),
    reports: channel.weights?.[0].length,
    high,
    low,
    odds: high / low,
    exact: others.size === 1 && !rounded,
    rare: Boolean(question.delta) && high / low > Math.exp(Number(question.epsilon)) * (1 + 1e-9),
  };
}

/** The values of a number's levels, or the edges of its bins. */
export function levelValues({ min, max }, levels) {
  return Array.from({ length: levels }, (_, i) => (i === levels - 1 ? max : min + ((max - min) * i) / (levels - 1)));
}

export function binEdges({ min, max, bins }) {
  return [min, ...bins.filter((edge) => min < edge && edge < max), max];
}

/**
 * The most often, in percent, that a test can catch an answer if it is wrong about at most 5% of honest people:
 * min(5%·e^ε + δ, 1 − (95% − δ)·e^−ε), rounded up to a tenth. 100 means: hardly protected.
 */
export function detectionPercent(epsilon, delta = 0) {
  const growth = Math.exp(epsilon);
  const power = Math.min(0.05 * growth + delta, 1 - (0.95 - delta) / growth);
  // The factor covers the last places of exp; a billionth more never matters to a reader.
  return Math.min(100, Math.ceil(power * (1 + 1e-10) * 1000) / 10);
}

/** An upper bound with two decimals. */
export const roundUp = (value) => Math.ceil(value * (1 - 1e-12) * 100) / 100;

/**
 * Probabilities as counts out of the same round number of people, the smallest that shows each as 5 or more;
 * null where even a million people are too few.
 */
export function outOf(...probabilities) {
  const least = Math.min(...probabilities.flatMap((p) => [p, 1 - p]).filter((p) => p > 1e-15));
  const total = [100, 1000, 10_000, 100_000, 1_000_000].find((people) => least * people >= 5);
  return total === undefined ? null : { total, counts: probabilities.map((p) => Math.round(p * total)) };
}
