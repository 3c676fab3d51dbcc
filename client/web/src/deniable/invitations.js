// Invitations: codes as people type them, and how this device gets its token, whatever happens on the way. Loaded only for
// surveys that need one.
//
// May not: send anything before it is kept, keep a code once the token is there, or let one into a message. It gets the
// network and the storage from the module that loads it: both exist once.

import { draw, fingerprint, finish, readPublicKey, sha, submissionId } from "./blind-signatures.js";
import { refuse } from "./checks.js";

export { readPublicKey };

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const REASONS = { "invitation-unknown": "unknown", "invitation-used": "used", "survey-closed": "closed" };
const no = (reason, message) => refuse("invitation", reason, message);

/** The code that somebody typed, without dashes and in upper case. A typing error is found here, and nothing is sent. */
export async function readCode(text) {
  const compact = text.replace(/[ \t\r\n\u00a0\u2010-\u2015\u2212-]/g, "").toUpperCase();
  const code = compact.replace(/O/g, "0").replace(/[IL]/g, "1");
  if (!/^([0-9A-HJKMNP-TV-Z]{14}){1,2}$/.test(code)) no("format", "a code has 14 or 28 letters and digits");
  const [first, second] = await sha(256, new TextEncoder().encode(code.slice(0, -2)));
  const checksum = ALPHABET[first >> 3] + ALPHABET[((first & 7) << 2) | (second >> 6)];
  if (checksum !== code.slice(-2)) no("checksum", "the code has a typing error");
  return code;
}

/**
 * The token of this device: the one it has, or one that it asks for now, with its `id` and the `fingerprint` of the key.
 * `typed` is a code, if there is one; `send` sends the same until it is answered. All is kept before each step: the next
 * visit goes on where this one ended.
 */
export async function tokenFor({ issuer, content, digest }, typed, keep, send) {
  const key = readPublicKey(issuer.key);
  const code = typed === undefined ? typed : await readCode(typed);
  const drawn = code && (await draw(key));
  // In one transaction: of several tabs, all go on with what the first one drew. Another code gets a drawing of its own.
  let kept = await keep((rows, put) => {
    const found = rows.find((row) => row.digest === digest);
    if (!code || found?.signature || found?.code === code) return found;
    const row = { digest, content, code, ...drawn };
    put(row);
    return row;
  });
  if (!kept) no("missing", "this survey needs an invitation");
  if (!kept.signature) {
    const body = JSON.stringify({ invitation: kept.code, blinded: kept.blinded });
    const token = await finish(key, kept, await send(body, read));
    // From now on nothing here links the token to the invitation.
    await keep((_, put) => put((kept = { digest, content, ...token })));
  }
  const { message, signature } = kept;
  return { id: await submissionId(message), message, signature, fingerprint: await fingerprint(key) };
}

/** The issuer's blind signature in a response, if it is one; nothing if it is not the server's word. */
function read({ status, type, text }) {
  let tree;
  try {
    tree = JSON.parse(text);
  } catch {
    return;
  }
  if (status === 201 || status === 200) return tree?.signature;
  if (type !== "application/problem+json" || ![400, 403, 409, 413, 415, 422].includes(status)) return;
  const reason = REASONS[`${tree?.type}`.split(":")[3]] ?? (status !== 403 && "refused");
  if (reason) no(reason, `the server refused the invitation (${reason})`);
}
