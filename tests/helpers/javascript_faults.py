"""Faults of the browser client: a function of a module, by its name, and the one that takes its place.

The fault may call what it replaces: there, that is called ``original``.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

from tests.helpers.npm import bundle, install


class JavaScriptFault(NamedTuple):
    """A module of the client, a function in it, and another function of that name."""

    module: str
    name: str
    faulty: str


FAULTS = {
    "Math.random": JavaScriptFault(
        "randomizer", "word", "function word() { return Math.floor(Math.random() * 2 ** 32) * 2 ** 21; }"
    ),
    "modulo bias": JavaScriptFault(
        "randomizer", "below", "function below(n) { return n === 1 ? 0 : word() % n; }"
    ),
    "off-by-one band": JavaScriptFault("randomizer", "draw", """
function draw(channel, answer) {
  if (channel.kind !== "band") return original(channel, answer);
  if (word() < channel.favour) return answer + below(channel.width);
  const other = below(channel.levels - 1);
  return other <= answer ? other : other + channel.width;
}"""),
    "54 bits": JavaScriptFault("randomizer", "word", """
function word() {
  const view = new DataView(randomBytes(8).buffer);
  return view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 10);
}"""),
    "any writing is canonical": JavaScriptFault("checks", "canonicalJson", """
function canonicalJson(source) {
  try {
    return original(source);
  } catch (error) {
    if (error.reason !== "canonical") throw error;
    return JSON.parse(source);
  }
}"""),
    "any order is canonical": JavaScriptFault("checks", "increasing", """
function increasing() {}"""),
    "a favour below the largest": JavaScriptFault("design", "largestFavour", """
function largestFavour(...given) {
  return original(...given) - 1;
}"""),
    "runs without a secure source": JavaScriptFault("protocol", "readDocument", """
async function readDocument(...given) {
  const { crypto } = globalThis;
  if (!crypto?.subtle || crypto.getRandomValues) return original(...given);
  globalThis.crypto.getRandomValues = (bytes) => bytes.fill(4);
  return original(...given);
}"""),
    "an answer in an error message": JavaScriptFault("randomizer", "encode", """
function encode(question, answer) {
  try {
    return original(question, answer);
  } catch (error) {
    if (question.type === "choice" && error.reason === "range") error.problems[0].message += `, not ${answer}`;
    throw error;
  }
}"""),
    "an answer in the browser's storage": JavaScriptFault("randomizer", "randomizeVerified", """
function randomizeVerified(verified, answers, segments, booklet) {
  localStorage.setItem(verified.digest, JSON.stringify(answers));
  return original(verified, answers, segments, booklet);
}"""),
    "a booklet that depends on an answer": JavaScriptFault("randomizer", "randomizeVerified", """
function randomizeVerified(verified, answers, segments, booklet) {
  return original(verified, answers, segments, booklet ?? (answers.vaped ? drawBooklet(verified) : 0));
}"""),
    "weights ignored": JavaScriptFault("randomizer", "drawBooklet", """
function drawBooklet({ booklets }) {
  return below(booklets.length);
}"""),
    "a path index off by one": JavaScriptFault("randomizer", "placeOf", """
function placeOf(part, truths) {
  const place = original(part, truths);
  return part.items.length > 1 ? (place + 1) % part.paths.length : place;
}"""),
    "a hidden answer in the path": JavaScriptFault("randomizer", "readAnswers", """
function readAnswers(questions, answers, complete) {
  const truths = original(questions, answers, complete);
  const hidden = questions.filter(({ id }) => !truths.has(id) && has(answers, id));
  for (const { id } of hidden) truths.set(id, 0);
  return truths;
}"""),
    "hidden answers are checked all the same": JavaScriptFault("randomizer", "readAnswers", """
function readAnswers(questions, answers, complete) {
  questions.forEach((question) => has(answers, question.id) && encode(question, answers[question.id]));
  return original(questions, answers, complete);
}"""),
    "paths that leave out what is not shown": JavaScriptFault("protocol", "pathsOf", """
function pathsOf(items, place) {
  return original(items, place).filter((path) => !path.includes(null));
}"""),
    "more paths than a report can have": JavaScriptFault("protocol", "pathsOf", """
