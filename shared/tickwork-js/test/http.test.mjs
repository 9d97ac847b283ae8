// What is sent over HTTP, what becomes of errors, and what is repeated.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as client from "@tickwork/client";
import { nobody, serving } from "./server.mjs";

const { Tickwork } = client;
const JOB = "11111111-1111-4111-8111-111111111111";
const BUSY = [503, { detail: "busy" }, { "retry-after": "0" }];
const FULL = [429, { detail: "full", code: "TWFUL" }, { "retry-after": "0" }];
const LIMITED = [429, { detail: "slower" }, { "retry-after": "0" }];
const DONE = [200, { id: JOB, status: "queued" }];

async function started(t, responses, options = {}) {
  const server = await serving(t, responses);
  return { ...server, tickwork: new Tickwork({ url: server.url, key: "tw_secret", ...options }) };
}

test("arguments go to the path, the query and the body", async (t) => {
  const rows = [200, { items: [], next_cursor: null }];
  const { tickwork, requests } = await started(t, [DONE, rows, DONE, [204]]);

  await tickwork.get("a/../b?c");
  await tickwork.jobs.listJobs({ tenant_id: JOB, oldest_first: true, max_jobs: 2, type: null, lane: undefined });
  await tickwork.retry(JOB, { max_attempts: 9 });
  await tickwork.schedules.deleteSchedule({ schedule_id: JOB });

  assert.deepEqual(
    requests.map(({ method, url, body }) => [method, url, body]),
    [
      ["GET", "/api/v1/jobs/a%2F..%2Fb%3Fc", null],
      ["GET", `/api/v1/jobs?tenant_id=${JOB}&oldest_first=true&max_jobs=2`, null],
      ["POST", `/api/v1/jobs/${JOB}/retry`, { max_attempts: 9 }],
      ["DELETE", `/api/v1/schedules/${JOB}`, null],
    ],
  );
  assert.equal(requests[0].headers.authorization, "Bearer tw_secret");
});

test("a token may be a function that knows the current one", async (t) => {
  let count = 0;
  const token = async () => `token-${(count += 1)}`;
  const { tickwork, requests } = await started(t, [DONE, DONE], { key: undefined, token });

  await tickwork.get(JOB);
  await tickwork.get(JOB);

  assert.deepEqual(
    requests.map(({ headers }) => headers.authorization),
    ["Bearer token-1", "Bearer token-2"],
  );
});

test("a client has a key or a token, and not both", () => {
  for (const given of [{}, { key: "a", token: "b" }]) {
    assert.throws(() => new Tickwork({ url: "http://127.0.0.1", ...given }), client.InvalidRequest);
  }
});

test("the tenant of the client is that of every verb that has one", async (t) => {
  const { tickwork, requests } = await started(t, [DONE, DONE, DONE], { tenant_id: "mine" });

  await tickwork.enqueue("greet_person");
  await tickwork.enqueue("greet_person", {}, { tenant_id: "other" });
  await tickwork.cancel(JOB);

  assert.deepEqual(
    requests.map(({ body }) => body.tenant_id),
    ["mine", "other", undefined],
  );
});

test("a job gets an idempotency key of its own, unless it has one", async (t) => {
  const { tickwork, requests } = await started(t, [DONE, DONE, DONE, [200, { items: [] }]]);

  await tickwork.enqueue("greet_person");
  await tickwork.enqueue("greet_person");
  await tickwork.enqueue("greet_person", {}, { idempotency_key: "k" });
  await tickwork.enqueueMany([
    { type: "a", payload: {} },
    { type: "b", payload: {}, idempotency_key: "k" },
  ]);

  const [first, second, third, many] = requests.map(({ body }) => body.idempotency_key ?? body.jobs);
  assert.ok(first && second && first !== second);
  assert.equal(third, "k");
  assert.ok(many[0].idempotency_key);
  assert.equal(many[1].idempotency_key, "k");
});

const PASSING = { 503: BUSY, 502: [502, "<html>"], 429: LIMITED, "a lost response": "break" };

for (const [name, passing] of Object.entries(PASSING)) {
  test(`reading and enqueueing go on after ${name}`, async (t) => {
    const { tickwork, requests } = await started(t, [passing, DONE, passing, DONE]);

    await tickwork.get(JOB);
    await tickwork.enqueue("greet_person");

    assert.equal(requests.length, 4);
    assert.deepEqual(requests[2].body, requests[3].body);
  });
}

