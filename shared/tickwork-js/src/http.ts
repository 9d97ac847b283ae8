import { errorOf, InvalidRequest, Unavailable } from "./errors.js";
import { OPERATIONS } from "./operations.js";
import type { FileContent, Request, WayIn } from "./queue.js";

export interface HttpOptions {
  /** Where the API is, such as https://api.example.com. */
  url: string;
  /** An API key, `tw_…`. It belongs on a server. */
  key?: string;
  /** The access token of a user, or a function that returns the current one. */
  token?: string | (() => string | Promise<string>);
  /** Sent with every request, such as traceparent. */
  headers?: Readonly<Record<string, string>>;
  /** In place of the global fetch. */
  fetch?: typeof fetch;
}

interface Problem {
  title?: string;
  detail?: string;
  code?: string | null;
  hint?: string | null;
  request_id?: string | null;
}

/** The HTTP API. */
export class Http implements WayIn {
  readonly #options: HttpOptions;
  readonly #base: string;

  constructor(options: HttpOptions) {
    if ((options.key === undefined) === (options.token === undefined)) {
      throw new InvalidRequest("key, token: give one of them");
    }
    this.#options = options;
    this.#base = `${options.url.replace(/\/+$/, "").replace(/\/api\/v1$/, "")}/api/v1`;
  }

  isRead(verb: string): boolean {
    return OPERATIONS[verb]?.[0] === "GET";
  }

  async rows(verb: string, given: Record<string, unknown>, request: Request): Promise<unknown[]> {
    const operation = OPERATIONS[verb];
    if (!operation) throw new InvalidRequest(`${verb}: the HTTP API has no such operation`);
    const [method, path, returns] = operation;
    const wait = request.wait ? { [verb === "worker_claim_jobs" ? "wait_seconds" : "wait"]: request.wait } : {};
    const { url, rest } = filledIn(path, { ...given, ...wait });
    const hasBody = method !== "GET" && method !== "DELETE";
    const body = hasBody ? JSON.stringify(rest) : null;
    const text = await this.#text(method, hasBody ? url : url + queryOf(rest), body, request.signal);
    if (returns === "nothing" || text === "") return [];
    const found = JSON.parse(text);
    return returns === "rows" ? found.items : [returns === "value" ? found.value : found];
  }

  /** The row of the new document. */
  async upload(given: Record<string, unknown>, content: FileContent, { signal }: Request): Promise<unknown> {
    return JSON.parse(await this.#text("POST", `documents/files${queryOf(given)}`, content, signal));
  }

  async #text(method: string, path: string, body: string | FileContent | null, signal: AbortSignal): Promise<string> {
    const response = await this.#fetched(method, `${this.#base}/${path}`, body, signal);
    const text = await response.text().catch((error: unknown) => {
      throw new Unavailable(`${method} ${path}: the response broke off`, { cause: error });
    });
    if (!response.ok) throw problemOf(response, text);
    return text;
  }

  async #fetched(
    method: string,
    url: string,
    body: string | FileContent | null,
    signal: AbortSignal,
  ): Promise<Response> {
    const headers: Record<string, string> = { ...this.#options.headers, ...(await this.#authorization()) };
    if (body !== null) {
      headers["content-type"] = typeof body === "string" ? "application/json" : "application/octet-stream";
    }
    try {
      return await (this.#options.fetch ?? fetch)(url, { method, headers, body, signal });
    } catch (error) {
      throw new Unavailable(`${method} ${url}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }

  async #authorization(): Promise<Record<string, string>> {
    const { key, token } = this.#options;
    return { authorization: `Bearer ${key ?? (typeof token === "function" ? await token() : token)}` };
  }
}

/** The path with its parameters, and the arguments that are not in it. */
function filledIn(path: string, given: Record<string, unknown>): { url: string; rest: Record<string, unknown> } {
  const rest = { ...given };
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    if (typeof value !== "string" || value === "") throw new InvalidRequest(`${name}: must not be empty`);
    return encodeURIComponent(value);
  });
  return { url, rest };
}

function queryOf(given: Record<string, unknown>): string {
  const pairs = Object.entries(given).filter(([, value]) => value !== null);
  return pairs.length ? `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}` : "";
}

function problemOf(response: Response, text: string): Error {
  let problem: Problem = {};
  try {
    problem = JSON.parse(text) ?? {};
  } catch {
    // Of a proxy on the way.
  }
  const after = Number(response.headers.get("retry-after") ?? NaN);
  return errorOf(problem.detail ?? problem.title ?? `the server responded with ${response.status}`, {
    code: problem.code ?? null,
    hint: problem.hint ?? null,
    status: response.status,
    request_id: problem.request_id ?? response.headers.get("x-request-id"),
    retry_after: Number.isFinite(after) && after >= 0 ? after : null,
  });
}
