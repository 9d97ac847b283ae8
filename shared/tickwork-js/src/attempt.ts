import { InvalidRequest, JobError, LeaseLost, NotYet, Permanent, Unavailable } from "./errors.js";
import type { JobTypesOf, TypeOf } from "./jobs.js";
import { growing, pause } from "./pause.js";
import type { Queue, Verb } from "./queue.js";
import type { Rows, Verbs } from "./verbs.js";

export type ClaimedJob = Rows["claimed_job"];

/** What a handler gets beside the payload. */
export interface Tools {
  readonly job: ClaimedJob;
  /** Aborted once the attempt has to stop: the job was cancelled, took too long, was lost, or the worker stops. */
  readonly signal: AbortSignal;
  /** Reports how much is done, from 0 to 1; sent with the next heartbeat. */
  progress(done: number, message?: string): void;
  /** Enqueues a job for the same tenant if, and only if, this one completes. Its fields are those of `enqueue`. */
  followUp(job: Record<string, unknown> & { type: string }): void;
}

/** Returns the result, or throws: Permanent, NotYet or Retryable; anything else is tried again, too. */
export type Handler<P, R> = (payload: P, tools: Tools) => Promise<R> | R;

export type Handlers<T extends JobTypesOf<T>> = {
  [K in TypeOf<T>]?: Handler<T[K]["payload"], T[K]["result"]>;
};

/** What the worker claims: the next job, in one call with how this one ended. Null if it wants none. */
export type Next = () => Omit<Verbs["worker_settle_and_claim"]["arguments"], "outcomes"> | null;

export interface Ended {
  /** The jobs that were claimed with it. */
  claimed: ClaimedJob[];
  /** LeaseLost if somebody else has the job by now: its result was dropped. */
  error: unknown;
}

type Outcome = { verb: Verb; given: Record<string, unknown> } | "lost";

const STATUSES: Partial<Record<Verb, string>> = {
  worker_complete_job: "done",
  worker_fail_job: "failed",
  worker_release_job: "released",
};
// How long a heartbeat may take at least.
const MIN_BEAT_SECONDS = 3;

/** One attempt at a job: runs the handler beside heartbeats, and settles the job under the token of its lease. */
export class Attempt<T extends JobTypesOf<T>> {
  readonly #queue: Queue;
  readonly #job: ClaimedJob;
  readonly #handlers: Handlers<T>;
  readonly #stopSeconds: number;
  readonly #next: Next;
  readonly #abort = new AbortController();
  readonly #over = new AbortController();
  readonly #followUps: unknown[] = [];
  #progress: { progress?: number; message?: string } = {};
  #interruption: Outcome | null = null;
  #expiresAt: number;

  constructor(queue: Queue, job: ClaimedJob, handlers: Handlers<T>, stopSeconds: number, next: Next) {
    this.#queue = queue;
    this.#job = job;
    this.#handlers = handlers;
    this.#stopSeconds = stopSeconds;
    this.#next = next;
    this.#expiresAt = Date.now() + this.#leaseSeconds * 1000;
  }

  async run(): Promise<Ended> {
    const beating = this.#beat();
    try {
      return await this.#settleAndClaim(await this.#outcome());
    } catch (error) {
      return { claimed: [], error };
    } finally {
      this.#over.abort();
      await beating;
    }
  }

  /** For a worker that stops: the attempt does not count. */
  giveBack(): void {
    this.#interrupt("the worker is stopping", { verb: "worker_release_job", given: { delay_seconds: 0 } });
  }

