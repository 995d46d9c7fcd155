"""Child processes that cannot outlive us: each runs under `_end_with_runner.py`."""

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_GUARD = Path(__file__).with_name("_end_with_runner.py")
_GRACE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Child:
    """A guarded process whose output goes to the end of a log file."""

    process: asyncio.subprocess.Process
    """The guard, which leads the session and the process group."""
    grace: float

    @property
    def exit_status(self) -> int | None:
        return self.process.returncode

    async def stop(self) -> None:
        """Ends the whole process group, with SIGTERM and then SIGKILL; safe to call again."""
        if self.process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self.process.wait(), self.grace + _GRACE_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()


async def spawn(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    log: Path,
    grace: float = _GRACE_SECONDS,
    nice: int = 0,
) -> Child:
    """Starts a command that writes to the end of a log; all its processes end with it and with the runner.

    `env` is its whole environment, `grace` the seconds between asking it to end and killing it.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    guard = [sys.executable, "-I", "-S", str(_GUARD), str(os.getpid()), str(grace), str(nice)]
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        process = await asyncio.create_subprocess_exec(
            *guard,
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            env=dict(env),
            start_new_session=True,
        )
    finally:
        os.close(descriptor)
    return Child(process, grace)


async def run(
    command: Sequence[str], *, env: Mapping[str, str], log: Path, grace: float = _GRACE_SECONDS
) -> int:
    """Runs a command to its end and returns its exit status; a cancelled caller ends it."""
    child = await spawn(command, env=env, log=log, grace=grace)
    try:
        return await child.process.wait()
    finally:
        await child.stop()


_NEEDED = re.compile(
    r"""
    PATH | HOME | USER | LOGNAME | SHELL | TMPDIR | LANG | LANGUAGE | TZ | XDG_(CACHE|CONFIG|DATA)_HOME
    | (HTTP|HTTPS|ALL|NO)_PROXY | (http|https|all|no)_proxy
    | SSL_CERT_(FILE|DIR) | (REQUESTS|CURL)_CA_BUNDLE
    | LD_LIBRARY_PATH | LD_PRELOAD | LIBRARY_PATH | CPATH | CC | CXX | MAX_JOBS | TOKENIZERS_PARALLELISM
    """,
    re.VERBOSE,
)
"""What a program needs to find itself, its libraries, a compiler, the network and a place for its files."""
_FAMILY = re.compile(
    r"""
    (LC|CUDA|NVIDIA|NCCL|GLOO|CUDNN|CUBLAS|ROCR|HIP|VLLM|TORCH|TORCHINDUCTOR|PYTORCH|TRITON|FLASHINFER|HF
    |TRANSFORMERS|OMP|GOMP|KMP|MKL)_
    (?! .* (KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH)) .*
    """,
    re.VERBOSE,
)
"""By which the engine, the libraries under it and their caches are set up; but `NVIDIA_API_KEY` is a
provider's, and `VLLM_API_KEY` is ours to give."""

PIP = ("PIP_",)
"""For pip: which index it asks, and how. The address of an index may hold a password."""
HUB = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""For a server whose weights come from the hub, where gated ones need it."""
RAY = ("RAY_",)
"""For a server that is spread over a Ray cluster: its address, and its token where it asks for one."""


def inherited_variables(*prefixes: str) -> dict[str, str]:
    """The variables of our environment that a child needs; keys of providers and teams are not among them.

    `prefixes` are the beginnings of further names that this child needs (`PIP`, `HUB`, `RAY`).
    """
    return {
        name: value
        for name, value in os.environ.items()
        if _NEEDED.fullmatch(name) or _FAMILY.fullmatch(name) or name.startswith(prefixes)
    }
