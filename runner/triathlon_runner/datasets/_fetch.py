"""Fetching one file over HTTP. Imported where something is missing: most commands find all that they need."""

from typing import Final

import httpx
import stamina
import stamina.instrumentation

_TIMEOUT_SECONDS: Final = 30.0
_ATTEMPTS: Final = 3
_MAX_BYTES: Final = 64 << 20
"""No file of the catalogue comes near this; it bounds what a wrong server can make us hold."""


class FetchError(Exception):
    """The file did not come, and why."""


def fetch(url: str) -> bytes:
    """The content at `url`.

    Raises:
        FetchError: the server cannot be reached or refuses, after some attempts.
    """
    try:
        return _fetched(url)
    except httpx.HTTPError as error:
        raise FetchError(f"{type(error).__name__}: {error}") from error


stamina.instrumentation.set_on_retry_hooks([])  # the last error is told; each try in between is nobody's news


@stamina.retry(on=httpx.TransportError, attempts=_ATTEMPTS, wait_initial=0.2, wait_max=5.0, timeout=120.0)
def _fetched(url: str) -> bytes:
    with httpx.stream("GET", url, follow_redirects=True, timeout=_TIMEOUT_SECONDS) as response:
        response.raise_for_status()
        data = bytearray()
        for chunk in response.iter_bytes():
            data += chunk
            if len(data) > _MAX_BYTES:
                raise httpx.DecodingError(f"more than {_MAX_BYTES} bytes came", request=response.request)
        return bytes(data)
