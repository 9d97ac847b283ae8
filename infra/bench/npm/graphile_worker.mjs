// graphile-worker: its defaults at one job at a time, and the settings of its own page on performance.

import { makeWorkerUtils, run } from "graphile-worker";

const TASK = "do_nothing";
const SETTINGS = {
  one: { concurrentJobs: 1 },
  best: {
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
};

export async function prepare(url) {
  const utils = await makeWorkerUtils({ connectionString: url });
  await utils.migrate();
}

export async function sender(url) {
  const utils = await makeWorkerUtils({ connectionString: url });
  return {
    async one_by_one(jobs) {
      for (let number = 0; number < jobs; number++) {
        await utils.addJob(TASK, { number });
      }
    },
    async in_bulk(jobs) {
      await utils.addJobs(Array.from({ length: jobs }, (_, number) => ({ identifier: TASK, payload: { number } })));
    },
  };
}

export async function drain(url, setting, tick) {
  const runner = await run({
    preset: { worker: { connectionString: url, ...SETTINGS[setting] } },
    taskList: { [TASK]: async () => tick() },
    noHandleSignals: true,
  });
  await runner.promise;
}
