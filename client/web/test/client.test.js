// The network client, as far as it needs no browser: real requests to a real server in this process, kept in memory.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { Client } from "../src/deniable.js";
import { jitter, judge, retryAfter } from "../src/deniable/delivery.js";
import { sum, units } from "../src/deniable/checks.js";
import { exactBudget } from "../src/deniable/device.js";
import { gaussian } from "../src/deniable/tables.js";
import { document, exponential, inTwoLanguages, textbook } from "./surveys.js";

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

test("a budget is a decimal or two, taken as they were written; what is left out is the default", () => {
  for (const budget of [undefined, null, []]) assert.deepEqual({ ...exactBudget(budget) }, { epsilon: "10", delta: "0.000001" });
  for (const [budget, epsilon, delta = "0.000001"] of [
    [0.3, "0.3"], ["0.30", "0.30"], [10, "10"], [0, "0"], [[2], "2"], [[2, "0.00001"], "2", "0.00001"], [["2", 0], "2", "0"],
  ]) {
    assert.deepEqual({ ...exactBudget(budget) }, { epsilon, delta });
  }
  const wrong = [-1, "-0.1", "", "x", "1/3", " 1", "1e3", NaN, Infinity, true, {}, "0.0000000000001", [1, -1], [1, 2, 3]];
  for (const budget of wrong) assert.throws(() => exactBudget(budget), RangeError, String(budget));
});

// --- a client under node ------------------------------------------------------------------------------------------

