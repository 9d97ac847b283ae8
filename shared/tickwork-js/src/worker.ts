import { Attempt, type ClaimedJob, type Handlers } from "./attempt.js";
import { QueueError, Unavailable } from "./errors.js";
import type { AnyJobTypes, JobTypesOf } from "./jobs.js";
import { pause } from "./pause.js";
import type { Queue } from "./queue.js";
import type { Tickwork } from "./tickwork.js";

export interface WorkerOptions<T extends JobTypesOf<T>> {
  family: string;
  /** What does the work, by type. Jobs of other types are left to other workers. */
  handlers: Handlers<T>;
  /** How many jobs run at once: 1 unless said otherwise. */
  concurrency?: number;
  /** For display: who has a job. */
  worker_id?: string;
  /** In place of what the type of a job says. A lease is renewed when a third of it is over. */
  lease_seconds?: number;
  /** How long to wait when there was nothing to do: 2 seconds unless said otherwise. */
  poll_seconds?: number;
  /** How long a claim over HTTP waits for a job to come, and `stop` for the claim: 5 seconds unless said otherwise. */
  wait_seconds?: number;
  /** How long `stop` lets running jobs go on before it gives them back: 20 seconds unless said otherwise. */
  grace_seconds?: number;
  /** How long a handler that was told to stop has for doing so: 5 seconds unless said otherwise. */
  stop_seconds?: number;
  /** Told about what the worker survives: the queue cannot be reached, a lease was lost. By default it is printed. */
  onError?: (error: unknown) => void;
}

/** Claims jobs of one family with a key that has the scope `worker:<family>`, and processes them. */
export class Worker<T extends JobTypesOf<T> = AnyJobTypes> {
  readonly #queue: Queue;
  readonly #options: WorkerOptions<T>;
  readonly #worker_id: string;
  readonly #concurrency: number;
  readonly #running = new Map<Attempt<T>, Promise<void>>();
  readonly #stopping = new AbortController();
  #ended: Promise<void> | null = null;

  constructor(tickwork: Tickwork<T>, options: WorkerOptions<NoInfer<T>>) {
    this.#queue = tickwork.queue;
    this.#options = options;
    this.#worker_id = options.worker_id ?? `js-${crypto.randomUUID().slice(0, 8)}`;
    this.#concurrency = Math.max(1, options.concurrency ?? 1);
  }

  /** Works until `stop` is called. Rejects if the key may not claim jobs of the family. */
  run(): Promise<void> {
    this.#ended ??= this.#work();
    return this.#ended;
  }

  /** Claims nothing more, lets running jobs end for as long as the grace allows, and gives back the others. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const timer = setTimeout(
      () => this.#running.forEach((_, attempt) => attempt.giveBack()),
      (this.#options.grace_seconds ?? 20) * 1000,
    );
    await this.#ended?.catch(() => undefined);
    clearTimeout(timer);
  }

  async #work(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      while (!signal.aborted) {
        // Whoever settles a job claims the next one in its place.
        const free = this.#concurrency - this.#running.size;
        if (free <= 0) {
          await Promise.race(this.#running.values());
          continue;
        }
        const beganAt = Date.now();
        const claimed = await this.#claim(free);
        const left = (this.#options.poll_seconds ?? 2) - (Date.now() - beganAt) / 1000;
        if (!claimed && left > 0) await pause(left, signal).catch(() => undefined);
      }
    } finally {
      while (this.#running.size) await Promise.all(this.#running.values());
    }
  }

  async #claim(max_jobs: number): Promise<number> {
    try {
      // `stop` does not end it: a job that was claimed unseen would have to wait until its lease has expired.
      const wait = Math.floor(this.#options.wait_seconds ?? 5);
      const jobs = await this.#queue.call("worker_claim_jobs", this.#wanted(max_jobs), {}, { wait });
      for (const job of jobs) this.#start(job);
      return jobs.length;
    } catch (error) {
      const isPassing = error instanceof Unavailable || (error instanceof QueueError && error.status === 429);
      if (!isPassing) throw error;
      this.#survive(error);
      return 0;
    }
  }

  #wanted(max_jobs: number) {
    const { family, handlers, lease_seconds } = this.#options;
    return { family, worker_id: this.#worker_id, max_jobs, lease_seconds, types: Object.keys(handlers) };
  }

  #start(job: ClaimedJob): void {
    const { handlers, stop_seconds = 5 } = this.#options;
    const { signal } = this.#stopping;
    const next = () => (signal.aborted ? null : this.#wanted(1));
    const attempt = new Attempt(this.#queue, job, handlers, stop_seconds, next);
    if (signal.aborted) attempt.giveBack();
    const ended = attempt.run().then(({ claimed, error }) => {
      this.#running.delete(attempt);
      if (error) this.#survive(error);
      for (const each of claimed) this.#start(each);
    });
    this.#running.set(attempt, ended);
  }

  #survive(error: unknown): void {
    (this.#options.onError ?? console.error)(error);
  }
}
