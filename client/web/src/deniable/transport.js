// Where a survey is, and how requests leave this device.
//
// May not: see an answer, follow a redirect, send a cookie, or say who is sending.

import { refuse } from "./checks.js";
import { MAX_BYTES } from "./protocol.js";

/** Two links to one survey give one address. The query is left out: it says where a respondent found the link. */
export function parseAddress(link, base) {
  let url, path;
  try {
    url = new URL(link, base);
    path = /^(.*)\/(?:s|api\/v1\/surveys)\/([a-z0-9][a-z0-9-]{1,62})$/.exec(url.pathname);
  } catch {
    // no URL
  }
  // URL drops white space without a word. A user's name would not be anonymous. The link is not repeated: it may hold a
  // password.
  if (!path || !/^https?:$/.test(url.protocol) || url.username || url.password || /[\0- \x7f]/.test(link)) {
    refuse("", "address", "this is not a link to a survey, such as https://example.org/s/survey-id");
  }
  // A link that lost its digest on the way, or a part of it, is not a link without one. An invitation may follow it.
  const [, digest, invitation] = /^#([0-9a-f]{64})(?:\.([0-9a-z-]{1,50}))?$/i.exec(url.hash) ?? [];
  if (link.includes("#") && !digest) refuse("", "address", "the link does not end in a digest");
  const address = `${url.origin}${path[1]}/api/v1/surveys/${path[2]}`;
  return { url: address, survey: path[2], digest: digest?.toLowerCase(), invitation };
}

/** A whole response. Rejects where none came within `timeout` milliseconds. */
export async function request(url, timeout, options) {
  const { status, headers, body } = await fetch(url, {
    mode: "cors",
    credentials: "omit",
    referrerPolicy: "no-referrer",
    cache: "no-store",
    redirect: "error",
    signal: AbortSignal.timeout(timeout),
    ...options,
    headers: { "Accept-Language": "*", ...options?.headers }, // the browser would reveal which languages are spoken here
  });
  const type = (headers.get("Content-Type") ?? "").split(";")[0].trim().toLowerCase();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const reader = body?.getReader();
  // In parts, so that nobody can fill the memory. Chromium's network log then calls a complete response aborted at times.
  let [text, size] = ["", 0];
  for (let part; reader && !(part = await reader.read()).done; text += decoder.decode(part.value, { stream: true })) {
    size += part.value.length;
    if (size > MAX_BYTES) {
      reader.cancel();
      refuse("", "size", `the server sent more than ${MAX_BYTES} bytes`);
    }
  }
  text += decoder.decode();
  return { status, type, headers, text };
}
