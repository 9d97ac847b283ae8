// A worker against a server that says what a queue says in rare moments.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NotYet, Permanent, Retryable, Tickwork, Worker } from "@tickwork/client";
import { serving } from "./server.mjs";

const CLAIM = /\/worker\/jobs\/claim$/;
const LOST = [409, { detail: "lost", code: "TWLSE" }];

const claimed = (type, more = {}) => ({
  id: `job-${type}`,
  tenant_id: "t",
  type,
  family: "test",
  payload: { type },
  attempts: 1,
  lease_token: `token-${type}`,
  lease_seconds: 60,
  timeout_seconds: 300,
  ...more,
});

const VERBS = { done: "complete", failed: "fail", released: "release" };

/** Notes the outcome as if it had come alone; what would be refused alone is refused. */
function settledAndClaimed({ outcomes, max_jobs }, left, requests, responses) {
  const [{ status, ...body }] = outcomes;
  const told = responses[VERBS[status]];
  if (told && told !== LOST) return told;
  requests.push({ url: `/api/v1/worker/jobs/${body.job_id}/${VERBS[status]}`, body });
  const settled = [{ job_id: body.job_id, is_held: told !== LOST, status }];
  return [200, { settled, claimed: left.splice(0, max_jobs) }];
}

/** A queue with these jobs; `responses` are by the last part of the path. */
async function working(t, { jobs, handlers, responses = {}, ...options }) {
  const left = [...jobs];
  const { url, requests } = await serving(t, ({ url, body }) => {
    if (CLAIM.test(url)) return [200, { items: left.splice(0, body.max_jobs), next_cursor: null }];
    if (/settle_and_claim$/.test(url)) return settledAndClaimed(body, left, requests, responses);
    const told = responses[url.split("/").at(-1)];
    return (typeof told === "function" ? told() : told) ?? [200, { value: false }];
  });
  const errors = [];
  const tickwork = new Tickwork({ url, key: "tw_worker" });
  const onError = (error) => errors.push(error);
  const worker = new Worker(tickwork, { family: "test", handlers, poll_seconds: 0.05, onError, ...options });
  const settled = () => requests.filter(({ url }) => /complete|fail|release$/.test(url));
  return { worker, requests, errors, settled };
}

async function until(is) {
  const giveUpAt = Date.now() + 60_000;
  while (!is() && Date.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 5));
}

test("what a handler returns or throws settles its job", async (t) => {
  const handlers = {
    fine: (payload, { job }) => ({ payload, attempt: job.attempts }),
    hopeless: () => Promise.reject(new Permanent("never", { code: "NEVER" })),
    unlucky: () => Promise.reject(new Retryable("later", { delay: 7 })),
    early: () => Promise.reject(new NotYet("not yet", { delay: 8 })),
    broken: () => Promise.reject(new TypeError("a secret")),
    chained: (_, { followUp }) => void followUp({ type: "next" }),
  };
  const jobs = Object.keys(handlers).map((type) => claimed(type));
  const { worker, requests, settled } = await working(t, { jobs, handlers });

  const ended = worker.run();
  await until(() => settled().length === 6);
  await worker.stop();
  await ended;

  const told = Object.fromEntries(
    settled().map(({ url, body: { job_id, lease_token, ...rest } }) => {
      const [, , , , , id, verb] = url.split("/");
      assert.equal(lease_token, id.replace("job", "token"));
      return [id.replace("job-", ""), [verb, rest]];
    }),
  );
  const { exception, ...broken } = told.broken[1];
  assert.match(exception, /TypeError: a secret/);
  assert.deepEqual(broken.error, { code: "UNEXPECTED", message: "The handler failed: TypeError" });
  assert.deepEqual(told.fine, ["complete", { result: { payload: { type: "fine" }, attempt: 1 } }]);
  assert.deepEqual(told.hopeless, ["fail", { error: { code: "NEVER", message: "never" }, retryable: false }]);
  assert.deepEqual(told.unlucky[1].retry_after_seconds, 7);
  assert.deepEqual(told.early, ["release", { delay_seconds: 8 }]);
  assert.deepEqual(told.chained, ["complete", { follow_ups: [{ type: "next" }] }]);
  assert.deepEqual(requests[0].body.types, Object.keys(handlers));
});

test("a claim waits for a job to come, and settling one claims the next", async (t) => {
  const jobs = [claimed("fine"), claimed("fine", { id: "job-2" })];
  const { worker, requests, settled } = await working(t, { jobs, handlers: { fine: () => 1 }, wait_seconds: 3 });

  const ended = worker.run();
  await until(() => settled().length === 2);
  await worker.stop();
  await ended;

  assert.equal(requests[0].body.wait_seconds, 3);
  // The second job came with the end of the first.
  const sent = requests.map(({ url }) => url.split("/").at(-1)).filter((verb) => verb !== "complete");
  assert.deepEqual(sent.slice(0, 3), ["claim", "settle_and_claim", "settle_and_claim"]);
});

