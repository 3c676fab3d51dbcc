// The editor: sends each change as it is made, keeps what could not be sent, and shows what others changed.
//
// Every field names what it changes in data-at. A change has an id of its own: sent twice, it counts once. What is not
// on the server yet is also in this browser's storage, so that a session that ends or a laptop that is closed loses
// nothing.

import { fields, mark } from "./draft-faults.js";
import { handBack, offer, say, tell, textsOf, told } from "./draft-messages.js";
import { plan } from "./draft-panel.js";
import { draggable } from "./drag.js";
import { pastesLists } from "./paste-lists.js";
import { patchChildren } from "./patch.js";

const AFTER_TYPING = 250; // milliseconds without a key until what was typed is sent
const AT_ONCE = 50; // the same for what only the plan depends on: people watch it while they move the slider
const LOOK_EVERY = 5_000; // milliseconds between two looks at what others did
const TRY_AGAIN = 3_000;

const editor = document.getElementById("editor");
const sketch = document.getElementById("sketch");
const trouble = document.getElementById("trouble");
const ours = `deniable-draft-${editor.dataset.number}-`;

let version = editor.dataset.version;
let word = editor.dataset.word;
let faults = JSON.parse(editor.dataset.faults);
let unsent = earlier();
let [sending, timer, wantsDrawing, pressed, ended] = [false, null, false, null, false];
let showAll = "checking" in editor.dataset;
const left = new Set(); // fields that somebody has been in: only these complain
const seen = new Map(); // what the server has in each field, as far as this page knows
const disputed = new Map(); // what was written in fields that somebody else has changed, until one of both is chosen

/** What could not be sent in an earlier visit. It may be on the server all the same, so it is sent again as it is. */
function earlier() {
  const changes = new Map();
  try {
    for (const key of Object.keys(localStorage).filter((each) => each.startsWith(ours))) {
      for (const change of JSON.parse(localStorage.getItem(key))) changes.set(change.id, { ...change, tried: true });
      localStorage.removeItem(key);
    }
  } catch {
    // A browser that keeps nothing has kept nothing.
  }
  return [...changes.values()];
}

const random = () => `c${[...crypto.getRandomValues(new Uint8Array(8))].map((n) => n.toString(16).padStart(2, "0")).join("")}`;
const kept = ours + random(); // each tab has its own
const waitingFor = (at) => unsent.findLast((each) => each.op === "set" && each.at === at);
const plain = (changes) => JSON.stringify(changes.map(({ tried, ...change }) => change));

// While a finger or mouse button is down nothing on the page may move: the click would miss. After a tap, browsers send
// what a mouse would have done.
let released = Promise.resolve();
for (const [down, up] of [["pointerdown", "pointerup"], ["mousedown", "mouseup"]]) {
  addEventListener(down, () => {
    released = new Promise((resolve) => {
      for (const name of [up, "pointercancel"]) addEventListener(name, () => setTimeout(resolve), { once: true });
    });
  }, { capture: true });
}

// --- fields --------------------------------------------------------------------------------------------------------

function valueOf(field) {
  if (field.matches("fieldset")) return [...field.querySelectorAll("input:checked")].map((each) => each.value);
  return field.type === "checkbox" ? field.checked : field.value;
}

function put(field, value) {
  if (field.matches("fieldset")) for (const each of field.querySelectorAll("input")) each.checked = value.includes(each.value);
  else if (field.type === "checkbox") field.checked = value;
  else if (field.type === "range") field.value = Number(value.replace(",", ".")) || field.value;
  else if (field.value !== String(value)) field.value = value;
}

