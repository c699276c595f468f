"""Every client that is tried: one entry each, made of what to run and how to get it.

Adding a client is an entry here, a program in its language's folder, and its pinned version in that
folder's lock file.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from . import installs

CLIENTS = installs.CLIENTS


@dataclass(frozen=True)
class Client:
    """`prepare` installs and answers (command, environment), or raises installs.Missing."""

    name: str
    title: str
    language: str
    protocols: tuple
    prepare: Callable


def tool_program(program, script):
    """A program of Debian's redis-tools, driven by a Python script; whatever version is there."""
    def prepare():
        return [sys.executable, CLIENTS / "cli" / script], {
            "CLIENTS_TOOL": installs.need(program, "the package redis-tools"),
            "PYTHONPATH": str(CLIENTS / "python")}
    return prepare


def debian_python(module, package, script):
    """A Python client from Debian's packages, which only Debian's own Python sees."""
    def prepare():
        python = Path("/usr/bin/python3")
        if not python.exists():
            raise installs.Missing("there is no /usr/bin/python3")
        try:
            installs.command([str(python), "-c", f"import {module}"])
        except installs.Missing as error:
            raise installs.Missing(f"the package {package} is not installed") from error
        return [python, CLIENTS / "python" / script], {}
    return prepare


def python_program(requirements, script):
    def prepare():
        packages = installs.python_packages(requirements)
        return [sys.executable, CLIENTS / "python" / script], {"PYTHONPATH": str(packages)}
    return prepare


def node_program(script, package):
    def prepare():
        packages = installs.node_packages()
        return ["node", CLIENTS / "node" / script], {
            "NODE_PATH": str(packages), "CLIENTS_PACKAGE": package}
    return prepare


def go_program(name):
    def prepare():
        return [installs.go_program(name)], {}
    return prepare


ALL = [
    Client("redis-cli", "redis-cli", "C", (2, 3), tool_program("redis-cli", "redis_cli.py")),
    Client("redis-benchmark", "redis-benchmark", "C", (2, 3),
           tool_program("redis-benchmark", "redis_benchmark.py")),
    Client("python3-redis", "redis-py (Debian)", "Python", (2,),
           debian_python("redis", "python3-redis", "redis_py.py")),
    Client("redis-py-4", "redis-py", "Python", (2,), python_program("redis-4", "redis_py.py")),
    Client("redis-py-8", "redis-py", "Python", (2, 3), python_program("redis-8", "redis_py.py")),
    Client("ioredis-5", "ioredis", "Node", (2,), node_program("ioredis.js", "ioredis5")),
    Client("ioredis-6", "ioredis", "Node", (2, 3), node_program("ioredis.js", "ioredis6")),
    Client("node-redis-5", "node-redis", "Node", (2, 3), node_program("node_redis.js", "redis5")),
    Client("node-redis-6", "node-redis", "Node", (2, 3), node_program("node_redis.js", "redis6")),
    Client("go-redis-9", "go-redis", "Go", (2, 3), go_program("goredis")),
]


def chosen(names):
    """The clients of these names, all without any; ValueError names one that is unknown."""
    known = {client.name: client for client in ALL}
    for name in names:
        if name not in known:
            raise ValueError(f"no client is called '{name}'; there are {', '.join(known)}")
    return [client for client in ALL if not names or client.name in names]
