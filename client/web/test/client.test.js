// The network client, as far as it needs no browser: real requests to a real server in this process, kept in memory.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { Client } from "../deniable_web/deniable.js";
import { jitter, judge, retryAfter } from "../deniable_web/deniable/delivery.js";
import { sum } from "../deniable_web/deniable/checks.js";
import { exactBudget } from "../deniable_web/deniable/device.js";
import { document, textbook } from "./surveys.js";

const NOW = 1_790_000_000_000;
const COUNTED = '{"accepted": 1, "duplicates": 0}';
const JSON_TYPE = "application/json";
const PROBLEM = "application/problem+json";
const responded = (status, type, text, headers = {}) => ({ status, type, text, headers: new Headers(headers) });

// --- what a response means ----------------------------------------------------------------------------------------

test("counted once is delivered", () => {
  const before = '{"accepted": 0, "duplicates": 1, "more": []}';
  for (const [status, text] of [[201, COUNTED], [200, COUNTED], [201, before]]) {
    assert.deepEqual(judge(responded(status, JSON_TYPE, text), NOW), { status: "delivered" });
  }
});

test("a problem document of a status that will not change refuses for good", () => {
  const text = '{"type": "urn:x", "title": "Closed", "detail": "It ended\\n\\u001b[31m on Friday", "status": 409}';
  const refusal = { type: "urn:x", title: "Closed", detail: "It ended  [31m on Friday" };
  for (const status of [400, 409, 413, 415, 422]) {
    assert.deepEqual(judge(responded(status, PROBLEM, text), NOW), { status: "refused", refusal });
  }
  const empty = { type: "", title: "", detail: "" };
  assert.deepEqual(judge(responded(409, PROBLEM, "{}"), NOW), { status: "refused", refusal: empty });
});

test("everything else is tried again", () => {
  const unsettled = [
    [200, "text/html", "<html>Please accept the terms of this hotel</html>"],
    [201, JSON_TYPE, ""],
    [201, JSON_TYPE, COUNTED.slice(0, -1)],
    [201, JSON_TYPE, "null"],
    [201, JSON_TYPE, "[".repeat(100_000)],
    [201, JSON_TYPE, '{"accepted": 0, "duplicates": 0}'],
    [201, JSON_TYPE, '{"accepted": 2, "duplicates": -1}'],
    [201, JSON_TYPE, '{"accepted": 0.5, "duplicates": 0.5}'],
    [201, JSON_TYPE, '{"accepted": true, "duplicates": 0}'],
    [201, JSON_TYPE, '{"accepted": "1", "duplicates": 0}'],
    [201, JSON_TYPE, '{"accepted": 1}'],
    [202, JSON_TYPE, COUNTED],
    [204, "", ""],
    [400, "text/html", "<h1>Bad request</h1>"],
    [403, PROBLEM, '{"title": "Forbidden"}'],
    [404, PROBLEM, '{"title": "Not found"}'],
    [408, PROBLEM, "{}"],
    [409, JSON_TYPE, '{"title": "Closed"}'],
    [409, PROBLEM, "<html>"],
    [409, PROBLEM, '{"title": 3}'],
    [422, PROBLEM, '["title"]'],
    [425, PROBLEM, "{}"],
    [429, PROBLEM, "{}"],
    [500, PROBLEM, "{}"],
    [503, "", ""],
  ];
  for (const [status, type, text] of unsettled) {
    const verdict = judge(responded(status, type, text), NOW);
    assert.equal(verdict.status, undefined, `${status} ${type} ${text.slice(0, 50)}`);
    assert.ok(verdict.trouble.includes(`${status} with ${type || "no content type"}`));
    assert.equal(verdict.after, 0);
  }
  assert.equal(judge(responded(503, "", "", { "Retry-After": "7" }), NOW).after, 7000);
});

test("Retry-After in either form, at most an hour; nonsense asks for nothing", () => {
  const date = (seconds) => new Date(NOW + seconds * 1000).toUTCString();
  const cases = [
    ["0", 0], ["17", 17], [" 17 ", 17], ["3600", 3600], ["3601", 3600], ["9".repeat(400), 3600],
    [date(90), 90], [date(90_000), 3600], [date(-90), 0],
    ["", 0], ["-5", 0], ["1.5", 0], ["soon", 0], ["٣", 0], ["Mon, 99 Foo 2026 00:00:00 GMT", 0],
  ];
  for (const [value, seconds] of cases) assert.equal(retryAfter(value, NOW), seconds * 1000, value);
});

