"""The template server: a warmed interpreter that forks one child per job and never runs a program itself.

It speaks with the runner over a SEQPACKET socket. A job is one message (JSON limits) that carries the child's
four descriptors; `K` kills the running child; at its end the server reports wait status and CPU seconds.
"""

import fcntl
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
from typing import Any

from . import child

STANDARD = [
    *[
        "abc",
        "array",
        "bisect",
        "cmath",
        "collections",
        "collections.abc",
        "contextlib",
        "copy",
        "dataclasses",
    ],
    *[
        "datetime",
        "decimal",
        "enum",
        "fractions",
        "functools",
        "hashlib",
        "heapq",
        "inspect",
        "io",
        "itertools",
    ],
    *["json", "math", "numbers", "operator", "random", "re", "statistics", "string", "struct", "textwrap"],
    *["time", "traceback", "types", "typing", "unicodedata"],
]
"""Imported once before the first fork: what programs of the data sets import."""


def main(control: int, configuration: str) -> None:
    settings = json.loads(configuration)
    _warm(settings)
    channel = socket.socket(fileno=control)
    channel.send(b'{"ready": true}')
    _serve(channel)


def _warm(settings: dict[str, Any]) -> None:
    for name in STANDARD:
        importlib.import_module(name)
    sys.path.extend(settings["path"])
    for name in settings["libraries"]:
        importlib.import_module(name)
    del sys.path[len(sys.path) - len(settings["path"]) :]
    gc.collect()
    gc.freeze()


def _serve(channel: socket.socket) -> None:
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, 1 << 16, 8)
        if not message:
            return
        if message == b"K":
            continue
        pid = os.fork()
        if pid == 0:
            _become_child(json.loads(message), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        status, cpu = _wait(pid, channel)
        channel.send(json.dumps({"status": status, "cpu": cpu}).encode())


def _become_child(job: dict[str, Any], descriptors: list[int]) -> None:
    """Turns the fork into a child that holds nothing of the server's, and never returns."""
    try:
        source, sink, out, err = descriptors
        null = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate((null, out, err, source, sink)):
            os.dup2(_above(descriptor), number)
        os.closerange(5, 1 << 16)
        os.setsid()
        _limit(job)
        child.serve(3, 4)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _above(descriptor: int) -> int:
    """A copy out of the way of the numbers that are being laid."""
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD, 32)


def _limit(job: dict[str, Any]) -> None:
    cpu = int(job["cpu"])
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    resource.setrlimit(resource.RLIMIT_AS, (job["memory"], job["memory"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _wait(pid: int, channel: socket.socket) -> tuple[int, float]:
    """Waits for the child, killing it when the runner says so."""
    handle = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(channel, select.POLLIN)
    try:
        while True:
            ready = {number for number, _ in poll.poll()}
            if channel.fileno() in ready:
                message = channel.recv(64)
                os.kill(pid, signal.SIGKILL)
                if not message:
                    os._exit(0)
            if handle in ready:
                break
    finally:
        os.close(handle)
    _, status, usage = os.wait4(pid, 0)
    return status, usage.ru_utime + usage.ru_stime
