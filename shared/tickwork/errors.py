"""
What can go wrong, and what is done about it.

    Error
    ├── JobError               raised by handlers; tenants read its message
    │   ├── Retryable          the world was not ready: try again, after `delay` seconds if given; with `hold`, the
    │   │   │                  job's whole lane waits for that many seconds
    │   │   └── RateLimited
    │   ├── Permanent          the input will never work: fail now
    │   │   ├── InvalidPayload
    │   │   └── UnknownType
    │   ├── NotYet             nothing is wrong: give the job back for `delay` seconds, no attempt is used; `hold` too
    │   └── Interrupted        the runtime asked the handler to stop: cancel, timeout, shutdown or a lost lease
    ├── QueueError             raised by the queue, never by handlers
    │   ├── LeaseLost          another worker has the job: drop the result
    │   ├── InvalidRequest     the queue refused a value: correct it
    │   ├── QueueFull          the tenant has reached its limit of queued jobs or of lanes: try again later
    │   ├── WriteFailed        a write of a handler was refused: nothing was written, try again
    │   ├── NoSuchJob
    │   ├── NoSuchDocument
    │   ├── NoSuchArtifact
    │   ├── NoSuchFact
    │   ├── NoSuchSnapshot
    │   ├── NoSuchPassport
    │   ├── NoSuchEndpoint
    │   ├── NoSuchDelivery
    │   ├── NoSuchConnector
    │   ├── NoSuchTrigger
    │   ├── NoSuchKey
    │   ├── NoSuchRules
    │   ├── NotFinished        the job that is waited for has not ended in time
    │   ├── WrongStatus        the state chart has no such arrow
    │   ├── UnknownCaller      nobody is signed in, or the API key is unknown, revoked or expired
    │   ├── NotAllowed         the role, the user or the key may not do that
    │   ├── WrongSchema        the schema is older or newer than this code: claim no job
    │   └── Unavailable        the database cannot be reached: try again later
    ├── DeployFailed           a step of `tickwork deploy` failed: what was done before stays
    ├── CallerRefused          a request to a function came from an unknown caller
    └── BadSetting             a setting is wrong: do not start
"""


class Error(Exception):
    """The base of all errors that tickwork raises on purpose."""


class JobError(Error):
    code = "FAILED"
    # What the tenant must not read, such as whether a name of our network exists.
    for_operator: str | None = None

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code or self.code


class Retryable(JobError):
    code = "TRY_AGAIN"

    def __init__(
        self, message: str, *, code: str | None = None, delay: float | None = None, hold: float | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.delay = delay
        self.hold = hold


class RateLimited(Retryable):
    code = "RATE_LIMITED"


class Permanent(JobError):
    code = "FAILED_FOR_GOOD"


class InvalidPayload(Permanent):
    code = "INVALID_PAYLOAD"


class UnknownType(Permanent):
    code = "UNKNOWN_TYPE"


class NotYet(JobError):
    code = "NOT_YET"

    def __init__(self, message: str, *, delay: float, hold: float | None = None) -> None:
        super().__init__(message)
        self.delay = delay
        self.hold = hold


class Interrupted(JobError):
    code = "INTERRUPTED"


class QueueError(Error):
    """Has the SQLSTATE and the hint of the database."""

    def __init__(self, message: str, *, sqlstate: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.hint = hint


class LeaseLost(QueueError):
    pass


class InvalidRequest(QueueError):
    pass


class QueueFull(QueueError):
    pass


class WriteFailed(QueueError):
    pass


class NoSuchJob(QueueError):
    pass


class NoSuchDocument(QueueError):
    pass


class NoSuchArtifact(QueueError):
    pass


class NoSuchFact(QueueError):
    pass


class NoSuchSnapshot(QueueError):
    pass


class NoSuchPassport(QueueError):
    pass


class NoSuchEndpoint(QueueError):
    pass


class NoSuchDelivery(QueueError):
    pass


class NoSuchConnector(QueueError):
    pass


class NoSuchTrigger(QueueError):
    pass


class NoSuchKey(QueueError):
    pass


class NoSuchRules(QueueError):
    pass


class NotFinished(QueueError):
    pass


class WrongStatus(QueueError):
    pass


class UnknownCaller(QueueError):
    pass


class NotAllowed(QueueError):
    pass


class WrongSchema(QueueError):
    pass


class Unavailable(QueueError):
    pass


class DeployFailed(Error):
    def __init__(self, message: str, hint: str = "Fix the cause.") -> None:
        super().__init__(message)
        self.hint = f"{hint} Running `tickwork deploy gcp` again continues here."


class CallerRefused(Error):
    pass


class BadSetting(Error):
    pass


BY_SQLSTATE: dict[str, type[QueueError]] = {
    "TWLSE": LeaseLost,
    "TWJOB": NoSuchJob,
    "TWDOC": NoSuchDocument,
    "TWART": NoSuchArtifact,
    "TWFCT": NoSuchFact,
    "TWSNP": NoSuchSnapshot,
    "TWPAS": NoSuchPassport,
    "TWEND": NoSuchEndpoint,
    "TWDLV": NoSuchDelivery,
    "TWCTR": NoSuchConnector,
    "TWTRG": NoSuchTrigger,
    "TWAPI": NoSuchKey,
    "TWRUL": NoSuchRules,
    "TWSTA": WrongStatus,
    "TWDUP": WrongStatus,
    "TWAUT": UnknownCaller,
    "TWMEM": NotAllowed,
    "TWENQ": NotAllowed,
    "TWADM": NotAllowed,
    "TWFUL": QueueFull,
    "TWTNT": InvalidRequest,
    "TWTYP": InvalidRequest,
    "TWPAY": InvalidRequest,
    "TWSCH": InvalidRequest,
    "TWBIG": InvalidRequest,
    "TWKEY": InvalidRequest,
    "TWPRI": InvalidRequest,
    "TWRUN": InvalidRequest,
    "TWATT": InvalidRequest,
    "TWLEA": InvalidRequest,
    "TWLAN": InvalidRequest,
    "TWARG": InvalidRequest,
    "TWTYD": InvalidRequest,
    "TWCON": InvalidRequest,
    "TWCRN": InvalidRequest,
    "TWSEC": InvalidRequest,
    "TWCAL": InvalidRequest,
    "TWTPL": InvalidRequest,
    "22P05": InvalidRequest,
    "42501": NotAllowed,
}


def queue_error(code: str | None, message: str, hint: str | None = None) -> QueueError:
    """The error for an SQLSTATE, whichever way it came."""
    if code == "22P05":
        message = f"payload: must not contain \\u0000 ({message})"
    # Class 22: a value that is not what its type requires.
    kind = BY_SQLSTATE.get(code or "") or (InvalidRequest if code and code.startswith("22") else QueueError)
    return kind(message, sqlstate=code, hint=hint)
