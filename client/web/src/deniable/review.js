// The review before sending: what was answered, what is sent unchanged, and how much all of it reveals.

import { button, make, surveyText } from "./dom.js";
import { protectionBox } from "./fields.js";
import { answerInWords, homeOf, isPicked, strengthOf, totalInWords } from "./wording.js";

/**
 * `questions` are those that are shown, `values` the true answers to them and the codes of the segments, by id;
 * `onChange` gets the id of what is to change.
 */
export function reviewView({ client, questions, values, texts, onChange }) {
  const { survey, account } = client;
  const item = ({ id, text }, answer, note) => {
    const name = texts.say("button.changeWhat", { question: text });
    const change = button(texts.say("button.change"), () => onChange(id), { class: "link", "aria-label": name });
    const words = [surveyText("h3", text), surveyText("p", answer, { class: "answer" }), note];
    return make("li", {}, make("div", {}, ...words.filter(Boolean)), change);
  };
  const segmentItem = (segment) =>
    item(
      segment,
      segment.options.find(({ code }) => code === values[segment.id]).text,
      make("p", { class: "hint weak" }, texts.say("section.segmentNote")),
    );
  const strength = strengthOf(account);
  const also = ["id", isPicked(client) && "booklet"].filter(Boolean);
  return [
    make("p", { class: "hint" }, texts.say("section.reviewHint")),
    strength === "fair" ? null : make("p", { class: "weak" }, texts.say(`start.${strength}`)),
    make(
      "ul",
      { class: "answers" },
      ...questions.map((question) => item(question, answerInWords(question, values[question.id], texts))),
      ...(survey.segments ?? []).map(segmentItem),
    ),
    make(
      "details",
      {},
      make("summary", {}, texts.say("section.openly")),
      make("ul", {}, ...also.map((name) => make("li", {}, texts.say(`openly.${name}`)))),
      totalBox(client, texts),
    ),
    client.persistent ? null : make("p", { class: "note" }, texts.say("status.forgetful")),
  ];
}

/** The parts that report on several questions, each with the ids of these and how it is protected. */
export function jointParts({ parts }, texts) {
  const joint = parts.filter((part) => homeOf(part, parts) === null);
  return joint.map((part) => {
    const asked = new Map(part.items.map(({ question }) => [question.id, question.text]));
    const about = joint.length > 1 ? make("ul", {}, ...[...asked.values()].map((text) => surveyText("li", text))) : null;
    return { ids: new Set(asked.keys()), node: protectionBox(part, texts, about) };
  });
}

/** What all answers together could reveal. */
export function totalBox(client, texts) {
  const sentences = totalInWords(client, texts).map((text) => make("p", {}, text));
  return make("section", { class: "total" }, make("h3", {}, texts.say("section.total")), ...sentences);
}
