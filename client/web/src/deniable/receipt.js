// What was sent, in words and as it was sent, and who else sends the same.
//
// May not: know a true answer. What is shown here can be saved and printed.

import { button, make, surveyText } from "./dom.js";
import {
  accountInWords,
  combinationsInWords,
  inSymbols,
  reportInWords,
  strengthOf,
  whyInWords,
} from "./wording.js";

const COLUMNS = ["question", "left", "why"];

export function receiptView({ client, receipt, texts }) {
  const { survey, parts, account } = client;
  const save = button(texts.say("button.save"), () => download(client, receipt, texts), { class: "quiet" });
  const print = button(texts.say("button.print"), () => window.print(), { class: "quiet" });
  const rows = [
    ...parts.map((part, i) => {
      const report = receipt.reports[i];
      const asked = client.questions.filter(({ id }) => part.items.some(({ question }) => question.id === id));
      return row(texts, {
        question: lines(asked.map(({ text }) => text)),
        left: left(
          lines(combinationsInWords(part, report, texts) ?? [reportInWords(part, report, texts)], "ul"),
          texts.say("receipt.raw", { report }),
        ),
        why: whyInWords(part, report, texts),
      });
    }),
    ...(survey.segments ?? []).map((segment) => {
      const code = receipt.segments[segment.id];
      const { text } = segment.options.find((option) => option.code === code);
      return row(texts, {
        question: surveyText("span", segment.text),
        left: left(surveyText("span", text), texts.say("receipt.code", { code })),
        why: texts.say("receipt.openly"),
      });
    }),
  ];
  const calm = strengthOf(account) === "fair";
  const facts = { id: receipt.id, digest: receipt.digest, spent: inSymbols(account) };
  return [
    make("p", { class: calm ? "" : "weak" }, texts.say(calm ? "receipt.calm" : "receipt.weak")),
    // Rows are shown as blocks on narrow screens, which would cost them their meaning without explicit roles.
    make(
      "table",
      { class: "receipt", part: "receipt", role: "table" },
      make(
        "thead",
        { role: "rowgroup" },
        make(
          "tr",
          { role: "row" },
          ...COLUMNS.map((name) =>
            make("th", { role: "columnheader", scope: "col", class: name }, texts.say(`receipt.${name}`)),
          ),
        ),
      ),
      make("tbody", { role: "rowgroup" }, ...rows),
    ),
    make("p", {}, accountInWords(account, texts)),
    make(
      "dl",
      { class: "facts" },
      ...Object.entries(facts).flatMap(([name, value]) => [
        make("dt", {}, texts.say(`receipt.${name}`)),
        make("dd", {}, make("code", { dir: "ltr" }, value)),
      ]),
    ),
    make("p", { class: "hint" }, texts.say("receipt.keep")),
    make("p", { class: "actions" }, save, " ", print),
  ];
}

/** One text, or several below each other. */
const lines = (all, list = "ol") =>
  all.length > 1 ? make(list, {}, ...all.map((text) => surveyText("li", text))) : surveyText("span", all[0]);

function row(texts, cells) {
  return make(
    "tr",
    { role: "row" },
    ...Object.entries(cells).map(([name, content]) => {
      const isHead = name === "question";
      // On narrow screens the column heads are hidden, and each cell has its own label.
      const label = isHead
        ? null
        : make("span", { class: "cell-label", "aria-hidden": "true" }, texts.say(`receipt.${name}`));
      const body = make("div", {}, content);
      const attributes = { role: isHead ? "rowheader" : "cell", scope: isHead ? "row" : null, class: name };
      return make(isHead ? "th" : "td", attributes, label, body);
    }),
  );
}

const left = (words, raw) => make("div", {}, words, make("code", { class: "raw" }, raw));

/** The receipt as a file, made on this device. */
function download(client, receipt, texts) {
  const { survey, parts } = client;
  const content = {
    about: texts.say(receipt.status === "preview" ? "preview.title" : "receipt.file"),
    survey: survey.id,
    title: survey.title,
    id: receipt.id,
    digest: receipt.digest,
    epsilon: receipt.epsilon,
    delta: receipt.delta,
    booklet: receipt.booklet,
    reports: receipt.reports,
    segments: receipt.segments,
    in_words: parts.map((part, i) => ({
      questions: part.questions,
      sent: reportInWords(part, receipt.reports[i], texts).replace(/[\u2068\u2069]/g, ""),
    })),
  };
  const address = URL.createObjectURL(
    new Blob([`${JSON.stringify(content, null, 2)}\n`], { type: "application/json" }),
  );
  const link = make("a", { href: address, download: `deniable-receipt-${survey.id}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // a browser may ask where to save it before it reads it
}
