import { NotFinished } from "./errors.js";
import { Http, type HttpOptions } from "./http.js";
import type { AnyJobTypes, EnqueuedJob, EnqueueOptions, Job, JobTypesOf, ListOptions, NewJob, TypeOf } from "./jobs.js";
import { growing, pause } from "./pause.js";
import { type Arguments, type CallOptions, Queue, type QueueOptions, type Row } from "./queue.js";
import { type Resources, resourcesOf } from "./resources.js";
import { Rpc, type RpcClient } from "./rpc.js";

export type TickworkOptions = QueueOptions & (HttpOptions | { client: RpcClient });

type PayloadAndOptions<P> = {} extends P
  ? [payload?: P, options?: EnqueueOptions & CallOptions]
  : [payload: P, options?: EnqueueOptions & CallOptions];

export interface WaitOptions extends CallOptions {
  /** How long to wait in all: 60 seconds unless said otherwise. */
  timeout_seconds?: number;
}

// As long as the API lets a request wait.
const MAX_WAIT_SECONDS = 20;
const PAGE_SIZE = 100;

/**
 * The queue, over the HTTP API or through a client that has `.rpc()`. What is here is for every day;
 * the resources have one method per SQL function, with its name and its arguments.
 */
export class Tickwork<T extends JobTypesOf<T> = AnyJobTypes> {
  readonly queue: Queue;

  constructor(options: TickworkOptions) {
    this.queue = new Queue("client" in options ? new Rpc(options.client) : new Http(options), options);
    Object.assign(this, resourcesOf(this.queue));
  }

  /** Enqueues a job. Without an idempotency_key it gets one, so that the call can be repeated if a response is lost. */
  async enqueue<K extends TypeOf<T>>(
    type: K,
    ...[payload, options]: PayloadAndOptions<T[K]["payload"]>
  ): Promise<EnqueuedJob<T, K>> {
    const { given, call } = split(options ?? {});
    const job = withKey({ ...given, type, payload: payload ?? {} });
    return (await this.queue.call("enqueue_job", job, call, { repeatable: true }))[0] as EnqueuedJob<T, K>;
  }

  /** Enqueues all of them or none; returns them in their order. */
  async enqueueMany(jobs: readonly NewJob<T>[], call?: CallOptions): Promise<EnqueuedJob<T>[]> {
    const keyed = jobs.map((job) => withKey(job));
    return (await this.queue.call("enqueue_jobs", { jobs: keyed }, call, { repeatable: true })) as EnqueuedJob<T>[];
  }

  async get(job_id: string, call?: CallOptions): Promise<Job<T>> {
    return await this.#read(job_id, call);
  }

  /** All jobs that match, the newest first; reads the next page when it is needed. */
  async *list(options: ListOptions = {}): AsyncGenerator<Job<T>, void> {
    const { given, call } = split(options);
    const { page_size: max_jobs = PAGE_SIZE, ...filter } = given;
    for (let after_id: string | undefined; ; ) {
      const page = await this.jobs.listJobs({ ...filter, max_jobs, after_id }, call);
      yield* page as Job<T>[];
      after_id = page.at(-1)?.id;
      if (page.length < max_jobs) return;
    }
  }

  /** The job once it has ended, however it ended. Throws NotFinished, which says why, if it has not ended in time. */
  async wait<K extends TypeOf<T>>(
    job: string | { readonly id: string; readonly type: K },
    { timeout_seconds = 60, signal }: WaitOptions = {},
  ): Promise<Job<T, K>> {
    const id = typeof job === "string" ? job : job.id;
    const giveUpAt = Date.now() + timeout_seconds * 1000;
    for (const seconds of growing(2)) {
      const left = (giveUpAt - Date.now()) / 1000;
      const wait = Math.floor(Math.min(MAX_WAIT_SECONDS, Math.max(0, left)));
      const latest = await this.#read(id, { signal }, wait);
      if (latest.finished_at !== null) return latest as Job<T, K>;
      const still = (giveUpAt - Date.now()) / 1000;
      if (still <= 0) break;
      await pause(Math.min(seconds, still), signal);
    }
    const why = await this.explain(id, { signal });
    throw new NotFinished(`job ${id} has not ended after ${timeout_seconds} s: ${why}`, {
      hint: "Wait longer with timeout_seconds.",
    });
  }

  /** The job whenever it has changed, until it has ended. */
  async *watch<K extends TypeOf<T>>(
    job: string | { readonly id: string; readonly type: K },
    call: CallOptions = {},
  ): AsyncGenerator<Job<T, K>, void> {
    const id = typeof job === "string" ? job : job.id;
    let pauses = growing(5);
    for (let seen: string | undefined; ; ) {
      const latest = await this.#read(id, call);
      const now = JSON.stringify([latest.updated_at, latest.status, latest.progress, latest.progress_message]);
      if (now !== seen) {
        yield latest as Job<T, K>;
        pauses = growing(5);
      }
      seen = now;
      if (latest.finished_at !== null) return;
      await pause(pauses.next().value, call.signal);
    }
  }

  async cancel(job_id: string, call?: CallOptions): Promise<Job<T>> {
    return (await this.jobs.cancelJob({ job_id }, call)) as Job<T>;
  }

  async retry(job_id: string, options: Omit<Arguments<"retry_job">, "job_id"> & CallOptions = {}): Promise<Job<T>> {
    const { given, call } = split(options);
    return (await this.jobs.retryJob({ job_id, ...given }, call)) as Job<T>;
  }

  /** Why a job is not running, in words. */
  async explain(job_id: string, call?: CallOptions): Promise<string> {
    return await this.jobs.explainJob({ job_id }, call);
  }

  /** Records that something happened: webhooks are sent and triggers start jobs. Returns the id of the event. */
  async emit(
    type: string,
    payload: Record<string, unknown> = {},
    options: Omit<Arguments<"emit_event">, "type" | "payload"> & CallOptions = {},
  ): Promise<string> {
    const { given, call } = split(options);
    return await this.events.emitEvent({ ...given, type, payload }, call);
  }

  async search(
    query: string,
    options: Omit<Arguments<"search_chunks">, "query"> & CallOptions = {},
  ): Promise<Row<"search_chunks">[]> {
    const { given, call } = split(options);
    return await this.documents.searchChunks({ ...given, query }, call);
  }

  async #read(job_id: string, call: CallOptions | undefined, wait?: number): Promise<Job<T>> {
    return (await this.queue.call("get_job", { job_id }, call, { repeatable: true, wait }))[0] as Job<T>;
  }
}

export interface Tickwork<T extends JobTypesOf<T> = AnyJobTypes> extends Readonly<Resources> {}

function split<O extends CallOptions>(options: O): { given: Omit<O, keyof CallOptions>; call: CallOptions } {
  const { signal, timeout_seconds, ...given } = options;
  return { given, call: { signal, timeout_seconds } };
}

function withKey<J extends { idempotency_key?: string | null }>(job: J): J {
  return { ...job, idempotency_key: job.idempotency_key ?? crypto.randomUUID() };
}
