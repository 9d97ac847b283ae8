import { errorOf, Unavailable } from "./errors.js";
import { OPERATIONS } from "./operations.js";
import type { Request, WayIn } from "./queue.js";

/** Anything that calls SQL functions as the Supabase client does. */
export interface RpcClient {
  rpc(name: string, given?: Record<string, unknown>): PromiseLike<RpcResponse>;
}

export interface RpcResponse {
  data: unknown;
  error: { message: string; code?: string | null; hint?: string | null } | null;
  status?: number;
}

/** SQL functions through PostgREST. */
export class Rpc implements WayIn {
  readonly #client: RpcClient;

  constructor(client: RpcClient) {
    this.#client = client;
  }

  isRead(verb: string): boolean {
    return OPERATIONS[verb]?.[0] === "GET";
  }

  async rows(verb: string, given: Record<string, unknown>, { signal }: Request): Promise<unknown[]> {
    const { data, error, status } = await this.#called(verb, given, signal);
    if (error) {
      // Without a code, it never came to the database.
      if (!error.code && !status) throw new Unavailable(`${verb}: ${error.message}`);
      throw errorOf(error.message, { code: error.code || null, hint: error.hint ?? null, status: status || null });
    }
    if (data === null || data === undefined) return [];
    return Array.isArray(data) ? data : [data];
  }

  async #called(verb: string, given: Record<string, unknown>, signal: AbortSignal): Promise<RpcResponse> {
    const sent: PromiseLike<RpcResponse> & { abortSignal?: (signal: AbortSignal) => unknown } = this.#client.rpc(
      verb,
      given,
    );
    sent.abortSignal?.(signal);
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    return await Promise.race([sent, aborted]);
  }
}
