export * from "./errors.js";
export type { HttpOptions } from "./http.js";
export type { AnyJobTypes, EnqueuedJob, EnqueueOptions, Job, JobTypesOf, ListOptions, NewJob } from "./jobs.js";
export type { Arguments, CallOptions, QueueOptions, Row, Verb } from "./queue.js";
export type { RpcClient } from "./rpc.js";
export { Tickwork, type TickworkOptions, type WaitOptions } from "./tickwork.js";
export type { Rows, Status, Verbs } from "./verbs.js";
export type { ClaimedJob, Handler, Handlers, Tools } from "./attempt.js";
export { Worker, type WorkerOptions } from "./worker.js";
