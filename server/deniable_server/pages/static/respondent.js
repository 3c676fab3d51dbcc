// The respondent's page around the questionnaire: a coin to try, a crowd to ask, and whether the link had the digest.
//
// May not: send or keep anything. What is chosen and thrown here stays in these variables.

const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

const heads = () => crypto.getRandomValues(new Uint8Array(1))[0] % 2 === 1;

// --- one person -----------------------------------------------------------------------------------------------------

/** Turn a coin over. Removing the class and asking for the layout restarts the animation each time. */
function show(coin, text, idle = false) {
  coin.querySelector("text").textContent = text;
  coin.classList.toggle("idle", idle);
  coin.classList.remove("thrown");
  coin.getBoundingClientRect();
  if (!idle) coin.classList.add("thrown");
}

function flip() {
  const truth = document.querySelector("input[name=secret]:checked").value;
  const first = heads();
  const second = !first && heads();
  const sent = first ? truth : second ? "yes" : "no";
  show(byId("first-coin"), first ? "heads" : "tails");
  show(byId("second-coin"), first ? "–" : second ? "heads" : "tails", first);
  show(byId("sent"), sent);
  byId("coin-result").textContent = first
    ? `The first coin shows heads, so the truth is sent: ${sent}. Nobody who receives it can know that: ` +
      `people with the other answer also send ${sent}, one time in four.`
    : "The first coin shows tails, so the second coin answers. " +
      `It shows ${second ? "heads" : "tails"}: ${sent} is sent, whatever you chose.`;
}

// --- a crowd --------------------------------------------------------------------------------------------------------

const crowd = { asked: 0, yes: 0 };

function drawPeople() {
  for (let i = 0; i < 100; i++) {
    const [x, y] = [(i % 25) * 16 + 8, Math.floor(i / 25) * 26 + 4];
    const person = document.createElementNS(SVG, "path");
    person.setAttribute("d", `M${x} ${y}a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0-7zM${x - 5} ${y + 20}v-5a5 5 0 0 1 10 0v5z`);
    byId("people").append(person);
  }
}

function share() {
  return Number(byId("share").value) / 100;
}

const percent = (part) => `${(100 * part).toFixed(1)}%`;

/** Put a mark at this share of the line, or out of sight. */
function place(mark, at) {
  mark.classList.toggle("unseen", at === null);
  if (at !== null) mark.setAttribute("transform", `translate(${10 + 380 * Math.min(Math.max(at, 0), 1)} 0)`);
}

function showCrowd() {
  byId("share-shown").textContent = byId("share").value;
  [...byId("people").children].forEach((person, i) => person.classList.toggle("yes", i < Number(byId("share").value)));
  const said = crowd.asked ? crowd.yes / crowd.asked : null;
  const estimate = said === null ? null : 2 * (said - 0.25);
  place(byId("truth-mark"), share());
  place(byId("said-mark"), said);
  place(byId("estimate-mark"), estimate);
  byId("crowd-result").textContent =
    said === null
      ? "Nobody has been asked yet."
      : `${crowd.asked.toLocaleString("en")} people asked. ${percent(said)} said yes. ` +
        `Corrected: ${percent(estimate)}. The truth: ${percent(share())}.`;
}

function ask() {
  const throws = crypto.getRandomValues(new Uint32Array(1000));
  const chance = share();
  for (const drawn of throws) {
    // Two bits are the two coins; the rest chooses one of the crowd. All in one draw for each person.
    const truth = (drawn >>> 2) / 2 ** 30 < chance;
    crowd.yes += drawn & 1 ? truth : (drawn >> 1) & 1;
  }
  crowd.asked += throws.length;
  showCrowd();
}

function restart() {
  crowd.asked = crowd.yes = 0;
  showCrowd();
}

// --- the digest -----------------------------------------------------------------------------------------------------

// The digest in the link that led here. Read now, because the address may change later.
const named = location.hash.slice(1).toLowerCase();

/** Whether this visit's link contains the digest, once the questionnaire has computed it from what the server sent. */
function showPinned({ detail: { digest } }) {
  byId("digest").textContent = digest;
  byId("pinned").textContent =
    named === digest
      ? "Your link contains this digest. Your browser computed the digest of what the server sent, and the two match."
      : "Your browser computed it from what the server sent. Your link does not contain it, so there was nothing to " +
        "compare.";
}

function showFailed({ detail: { reason } }) {
  if (reason === "digest")
    byId("pinned").textContent = "The address of this page contains a different digest. The survey was refused.";
}

async function copy(button, text) {
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
}

/** Reset when the page is left, since others may use this computer. */
function forget() {
  document.querySelector("input[name=secret][value=yes]").checked = true;
  for (const id of ["first-coin", "second-coin", "sent"]) show(byId(id), "?", id === "second-coin");
  byId("coin-result").textContent = "You have not flipped the coin yet.";
}

if (globalThis.crypto?.getRandomValues) {
  drawPeople();
  showCrowd();
  byId("flip").addEventListener("click", flip);
  byId("ask").addEventListener("click", ask);
  byId("again").addEventListener("click", restart);
  byId("share").addEventListener("input", restart);
  window.addEventListener("pagehide", forget);
  byId("coin").hidden = byId("crowd").hidden = false;
}
document.addEventListener("deniable-ready", showPinned);
document.addEventListener("deniable-failed", showFailed);
if (navigator.clipboard) {
  const digest = () => byId("digest").textContent;
  const link = () => `${location.origin}${location.pathname}#${digest()}`;
  for (const [id, text] of [["copy", digest], ["copy-link", link]]) {
    byId(id).hidden = false;
    byId(id).addEventListener("click", ({ currentTarget }) => copy(currentTarget, text()));
  }
}
