"""Pinning a Hugging Face revision: a tag or branch moves, a commit does not."""

import os
import re
from pathlib import Path

import httpx2

from triathlon_runner.serving._config import HuggingFaceWeights
from triathlon_runner.serving._errors import ServingError

_COMMIT = re.compile(r"[0-9a-f]{40}")
_DEFAULT_ENDPOINT = "https://huggingface.co"
_TIMEOUT = 30.0


async def commit_of(weights: HuggingFaceWeights, env: dict[str, str]) -> str:
    """The commit that the revision names now; where the hub does not answer, the one downloaded last.

    Raises:
        ServingError: the hub knows no such repository or revision, or neither hub nor cache can tell.
    """
    if _COMMIT.fullmatch(weights.revision):
        return weights.revision
    settings = {**os.environ, **env}
    try:
        if settings.get("HF_HUB_OFFLINE") in {"1", "true"}:
            raise httpx2.ConnectError("HF_HUB_OFFLINE is set")
        return await _asked(weights, settings)
    except httpx2.HTTPError as error:
        if known := _cached(weights, settings):
            return known
        raise ServingError(
            f"expected a Hugging Face hub to say which commit of {weights.repo!r} is {weights.revision!r}, "
            f"got {type(error).__name__}: {error}; set `revision:` to a commit (40 hex digits) that is "
            "downloaded already, or `path:` to a folder"
        ) from error


async def _asked(weights: HuggingFaceWeights, settings: dict[str, str]) -> str:
    endpoint = settings.get("HF_ENDPOINT", _DEFAULT_ENDPOINT).rstrip("/")
    token = settings.get("HF_TOKEN")
    headers = {"authorization": f"Bearer {token}"} if token else {}
    url = f"{endpoint}/api/models/{weights.repo}/revision/{weights.revision}"
    async with httpx2.AsyncClient(timeout=_TIMEOUT, follow_redirects=True, headers=headers) as client:
        answer = await client.get(url)
    if answer.status_code in {401, 403, 404}:
        raise ServingError(
            f"the hub knows no revision {weights.revision!r} of {weights.repo!r}, or shows it only to "
            f"those who may see it ({answer.status_code}); check the name, accept its licence there, and "
            "set HF_TOKEN"
        )
    answer.raise_for_status()
    return _commit_in(answer, weights)


def _commit_in(answer: httpx2.Response, weights: HuggingFaceWeights) -> str:
    try:
        commit = answer.json()["sha"]
    except (ValueError, KeyError, TypeError):
        commit = None
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise ServingError(
            f"expected a commit of {weights.repo!r} from {answer.url.host!r}, got {answer.text[:200]!r}"
        )
    return commit


def _cached(weights: HuggingFaceWeights, settings: dict[str, str]) -> str | None:
    home = Path(settings.get("HF_HOME", "~/.cache/huggingface")).expanduser()
    hub = Path(settings.get("HF_HUB_CACHE", home / "hub")).expanduser()
    ref = hub / f"models--{weights.repo.replace('/', '--')}" / "refs" / weights.revision
    return ref.read_text().strip() if ref.is_file() else None