/** The stop that epsilon is at looks pressed. */
function markStop() {
  const epsilon = Number(document.getElementById("epsilon-now").value);
  for (const stop of document.querySelectorAll("[data-put='epsilon']")) stop.setAttribute("aria-pressed", Number(stop.value) === epsilon);
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** What a field had when it came from the server. */
function cameWith(field) {
  if (field.matches("fieldset")) return [...field.querySelectorAll("input")].filter((each) => each.defaultChecked).map((each) => each.value);
  if (field.matches("select")) return ([...field.options].find((each) => each.defaultSelected) ?? field.options[0]).value;
  return field.type === "checkbox" ? field.defaultChecked : field.defaultValue;
}

function typed(field) {
  if (ended) return;
  const { at } = field.dataset;
  const value = valueOf(field);
  for (const other of fields(at)) if (other !== field) put(other, value);
  if (at === "epsilon") markStop();
  if (disputed.has(at)) {
    disputed.get(at).value = value;
    return keep();
  }
  const waiting = waitingFor(at);
  // A change that was sent stays as it is: it may be made already. What is typed now is the next one.
  if (waiting && !waiting.tried) waiting.value = value;
  else if (!same(waiting ? waiting.value : seen.get(at), value)) {
    unsent.push({ id: random(), op: "set", at, value, was: waiting ? waiting.value : (seen.get(at) ?? null) });
  }
  if (field === sketch.querySelector("[data-at^='title:']")) entitle(value);
  keep();
  soon(sketch.contains(field) ? AFTER_TYPING : AT_ONCE);
}

function entitle(title) {
  document.getElementById("draft-title").textContent = title || "New survey";
  document.title = `${title || "New survey"} (draft) · Deniable`;
}

document.addEventListener("input", (event) => {
  const field = event.target.closest("fieldset[data-at]") ?? event.target.closest("[data-at]");
  if (field) typed(field);
});

document.addEventListener("change", (event) => {
  const field = event.target.closest("fieldset[data-at]") ?? event.target.closest("[data-at]");
  if (!field) return;
  typed(field);
  // What other questions can depend on has changed: they are drawn again.
  if ("draw" in field.dataset || /\.(text|answers|decline|bins|min|max)/.test(field.dataset.at)) wantsDrawing = true;
  send();
});

document.addEventListener("focusout", (event) => {
  const field = event.target.closest?.("fieldset[data-at]") ?? event.target.closest?.("[data-at]");
  if (!field) return;
  left.add(field.dataset.at);
  released.then(showFaults);
});

// --- buttons -------------------------------------------------------------------------------------------------------

function act(change, button = null) {
  const made = { ...change, id: random() };
  if (["add", "copy"].includes(made.op)) made.new = random().slice(0, 12);
  unsent.push(made);
  wantsDrawing = true;
  pressed = { change: made, way: button?.dataset.way, focus: document.activeElement };
  keep();
  send();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const change = JSON.parse(button.dataset.do ?? "null");
  // Of a double click one adds, or copies, one question.
  if (change && !(event.detail > 1 && ["add", "copy"].includes(change.op))) act(change, button);
  if (button.dataset.put) {
    const [field] = fields(button.dataset.put);
    field.value = button.value;
    typed(field);
    send();
  }
  if (button.dataset.addLanguage) {
    const spoken = JSON.parse(button.dataset.addLanguage);
    const added = document.getElementById("add-language").value;
    act({ op: "set", at: "languages", value: [...spoken, added], was: spoken });
  }
  if (button.id === "pair") act({ op: "pair", keys: [0, 1].map((place) => document.getElementById(`pair-${place}`).value) });
  if (button.dataset.take) take(button);
});
sketch.addEventListener("submit", (event) => event.preventDefault());
pastesLists(sketch, "textarea[data-at*='.answers:']");
draggable(sketch, (item, place) => act({ op: "move", key: item.dataset.key, place }));

// --- sending -------------------------------------------------------------------------------------------------------

/** Keep what is not on the server yet, in case this page goes away. */
function keep() {
  try {
    const undecided = [...unsent, ...disputed.values()];
    if (undecided.length) localStorage.setItem(kept, plain(undecided));
    else localStorage.removeItem(kept);
  } catch {
    // A browser that keeps nothing: what is typed is on the server a moment later.
  }
  if (unsent.length) tell("Saving …");
}

function soon(after = AFTER_TYPING) {
  clearTimeout(timer);
  timer = setTimeout(send, after);
}

async function send() {
  clearTimeout(timer);
  if (sending || !(unsent.length || wantsDrawing)) return;
  sending = true;
  const batch = [...unsent];
  const drawing = wantsDrawing;
  wantsDrawing = false; // what is pressed from now on may want it again
  for (const change of batch) change.tried = true;
  const body = new URLSearchParams({ word, version, draw: drawing ? "1" : "0", changes: plain(batch) });
  const headers = { Accept: "application/json, application/problem+json" };
  const response = await fetch(editor.dataset.changes, { method: "POST", body, headers }).catch(() => null);
  const answer = await response?.json().catch(() => null);
  await released;
  sending = false;
  if (response?.status === 404) return gone();
  if (response?.status === 401 || response?.status === 403) {
    wantsDrawing ||= drawing;
    return signedOut();
  }
  if (answer?.detail && (response.status === 400 || response.status === 413)) {
    // Our server does not accept it, and never will: said, and not tried for ever. The fields show what it has.
    unsent = unsent.filter((change) => !batch.includes(change));
    await look(true);
    handBack(answer.detail, batch);
  } else if (!response?.ok || !answer) {
    wantsDrawing ||= drawing;
    tell("Not saved yet");
    say("The server cannot be reached. What you write is kept in this browser, and saved as soon as it is back.");
    timer = setTimeout(send, TRY_AGAIN);
    return;
  } else {
    for (const change of batch) if (change.op === "set" && !(change.id in answer.refused)) seen.set(change.at, change.value);
    unsent = unsent.filter((change) => !batch.includes(change));
    say("");
    taken(answer);
    const gone = answer.conflicts.filter(({ theirs }) => theirs === null).map(({ at }) => at);
    const late = batch.filter(({ at }) => gone.includes(at));
    if (textsOf(late).length) handBack("Somebody else deleted what you wrote in.", late);
    for (const change of batch) if (change.id in answer.refused) handBack(answer.refused[change.id], [change]);
  }
  keep();
  if (unsent.length) wantsDrawing ? send() : soon();
  else if (disputed.size) tell("Not saved yet: two texts wait for your choice.");
  else if (!told().startsWith("Saved")) tell("Saved");
}

