// The review before sending: what was answered, how it is protected, and what is sent without randomising.

import { button, make, surveyText } from "./dom.js";
import { answerInWords, protectionInWords, totalInWords } from "./wording.js";

/** `values` are the true answers and the codes of the segments, by id; `onChange` gets the id of what is to change. */
export function reviewView({ client, values, texts, onChange }) {
  const { survey, channels } = client;
  const segments = survey.segments ?? [];
  const item = ({ id, text }, answer, ...notes) => {
    const name = texts.say("button.changeWhat", { question: text });
    const change = button(texts.say("button.change"), () => onChange(id), { class: "link", "aria-label": name });
    return make("li", {}, surveyText("h3", text), surveyText("p", answer, { class: "answer" }), ...notes, change);
  };
  const questionItem = (question) => {
    const { line, warning } = protectionInWords(question, channels[question.id], texts);
    return item(
      question,
      answerInWords(question, values[question.id], texts),
      warning ? make("p", { class: "hint weak" }, warning) : null,
      make("p", { class: "hint" }, line),
    );
  };
  const segmentItem = (segment) => item(segment, segment.options.find(({ code }) => code === values[segment.id]).text);
  return [
    make("p", {}, texts.say("section.reviewHint")),
    make("ul", { class: "answers" }, ...survey.questions.map(questionItem)),
    make("h2", {}, texts.say("section.openly")),
    segments.length ? make("ul", { class: "answers" }, ...segments.map(segmentItem)) : null,
    make("ul", { class: "openly" }, ...["taking", "id"].map((name) => make("li", {}, texts.say(`openly.${name}`)))),
    totalBox(client, texts),
    client.persistent ? null : make("p", { class: "note" }, texts.say("status.forgetful")),
  ];
}

/** What all answers together could reveal. */
export function totalBox({ survey, epsilon }, texts) {
  const sentences = totalInWords(survey, epsilon, texts).map((text) => make("p", {}, text));
  return make("section", { class: "total" }, make("h2", {}, texts.say("section.total")), ...sentences);
}
