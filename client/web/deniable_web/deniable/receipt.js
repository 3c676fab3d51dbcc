// The receipt: what left this device, in words and as it was sent, and how much it reveals.
//
// May not: put a true answer into the file that can be saved, or onto paper.

import { button, make, surveyText } from "./dom.js";
import { accountInWords, answerInWords, combinationsInWords, inSymbols, reportInWords, whyInWords } from "./wording.js";

/** `answers` are the true ones to what was shown, from memory, or null where there are none (any more). */
export function receiptView({ client, receipt, answers, texts }) {
  const { survey, parts } = client;
  const save = button(texts.say("button.save"), () => download(client, receipt, texts));
  const print = button(texts.say("button.print"), () => window.print(), { class: "quiet" });
  const head = ["question", answers && "answered", "left", "why"].filter(Boolean);
  const rows = [
    ...parts.map((part, i) => {
      const report = receipt.reports[i];
      const asked = client.questions.filter(({ id }) => part.items.some(({ question }) => question.id === id));
      return row(texts, {
        question: lines(asked.map(({ text }) => text)),
        answered: answers && lines(asked.map((question) => answered(part, question, answers.questions, texts))),
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
        answered: answers && surveyText("span", text),
        left: left(surveyText("span", text), texts.say("receipt.code", { code })),
        why: texts.say("receipt.openly"),
      });
    }),
  ];
  return [
    make("p", { class: "truth" }, texts.say(answers ? "status.kept" : "status.notKept")),
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
          ...head.map((name) =>
            make("th", { role: "columnheader", scope: "col", class: name }, texts.say(`receipt.${name}`)),
          ),
        ),
      ),
      make("tbody", { role: "rowgroup" }, ...rows),
    ),
    make("p", {}, accountInWords(client.account, texts)),
    make(
      "dl",
      { class: "facts" },
      ...Object.entries({ id: receipt.id, digest: receipt.digest, spent: inSymbols(client.account) }).flatMap(
        ([name, value]) => [make("dt", {}, texts.say(`receipt.${name}`)), make("dd", {}, make("code", {}, value))],
      ),
    ),
    make("p", { class: "hint" }, texts.say("receipt.keep")),
    make("p", { class: "actions" }, save, " ", print),
  ];
}

/** One text, or several below each other. */
const lines = (all, list = "ol") =>
  all.length > 1 ? make(list, {}, ...all.map((text) => surveyText("li", text))) : surveyText("span", all[0]);

/** What was answered to a question, as far as this part reports on it. */
function answered({ items }, question, answers, texts) {
  if (!Object.hasOwn(answers, question.id)) return texts.say("receipt.notShown");
  const options = items.flatMap((item) => (item.question.id === question.id && item.option ? [item.option] : []));
  const answer = answers[question.id];
  return answerInWords(question, options.length ? answer.filter((code) => options.includes(code)) : answer, texts);
}

function row(texts, cells) {
  return make(
    "tr",
    { role: "row" },
    ...Object.entries(cells).flatMap(([name, content]) => {
      if (content === null) return [];
      const isHead = name === "question";
      // On narrow screens the column heads are hidden, and each cell has its own label.
      const label = isHead
        ? null
        : make("span", { class: "cell-label", "aria-hidden": "true" }, texts.say(`receipt.${name}`));
      const body = make("div", {}, content);
      return [
        make(
          isHead ? "th" : "td",
          { role: isHead ? "rowheader" : "cell", scope: isHead ? "row" : null, class: name },
          label,
          body,
        ),
      ];
    }),
  );
}

const left = (words, raw) => make("div", {}, words, make("code", { class: "raw" }, raw));

/** The receipt as a file, made on this device. */
function download(client, receipt, texts) {
  const { survey, parts } = client;
  const content = {
    about: texts.say("receipt.file"),
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
