// A worker of the family `drain`, as a process that tests/js/test_worker.py kills.
import { Tickwork, Worker } from "@tickwork/client";

const { TICKWORK_URL: url, TICKWORK_KEY: key } = process.env;
const handlers = {
  count_up: ({ n }) => ({ by: "js", n }),
  hang_js: (_, { job }) => (job.attempts === 1 ? new Promise(() => {}) : { by: "js" }),
  wait_js: (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
};
const options = { family: "drain", worker_id: "js", handlers, concurrency: 4, poll_seconds: 0.2 };
const worker = new Worker(new Tickwork({ url, key }), options);
process.on("SIGTERM", () => worker.stop());
await worker.run();
