// pg-boss: fetch and complete in a loop. Its worker would wait for half a second between two single jobs.

import { PgBoss } from "pg-boss";

const QUEUE = "do_nothing";

export async function prepare(url) {
  const boss = await started(url);
  await boss.createQueue(QUEUE);
}

export async function sender(url) {
  const boss = await started(url);
  return {
    async one_by_one(jobs) {
      for (let number = 0; number < jobs; number++) {
        await boss.send(QUEUE, { number });
      }
    },
    async in_bulk(jobs) {
      await boss.insert(QUEUE, Array.from({ length: jobs }, (_, number) => ({ data: { number } })));
    },
  };
}

export async function drain(url, batchSize, tick) {
  const boss = await started(url);
  for (;;) {
    const jobs = await boss.fetch(QUEUE, { batchSize: Number(batchSize) });
    if (jobs.length === 0) {
      break;
    }
    jobs.forEach(() => tick());
    await boss.complete(QUEUE, jobs.map((job) => job.id));
  }
}

// Without schedules and maintenance, which would only take time from the jobs.
async function started(url) {
  const boss = new PgBoss({ connectionString: url, schedule: false, supervise: false });
  boss.on("error", console.error);
  await boss.start();
  return boss;
}
