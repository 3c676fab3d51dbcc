// Replaces crypto.getRandomValues by bytes from a script, all of which must be used unless `all` is false.
import assert from "node:assert/strict";

export async function scripted(hex, body, { all = true } = {}) {
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
  const real = globalThis.crypto;
  let used = 0;
  const stand = {
    subtle: real.subtle,
    getRandomValues(array) {
      assert.ok(used + array.length <= bytes.length, "more random bytes were taken than the script has");
      array.set(bytes.subarray(used, used + array.length));
      used += array.length;
      return array;
    },
  };
  Object.defineProperty(globalThis, "crypto", { value: stand, configurable: true });
  try {
    await body();
  } finally {
    Object.defineProperty(globalThis, "crypto", { value: real, configurable: true });
  }
  if (all) assert.equal(used, bytes.length, "not all of the script's bytes were taken");
}
