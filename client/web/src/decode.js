// Decoding in JavaScript: every report becomes an unbiased vector z with E[z | answer] = the indicator of the answer.
// For analysts; a respondent's device never loads this file. Exact: BigInt fractions [numerator, denominator].

const N = 1n << 53n;

const gcd = (a, b) => {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
};

function fraction(numerator, denominator) {
  const divisor = gcd(numerator, denominator) * (denominator < 0n ? -1n : 1n);
  return [numerator / divisor, denominator / divisor];
}

/** One fraction per answer (for "drawn": per option). */
export function decode(channel, report) {
  if (channel.kind === "subset") {
    // "The report holds j" has probability p if j is the truth and q otherwise: (held - q)/(p - q) is unbiased.
    const [k, d, favour] = [channel.options, channel.size, channel.favour].map(BigInt);
    const p = favour * (k - 1n); // over N*(k-1)
    const q = favour * (d - 1n) + (N - favour) * d;
    const one = N * (k - 1n);
    return Array.from({ length: channel.options }, (_, j) =>
      fraction(BigInt(Math.floor(report / 2 ** j) % 2) * one - q, p - q),
    );
  }
  if (channel.kind === "drawn") {
    // Option j is asked with probability 1/k, so k times its part's z is unbiased.
    const part = Math.floor(report / 2);
    const [numerator, denominator] = decode(channel.parts[part], report % 2)[1];
    return channel.parts.map((_, j) =>
      j === part ? fraction(BigInt(channel.parts.length) * numerator, denominator) : [0n, 1n],
    );
  }
  return channel.kind === "band" ? bandRow(channel, report) : tableRow(channel, report);
}

const sum = (terms) => terms.reduce((a, b) => a + b, 0n);
const plus = ([a, b], [c, d]) => fraction(a * d + c * b, b * d);
const times = ([a, b], [c, d]) => fraction(a * c, b * d);
const over = (first, [c, d]) => times(first, [d, c]);
const whole = (number) => [BigInt(number), 1n];
const total = (fractions) => fractions.reduce(plus, whole(0));

/**
 * Row `report` of the Z below, for a band, without an inverse. Column j has the least sum of z_y^2 / c_y among the
 * unbiased ones: z_y = u_(y mod w) + s_y, where s jumps by N w (m-1) / (A-B), up from report j-1+w on and down from j+w
 * on, in steps of w; and u_r = (mu h_r - E_r)/D_r, so that the sum of h_r u_r is as it must be. See decode.py.
 */
function bandRow({ levels, width, favour }, report) {
  const [m, w, f] = [levels, width, favour].map(BigInt);
  const [inside, outside] = [f * (m - 1n), (N - f) * w];
  const all = N * w * (m - 1n);
  const reports = Array.from({ length: levels + width - 1 }, (_, y) => y);
  const costs = reports.map((y) => {
    const covering = BigInt(Math.min(y, levels - 1) - Math.max(0, y - width + 1) + 1); // the levels that favour y
    return [1n, (1n << 128n) / (covering * inside + (m - covering) * outside) + 1n];
  });
  const rests = reports.slice(0, width).map((r) => reports.filter((y) => y % width === r));
  const d = rests.map((rest) => total(rest.map((y) => costs[y])));
  const h = rests.map((rest) => whole(inside - outside + outside * BigInt(rest.length)));
  const scale = total(h.map((each, r) => over(times(each, each), d[r])));
  return Array.from({ length: levels }, (_, j) => {
    const jumps = (first, y) => first >= 0 && y >= first + width && y % width === first % width;
    const s = reports.map((y) =>
      fraction(all * (BigInt(jumps(j - 1, y)) - BigInt(jumps(j, y))), inside - outside),
    );
    const e = rests.map((rest) => total(rest.map((y) => times(s[y], costs[y]))));
    const known = total([
      whole(j ? 0n : all),
      times(whole(-outside), total(s)),
      ...h.map((each, r) => over(times(each, e[r]), d[r])),
    ]);
    const r = report % width;
    const free = plus(times(over(known, scale), h[r]), times(whole(-1), e[r]));
    return plus(over(free, d[r]), s[report]);
  });
}

/** Row `report` of Z = C Q' (Q C Q')^-1, with C the integers floor(2^128 / column sum) + 1: Q Z is the identity. */
function tableRow(channel, report) {
  const rows = channel.weights.map((row) => row.map(BigInt));
  const c = rows[0].map((_, y) => (1n << 128n) / sum(rows.map((row) => row[y])) + 1n);
  const gram = rows.map((first) => rows.map((second) => sum(first.map((x, y) => x * c[y] * second[y]))));
  const [adjugate, determinant] = invert(gram);
  return rows.map((_, j) =>
    fraction(N * c[report] * sum(rows.map((row, i) => row[report] * adjugate[i][j])), determinant),
  );
}

/** [A, d] with inverse = A/d, by Bareiss's fraction-free elimination: every division is exact. */
function invert(matrix) {
  const n = matrix.length;
  const work = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1n : 0n))]);
  let previous = 1n;
  for (let k = 0; k < n; k++) {
    const pivot = work[k][k];
    for (let i = 0; i < n; i++) {
      if (i === k) continue;
      const factor = work[i][k];
      work[i] = work[i].map((x, j) => (pivot * x - factor * work[k][j]) / previous);
    }
    previous = pivot;
  }
  return [work.map((row) => row.slice(n)), previous];
}
