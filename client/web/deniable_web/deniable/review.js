// The review before sending: what was answered, how it is protected, and what is sent without randomising.

import { button, make, surveyText } from "./dom.js";
import { protectionBox } from "./fields.js";
import { answerInWords, homeOf, pickedInWords, protectionInWords, totalInWords } from "./wording.js";

/**
 * `questions` are those that are shown, `values` the true answers to them and the codes of the segments, by id;
 * `onChange` gets the id of what is to change.
 */
export function reviewView({ client, questions, values, texts, onChange }) {
  const { survey, parts } = client;
  const segments = survey.segments ?? [];
  const item = ({ id, text }, answer, ...notes) => {
    const name = texts.say("button.changeWhat", { question: text });
    const change = button(texts.say("button.change"), () => onChange(id), { class: "link", "aria-label": name });
    return make("li", {}, surveyText("h3", text), surveyText("p", answer, { class: "answer" }), ...notes, change);
  };
  const questionItem = (question) => {
    const part = parts.find((each) => homeOf(each, parts) === question.id);
    const { line, warning } = part ? protectionInWords(part, texts) : {};
    return item(
      question,
      answerInWords(question, values[question.id], texts),
      warning ? make("p", { class: "hint weak" }, warning) : null,
      line ? make("p", { class: "hint" }, line) : null,
    );
  };
  const segmentItem = (segment) => item(segment, segment.options.find(({ code }) => code === values[segment.id]).text);
  const openly = ["taking", pickedInWords(client, texts) && "booklet", "id"].filter(Boolean);
  return [
    make("p", {}, texts.say("section.reviewHint")),
    make("ul", { class: "answers" }, ...questions.map(questionItem)),
    ...protectionBoxes(client, texts),
    make("h2", {}, texts.say("section.openly")),
    segments.length ? make("ul", { class: "answers" }, ...segments.map(segmentItem)) : null,
    make("ul", { class: "openly" }, ...openly.map((name) => make("li", {}, texts.say(`openly.${name}`)))),
    totalBox(client, texts),
    client.persistent ? null : make("p", { class: "note" }, texts.say("status.forgetful")),
  ];
}

/** The parts that report on several questions, each with how it is protected. */
export function protectionBoxes({ parts }, texts) {
  const joint = parts.filter((part) => homeOf(part, parts) === null);
  return joint.map((part) => {
    const asked = [...new Set(part.items.map(({ question }) => question.text))];
    const about = joint.length > 1 ? make("ul", {}, ...asked.map((text) => surveyText("li", text))) : null;
    return protectionBox(part, texts, about);
  });
}

/** What all answers together could reveal. */
export function totalBox(client, texts) {
  const sentences = totalInWords(client, texts).map((text) => make("p", {}, text));
  return make("section", { class: "total" }, make("h2", {}, texts.say("section.total")), ...sentences);
}
