// Surveys with invitations: one token for each, kept before every step. Real requests to a real server in this process,
// which signs with a real key.
import assert from "node:assert/strict";
import { constants, generateKeyPairSync, privateEncrypt } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";

import { Client, DeniableError, verify } from "../src/deniable.js";
import { readPublicKey, submissionId, verifyToken } from "../src/deniable/blind-signatures.js";
import { tokenFor } from "../src/deniable/invitations.js";
import { tree } from "./surveys.js";

const CODE = "0D5F449CC0BQR9MW503EVB3TV1KE"; // of shared/vectors/invitations.json, like the next one
const TYPED = "H538AZAQDRGDVJ";
const PROBLEM = "application/problem+json";
const ANSWERS = { vaped: false, support: [], stress: 2, hours: 12 };

// The issuer's key has the smaller modulus of the two: so the other one can sign whatever was blinded for it.
const modulus = ({ publicKey }) => Buffer.from(publicKey.export({ format: "jwk" }).n, "base64url");
const keys = [0, 1].map(() => generateKeyPairSync("rsa", { modulusLength: 2048 }));
const [pair, other] = keys.sort((a, b) => Buffer.compare(modulus(a), modulus(b)));
const key = pair.publicKey.export({ type: "spki", format: "der" }).toString("base64url");
const sign = (blinded, by = pair) => {
  const raw = { key: by.privateKey, padding: constants.RSA_NO_PADDING };
  return privateEncrypt(raw, Buffer.from(blinded, "base64url")).toString("base64url");
};

/** A document of a survey with invitations, and this issuer. */
function invited(id = "joint") {
  const { survey, ...rest } = tree();
  const { id: _, title, ...more } = survey;
  const issuer = { kind: "RSABSSA-SHA384-PSS-Randomized", key };
  const { deniable, ...others } = rest;
  return JSON.stringify({ deniable, survey: { id, title, invitations: true, ...more }, ...others, issuer });
}

/** Signs once for each code, the same again for the same blinded value; `replies` are given first. */
class Server {
  issued = new Map();
  requests = [];
  submissions = [];
  replies = [];

  respond({ invitation, blinded }) {
    this.requests.push({ invitation, blinded });
    const reply = this.replies.shift();
    if (reply) return reply;
    const problem = (status, kind) => [status, PROBLEM, JSON.stringify({ type: `urn:deniable:problem:${kind}` })];
    if (![CODE, TYPED].includes(invitation)) return problem(403, "invitation-unknown");
    if ((this.issued.get(invitation) ?? blinded) !== blinded) return problem(409, "invitation-used");
    this.issued.set(invitation, blinded);
    return [201, "application/json", JSON.stringify({ signature: sign(blinded) })];
  }
}

let surveys = 0;

