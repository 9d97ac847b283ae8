"""A vault in an S3 bucket: Amazon's, Supabase Storage's, or any other compatible one."""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any

from tickwork.tools.vault.address import Address
from tickwork.tools.vault.errors import answered, check_end_is_known, refused, unavailable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK = 1 << 18
# The smallest part that S3 accepts; at most two of them are in memory.
PART = 5 << 20
CONNECT_SECONDS = 5
READ_SECONDS = 30


# Creating a client takes as long as a small job. Its keys come from the AWS_* variables.
@lru_cache(maxsize=8)
def open_s3(address: Address) -> "S3":
    from boto3.session import Session  # type: ignore[import-untyped]
    from botocore.config import Config  # type: ignore[import-untyped]

    config = Config(
        signature_version="s3v4",
        s3={"addressing_style": "path"},
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        # The queue retries anyway, without keeping a function waiting.
        retries={"total_max_attempts": 2, "mode": "standard"},
        # Only Amazon supports checksums in trailers.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    session = Session(region_name=address.region)
    with translated():
        # Checked first, because a client without keys would never look for them again.
        if session.get_credentials() is None:
            raise refused()
        client = session.client("s3", endpoint_url=address.place or None, config=config)
    return S3(client, address.bucket)


class S3:
    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    @contextmanager
    def read(self, key: str) -> Iterator[Iterator[bytes]]:
        with translated():
            answer = self._client.get_object(Bucket=self._bucket, Key=key)
        with closing(answer["Body"]):
            yield _blocks(answer)

    def write(self, key: str, chunks: Iterable[bytes], mime_type: str) -> None:
        from boto3.s3.transfer import TransferConfig  # type: ignore[import-untyped]

        # In this thread, because the source of the chunks may not be used by another.
        config = TransferConfig(multipart_threshold=PART, multipart_chunksize=PART, use_threads=False)
        with translated():
            self._client.upload_fileobj(
                BufferedReader(Chunks(chunks), BLOCK),
                self._bucket,
                key,
                ExtraArgs={"ContentType": mime_type},
                Config=config,
            )

    def sign(self, key: str, seconds: int) -> str:
        # As an attachment, so that no browser runs a document as a page of the vault.
        document = {"Bucket": self._bucket, "Key": key, "ResponseContentDisposition": "attachment"}
        with translated():
            url: str = self._client.generate_presigned_url("get_object", Params=document, ExpiresIn=seconds)
        return url

    def delete(self, key: str) -> None:
        with translated():
            self._client.delete_object(Bucket=self._bucket, Key=key)


class Chunks(RawIOBase):
    """Chunks as a file that can be read once."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        target = memoryview(buffer)
        piece, self._rest = self._rest[: len(target)], self._rest[len(target) :]
        target[: len(piece)] = piece
        return len(piece)


@contextmanager
def translated() -> Iterator[None]:
    from botocore.exceptions import (  # type: ignore[import-untyped]
        BotoCoreError,
        ClientError,
        NoCredentialsError,
        ParamValidationError,
        PartialCredentialsError,
    )

    try:
        yield
    except ClientError as error:
        about = error.response["ResponseMetadata"]
        retry_after = about.get("HTTPHeaders", {}).get("retry-after")
        raise answered(about["HTTPStatusCode"], error.response["Error"].get("Code", ""), retry_after) from None
    except (NoCredentialsError, PartialCredentialsError, ParamValidationError):
        raise refused() from None
    except BotoCoreError:
        # Timeouts, broken connections, a body that is shorter than announced.
        raise unavailable() from None


def _blocks(answer: Any) -> Iterator[bytes]:
    check_end_is_known(answer["ResponseMetadata"]["HTTPHeaders"])
    with translated():
        yield from answer["Body"].iter_chunks(BLOCK)
