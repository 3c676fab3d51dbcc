// How can that be? A coin to flip, and a crowd to ask.
//
// May not: send or keep anything. What is chosen and flipped here stays in these variables, and goes with the view.

import { button, make, picture } from "./dom.js";

const heads = () => crypto.getRandomValues(new Uint8Array(1))[0] % 2 === 1;

export const howView = (texts) => [
  make("p", {}, texts.say("how.coin")),
  make("p", {}, texts.say("how.cover")),
  coin(texts),
  crowd(texts),
  make("p", { class: "hint" }, texts.say("how.here")),
];

// --- one person -----------------------------------------------------------------------------------------------------

function coin(texts) {
  // Nothing is preset: it would look like a guess at the visitor's answer.
  const inputs = ["yes", "no"].map((value) => make("input", { type: "radio", name: "secret", value, autocomplete: "off" }));
  const [first, second, sent] = ["face", "face idle", "face sent"].map((name) => make("span", { class: name }, "?"));
  const result = make("p", { role: "status", class: "result" }, texts.say("how.unflipped"));
  const turn = (face, text, idle = false) => {
    face.textContent = text;
    face.classList.toggle("idle", idle);
    face.classList.remove("thrown");
    face.getBoundingClientRect(); // or the animation would not start again
    if (!idle) face.classList.add("thrown");
  };
  const side = (up) => texts.say(up ? "how.heads" : "how.tails");
  const flip = () => {
    const truth = inputs.find((input) => input.checked)?.value;
    if (!truth) return void (result.textContent = texts.say("how.choose"));
    const one = heads();
    const two = heads();
    const what = texts.say(one ? truth : two ? "yes" : "no");
    turn(first, side(one));
    turn(second, one ? "–" : side(two), one);
    turn(sent, what);
    result.textContent = texts.say(one ? "how.truth" : "how.chance", { sent: what });
  };
  return make(
    "div",
    { class: "try" },
    make(
      "fieldset",
      {},
      make("legend", {}, texts.say("how.tryCoin")),
      make(
        "div",
        { class: "options short" },
        ...inputs.map((input) => make("label", { class: "option" }, input, make("span", {}, texts.say(input.value)))),
      ),
    ),
    make("p", {}, button(texts.say("how.flip"), flip)),
    make("div", { class: "faces", "aria-hidden": "true" }, first, arrow(), second, arrow(), sent),
    result,
  );
}

const arrow = () => picture("0 0 24 24", [["path", { d: "M4 12h14m-5-5 5 5-5 5" }]], "arrow");

// --- a crowd --------------------------------------------------------------------------------------------------------

function crowd(texts) {
  let [asked, yes] = [0, 0];
  const slider = make("input", { type: "range", min: 0, max: 100, step: 5, value: 30, autocomplete: "off", id: "share" });
  const label = make("label", { for: "share" });
  const people = picture("0 0 400 105", Array.from({ length: 100 }, (_, i) => ["path", { d: person(i) }]), "people");
  const marks = picture(
    "0 0 400 40",
    [
      ["path", { class: "line", d: "M10 20h380" }],
      ["path", { class: "truth", d: "M0 6v28" }],
      ["circle", { class: "said", cy: 20, r: 7 }],
      ["circle", { class: "estimate", cy: 20, r: 7 }],
    ],
    "scale",
  );
  const result = make("p", { role: "status", class: "result" });
  const share = () => Number(slider.value) / 100;
  const update = () => {
    label.textContent = texts.say("how.share", { count: texts.number(Number(slider.value)) });
    [...people.children].forEach((each, i) => each.classList.toggle("yes", i < Number(slider.value)));
    const said = asked ? yes / asked : null;
    // For half of the people the second coin answers, and half of these say yes: a quarter of everybody.
    const estimate = asked ? 2 * (said - 0.25) : null;
    [share(), said, estimate].forEach((at, i) => place(marks.children[i + 1], at));
    result.textContent = asked
      ? texts.say("how.result", {
          people: texts.number(asked),
          said: texts.percent(said),
          estimate: texts.percent(estimate),
          truth: texts.percent(share()),
        })
      : texts.say("how.nobody");
  };
  const restart = () => {
    [asked, yes] = [0, 0];
    update();
  };
  const ask = () => {
    for (const drawn of crypto.getRandomValues(new Uint32Array(1000))) {
      // Two bits are the two coins; the rest chooses one of the crowd. All in one draw for each person.
      const truth = (drawn >>> 2) / 2 ** 30 < share();
      yes += drawn & 1 ? Number(truth) : (drawn >> 1) & 1;
      asked++;
    }
    update();
  };
  slider.addEventListener("input", restart);
  update();
  return make(
    "div",
    { class: "try" },
    make("h3", {}, texts.say("how.crowd")),
    label,
    slider,
    people,
    make(
      "p",
      { class: "actions" },
      button(texts.say("how.ask"), ask),
      " ",
      button(texts.say("how.again"), restart, { class: "quiet" }),
    ),
    marks,
    result,
    make("p", { class: "hint" }, texts.say("how.correction")),
  );
}

function person(i) {
  const [x, y] = [(i % 25) * 16 + 8, Math.floor(i / 25) * 26 + 4];
  return `M${x} ${y}a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0-7zM${x - 5} ${y + 20}v-5a5 5 0 0 1 10 0v5z`;
}

/** Put a mark at this share of the line, or out of sight. */
function place(mark, at) {
  mark.classList.toggle("gone", at === null);
  if (at !== null) mark.setAttribute("transform", `translate(${10 + 380 * Math.min(Math.max(at, 0), 1)} 0)`);
}
