"""Faults of the browser client: a function of a module, by its name, and the one that takes its place.

The fault may call what it replaces: there, that is called ``original``.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser


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
    "an upside-down favour passes verification": JavaScriptFault("protocol", "checkPrivacy", """
function checkPrivacy(...given) {
  try {
    original(...given);
  } catch (error) {
    if (error.reason !== "favour_low") throw error;
  }
}"""),
    "the last of two equal keys wins": JavaScriptFault("checks", "strictJson", """
function strictJson(text) {
  try {
    return original(text);
  } catch (error) {
    try {
      return original(JSON.stringify(JSON.parse(text)));
    } catch {
      throw error;
    }
  }
}"""),
    "verification without the ratio": JavaScriptFault("protocol", "checkTable", """
function checkTable(...given) {
  try {
    original(...given);
  } catch (error) {
    if (error.reason !== "ratio") throw error;
  }
}"""),
    "runs without a secure source": JavaScriptFault("protocol", "readDocument", """
async function readDocument(source, pinned) {
  const { crypto } = globalThis;
  if (!crypto?.subtle || crypto.getRandomValues) return original(source, pinned);
  globalThis.crypto.getRandomValues = (bytes) => bytes.fill(4);
  return original(source, pinned);
}"""),
    "an answer in an error message": JavaScriptFault("randomizer", "encode", """
function encode(question, answer) {
  try {
    return original(question, answer);
  } catch (error) {
    if (question.type === "choice" && error.reason === "range") error.message += `, not ${answer}`;
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
function checkPart(part, place, survey, known) {
  const questions = survey.questions.map(({ show_if, ...rest }) => rest);
  try {
    original(part, place, survey, known);
  } catch (error) {
    if (error.reason !== "missing") throw error;
    original(part, place, survey, itemsOf({ ...survey, questions }));
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
    "a booklet drawn at every visit": JavaScriptFault("device", "keepBooklet", """
async function keepBooklet(survey, draw) {
  return { booklet: draw() };
}"""),
    "forgetting what is still to be delivered": JavaScriptFault("device", "forgetSurvey", """
async function forgetSurvey(survey) {
  try {
    await original(survey);
  } catch {
    await transact("ledger", undefined, (rows, put, remove) => rows.forEach(remove));
  }
}"""),
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
}  # fmt: skip


def plant(fault: JavaScriptFault, web: Path) -> None:
    """Plant it in this copy of ``client/web``."""
    path = web / "deniable_web" / "deniable" / f"{fault.module}.js"
    code = path.read_bytes()
    tree = Parser(Language(tree_sitter_javascript.language())).parse(code).root_node
    name, exported = _declared(tree, fault.name)
    code = code[: name.start_byte] + b"original" + code[name.end_byte :]
    if exported is not None:  # the faulty one is exported instead
        code = code[: exported.start_byte] + code[exported.start_byte + len(b"export ") :]
    faulty = fault.faulty.strip()
    path.write_bytes(code + b"\n" + (f"export {faulty}" if exported else faulty).encode() + b"\n")


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