test("pauses are spread, and grow from half a second to a minute", () => {
  for (const [failures, longest] of [[0, 500], [1, 1000], [2, 2000], [6, 32_000], [7, 60_000], [5000, 60_000]]) {
    const drawn = Array.from({ length: 400 }, () => jitter(failures) / longest);
    assert.ok(drawn.every((part) => part >= 0 && part < 1));
    // Of 400 uniform draws, all below 0.9 or all above 0.1 by chance: 0.9^400, about 10^-18.
    assert.ok(Math.max(...drawn) > 0.9 && Math.min(...drawn) < 0.1, `${failures}`);
  }
});

// --- budgets ------------------------------------------------------------------------------------------------------

test("sums of decimals are exact", () => {
  assert.equal(sum(["0.1", "0.2"]), "0.3");
  assert.equal(sum([]), "0");
  assert.equal(sum(["10", "0.0001", "00.5"]), "10.5001");
  assert.equal(sum(Array(200).fill("10")), "2000");
  assert.equal(sum(Array(200).fill("0.01")), "2");
  assert.equal(sum(["9007199254740993", "0.000000000001"]), "9007199254740993.000000000001");
});

test("a budget is a decimal, taken as it was written", () => {
  assert.equal(exactBudget(undefined), undefined);
  assert.equal(exactBudget(null), undefined);
  for (const [budget, exact] of [[0.3, "0.3"], ["0.30", "0.3"], [10, "10"], ["10.0", "10"], [0, "0"]]) {
    assert.equal(exactBudget(budget), exact);
  }
  for (const budget of [-1, "-0.1", "", "x", "1/3", " 1", "1e3", NaN, Infinity, true, [], {}, "0.0000000000001"]) {
    assert.throws(() => exactBudget(budget), RangeError, String(budget));
  }
});

// --- a client under node ------------------------------------------------------------------------------------------

