import { InvalidRequest, QueueError, Unavailable } from "./errors.js";
import { pause } from "./pause.js";
import { OF_TENANT, type Verbs } from "./verbs.js";

export type Verb = keyof Verbs;
export type Arguments<V extends Verb> = Verbs[V]["arguments"];
export type Row<V extends Verb> = Verbs[V]["row"];

export interface CallOptions {
  /** Ends the call, and whatever it is waiting for. */
  signal?: AbortSignal;
  /** How long one request may take. */
  timeout_seconds?: number;
}

export interface Request {
  signal: AbortSignal;
  /** For how many seconds the server may wait for the end of a job, or for one to claim, if it can. */
  wait?: number;
}

export type FileContent = Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;

/** A way to the database: over HTTP, or through a client that has `.rpc()`. */
export interface WayIn {
  /** Whether a verb changes nothing. */
  isRead(verb: string): boolean;
  /** The rows that a SQL function returns; a value counts as one row, nothing as none. */
  rows(verb: string, given: Record<string, unknown>, request: Request): Promise<unknown[]>;
  /** Only over HTTP: the API has the vault. */
  upload?(given: Record<string, unknown>, content: FileContent, request: Request): Promise<unknown>;
}

export interface QueueOptions {
  /** For verbs of a tenant that are called without `tenant_id`. */
  tenant_id?: string;
  /** How long one request may take: 30 seconds unless said otherwise. */
  timeout_seconds?: number;
  /** How often a call is repeated where that is safe: 3 times unless said otherwise. */
  retries?: number;
}

export interface HowToCall {
  /** Whether the call may be repeated although it may have taken effect. Calls that only read always may. */
  repeatable?: boolean;
  wait?: number;
}

type Method<V extends Verb, R> = (given: Arguments<V>, call?: CallOptions) => Promise<R>;

const FIRST_PAUSE_SECONDS = 0.2;
// A server that asks for more gets no second request: whoever calls decides.
const MAX_PAUSE_SECONDS = 10;

/** Calls verbs, and repeats calls where that is safe. */
export class Queue {
  readonly #way: WayIn;
  readonly #options: QueueOptions;

  constructor(way: WayIn, options: QueueOptions = {}) {
    this.#way = way;
    this.#options = options;
  }

  /** A method that returns the row of a verb. */
  row<V extends Verb>(verb: V, how?: HowToCall): Method<V, Row<V>> {
    return async (given, call) => (await this.call(verb, given, call, how))[0] as Row<V>;
  }

  /** A method that returns the rows of a verb. */
  rows<V extends Verb>(verb: V, how?: HowToCall): Method<V, Row<V>[]> {
    return (given, call) => this.call(verb, given, call, how);
  }

  async call<V extends Verb>(
    verb: V,
    given: Arguments<V>,
    call: CallOptions = {},
    how: HowToCall = {},
  ): Promise<Row<V>[]> {
    const filled = this.#filledIn(verb, given);
    const repeatable = how.repeatable || this.#way.isRead(verb);
    const retries = this.#options.retries ?? 3;
    for (let repeats = 0; ; repeats += 1) {
      try {
        return (await this.#once(verb, call, how, (request) => this.#way.rows(verb, filled, request))) as Row<V>[];
      } catch (error) {
        const seconds = secondsToRepeat(error, repeatable, repeats);
        if (repeats >= retries || seconds === null) throw error;
        await pause(seconds, call.signal);
      }
    }
  }

  /** Puts a file into the vault and registers it. It is sent once: it may have arrived although no answer did. */
  async upload(
    { content, ...given }: { tenant_id?: string; name: string; content: FileContent },
    call: CallOptions = {},
  ): Promise<Row<"add_document">> {
    const filled = this.#filledIn("add_document", given);
    return (await this.#once("upload_document", call, {}, (request) => {
      if (!this.#way.upload) throw new InvalidRequest("upload_document: is only for the HTTP API, which has the vault");
      return this.#way.upload(filled, content, request);
    })) as Row<"add_document">;
  }

  #filledIn(verb: string, given: object): Record<string, unknown> {
    const filled = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    const { tenant_id } = this.#options;
    return OF_TENANT.has(verb) && tenant_id !== undefined ? { tenant_id, ...filled } : filled;
  }

  async #once(
    verb: string,
    call: CallOptions,
    how: HowToCall,
    send: (request: Request) => Promise<unknown>,
  ): Promise<unknown> {
    call.signal?.throwIfAborted();
    const seconds = (call.timeout_seconds ?? this.#options.timeout_seconds ?? 30) + (how.wait ?? 0);
    const timeout = AbortSignal.timeout(seconds * 1000);
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
    try {
      return await send({ ...how, signal });
    } catch (error) {
      call.signal?.throwIfAborted();
      if (timeout.aborted) throw new Unavailable(`${verb}: no response within ${seconds} s`, { cause: error });
      throw error;
    }
  }
}

/** After how many seconds to try again, or null if that would not be safe. */
function secondsToRepeat(error: unknown, repeatable: boolean, repeats: number): number | null {
  if (!(error instanceof QueueError)) return null;
  // A request that was refused for now, or never sent, had no effect. A queue that is full is no matter of moments.
  const hadNoEffect = (error.status === 429 && error.code !== "TWFUL") || isUnsent(error.cause);
  const wasLost = error.status === null && error instanceof Unavailable;
  const isPassing = wasLost || error.status === 502 || error.status === 503;
  if (!hadNoEffect && !(repeatable && isPassing)) return null;
  const seconds = error.retry_after ?? FIRST_PAUSE_SECONDS * 2 ** repeats * (0.5 + Math.random());
  return seconds <= MAX_PAUSE_SECONDS ? seconds : null;
}

/** As far as Node tells; browsers do not. */
function isUnsent(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : { cause: null };
  const code = (cause as { code?: unknown } | null | undefined)?.code;
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"].includes(
    String(code),
  );
}