async function serving(work) {
  const served = new Server();
  const id = `joint-${surveys++}`; // this page's memory is the device: each test has a survey of its own
  const text = invited(id);
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    let [status, type, content] = [200, "application/json", text];
    if (request.url.endsWith("/tokens")) [status, type, content] = served.respond(JSON.parse(body));
    if (request.url.endsWith("/submissions")) {
      served.submissions.push(JSON.parse(body));
      [status, content] = [201, '{"accepted": 1, "duplicates": 0}'];
    }
    if (status === 0) return void request.socket.destroy();
    response.writeHead(status, { "Content-Type": type }).end(content);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const link = `http://127.0.0.1:${server.address().port}/s/${id}`;
  const personal = `${link}#${(await verify(text)).digest}.${CODE}`;
  try {
    await work(served, link, personal);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const refused = async (promise) =>
  promise.then(
    () => assert.fail("it was not refused"),
    (error) => {
      assert.ok(error instanceof DeniableError, error.stack);
      return [error.place, error.reason];
    },
  );

test("a personal link gives one submission, with a token that only the key knows", () =>
  serving(async (server, link, personal) => {
    const client = await Client.load(personal);
    assert.equal(server.requests.length, 1);
    assert.match(client.fingerprint, /^([0-9a-f]{4} ){3}[0-9a-f]{4}$/);
    const asked = Object.fromEntries(client.questions.map(({ id }) => [id, ANSWERS[id]]));
    const receipt = await client.submit({ ...ANSWERS, ...asked }, { campus: "north" });
    assert.equal(receipt.delivered, true);
    const [sent] = server.submissions;
    assert.equal(sent.id, await submissionId(sent.token.message));
    assert.equal(await verifyToken(readPublicKey(key), sent.token), true);
    assert.ok(!JSON.stringify(sent).includes(server.requests[0].blinded) && !JSON.stringify(sent).includes(CODE));
    const again = await Client.load(personal);
    assert.equal(again.receipt, receipt);
    assert.equal(server.requests.length, 1);
    await again.forget();
    assert.deepEqual(await refused(Client.load(link)), ["invitation", "missing"]);
    assert.deepEqual(await refused(Client.load(personal)), ["invitation", "used"]);
    await (await Client.load(link, { invitation: " h538-azaq drgd-vj " })).forget();
    assert.equal(server.requests.at(-1).invitation, TYPED);
  }));

test("a code that cannot be one is refused on the device, and nothing is sent", () =>
  serving(async (server, link, personal) => {
    const wrong = CODE.slice(1) + CODE[0];
    assert.deepEqual(await refused(Client.load(link, { invitation: wrong })), ["invitation", "checksum"]);
    assert.deepEqual(await refused(Client.load(link, { invitation: "" })), ["invitation", "format"]);
    assert.deepEqual(await refused(Client.load(link, { invitation: "12" })), ["invitation", "format"]);
    assert.deepEqual(await refused(Client.load(personal.replace(CODE, wrong))), ["invitation", "checksum"]);
    assert.equal(server.requests.length, 0);
  }));

test("what is not the server's word is tried again, byte for byte; a refusal is final", () =>
  serving(async (server, link, personal) => {
    const lost = [
      [0], [200, "text/html", "<html>"], [201, "application/json", "{}"], [503, "", ""], [403, PROBLEM, "{}"],
      [404, PROBLEM, "{}"], [409, "text/html", "{}"],
    ];
    for (const reply of lost) {
      server.replies = [reply];
      await (await Client.load(personal)).forget();
      const [first, second] = server.requests.splice(0);
      assert.deepEqual(first, second);
      server.issued.clear();
    }
    const problem = (status, kind) => [status, PROBLEM, JSON.stringify({ type: `urn:deniable:problem:${kind}` })];
    for (const [reply, reason] of [
      [problem(403, "invitation-unknown"), "unknown"],
      [problem(409, "invitation-used"), "used"],
      [problem(409, "survey-closed"), "closed"],
      [problem(422, "invalid"), "refused"],
    ]) {
      server.replies = [reply];
      assert.deepEqual(await refused(Client.load(personal)), ["invitation", reason]);
      assert.equal(server.requests.splice(0).length, 1);
    }
    server.replies = Array(50).fill([0]);
    assert.deepEqual(await refused(Client.load(personal, { timeout: 0.5 })), ["", "unreachable"]);
    const [{ blinded }] = server.requests.splice(0);
    server.replies = [];
    await (await Client.load(link)).forget(); // without the code: the device has kept it
    assert.equal(server.requests[0].blinded, blinded);
  }));

test("a signature that is not valid is never kept", () =>
  serving(async (server, link, personal) => {
    for (const make of [(blinded) => sign(blinded, other), (blinded) => blinded, (blinded) => sign(sign(blinded))]) {
      const respond = server.respond;
      server.respond = ({ blinded }) => [201, "application/json", JSON.stringify({ signature: make(blinded) })];
      assert.deepEqual(await refused(Client.load(personal)), ["signature", "signature"]);
      server.respond = respond;
    }
    await (await Client.load(link)).forget();
  }));

/** What tokenFor needs: a store, and a way to send. Each is a step, and the page may end before or after any. */
class Device {
  rows = new Map();
  server = new Server();

  page(endsAt, after) {
    let steps = 0;
    const step = async (work) => {
      steps += 1;
      if (steps > endsAt || (steps === endsAt && !after)) throw new Error("gone");
      const result = await work();
      if (steps === endsAt) throw new Error("gone");
      return result;
    };
    const keep = (work) => step(() => work([...this.rows.values()], (row) => this.rows.set(row.digest, row)));
    const send = (body, read) =>
      step(() => {
        const [status, type, text] = this.server.respond(JSON.parse(body));
        return read({ status, type, text });
      });
    return [keep, send];
  }
}

test("a page that ends between any two steps: the next one goes on, with one token and one blinded value", async () => {
  const document = await verify(invited());
  for (const after of [false, true]) {
    for (let endsAt = 1; endsAt <= 3; endsAt++) {
      const device = new Device();
      await assert.rejects(tokenFor(document, CODE, ...device.page(endsAt, after)), /gone/);
      const sent = device.server.requests.length;
      // Before anything was sent it may not be kept yet; from then on the code is not needed any more.
      const token = await tokenFor(document, sent ? undefined : CODE, ...device.page(Infinity));
      assert.equal(new Set(device.server.requests.map(({ blinded }) => blinded)).size, 1, `${endsAt} ${after}`);
      const [kept] = device.rows.values();
      assert.deepEqual(Object.keys(kept).sort(), ["content", "digest", "message", "signature"]);
      assert.deepEqual(await tokenFor(document, undefined, ...device.page(Infinity)), token);
    }
  }
});

test("another code gets a drawing of its own, and a token that is there stays", async () => {
  const document = await verify(invited());
  const device = new Device();
  device.server.replies = [[403, PROBLEM, '{"type":"urn:deniable:problem:invitation-unknown"}']];
  assert.deepEqual(await refused(tokenFor(document, CODE, ...device.page(Infinity))), ["invitation", "unknown"]);
  const token = await tokenFor(document, TYPED, ...device.page(Infinity));
  const [first, second] = device.server.requests;
  assert.notEqual(first.blinded, second.blinded);
  assert.deepEqual(await tokenFor(document, CODE, ...device.page(Infinity)), token);
  assert.equal(device.server.requests.length, 2);
});
