"""Checks that a server answers under the expected model name."""

import ssl

import httpx2

_CHECK_SECONDS = 10.0
"""For one check of a server that is starting; another follows."""


def _client() -> httpx2.AsyncClient:
    """A client for plain HTTP on loopback: no proxies, no certificates (slow to read)."""
    return httpx2.AsyncClient(trust_env=False, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))


async def fault(base_url: str, model: str, *, seconds: float) -> str | None:
    """What is wrong with the server; None where it is healthy and completes a text in the model's name.

    Each request may take `seconds`: a server that works on many answers is slow to answer `/health`, and a
    restart would lose all of them.
    """
    try:
        async with _client() as client:
            health = await client.get(base_url.removesuffix("/v1") + "/health", timeout=seconds)
            if health.status_code != httpx2.codes.OK:
                return f"/health answers {health.status_code}"
            question = {"model": model, "prompt": "1", "max_tokens": 1, "temperature": 0}
            answer = await client.post(f"{base_url}/completions", json=question, timeout=seconds)
    except httpx2.HTTPError as error:
        return f"{type(error).__name__} {error}".strip()
    return _fault_in(answer, model)


def _fault_in(answer: httpx2.Response, model: str) -> str | None:
    if answer.status_code != httpx2.codes.OK:
        return f"a probe question is answered with {answer.status_code}: {answer.text[:300]!r}"
    try:
        body = answer.json()
        text, named = body["choices"][0]["text"], body["model"]
    except (ValueError, LookupError, TypeError):
        return f"a probe question is answered with {answer.text[:300]!r}, expected a completion"
    if not isinstance(text, str) or named != model:
        return f"the probe's answer is by {named!r}, expected {model!r}"
    return None


async def reachable(base_url: str) -> bool:
    """Whether /health says that the server has loaded its model."""
    try:
        async with _client() as client:
            health = await client.get(base_url.removesuffix("/v1") + "/health", timeout=_CHECK_SECONDS)
    except httpx2.HTTPError:
        return False
    return health.status_code == httpx2.codes.OK
