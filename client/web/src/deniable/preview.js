// A preview: the questionnaire with a document that a page has given it, for people who write surveys. Loaded only there.
//
// May not: send or store anything. It gets neither the network nor the storage, only what verifies and randomises.

import { hex } from "./checks.js";

/**
 * In the place of a Client: asks what this published text asks, in this booklet or in one that is drawn. `module` has
 * what randomises.
 */
export async function openPreview({ document: published, booklet }, { verify, drawBooklet, spoken }) {
  const verified = await verify(published);
  booklet ??= drawBooklet(verified);
  if (!verified.booklets.some((_, i) => i === booklet)) throw new RangeError("this survey has no such booklet");
  const { digest, epsilon, account, languages, issuer } = verified;
  const client = { booklet, languages, digest, epsilon, account, receipt: null, offline: false, closed: false };
  client.useLanguage = (...wanted) => Object.assign(client, spoken(verified, booklet, wanted)).language;
  client.submit = async (answers, segments) => {
    // A real one has the token of an invitation. This one is worth nothing, and goes nowhere.
    const token = issuer && { id: hex(crypto.getRandomValues(new Uint8Array(16))), message: "", signature: "" };
    const { reports, id, segments: sent } = verified.randomize(answers, segments, { booklet, token });
    const { epsilon, delta } = account;
    client.receipt = Object.freeze({ id, digest, booklet, reports, segments: sent, epsilon, delta, status: "preview" });
    return client.receipt;
  };
  client.useLanguage();
  return client;
}