test("as many jobs run at once as the worker may have", async (t) => {
  let running = 0;
  let most = 0;
  const slow = async ({ number }) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 10 + 50 * (number % 3)));
    running -= 1;
  };
  const jobs = Array.from({ length: 9 }, (_, number) => claimed("slow", { id: `job-${number}`, payload: { number } }));
  const { worker, settled } = await working(t, { jobs, handlers: { slow }, concurrency: 3 });

  worker.run();
  await until(() => settled().length === 9);
  await worker.stop();

  assert.equal(most, 3);
});

test("heartbeats tell the progress, and bring the request to cancel", async (t) => {
  const handlers = {
    slow: (_, { signal, progress }) => {
      progress(0.5, "half");
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  };
  const jobs = [claimed("slow", { lease_seconds: 0.1 })];
  const responses = { heartbeat: [200, { value: true }] };
  const { worker, requests, settled } = await working(t, { jobs, handlers, responses });

  worker.run();
  await until(() => settled().length === 1);
  await worker.stop();

  const { body } = requests.find(({ url }) => /heartbeat/.test(url));
  assert.deepEqual([body.progress, body.message], [0.5, "half"]);
  assert.equal(settled()[0].body.error.code, "CANCELLED");
});

test("a worker that has lost its lease stops the handler and drops the result", async (t) => {
  let told;
  const handlers = {
    slow: (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve((told = signal.reason.message)))),
  };
  const jobs = [claimed("slow", { lease_seconds: 0.1 })];
  const { worker, requests, errors, settled } = await working(t, { jobs, handlers, responses: { heartbeat: LOST } });

  worker.run();
  await until(() => errors.length === 1);
  await worker.stop();

  assert.equal(told, "the lease was lost");
  assert.equal(requests.filter(({ url }) => /heartbeat/.test(url)).length, 1);
  assert.equal(errors[0].name, "LeaseLost");
  assert.deepEqual(settled(), []);
});

test("a stale token is told, and the worker goes on", async (t) => {
  const jobs = [claimed("fine"), claimed("fine", { id: "job-2" })];
  const responses = { complete: LOST };
  const { worker, errors, settled } = await working(t, { jobs, handlers: { fine: () => 1 }, responses });

  worker.run();
  await until(() => errors.length === 2);
  await worker.stop();

  assert.deepEqual(errors.map(({ name }) => name), ["LeaseLost", "LeaseLost"]);
  assert.equal(settled().length, 2);
});

test("a handler that takes too long fails, even if it does not stop", async (t) => {
  const handlers = { deaf: () => new Promise(() => {}) };
  const jobs = [claimed("deaf", { timeout_seconds: 0.05 })];
  const { worker, settled } = await working(t, { jobs, handlers, stop_seconds: 0.05 });

  worker.run();
  await until(() => settled().length === 1);
  await worker.stop();

  assert.deepEqual(settled()[0].body.error, { code: "TIMEOUT", message: "The handler took longer than 0.05 s" });
});

test("a result that the queue refuses fails the job", async (t) => {
  const responses = { complete: [413, { detail: "result: too large", code: "TWBIG" }] };
  const { worker, settled } = await working(t, { jobs: [claimed("fine")], handlers: { fine: () => 1 }, responses });

  worker.run();
  await until(() => settled().length === 2);
  await worker.stop();

  assert.deepEqual([settled()[1].body.error.code, settled()[1].body.retryable], ["REFUSED", false]);
});

test("who stops gives back what does not end in time", async (t) => {
  let begun = false;
  const handlers = {
    slow: (_, { signal }) => {
      begun = true;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  };
  const { worker, requests, settled } = await working(t, { jobs: [claimed("slow")], handlers, grace_seconds: 0 });

  const ended = worker.run();
  await until(() => begun);
  await worker.stop();
  await ended;

  assert.deepEqual(settled()[0].body.delay_seconds, 0);
  const count = requests.length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(requests.length, count);
});

test("a worker waits for a queue that is away, and ends if it may not claim", async (t) => {
  const responses = [[503, {}, { "retry-after": "99" }], [503, {}, { "retry-after": "99" }], [403, { code: "42501" }]];
  const { url, requests } = await serving(t, responses);
  const errors = [];
  const options = { family: "test", handlers: {}, poll_seconds: 0.01, onError: (error) => errors.push(error) };

  await assert.rejects(new Worker(new Tickwork({ url, key: "k" }), options).run(), { name: "NotAllowed" });

  assert.deepEqual([requests.length, errors.length], [3, 2]);
});