/** Take in what the server says. */
function taken(answer) {
  plan();
  version = String(answer.version);
  faults = answer.faults;
  if (!unsent.some(({ at }) => at?.startsWith("title:"))) entitle(answer.title);
  for (const place of document.querySelectorAll("[data-missing]")) {
    const number = answer.missing[place.dataset.missing];
    if (number !== undefined) place.textContent = `${number} text${number === 1 ? "" : "s"} missing`;
  }
  for (const conflict of answer.conflicts) if (conflict.theirs !== null) dispute(conflict);
  for (const [at, value] of Object.entries(answer.panel)) {
    if (waitingFor(at)) continue;
    seen.set(at, value);
    for (const field of fields(at)) if (field !== document.activeElement) put(field, value);
  }
  markStop();
  if (answer.editor !== null) draw(answer.editor);
  showFaults();
}

/** Bring the questions up to date. Only what differs changes: the keyboard, what is open and what is being typed stay. */
function draw(html) {
  const fresh = new DOMParser().parseFromString(`<form>${html}</form>`, "text/html").querySelector("form");
  const active = document.activeElement;
  const [start, end] = [active?.selectionStart, active?.selectionEnd];
  const item = active?.closest("[data-at]")?.closest(".item");
  patchChildren(sketch, fresh);
  for (const [at, change] of disputed) {
    if (fields(at)[0]?.closest(".field").querySelector(".dispute")) continue;
    disputed.delete(at); // deleted, or of another type now: nobody could choose
    handBack("The field that you wrote in is gone.", [change]);
  }
  if (item && !item.isConnected) {
    say("Somebody else deleted the question that you were writing in. It is under “Deleted” at the end of the page, with what you wrote.");
    trouble.focus();
  }
  if (active !== document.activeElement && active?.isConnected) {
    // Somebody else has moved what one is writing in: that takes the keyboard from it.
    active.focus({ preventScroll: true });
    if (typeof start === "number") active.setSelectionRange(start, end);
  }
  const twins = new Map([...fresh.querySelectorAll("[data-at]")].map((each) => [each.dataset.at, each]));
  for (const field of sketch.querySelectorAll("[data-at]")) {
    const { at } = field.dataset;
    const twin = twins.get(at);
    if (!twin || disputed.has(at)) continue;
    const waiting = waitingFor(at);
    if (!waiting) seen.set(at, valueOf(twin));
    put(field, waiting ? waiting.value : valueOf(twin));
  }
  if (pressed && !unsent.includes(pressed.change)) {
    goOn(pressed);
    pressed = null;
  }
}

/** After a button, the keyboard is where one goes on; unless it is in another field by now. */
function goOn({ change, way, focus }) {
  if (change.op === "move") tell(`Saved. This is number ${change.place + 1} now.`);
  if (change.op === "remove") offer("The question was deleted.", () => act({ op: "restore", key: change.key }));
  if (document.activeElement !== focus && document.activeElement?.closest("[data-at]")) return;
  const item = document.getElementById(`i-${change.new || change.key}`);
  if (change.new) item?.querySelector("[data-at]").focus();
  if (way) {
    // The same button again, as long as there is somewhere to go.
    (item?.querySelector(`[data-way="${way}"]:not(:disabled)`) ?? item?.querySelector("[data-way]:not(:disabled)"))?.focus();
  }
  if (change.op === "remove") document.querySelector(".undo button").focus();
  if (change.at === "languages") document.getElementById("add-language").focus();
  if (change.op === "restore") item?.querySelector("h3").focus();
  if (change.op === "pair" || change.op === "unpair") document.getElementById("pair-0")?.focus();
  item?.scrollIntoView({ block: "nearest" });
}

