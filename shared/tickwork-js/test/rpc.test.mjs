// Anything that has .rpc() is a way in.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Tickwork, Unavailable } from "@tickwork/client";

const JOB = "11111111-1111-4111-8111-111111111111";

/** A client that gives these responses, one after the other, and keeps what it was asked. */
function client(...responses) {
  const calls = [];
  return { calls, rpc: (name, given) => (calls.push([name, given]), Promise.resolve(responses.shift())) };
}

test("rows, one row, a value and nothing are what they are", async () => {
  const rpc = client(
    ...[{ data: [{ id: 1 }, { id: 2 }], error: null }, { data: { id: JOB }, error: null }],
    ...[{ data: "because", error: null }, { data: null, error: null }],
  );
  const tickwork = new Tickwork({ client: rpc, tenant_id: "mine" });

  assert.equal((await tickwork.jobs.listJobs({})).length, 2);
  assert.equal((await tickwork.get(JOB)).id, JOB);
  assert.equal(await tickwork.explain(JOB), "because");
  assert.equal(await tickwork.schedules.deleteSchedule({ schedule_id: JOB }), undefined);
  assert.deepEqual(rpc.calls[0], ["list_jobs", { tenant_id: "mine" }]);
});

test("an error has its class by the code; without one the database was not reached", async () => {
  const lost = { data: null, error: { message: "fetch failed", code: "" }, status: 0 };
  const refused = { data: null, error: { message: "no", code: "TWPAY", hint: "look" }, status: 400 };
  const rpc = client(lost, { data: { id: JOB }, error: null }, lost, refused);
  const tickwork = new Tickwork({ client: rpc });

  await tickwork.get(JOB);
  await assert.rejects(tickwork.retry(JOB), Unavailable);
  await assert.rejects(tickwork.enqueue("x"), { name: "InvalidRequest", code: "TWPAY", hint: "look", status: 400 });

  // Only the read was repeated.
  assert.deepEqual(
    rpc.calls.map(([name]) => name),
    ["get_job", "get_job", "retry_job", "enqueue_job"],
  );
});

test("a signal is passed on to a client that takes one, and ends the call in any case", async () => {
  const reason = new Error("enough");
  const passed = [];
  for (const more of [{}, { abortSignal: (signal) => passed.push(signal) }]) {
    const controller = new AbortController();
    const tickwork = new Tickwork({ client: { rpc: () => Object.assign(new Promise(() => {}), more) } });
    const ended = assert.rejects(tickwork.get(JOB, { signal: controller.signal }), (error) => error === reason);
    controller.abort(reason);
    await ended;
  }
  assert.equal(passed.length, 1);
  assert.ok(passed[0].aborted);
});