/** Serves one survey; `replies` come first, each a function of the response, and then it behaves. */
async function serving(id, replies, body, published = textbook(id)) {
  const [posts, gets] = [[], []];
  const counted = new Set();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const answer = (status, content, headers = {}) =>
      response.writeHead(status, { "Content-Type": JSON_TYPE, ...headers }).end(content);
    const known = request.url.includes(`/api/v1/surveys/${id}`);
    if (request.method === "GET") {
      gets.push(request.url);
      return known ? answer(200, published) : answer(404, "{}");
    }
    posts.push({ text, headers: request.headers, time: performance.now() });
    const reply = replies.shift();
    if (reply) return reply(answer, response);
    const duplicates = counted.has(text) ? 1 : 0;
    counted.add(text);
    answer(201, JSON.stringify({ accepted: 1 - duplicates, duplicates }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const link = `http://127.0.0.1:${server.address().port}/s/${id}`;
  try {
    await body(link, posts, gets);
  } finally {
    // The next test has a device without a past.
    await Client.load(link, { budget: 99 }).then((client) => client.forget({ unsent: true }), () => undefined);
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

const noisy = (id, delta) => {
  const own = { min: 0, max: 1, mechanism: "gaussian", delta };
  const weights = gaussian({ rows: 9n, power: exponential("0.5"), delta: units(delta) });
  return textbook(id, [{ id: "noise", type: "number", text: "How much?", epsilon: "0.5", ...own }], [{ kind: "table", weights }]);
};

const joint = (id) => document(({ survey }) => (survey.id = id));
const ANSWERS = { vaped: false, support: [], stress: 1, hours: 3 };
const SEGMENTS = { campus: "north" };

test("the booklet is drawn when the survey is loaded, kept, and never drawn again", async () => {
  const seen = new Set();
  for (let i = 0; i < 60; i++) {
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
  // Two of the four or fewer in 60 draws: mostly the last two left out, (8/11)^60, together below 10^-8.
  assert.ok(seen.size >= 3, `${[...seen]}`);
});

test("a client speaks the languages of its survey", async () => {
  const found = async (link, posts) => {
    const client = await Client.load(link);
    assert.deepEqual([client.languages, client.language, client.survey.title], [["en", "es"], "en", "Joint"]);
    const { booklet, digest } = client;
    assert.equal(client.useLanguage("es-AR"), "es");
    assert.deepEqual([client.language, client.survey.title], ["es", "Conjunta"]);
    const vaped = client.questions.find(({ id }) => id === "vaped");
    if (vaped) assert.equal(vaped.text, "¿vaped?");
    assert.ok(client.parts.every(({ items }) => items.every(({ question }) => client.survey.questions.includes(question))));
    await client.submit(ANSWERS, SEGMENTS);
    const sent = JSON.parse(posts[0].text);
    assert.deepEqual([sent.booklet, sent.digest], [booklet, digest]);
  };
  await serving("node-languages", [], found, inTwoLanguages("node-languages"));
  const silent = async (link) => {
    const client = await Client.load(link);
    assert.deepEqual([client.languages, client.useLanguage("es")], [[], undefined]);
  };
  await serving("node-no-language", [], silent, joint("node-no-language"));
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
      const other = await Client.load(link);
      const second = await other.submit(ANSWERS, SEGMENTS);
      assert.notEqual(second.id, receipt.id);
      assert.equal(new Set(posts.map(({ text }) => text)).size, 2);
    },
    joint("node-forget"),
  );
});

test("what waits is forgotten where the app says so, and never sent again", async () => {
  const later = (answer) => answer(503, "", { "Content-Type": "text/html", "Retry-After": "1" });
  await serving("node-unsent", [later], async (link, posts) => {
    const client = await Client.load(link);
    const receipt = await client.submit({ q: true }, {}, { timeout: 0.2 });
    await client.forget({ unsent: true });
    await receipt.settled;
    assert.deepEqual([receipt.status, receipt.delivered, receipt.refused], ["forgotten", false, null]);
    assert.equal((await Client.load(link)).receipt, null);
    assert.equal(posts.length, 1);
  });
});

test("the same survey is answered once, at whatever address and with whatever booklets", async () => {
  const published = joint("node-same");
  const other = document((tree) => {
    tree.survey.id = "node-same";
    tree.booklets[0].weight += 1;
  });
  await serving("node-same", [], async (link, posts) => {
    const client = await Client.load(link);
    const elsewhere = await Client.load(link.replace("/s/", "/r1/s/"));
    assert.equal(elsewhere.booklet, client.booklet);
    await serving("node-same", [], async (mirror, more) => {
      await assert.rejects(Client.load(mirror), { reason: "changed" }); // no second booklet before the first answer
      await client.submit(ANSWERS, SEGMENTS);
      await assert.rejects(elsewhere.submit(ANSWERS, SEGMENTS), { reason: "already_answered" });
      for (const address of [link, mirror, mirror.replace("/s/", "/r2/s/")]) {
        const again = await Client.load(address);
        assert.ok(again.receipt.delivered);
        if (address !== link) assert.deepEqual([again.receipt.id, again.receipt.reports], [undefined, []]); // not kept
        await assert.rejects(again.submit(ANSWERS, SEGMENTS), { reason: "already_answered" });
      }
      assert.equal(more.length, 0);
    }, other);
    assert.equal(posts.length, 1);
  }, published);
});

test("without a budget a device spends ten; the refusal comes before anything is asked", async () => {
  const of = (id, body) => serving(id, [], body, joint(id)); // each spends 2
  const answered = async (count, then) => {
    if (!count) return then();
    await of(`node-ten-${count}`, async (link) => {
      const receipt = await (await Client.load(link)).submit(ANSWERS, SEGMENTS);
      assert.deepEqual([receipt.epsilon, receipt.delta], ["2.0", "0"]);
      await answered(count - 1, then);
    });
  };
  await of("node-more", async (link, posts) => {
    await answered(5, async () => {
      await assert.rejects(Client.load(link), (error) => {
        assert.equal(error.reason, "budget");
        const said = /spends ε = 2\.0, δ = 0, and ε = 10, δ = 0 is already .* budget of ε = 10, δ = 0\.000001$/;
        return said.test(error.message);
      });
      assert.ok(await Client.load(link, { budget: "12.0" }));
    });
    await answered(4, async () => {
      const client = await Client.load(link);
      await of("node-other", async (other) => {
        await (await Client.load(other)).submit(ANSWERS, SEGMENTS);
        await assert.rejects(client.submit(ANSWERS, SEGMENTS), { reason: "budget" }); // spent since it was loaded
        assert.equal(client.receipt, null);
      });
    });
    assert.equal(posts.length, 0);
  });
});

test("delta counts against the budget", async () => {
  const id = "node-delta";
  const published = noisy(id, "0.00001");
  await serving(id, [], async (link, posts) => {
    for (const budget of [undefined, 10, [10, "0.000009"]]) {
      await assert.rejects(Client.load(link, { budget }), { reason: "budget" });
    }
    const client = await Client.load(link, { budget: [10, "0.00001"] });
    const receipt = await client.submit({ noise: 1 });
    assert.deepEqual([receipt.epsilon, receipt.delta], ["0.5", "0.00001"]);
  }, published);
});

test("visiting another survey sends nothing of what waits", async () => {
  const down = (answer) => answer(503, "", { "Content-Type": "text/html", "Retry-After": "6" });
  await serving("node-beacon", [down], async (link, posts) => {
    const client = await Client.load(link);
    const receipt = await client.submit({ q: true }, {}, { timeout: 0.2 });
    await serving("node-visit", [], async (other) => {
      const visitor = await Client.load(other);
      assert.equal(await visitor.flush(1), true);
      assert.ok((await visitor.submit({ q: true })).delivered);
      const mirror = await Client.load(link.replace("/s/", "/r1/s/"));
      assert.equal(mirror.receipt.id, receipt.id);
      assert.equal(await mirror.flush(1), false); // it waits, but not for this address
    });
    assert.equal(posts.length, 1);
  });
});

test("retries end after two weeks: the reports are gone, and what they spent is not", async () => {
  const busy = (answer) => answer(503, "", { "Content-Type": "text/html" });
  const { now } = Date;
  const days = (count) => (Date.now = () => now() + count * 86_400_000);
  await serving("node-expiry", Array(100).fill(busy), async (link, posts) => {
    const client = await Client.load(link);
    const receipt = await client.submit({ q: true }, {}, { timeout: 0 });
    try {
      days(14);
      assert.equal((await Client.load(link)).receipt.status, "waiting");
      days(15);
      assert.equal(await client.flush(20), true);
      assert.deepEqual([receipt.status, receipt.delivered, receipt.refused], ["expired", false, null]);
      const tried = posts.length;
      const again = await Client.load(link);
      assert.equal(again.receipt.status, "expired");
      assert.equal(await again.flush(1), true);
      await assert.rejects(again.submit({ q: true }), { reason: "already_answered" });
      await serving("node-later", [], (other) => assert.rejects(Client.load(other, { budget: 1 }), { reason: "budget" }));
      assert.equal(posts.length, tried);
    } finally {
      Date.now = now;
    }
  });
});

test("a redirect is followed nowhere", async () => {
  await serving("node-target", [], async (target, stolen, asked) => {
    const away = (address) => (answer) => answer(307, "", { Location: address.replace("/s/", "/api/v1/surveys/") });
    await serving("node-target", [away(`${target}/submissions`)], async (link, posts) => {
      const client = await Client.load(link);
      const receipt = await client.submit({ q: true });
      assert.ok(receipt.delivered);
      assert.equal(posts.length, 2); // sent again to its own server, and there alone
    });
    const location = target.replace("/s/", "/api/v1/surveys/");
    const moving = createServer((_, response) => response.writeHead(307, { Location: location }).end());
    await new Promise((resolve) => moving.listen(0, "127.0.0.1", resolve));
    const moved = `http://127.0.0.1:${moving.address().port}/s/node-target`;
    await assert.rejects(Client.load(moved), { reason: "unreachable" }).finally(() => moving.close());
    assert.deepEqual([stolen, asked], [[], []]);
  });
});

test("no request may be answered from a cache, or say who asks", async () => {
  const { fetch } = globalThis;
  const seen = [];
  globalThis.fetch = (url, options) => {
    seen.push(options);
    return fetch(url, options);
  };
  try {
    await serving("node-cache", [], async (link) => {
      const client = await Client.load(link);
      await client.submit({ q: true });
      assert.equal(seen.length, 2);
    });
  } finally {
    globalThis.fetch = fetch;
  }
  for (const { cache, credentials, redirect, referrerPolicy } of seen) {
    assert.deepEqual([cache, credentials, redirect, referrerPolicy], ["no-store", "omit", "error", "no-referrer"]);
  }
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