function pathsOf(items, place) {
  try {
    return original(items, place);
  } catch {
    return Array.from({ length: MAX_PATHS }, () => []);
  }
}"""),
    "a follow-up without what it depends on": JavaScriptFault("protocol", "checkPart", """
function checkPart(part, place, survey, known, tables) {
  const questions = survey.questions.map(({ show_if, ...rest }) => rest);
  try {
    original(part, place, survey, known, tables);
  } catch (error) {
    if (error.reason !== "missing") throw error;
    original(part, place, survey, itemsOf({ ...survey, questions }), tables);
  }
}"""),
    "the sum over a booklet not checked": JavaScriptFault("protocol", "checkBooklet", """
function checkBooklet(...given) {
  try {
    original(...given);
  } catch (error) {
    if (error.reason !== "budget") throw error;
  }
}"""),
    "only the first booklet is verified": JavaScriptFault("protocol", "checkBooklet", """
function checkBooklet(booklet, place, ...given) {
  if (place === "booklets[0]") original(booklet, place, ...given);
}"""),
    "a booklet drawn at every visit": JavaScriptFault("device", "keepSurvey", """
async function keepSurvey(document, address, published, trusted, draw) {
  await original(document, address, published, trusted, draw);
  return draw();
}"""),
    "forgetting what is still to be delivered": JavaScriptFault("device", "forgetSurvey", """
async function forgetSurvey(content) {
  await original(content, true);
}"""),
    "what is delivered is kept": JavaScriptFault("device", "settled", """
const settled = (row, status) => ({ ...row, status });"""),
    "retries never end": JavaScriptFault("device", "LONGEST_WAIT", """
const LONGEST_WAIT = 10 ** 6;"""),
    "a budget without delta": JavaScriptFault("account", "DEFAULT_BUDGET", """
const DEFAULT_BUDGET = new Account("10", "1");"""),
    "predictable pauses": JavaScriptFault("delivery", "jitter", """
function jitter(failures) {
  return Math.random() * Math.min(FIRST_PAUSE * 2 ** failures, LONGEST_PAUSE);
}"""),
    "a portal's word counts as a delivery": JavaScriptFault("delivery", "judge", """
function judge(response, now) {
  const verdict = original(response, now);
  try {
    if (JSON.parse(response.text) && [200, 201].includes(response.status)) return { status: "delivered" };
  } catch {
    // no JSON
  }
  return verdict;
}"""),
    "a retry is another submission": JavaScriptFault("delivery", "attempt", """
async function attempt({ address, body }) {
  return original({ address, body: body.replace(/[0-9a-f]{8}/, () => `${Date.now()}`.slice(-8)) });
}"""),
    "a link without the rest of its digest": JavaScriptFault("transport", "parseAddress", """
function parseAddress(link, base) {
  const [address, pin = ""] = `${link}`.split("#");
  return original(pin.length < 64 ? address : link, base);
}"""),
    "a budget in floating point": JavaScriptFault(
        "checks", "units", "function units(text) { return BigInt(Math.ceil(text * 1e12)); }"
    ),
    "what a server sent may be cached": JavaScriptFault("transport", "request", """
async function request(url, timeout, options) {
  return original(url, timeout, { ...options, cache: "default" });
}"""),
    "redirects are followed": JavaScriptFault("transport", "request", """
async function request(url, timeout, options) {
  return original(url, timeout, { ...options, redirect: "follow" });
}"""),
    "cookies are sent": JavaScriptFault("transport", "request", """
async function request(url, timeout, options) {
  return original(url, timeout, { ...options, credentials: "include" });
}"""),
    "a ledger that a power cut may lose": JavaScriptFault("device", "open", """
async function open() {
  const database = await original();
  return { transaction: (name, mode) => database.transaction(name, mode), close: () => database.close() };
}"""),
    "answers stay when the page is left": JavaScriptFault("survey-element", "connect", """
function connect(host, module) {
  const add = window.addEventListener;
  window.addEventListener = (type, ...rest) => type === "pagehide" || add.call(window, type, ...rest);
  original(host, module);
  window.addEventListener = add;
}"""),
    "a total without delta": JavaScriptFault("wording", "totalInWords", """
function totalInWords(verified, texts) {
  const { constructor: Account, epsilon } = verified.account;
  return original({ ...verified, account: new Account(epsilon, "0") }, texts);
}"""),
    "a text of a survey is markup": JavaScriptFault("dom", "make", """
