"""Serving open-weight models with engines that we start: `async with serve(config, ...) as server`."""

from triathlon_runner.serving._api import Described, Listening, Served, Servers
from triathlon_runner.serving._config import (
    HuggingFaceWeights,
    PypiWeights,
    ServeConfig,
    Weights,
    WheelMember,
)
from triathlon_runner.serving._devices import Gpu, gpus
from triathlon_runner.serving._errors import ServerLostError, ServingError
from triathlon_runner.serving._local import LocalServers
from triathlon_runner.serving._machine import Machine, Seat
from triathlon_runner.serving._restarts import Restarts
from triathlon_runner.serving._server import WATCH_SECONDS, Server, serve

__all__ = [
    "WATCH_SECONDS",
    "Described",
    "Gpu",
    "HuggingFaceWeights",
    "Listening",
    "LocalServers",
    "Machine",
    "PypiWeights",
    "Restarts",
    "Seat",
    "ServeConfig",
    "Served",
    "Server",
    "ServerLostError",
    "Servers",
    "ServingError",
    "Weights",
    "WheelMember",
    "gpus",
    "serve",
]
