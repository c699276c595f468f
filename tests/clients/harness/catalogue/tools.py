"""The programs of Debian's redis-tools."""

import sys

from .. import installs
from .client import Client


def tool_program(program, script):
    """A program of Debian's redis-tools, driven by a Python script; whatever version is there."""
    def prepare():
        return [sys.executable, installs.CLIENTS / "cli" / script], {
            "CLIENTS_TOOL": installs.need(program, "the package redis-tools"),
            "PYTHONPATH": str(installs.CLIENTS / "python")}
    return prepare


CLIENTS = [
    Client("redis-cli", "redis-cli", "C", (2, 3), tool_program("redis-cli", "redis_cli.py"),
           in_ci=True),
    Client("redis-benchmark", "redis-benchmark", "C", (2, 3),
           tool_program("redis-benchmark", "redis_benchmark.py"), in_ci=True),
]