function make(tag, attributes, ...children) {
  const element = original(tag, attributes);
  for (const child of children) {
    if (typeof child === "string") element.insertAdjacentHTML("beforeend", child);
    else if (child) element.append(child);
  }
  return element;
}"""),
    "tokens are not blinded": JavaScriptFault("blind-signatures", "below", """
function below() {
  return 1n;
}"""),
    "a signature is not verified by the device": JavaScriptFault("blind-signatures", "finalize", """
async function finalize(key, message, blindSignature, inverse) {
  return toBytes((toInteger(blindSignature) * toInteger(inverse)) % key.modulus, key.size);
}"""),
    "a signature may be above the modulus": JavaScriptFault("blind-signatures", "verify", """
async function verify(key, message, signature, saltLength) {
  return original(key, message, toBytes(toInteger(signature) % key.modulus, key.size), saltLength);
}"""),
    "a signature is the server's word": JavaScriptFault("invitations", "read", """
function read({ text }) {
  return JSON.parse(text).signature ?? "";
}"""),
    "typing errors are sent": JavaScriptFault("invitations", "readCode", """
async function readCode(text) {
  return original(text).catch((error) => (error.reason === "checksum" ? text : Promise.reject(error)));
}"""),
    "an issuer's key of any kind": JavaScriptFault("protocol", "checkIssuer", """
function checkIssuer() {}
"""),
    "inherited names are answers": JavaScriptFault(
        "checks", "has", "function has(table, name) { return name in table; }"
    ),
}  # fmt: skip

_REACH = ("javascript/test_javascript.py::test_only_the_transport_sends_and_only_the_device_keeps",)
TESTS: dict[str, tuple[str, ...]] = {
    name: ("client.test.js",) if fault.module in ("account", "delivery", "device") else ("vectors.test.js",)
    for name, fault in FAULTS.items()
} | {
    # What node's tests cannot see.
    "Math.random": (
        *_REACH,
        "javascript/test_javascript.py::test_the_randomiser_has_no_floats_and_one_random_source",
    ),
    "an answer in the browser's storage": _REACH,
    "predictable pauses": _REACH,
    "what a server sent may be cached": ("requests.test.js",),
    "redirects are followed": ("requests.test.js",),
    "cookies are sent": ("requests.test.js",),
    "a ledger that a power cut may lose": ("requests.test.js",),
    "answers stay when the page is left": ("browser/test_leaving.py",),
    "a total without delta": ("requests.test.js",),
    "a text of a survey is markup": ("browser/test_element_refusals.py::test_hostile_texts_are_only_text",),
    "inherited names are answers": ("deniable.test.js",),
    "a signature is the server's word": ("invitations.test.js",),
    "runs without a secure source": ("deniable.test.js",),
    "an answer in an error message": ("deniable.test.js",),
}
"""By fault, the tests that are to catch it: node's, or ours where node's cannot see it."""


def plant(fault: JavaScriptFault, web: Path) -> None:
    """Plant it in this copy of ``client/web``."""
    path = web / "src" / "deniable" / f"{fault.module}.js"
    code = path.read_bytes()
    tree = Parser(Language(tree_sitter_javascript.language())).parse(code).root_node
    name, exported = _declared(tree, fault.name)
    code = code[: name.start_byte] + b"original" + code[name.end_byte :]
    if exported is not None:  # the faulty one is exported instead
        code = code[: exported.start_byte] + code[exported.start_byte + len(b"export ") :]
    faulty = fault.faulty.strip()
    path.write_bytes(code + b"\n" + (f"export {faulty}" if exported else faulty).encode() + b"\n")


def build(web: Path) -> None:
    """Build what the server sends from this copy of ``client/web``."""
    install(web)
    bundle(web, web / "deniable_web")


def _declared(tree: Node, name: str) -> tuple[Node, Node | None]:
    """Where the module declares this function, and the statement that exports it."""
    for statement in tree.children:
        exported = statement if statement.type == "export_statement" else None
        declared = statement.child_by_field_name("declaration") if exported else statement
        if declared is None:
            continue
        for node in (declared, *declared.children):
            found = node.child_by_field_name("name")
            if found is not None and found.text == name.encode():
                return found, exported
    raise LookupError(f"no function {name} is declared here")
