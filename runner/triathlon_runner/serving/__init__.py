"""Starts servers of open-weight models: `async with serve(config, ...) as server`."""

from triathlon_runner.serving._api import Served, ServerInfo, Servers
from triathlon_runner.serving._config import (
    HuggingFaceWeights,
    PypiWeights,
    ServeConfig,
    Weights,
    WheelMember,
)
from triathlon_runner.serving._devices import Gpu, gpus
from triathlon_runner.serving._errors import ServerLostError, ServingError
from triathlon_runner.serving._machine import GpuAllocation, Machine
from triathlon_runner.serving._serve import LocalServers, serve
from triathlon_runner.serving._server import Restarts, Server

__all__ = [
    "Gpu",
    "GpuAllocation",
    "HuggingFaceWeights",
    "LocalServers",
    "Machine",
    "PypiWeights",
    "Restarts",
    "ServeConfig",
    "Served",
    "Server",
    "ServerInfo",
    "ServerLostError",
    "Servers",
    "ServingError",
    "Weights",
    "WheelMember",
    "gpus",
    "serve",
]