  get #leaseSeconds(): number {
    return this.#job.lease_seconds ?? 60;
  }

  async #outcome(): Promise<Outcome> {
    const seconds = this.#job.timeout_seconds ?? 300;
    const message = `The handler took longer than ${seconds} s`;
    const timer = setTimeout(() => this.#interrupt(message, failed("TIMEOUT", message)), seconds * 1000);
    try {
      return await Promise.race([this.#handled(), this.#abandoned()]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #handled(): Promise<Outcome> {
    try {
      this.#abort.signal.throwIfAborted();
      const handler = this.#handlers[this.#job.type as TypeOf<T>];
      if (!handler) throw new Permanent(`There is no handler for the type ${this.#job.type}`, { code: "UNKNOWN_TYPE" });
      const result = await handler(this.#job.payload, this.#tools());
      const follow_ups = this.#followUps.length ? this.#followUps : undefined;
      return this.#interruption === "lost" ? "lost" : { verb: "worker_complete_job", given: { result, follow_ups } };
    } catch (error) {
      return this.#interruption ?? outcomeOf(error);
    }
  }

  /** The handler did not stop although it was told to. */
  async #abandoned(): Promise<Outcome> {
    const { signal } = this.#abort;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await pause(this.#stopSeconds, this.#over.signal).catch(() => undefined);
    return this.#interruption ?? "lost";
  }

  #tools(): Tools {
    return {
      job: this.#job,
      signal: this.#abort.signal,
      progress: (done, message) => {
        this.#progress = { progress: Math.min(Math.max(done, 0), 1), ...(message === undefined ? {} : { message }) };
      },
      followUp: (job) => this.#followUps.push(job),
    };
  }

  #interrupt(reason: string, outcome: Outcome): void {
    if (this.#interruption) return;
    this.#interruption = outcome;
    this.#abort.abort(new Error(reason));
  }

  async #beat(): Promise<void> {
    const every = this.#leaseSeconds / 3;
    const { signal } = this.#over;
    while (!signal.aborted) {
      await pause(every, signal).catch(() => undefined);
      if (signal.aborted) return;
      try {
        const given = { ...this.#lease(), ...this.#progress };
        const beganAt = Date.now();
        const call = { signal, timeout_seconds: Math.max(every, MIN_BEAT_SECONDS) };
        const [isCancelled] = await this.#queue.call("worker_heartbeat_job", given, call);
        this.#expiresAt = beganAt + this.#leaseSeconds * 1000;
        if (isCancelled) this.#interrupt("cancelled", failed("CANCELLED", "It was cancelled on request", false));
      } catch (error) {
        const isLost = error instanceof LeaseLost || Date.now() > this.#expiresAt;
        if (isLost && !signal.aborted) this.#interrupt("the lease was lost", "lost");
      }
    }
  }

  #lease(): { job_id: string; lease_token: string } {
    return { job_id: this.#job.id, lease_token: this.#job.lease_token };
  }

  async #settleAndClaim(outcome: Outcome): Promise<Ended> {
    if (outcome === "lost") throw this.#lost();
    const wanted = this.#next();
    if (wanted) {
      const outcomes = [{ ...this.#lease(), status: STATUSES[outcome.verb], ...outcome.given }];
      const answers = await this.#queue.call("worker_settle_and_claim", { ...wanted, outcomes }).catch(() => []);
      const answer = answers[0] as { settled: { is_held: boolean }[]; claimed: ClaimedJob[] | null } | undefined;
      // Without an answer it is settled alone, or refused for a reason of its own.
      if (answer) {
        const isHeld = answer.settled.every(({ is_held }) => is_held);
        return { claimed: answer.claimed ?? [], error: isHeld ? null : this.#lost() };
      }
    }
    await this.#settle(outcome);
    return { claimed: [], error: null };
  }

  #lost(): LeaseLost {
    return new LeaseLost(`job ${this.#job.id} is no longer held: its result was dropped`);
  }

  async #settle(outcome: Exclude<Outcome, "lost">): Promise<void> {
    for (const seconds of growing(5)) {
      try {
        // The token sees to it that only the first of several calls counts.
        const given = { ...this.#lease(), ...outcome.given } as never;
        await this.#queue.call(outcome.verb, given, {}, { repeatable: true });
        return;
      } catch (error) {
        if (error instanceof InvalidRequest && outcome.verb === "worker_complete_job") {
          const message = `The queue refused what the handler returned: ${error.message}`;
          return await this.#settle(failed("REFUSED", message, false));
        }
        if (!(error instanceof Unavailable) || Date.now() > this.#expiresAt) throw error;
        await pause(seconds);
      }
    }
  }
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof NotYet) return { verb: "worker_release_job", given: { delay_seconds: error.delay ?? 0 } };
  if (error instanceof JobError) {
    return failed(error.code, error.message, !(error instanceof Permanent), error.delay ?? undefined);
  }
  // Its message may have what tenants must not read.
  const given = { exception: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  const unexpected = failed("UNEXPECTED", `The handler failed: ${error instanceof Error ? error.name : typeof error}`);
  return { ...unexpected, given: { ...unexpected.given, ...given } };
}

function failed(code: string, message: string, retryable = true, delay?: number) {
  const given = { error: { code, message }, retryable, retry_after_seconds: delay };
  return { verb: "worker_fail_job" as const, given };
}