test("what might happen twice is not sent twice, unless the first time was refused", async (t) => {
  const { tickwork, requests } = await started(t, ["break", BUSY, LIMITED, DONE]);

  await assert.rejects(tickwork.retry(JOB), client.Unavailable);
  await assert.rejects(tickwork.retry(JOB), client.Unavailable);
  await tickwork.retry(JOB);

  assert.equal(requests.length, 4);
});

test("a full queue is told at once", async (t) => {
  const { tickwork, requests } = await started(t, [FULL]);

  await assert.rejects(tickwork.enqueue("greet_person"), client.QueueFull);

  assert.equal(requests.length, 1);
});

test("who is told to come back much later is told by an error", async (t) => {
  const { tickwork, requests } = await started(t, [[503, { detail: "later" }, { "retry-after": "3600" }]]);

  await assert.rejects(tickwork.get(JOB), { name: "Unavailable", status: 503, retry_after: 3600, message: "later" });

  assert.equal(requests.length, 1);
});

test("retries come to an end", async (t) => {
  const { tickwork, requests } = await started(t, () => BUSY, { retries: 2 });

  await assert.rejects(tickwork.get(JOB), client.Unavailable);

  assert.equal(requests.length, 3);
});

test("a request that was never sent is repeated, whatever it is", async () => {
  let count = 0;
  const counted = (...given) => (count++, fetch(...given));
  const tickwork = new Tickwork({ url: await nobody(), key: "k", retries: 1, fetch: counted });

  await assert.rejects(tickwork.retry(JOB), client.Unavailable);

  assert.equal(count, 2);
});

test("errors have their class by the code, and tell what the server told", async (t) => {
  const problem = { detail: "no such job", code: "TWJOB", hint: "look", request_id: "r1" };
  const responses = [[404, problem], [401, {}], [400, "<html>"], [500, null], [409, { code: "XX001" }]];
  const { tickwork } = await started(t, responses);

  const seen = [];
  for (let number = 0; number < 5; number += 1) seen.push(await tickwork.retry(JOB).catch((error) => error));

  assert.ok(seen[0] instanceof client.NoSuchJob && seen[0] instanceof client.QueueError && seen[0] instanceof Error);
  const { message, code, hint, status, request_id } = seen[0];
  assert.deepEqual([message, code, hint, status, request_id], ["no such job", "TWJOB", "look", 404, "r1"]);
  assert.deepEqual(
    seen.map((error) => error.name),
    ["NoSuchJob", "NotAllowed", "InvalidRequest", "Unavailable", "QueueError"],
  );
});

test("a signal ends a request, and the pause before the next one", async (t) => {
  const { tickwork } = await started(t, ["hang", [503, {}, { "retry-after": "9" }]]);
  for (const call of [tickwork.retry, tickwork.get]) {
    const controller = new AbortController();
    const reason = new Error("enough");
    const ended = assert.rejects(call.call(tickwork, JOB, { signal: controller.signal }), (error) => error === reason);
    setTimeout(() => controller.abort(reason), 50);
    await ended;
  }
  await assert.rejects(tickwork.get(JOB, { signal: AbortSignal.abort(new Error("never begun")) }), /never begun/);
});

test("a server that does not respond is unavailable", async (t) => {
  const { tickwork } = await started(t, () => "hang", { timeout_seconds: 0.05, retries: 0 });

  await assert.rejects(tickwork.get(JOB), { name: "Unavailable", message: "get_job: no response within 0.05 s" });
});

test("a list reads the next page when it is needed", async (t) => {
  const page = (...ids) => [200, { items: ids.map((id) => ({ id })), next_cursor: null }];
  const { tickwork, requests } = await started(t, [page("a", "b"), page("c", "d"), page("e")]);

  const ids = [];
  for await (const job of tickwork.list({ page_size: 2 })) {
    ids.push(job.id);
    if (job.id === "a") assert.equal(requests.length, 1);
  }

  assert.deepEqual(ids, ["a", "b", "c", "d", "e"]);
  assert.deepEqual(
    requests.map(({ url }) => new URL(url, "http://x").searchParams.get("after_id")),
    [null, "b", "d"],
  );
});

test("watch yields a job whenever it has changed, and ends with it", async (t) => {
  const seen = (status, progress, finished_at = null) => [200, { id: JOB, status, progress, finished_at }];
  const { tickwork } = await started(t, [
    seen("queued", null),
    seen("queued", null),
    seen("running", 0.5),
    seen("done", 1, "2026-01-01T00:00:00Z"),
  ]);

  const statuses = [];
  for await (const job of tickwork.watch(JOB)) statuses.push(job.status);

  assert.deepEqual(statuses, ["queued", "running", "done"]);
});
