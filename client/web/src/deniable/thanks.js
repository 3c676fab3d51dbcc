// After Send: whether it has arrived, the survey's closing words, and, for who wants to see it, what was sent.

import { make, surveyText } from "./dom.js";
import { receiptView } from "./receipt.js";

/** What is known about the delivery of a receipt: a kind, a heading and a text. */
function statusOf({ status, refused, reached }, { persistent }, texts) {
  if (status === "preview") return ["preview", texts.say("preview.title"), texts.say("preview.text")];
  if (refused) return ["bad", texts.say("failure.refused.title"), texts.say("status.refused", refused)];
  if (status === "expired") return ["bad", texts.say("failure.expired.title"), texts.say("failure.expired.text")];
  if (status === "delivered") return ["good", texts.say("status.thanks"), texts.say("status.thanksText")];
  const waiting = texts.say(reached ? "status.waitingServer" : "status.waiting");
  const then = texts.say(persistent ? "status.comeBack" : "status.stay");
  return ["waiting", texts.say("status.waitingTitle"), `${waiting} ${then}`];
}

/**
 * `heading` is that of the view, `actions` its buttons. With `before`, it was sent on an earlier visit, perhaps by somebody
 * else: what was sent is not shown. `isShown` says whether the view is still there, `onSettled` that nothing waits any more.
 */
export function thanksView({ client, receipt, texts, before, heading, actions, isShown, onSettled }) {
  const told = make("p", { role: "status" });
  const mark = make("div", { class: "mark", "aria-hidden": "true" });
  const update = () => {
    if (!isShown()) return clearInterval(timer);
    const [kind, title, text] = statusOf(receipt, client, texts);
    // Only what is new, or a screen reader would say it each time.
    if (heading.textContent !== title) heading.textContent = title;
    if (told.textContent !== text) told.textContent = text;
    told.className = `status ${kind}`;
    mark.textContent = kind === "good" ? "✓" : "";
    if (kind === "waiting") return;
    clearInterval(timer);
    onSettled();
  };
  const timer = setInterval(update, 1000); // why it waits may change from one attempt to the next
  update();
  receipt.settled?.then(update);
  const { closing } = client.survey;
  return [
    mark,
    heading,
    before ? make("p", {}, texts.say("status.before")) : null,
    told,
    closing ? surveyText("p", closing, { class: "closing" }) : null,
    before ? null : whatWasSent(client, receipt, texts),
    make("p", { class: "actions" }, ...actions),
  ];
}

function whatWasSent(client, receipt, texts) {
  try {
    const summary = make("summary", {}, texts.say("button.see"));
    return make("details", { class: "what-was-sent" }, summary, ...receiptView({ client, receipt, texts }));
  } catch (error) {
    console.error(error); // there are no answers any more
    return null;
  }
}
