"""Downloads one file over HTTP. Imported only where a file is missing."""

from typing import Final

import httpx2
import stamina
import stamina.instrumentation

_TIMEOUT_SECONDS: Final = 30.0
_ATTEMPTS: Final = 3

stamina.instrumentation.set_on_retry_hooks([])  # only the last error is reported


@stamina.retry(on=httpx2.TransportError, attempts=_ATTEMPTS, wait_initial=0.2, wait_max=5.0, timeout=120.0)
def fetch(url: str) -> bytes:
    """The content at `url`.

    Raises:
        httpx2.HTTPError: the server cannot be reached or refuses, after some attempts.
    """
    response = httpx2.get(url, follow_redirects=True, timeout=_TIMEOUT_SECONDS)
    return response.raise_for_status().content
