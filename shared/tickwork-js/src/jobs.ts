import type { Arguments, CallOptions } from "./queue.js";
import type { Rows } from "./verbs.js";

/** What `tickwork types --lang ts` writes: the payload and the result of each type of job. */
export type JobTypesOf<T> = { [K in keyof T]: { payload: object; result: unknown } };

/** Any type with any payload. */
export interface AnyJobTypes {
  [type: string]: { payload: Record<string, unknown>; result: unknown };
}

export type TypeOf<T> = keyof T & string;

type Typed<R, T extends JobTypesOf<T>, K extends TypeOf<T>> = Omit<R, "type" | "payload" | "result"> & {
  type: K;
  payload: T[K]["payload"];
  /** Null until the job is done. */
  result: T[K]["result"] | null;
};

/** A job: a row of `jobs`. If its type is known, so are its payload and its result. */
export type Job<T extends JobTypesOf<T> = AnyJobTypes, K extends TypeOf<T> = TypeOf<T>> = {
  [Type in K]: Typed<Rows["jobs"], T, Type>;
}[K];

/** `deduplicated`: it was there already. */
export type EnqueuedJob<T extends JobTypesOf<T> = AnyJobTypes, K extends TypeOf<T> = TypeOf<T>> = {
  [Type in K]: Typed<Rows["enqueued_jobs"], T, Type>;
}[K];

export type EnqueueOptions = Omit<Arguments<"enqueue_job">, "type" | "payload">;

/** One of many: the fields of `enqueue`. */
export type NewJob<T extends JobTypesOf<T> = AnyJobTypes> = {
  [K in TypeOf<T>]: EnqueueOptions & { type: K; payload: T[K]["payload"] };
}[TypeOf<T>];

export type ListOptions = Omit<Arguments<"list_jobs">, "after_id" | "max_jobs"> &
  CallOptions & {
    /** How many jobs are read at a time. */
    page_size?: number;
  };
