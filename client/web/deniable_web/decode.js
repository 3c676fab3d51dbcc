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
  return decodingRow(channel, report);
}

function integerRows(channel) {
  if (channel.kind === "table") return [channel.weights.map((row) => row.map(BigInt)), N];
  const { levels, width } = channel;
  const [m, w, favour] = [levels, width, channel.favour].map(BigInt);
  const rows = Array.from({ length: levels }, (_, i) =>
    Array.from({ length: levels + width - 1 }, (_, y) =>
      i <= y && y < i + width ? favour * (m - 1n) : (N - favour) * w,
    ),
  );
  return [rows, N * w * (m - 1n)];
}

/** Row `report` of Z = C Q' (Q C Q')^-1, with C the integers floor(2^128 / column sum) + 1: Q Z is the identity. */
function decodingRow(channel, report) {
  const [rows, total] = integerRows(channel);
  const sum = (terms) => terms.reduce((a, b) => a + b, 0n);
  const c = rows[0].map((_, y) => (1n << 128n) / sum(rows.map((row) => row[y])) + 1n);
  const gram = rows.map((first) => rows.map((second) => sum(first.map((x, y) => x * c[y] * second[y]))));
  const [adjugate, determinant] = invert(gram);
  return rows.map((_, j) =>
    fraction(total * c[report] * sum(rows.map((row, i) => row[report] * adjugate[i][j])), determinant),
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
