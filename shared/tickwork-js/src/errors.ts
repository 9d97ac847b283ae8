/*
 * What can go wrong, by the names of the Python client.
 *
 *   QueueError             has the code (SQLSTATE) and the hint of the database
 *   ├── LeaseLost          another worker has the job: drop the result
 *   ├── InvalidRequest     the queue refused a value: correct it
 *   ├── QueueFull          the tenant has reached its limit of queued jobs or of lanes: try again later
 *   ├── NoSuch…            …Job, …Document, …Endpoint, …Delivery, …Connector, …Trigger, …Key
 *   ├── NotFinished        the job that is waited for has not ended in time
 *   ├── WrongStatus        the state chart has no such arrow
 *   ├── UnknownCaller      nobody is signed in, or the API key is unknown, revoked or expired
 *   ├── NotAllowed         the role, the user or the key may not do that
 *   └── Unavailable        the API or the database cannot be reached: try again later
 *   JobError               thrown by handlers of a Worker; tenants read its message
 *   ├── Retryable          the world was not ready: try again, after `delay` seconds if given
 *   ├── Permanent          the input will never work: fail now
 *   └── NotYet             nothing is wrong: give the job back for `delay` seconds, no attempt is used
 */

export interface ErrorDetails {
  /** The SQLSTATE, such as TWPAY; null for an error of the client itself. */
  code?: string | null;
  hint?: string | null;
  /** The HTTP status, if there was one. */
  status?: number | null;
  request_id?: string | null;
  /** After how many seconds the server wants to be asked again. */
  retry_after?: number | null;
  cause?: unknown;
}

export class QueueError extends Error {
  override readonly name: string = "QueueError";
  readonly code: string | null;
  readonly hint: string | null;
  readonly status: number | null;
  readonly request_id: string | null;
  readonly retry_after: number | null;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code ?? null;
    this.hint = details.hint ?? null;
    this.status = details.status ?? null;
    this.request_id = details.request_id ?? null;
    this.retry_after = details.retry_after ?? null;
  }
}

export class LeaseLost extends QueueError {
  override readonly name = "LeaseLost";
}

export class InvalidRequest extends QueueError {
  override readonly name = "InvalidRequest";
}

export class QueueFull extends QueueError {
  override readonly name = "QueueFull";
}

export class NoSuchJob extends QueueError {
  override readonly name = "NoSuchJob";
}

export class NoSuchDocument extends QueueError {
  override readonly name = "NoSuchDocument";
}

export class NoSuchArtifact extends QueueError {
  override readonly name = "NoSuchArtifact";
}

export class NoSuchFact extends QueueError {
  override readonly name = "NoSuchFact";
}

export class NoSuchSnapshot extends QueueError {
  override readonly name = "NoSuchSnapshot";
}

export class NoSuchRules extends QueueError {
  override readonly name = "NoSuchRules";
}

export class NoSuchPassport extends QueueError {
  override readonly name = "NoSuchPassport";
}

export class NoSuchEndpoint extends QueueError {
  override readonly name = "NoSuchEndpoint";
}

export class NoSuchDelivery extends QueueError {
  override readonly name = "NoSuchDelivery";
}

export class NoSuchConnector extends QueueError {
  override readonly name = "NoSuchConnector";
}

export class NoSuchTrigger extends QueueError {
  override readonly name = "NoSuchTrigger";
}

export class NoSuchKey extends QueueError {
  override readonly name = "NoSuchKey";
}

export class NotFinished extends QueueError {
  override readonly name = "NotFinished";
}

export class WrongStatus extends QueueError {
  override readonly name = "WrongStatus";
}

export class UnknownCaller extends QueueError {
  override readonly name = "UnknownCaller";
}

export class NotAllowed extends QueueError {
  override readonly name = "NotAllowed";
}

export class Unavailable extends QueueError {
  override readonly name = "Unavailable";
}

/** The same as BY_SQLSTATE in shared/tickwork/errors.py; a test compares them. */
export const BY_CODE: Readonly<Record<string, typeof QueueError>> = {
  TWLSE: LeaseLost,
  TWJOB: NoSuchJob,
  TWDOC: NoSuchDocument,
  TWART: NoSuchArtifact,
  TWFCT: NoSuchFact,
  TWSNP: NoSuchSnapshot,
  TWRUL: NoSuchRules,
  TWPAS: NoSuchPassport,
  TWEND: NoSuchEndpoint,
  TWDLV: NoSuchDelivery,
  TWCTR: NoSuchConnector,
  TWTRG: NoSuchTrigger,
  TWAPI: NoSuchKey,
  TWSTA: WrongStatus,
  TWDUP: WrongStatus,
  TWAUT: UnknownCaller,
  TWMEM: NotAllowed,
  TWENQ: NotAllowed,
  TWADM: NotAllowed,
  TWFUL: QueueFull,
  TWTNT: InvalidRequest,
  TWTYP: InvalidRequest,
  TWPAY: InvalidRequest,
  TWSCH: InvalidRequest,
  TWBIG: InvalidRequest,
  TWKEY: InvalidRequest,
  TWPRI: InvalidRequest,
  TWRUN: InvalidRequest,
  TWATT: InvalidRequest,
  TWLEA: InvalidRequest,
  TWLAN: InvalidRequest,
  TWARG: InvalidRequest,
  TWTYD: InvalidRequest,
  TWCON: InvalidRequest,
  TWCRN: InvalidRequest,
  TWSEC: InvalidRequest,
  TWCAL: InvalidRequest,
  TWTPL: InvalidRequest,
  "22P05": InvalidRequest,
  "42501": NotAllowed,
};

/** The error for a code, whichever way it came; for what has none, the HTTP status tells. */
export function errorOf(message: string, details: ErrorDetails): QueueError {
  const { code, status } = details;
  return new (code ? classOf(code, status ?? 0) : classOfStatus(status ?? 0))(message, details);
}

function classOf(code: string, status: number): typeof QueueError {
  // Class 22: a value that is not what its type requires. 503: a deadlock, or a database that is busy.
  return BY_CODE[code] ?? (code.startsWith("22") ? InvalidRequest : status === 503 ? Unavailable : QueueError);
}

function classOfStatus(status: number): typeof QueueError {
  if (status === 401 || status === 403) return NotAllowed;
  return status === 429 || status >= 500 ? Unavailable : InvalidRequest;
}

export interface JobErrorDetails {
  /** For machines, in capitals: what callers find in `error_code`. */
  code?: string;
  /** Seconds until the next attempt. */
  delay?: number;
}

export class JobError extends Error {
  override readonly name: string = "JobError";
  readonly code: string;
  readonly delay: number | null;

  constructor(message: string, details: JobErrorDetails & { code: string }) {
    super(message);
    this.code = details.code;
    this.delay = details.delay ?? null;
  }
}

export class Retryable extends JobError {
  override readonly name = "Retryable";

  constructor(message: string, details: JobErrorDetails = {}) {
    super(message, { code: "TRY_AGAIN", ...details });
  }
}

export class Permanent extends JobError {
  override readonly name = "Permanent";

  constructor(message: string, details: Omit<JobErrorDetails, "delay"> = {}) {
    super(message, { code: "FAILED_FOR_GOOD", ...details });
  }
}

export class NotYet extends JobError {
  override readonly name = "NotYet";

  constructor(message: string, details: { delay: number }) {
    super(message, { code: "NOT_YET", ...details });
  }
}
