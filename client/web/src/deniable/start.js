// The first screen: who asks, how much, and one sentence on what happens to an answer. And who could learn it.

import { button, make, picture, surveyText } from "./dom.js";
import { whyAnonymous } from "./invitation-view.js";
import { directionOf } from "./texts.js";
import { accountInWords, inSymbols, openlyInWords, sizeInWords, strengthOf } from "./wording.js";

/** `heading` is that of the view. `actions` are what the buttons do: start, how, who, and speak (with a language). */
export function startView({ client, texts, host, language, heading, actions }) {
  const { survey, account, offline, fingerprint } = client;
  const strength = strengthOf(account);
  return [
    whoAsks(survey, host.getAttribute("logo")),
    heading,
    make("p", { class: "hint" }, sizeInWords(client, texts)),
    survey.notice ? surveyText("p", survey.notice, { class: "notice" }) : null,
    make(
      "div",
      { class: strength === "fair" ? "promise" : "promise weak-promise" },
      strength === "fair" ? coinPicture(texts) : null,
      make("p", {}, texts.say(`start.${strength}`)),
      survey.segments?.length
        ? make("p", { class: "hint" }, texts.say("start.openly", { questions: openlyInWords(client, texts) }))
        : null,
    ),
    fingerprint ? whyAnonymous(fingerprint, texts) : null,
    offline ? make("p", { class: "note" }, texts.say("offline")) : null,
    host.preview ? make("p", { class: "note" }, texts.say("preview.note")) : null,
    host.hasAttribute("kiosk") ? make("p", { class: "note" }, texts.say("kiosk.note")) : null,
    make("p", { class: "actions wide" }, button(texts.say("start.go"), actions.start)),
    make(
      "p",
      { class: "more" },
      button(texts.say("start.how"), actions.how, { class: "link" }),
      " ",
      button(texts.say("start.who"), actions.who, { class: "link" }),
    ),
    languageSwitch(client.languages, language, texts, actions.speak),
  ];
}

function whoAsks({ asked_by: name, contact }, logo) {
  if (!name && !contact && !logo) return null;
  const words = make("span", {}, name ? surveyText("b", name) : null, name && contact ? " · " : null);
  if (contact) words.append(surveyText("span", contact));
  return make("p", { class: "who-asks" }, logo ? make("img", { src: logo, alt: "" }) : null, words);
}

/** The languages of the survey, each in its own words. */
function languageSwitch(languages, language, texts, speak) {
  if (languages.length < 2) return null;
  const select = make(
    "select",
    { "aria-label": texts.say("start.language"), autocomplete: "off" },
    ...languages.map((tag) =>
      make("option", { value: tag, lang: tag, dir: directionOf(tag), selected: tag === language }, nameOf(tag)),
    ),
  );
  select.addEventListener("change", () => speak(select.value));
  return make("p", { class: "languages" }, select);
}

function nameOf(tag) {
  try {
    const name = new Intl.DisplayNames([tag], { type: "language" }).of(tag);
    return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
  } catch {
    return tag;
  }
}

const coinPicture = (texts) =>
  make(
    "div",
    { class: "coin-picture", "aria-hidden": "true" },
    ...["answer", "coin", "sent"].flatMap((name, i) => [
      i ? picture("0 0 24 24", [["path", { d: "M4 12h14m-5-5 5 5-5 5" }]], "arrow") : null,
      make("span", { class: name }, texts.say(`start.${name}`)),
    ]),
  );

/** Who could learn what, as a short table; and how to check that this is true. `pinned`: the link contains the digest. */
export function whoView({ client, texts, pinned }) {
  const { survey, account, digest } = client;
  const strength = strengthOf(account);
  const rows = [
    ["team", strength],
    ["thief", strength],
    ["network", "networkSees"],
    ["device", "deviceSees"],
    ["website", "websiteSees"],
  ];
  return [
    // Cells are blocks on very narrow screens, which would cost them their meaning without explicit roles.
    make(
      "table",
      { class: "who", role: "table" },
      make(
        "tbody",
        { role: "rowgroup" },
        ...rows.map(([who, what]) =>
          make(
            "tr",
            { role: "row" },
            make("th", { role: "rowheader", scope: "row" }, texts.say(`who.${who}`)),
            make("td", { role: "cell" }, texts.say(`who.${what}`)),
          ),
        ),
      ),
    ),
    survey.segments?.length
      ? make("p", { class: "weak" }, texts.say("who.openly", { questions: openlyInWords(client, texts) }))
      : null,
    make("p", {}, accountInWords(account, texts)),
    make("p", { class: "hint" }, texts.say("who.checked", { symbols: inSymbols(account) })),
    make("p", { class: "hint" }, texts.say("who.kept")),
    make(
      "details",
      {},
      make("summary", {}, texts.say("who.cheat")),
      make("p", {}, texts.say("who.cheatText")),
      make("p", {}, texts.say("who.digest")),
      make("p", {}, make("code", { class: "digest", dir: "ltr" }, digest)),
      make("p", {}, texts.say(pinned ? "who.pinned" : "who.unpinned")),
    ),
  ];
}
