"""Whether a server answers, and as the model that we expect."""

import ssl

import httpx

_LOOK_SECONDS = 10.0
"""For one look at a server that is starting; another follows."""


def _client() -> httpx.AsyncClient:
    """For plain HTTP to a server of our own: no proxies, no certificates (slow to read)."""
    return httpx.AsyncClient(trust_env=False, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))


async def fault(base_url: str, model: str, *, key: str = "", seconds: float) -> str | None:
    """What is wrong with the server; None where it is healthy and completes a text in the model's name.

    Both questions have the whole time: on a busy machine a server that works on many answers is slow to say
    that it is well, and to take it for dead throws all of them away.
    """
    try:
        async with _client() as client:
            health = await client.get(base_url.removesuffix("/v1") + "/health", timeout=seconds)
            if health.status_code != httpx.codes.OK:
                return f"/health answers {health.status_code}"
            question = {"model": model, "prompt": "1", "max_tokens": 1, "temperature": 0}
            headers = {"authorization": f"Bearer {key}"} if key else {}
            answer = await client.post(
                f"{base_url}/completions", json=question, headers=headers, timeout=seconds
            )
    except httpx.HTTPError as error:
        return f"{type(error).__name__} {error}".strip()
    return _judged(answer, model)


def _judged(answer: httpx.Response, model: str) -> str | None:
    if answer.status_code != httpx.codes.OK:
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
            health = await client.get(base_url.removesuffix("/v1") + "/health", timeout=_LOOK_SECONDS)
    except httpx.HTTPError:
        return False
    return health.status_code == httpx.codes.OK