// --- what people are told ------------------------------------------------------------------------------------------

async function signedOut() {
  const page = await fetch(location.href, { redirect: "manual", headers: { Accept: "text/html" } }).catch(() => null);
  if (page?.status === 404) return gone();
  if (page?.status === 403) return lost("You may not change this draft any more.");
  const text = page?.ok ? await page.text() : "";
  const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("editor");
  if (fresh && fresh.dataset.word !== word) {
    word = fresh.dataset.word; // there is a session again, and its form word comes with the page
    return send();
  }
  tell("Not saved yet");
  const link = Object.assign(document.createElement("a"), { href: editor.dataset.signIn, target: "_blank", textContent: "Sign in in a new tab" });
  say("You are signed out. What you wrote is kept in this browser. Sign in, and come back to this page: then it is saved.", link);
  clearTimeout(timer);
  timer = setTimeout(signedOut, TRY_AGAIN);
}

const gone = () => lost("This draft was published or deleted by somebody else.");

/** Nothing more can be saved. */
function lost(why) {
  if (ended) return;
  ended = true;
  say("");
  handBack(why, [...unsent, ...disputed.values()]);
  tell("");
  for (const each of editor.querySelectorAll("input, textarea, select, button")) each.disabled = each.readOnly = true;
  clearTimeout(timer);
  clearInterval(looking);
  unsent = [];
  disputed.clear();
  keep();
}

/** Two people wrote in the same field: both texts are there, and one is chosen. */
function dispute({ at, theirs }) {
  const [field] = fields(at);
  const ours = seen.get(at);
  seen.set(at, theirs);
  if (disputed.has(at)) return;
  if (!field || field.matches("fieldset, [type=checkbox], [type=range], select")) {
    for (const each of fields(at)) put(each, theirs);
    tell("Saved. Somebody else chose something else at the same time, and you see it now.");
    return;
  }
  disputed.set(at, { id: random(), op: "set", at, value: valueOf(field), was: ours });
  const box = Object.assign(document.createElement("div"), { className: "message warn dispute" });
  box.setAttribute("role", "alert");
  const text = Object.assign(document.createElement("blockquote"), { textContent: theirs || "(nothing)", dir: "auto" });
  const buttons = ["Keep mine", "Take theirs"].map((label, place) => {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: label });
    Object.assign(button.dataset, { take: place ? "theirs" : "mine", of: at });
    return button;
  });
  box.append("Somebody else wrote here at the same time:", text, ...buttons);
  field.closest(".field").append(box);
}

function take(button) {
  const at = button.dataset.of;
  const box = button.closest(".dispute");
  const [field] = fields(at);
  disputed.delete(at);
  if (button.dataset.take === "theirs") put(field, seen.get(at));
  box.remove();
  field.focus();
  typed(field);
  if (!unsent.length && !disputed.size) tell("Saved");
}

// What is about several questions belongs to no field that one leaves.
const showFaults = () => mark(faults, (at) => showAll || left.has(at) || ["together", "segments"].includes(at), showAll);

// --- the plan, and what others do ----------------------------------------------------------------------------------

async function look(now = false) {
  if (!now && (document.hidden || sending || unsent.length)) return;
  const since = now ? "" : version;
  const response = await fetch(`${editor.dataset.changes}?since=${since}`, { redirect: "manual", headers: { Accept: "application/json" } }).catch(() => null);
  if (response?.status === 404) return gone();
  if (response?.status !== 200) return;
  const answer = await response.json();
  await released;
  if (!now && (sending || unsent.length)) return;
  if (answer.version <= Number(version) && !now) return; // what was saved meanwhile is newer
  taken(answer);
  if (!now) tell(`${answer.by || "Somebody else"} changed the draft. You see it now.`);
}

addEventListener("pagehide", () => {
  if (!unsent.length) return;
  const body = new URLSearchParams({ word, version, changes: plain(unsent) });
  fetch(editor.dataset.changes, { method: "POST", body, keepalive: true }).catch(() => {});
});
addEventListener("online", send);
addEventListener("visibilitychange", () => document.hidden || (unsent.length ? send() : look()));
const looking = setInterval(look, LOOK_EVERY);

const all = [...document.querySelectorAll("[data-at]:not([type=range])")];
for (const field of all) seen.set(field.dataset.at, cameWith(field));
for (const field of all) if (!same(valueOf(field), cameWith(field))) typed(field); // written before this script was here
for (const change of unsent) if (change.op === "set") for (const field of fields(change.at)) put(field, change.value);
markStop();
keep();
send();
showFaults();
if (showAll) document.getElementById("faults").focus();
plan();