/** Serves one survey; `replies` come first, each a function of the response, and then it behaves. */
async function serving(id, replies, body, published = textbook(id)) {
  const posts = [];
  const counted = new Set();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const answer = (status, content, headers = {}) =>
      response.writeHead(status, { "Content-Type": JSON_TYPE, ...headers }).end(content);
    const known = request.url.startsWith(`/api/v1/surveys/${id}`);
    if (request.method === "GET") return known ? answer(200, published) : answer(404, "{}");
    posts.push({ text, headers: request.headers, time: performance.now() });
    const reply = replies.shift();
    if (reply) return reply(answer, response);
    const duplicates = counted.has(text) ? 1 : 0;
    counted.add(text);
    answer(201, JSON.stringify({ accepted: 1 - duplicates, duplicates }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await body(`http://127.0.0.1:${server.address().port}/s/${id}`, posts);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test("a client works in node, in memory, and answers once", async () => {
  await serving("node-once", [], async (link, posts) => {
    const client = await Client.load(link);
    assert.deepEqual([client.persistent, client.offline, client.closed, client.epsilon], [false, false, false, "1"]);
    assert.equal(client.survey.id, "node-once");
    assert.equal(client.receipt, null);
    const receipt = await client.submit({ q: true });
    assert.ok(receipt.delivered && receipt === client.receipt && receipt === (await receipt.settled));
    const { id, digest, booklet, reports, segments } = receipt;
    assert.equal(posts[0].text, JSON.stringify({ id, digest, booklet, reports, segments }));
    assert.equal(posts[0].headers["content-type"], JSON_TYPE);
    await assert.rejects(client.submit({ q: false }), (error) => {
      return error.reason === "already_answered" && error.receipt === receipt;
    });
    const again = await Client.load(`${link}?from=mail#${client.digest}`);
    assert.equal(again.receipt, receipt);
    assert.equal(posts.length, 1);
    assert.equal(await client.flush(), true);
  });
});

test("every attempt sends the same bytes, and waits as long as the server asks", async () => {
  const replies = [
    (answer, response) => response.destroy(),
    (answer) => answer(503, "{}", { "Content-Type": PROBLEM, "Retry-After": "1" }),
    (answer) => answer(302, "", { Location: "/elsewhere" }),
  ];
  await serving("node-retry", replies, async (link, posts) => {
    const client = await Client.load(link);
    const waiting = await client.submit({ q: true }, {}, { timeout: 0 });
    assert.ok(!waiting.delivered);
    assert.equal(await client.flush(30), true);
    assert.ok(waiting.delivered && waiting.trouble === null);
    assert.equal(posts.length, 4);
    assert.equal(new Set(posts.map(({ text }) => text)).size, 1);
    assert.ok(posts[2].time - posts[1].time >= 990, `${posts[2].time - posts[1].time}`);
  });
});

test("trouble is shown while it lasts", async () => {
  const later = (answer) => answer(503, "", { "Content-Type": "text/html", "Retry-After": "1" });
  await serving("node-trouble", [later], async (link) => {
    const client = await Client.load(link);
    const receipt = await client.submit({ q: true }, {}, { timeout: 0.5 });
    assert.equal(receipt.trouble, "the server answered 503 with text/html");
    assert.ok(receipt.reached && !receipt.delivered && receipt.refused === null);
    await receipt.settled;
    assert.ok(receipt.delivered && receipt.trouble === null);
  });
});

test("a refused submission is spent", async () => {
  const problem = '{"type": "urn:deniable:problem:survey-closed", "title": "The survey is closed", "detail": "Sorry."}';
  await serving("node-closed", [(answer) => answer(409, problem, { "Content-Type": PROBLEM })], async (link, posts) => {
    const client = await Client.load(link);
    await assert.rejects(client.submit({ q: true }), (error) => {
      assert.equal(error.reason, "closed");
      assert.match(error.message, /The survey is closed: Sorry\./);
      assert.equal(error.receipt.refused.title, "The survey is closed");
      return true;
    });
    assert.ok(client.closed);
    await assert.rejects(client.submit({ q: true }), { reason: "already_answered" });
    assert.equal(posts.length, 1);
  });
});

const joint = (id) => document(({ survey }) => (survey.id = id));
const ANSWERS = { vaped: false, support: [], stress: 1, hours: 3 };
const SEGMENTS = { campus: "north" };

test("the booklet is drawn when the survey is loaded, kept, and never drawn again", async () => {
  const seen = new Set();
  for (let i = 0; i < 40; i++) {
    await serving(
      `node-booklet-${i}`,
      [],
      async (link, posts) => {
        const clients = await Promise.all([Client.load(link), Client.load(`${link}?from=mail`), Client.load(link)]);
        const { booklet, questions, parts, digest } = clients[0];
        clients.push(await Client.load(`${link}#${digest}`));
        for (const client of clients) {
          assert.equal(client.booklet, booklet);
          assert.deepEqual(client.questions, questions);
        }
        const asked = ["vaped often regret", "vaped often support helpful stress", "support stress", "hours"][booklet];
        assert.equal(questions.map(({ id }) => id).join(" "), asked);
        const support = questions.find(({ id }) => id === "support");
        if (support) assert.equal(support.options.length, { 1: 2, 2: 1 }[booklet]);
        clients[0].booklet = (booklet + 1) % 4; // a page cannot choose another one
        const receipt = await clients[0].submit(ANSWERS, SEGMENTS);
        assert.deepEqual([receipt.booklet, receipt.reports.length], [booklet, parts.length]);
        assert.equal(JSON.parse(posts[0].text).booklet, booklet);
        assert.equal((await Client.load(link)).booklet, booklet);
        seen.add(booklet);
      },
      joint(`node-booklet-${i}`),
    );
  }
  // Two of the four or fewer in 40 draws: mostly the last two left out, (8/11)^40, together below 10^-5.
  assert.ok(seen.size >= 3, `${[...seen]}`);
});

test("forgetting a survey removes all that is kept of it, but not while a submission waits", async () => {
  const later = (answer) => answer(503, "", { "Content-Type": "text/html", "Retry-After": "1" });
  await serving(
    "node-forget",
    [later],
    async (link, posts) => {
      const client = await Client.load(link);
      const receipt = await client.submit(ANSWERS, SEGMENTS, { timeout: 0 });
      const refused = await client.forget().then(() => undefined, ({ reason }) => reason);
      await receipt.settled; // whatever comes next: what is on its way would keep this process alive
      assert.equal(refused, "waiting");
      await client.forget();
      await client.forget();
      assert.equal(client.receipt, null);
      await assert.rejects(client.submit(ANSWERS, SEGMENTS), { reason: "forgotten" });
      const booklets = new Set();
      for (let i = 0; i < 40; i++) {
        const again = await Client.load(link);
        assert.equal(again.receipt, null);
        booklets.add(again.booklet);
        await again.forget();
      }
      assert.ok(booklets.size > 1); // 40 times the same one: below 10^-13
      const other = await (await Client.load(link)).submit(ANSWERS, SEGMENTS);
      assert.notEqual(other.id, receipt.id);
      assert.equal(new Set(posts.map(({ text }) => text)).size, 2);
    },
    joint("node-forget"),
  );
});

test("what cannot be loaded says so", async () => {
  await serving("node-there", [], async (link) => {
    await assert.rejects(Client.load(link.replace("there", "away")), { reason: "unreachable" });
    await assert.rejects(Client.load(`${link}#${"0".repeat(64)}`), { reason: "digest" });
  });
  await assert.rejects(Client.load("http://127.0.0.1:1/s/ab"), { reason: "unreachable" });
  await assert.rejects(Client.load("/s/ab"), { reason: "address" }); // relative to no page
  for (const timeout of [-1, NaN, Infinity, "soon", 86_401]) {
    await assert.rejects(Client.load("http://127.0.0.1:1/s/ab", { timeout }), RangeError);
  }
});
