import "survey-core/survey-core.fontless.css"; // the one with fonts loads them from another company
import { Model } from "survey-core";
import "survey-js-ui";
import { Client, shownQuestions } from "deniable";

const place = document.querySelector("#survey");
const declined = { value: "declined", text: "Prefer not to say" };
const none = { value: "$none", text: "None of these", isExclusive: true }; // no option's code has a $
const choices = (options) => options.map(({ code, text }) => ({ value: code, text }));

/** What SurveyJS asks for a question or a segment. */
function element({ id, type, text, options, labels, min, max, unit, decline }) {
  const asked = { name: id, title: text, isRequired: true };
  const last = decline ? [declined] : [];
  switch (type) {
    case "yes_no":
      return { ...asked, type: "radiogroup", choices: ["Yes", "No", ...last] };
    case "multi_choice":
      return { ...asked, type: "checkbox", choices: [...choices(options), none] };
    case "scale":
      return { ...asked, type: "rating", rateValues: [...labels.map((text, i) => ({ value: i + 1, text })), ...last] };
    case "number": {
      const number = { ...asked, type: "text", inputType: "number", min, max, description: unit, autocomplete: "off" };
      if (!decline) return number;
      const answered = `{${id}-declined} <> true`;
      const box = { name: `${id}-declined`, type: "boolean", renderAs: "checkbox", titleLocation: "hidden" };
      return {
        type: "panel",
        elements: [
          { ...number, isRequired: false, requiredIf: answered, enableIf: answered },
          { ...box, title: declined.text },
        ],
      };
    }
    default: // choice, and segments
      return { ...asked, type: "radiogroup", choices: [...choices(options), ...last] };
  }
}

/** What was entered, as Deniable takes it. */
function answer({ id, type }, data) {
  const value = data[`${id}-declined`] ? "declined" : data[id];
  if (type === "yes_no") return { Yes: true, No: false }[value] ?? value;
  if (type === "multi_choice") return value.filter((code) => code !== none.value);
  return value;
}

/** Whether something was entered. */
const given = ({ id }, data) => data[id] !== undefined || data[`${id}-declined`] === true;

const entered = (asked, data) =>
  Object.fromEntries(asked.filter((one) => given(one, data)).map((one) => [one.id, answer(one, data)]));

async function start() {
  const client = await Client.load("https://survey.example.org/s/campus-health");
  if (client.receipt || client.closed) {
    place.textContent = client.receipt ? "This survey was already answered on this device." : "This survey is closed.";
    return;
  }
  const { questions, survey: { title, segments = [] } } = client;
  const survey = new Model({
    title,
    questionsOnPageMode: "singlePage",
    completedHtml: "<h3>Sending …</h3>",
    pages: [
      { title: "About you, sent as it is", elements: segments.map(element) },
      { title: "Each answer is randomised on this device", elements: questions.map(element) },
    ],
  });
  // Follow-ups appear and vanish as their questions are answered.
  const update = () => {
    const shown = shownQuestions(questions, entered(questions, survey.data));
    for (const question of questions) survey.getQuestionByName(question.id).visible = shown.includes(question);
  };
  survey.onValueChanged.add(update);
  update();
  survey.onComplete.add(async (sender, options) => {
    try {
      const receipt = await client.submit(entered(questions, sender.data), entered(segments, sender.data));
      sender.data = {};
      const later = "Not sent yet. Keep this page open, or come back on this device.";
      sender.completedHtml = `<h3>${receipt.delivered ? "Sent. Thank you." : later}</h3>`;
    } catch (error) {
      options.showSaveError(`This did not work (${error.reason}).`); // the words for each reason: see above
    }
  });
  addEventListener("pagehide", () => (survey.data = {}));
  survey.render(place);
}

start().catch((error) => (place.textContent = `The survey cannot be shown (${error.reason}).`));
