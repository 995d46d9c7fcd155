"""Triathlon's runner: asks code models, executes what they wrote in a sandbox, appends JSONL results."""

__version__ = "0.1.0"
