"""Clients and libraries of Python."""

import sys
from pathlib import Path

from .. import installs
from .client import Client


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
        return [python, installs.CLIENTS / "python" / script], {}
    return prepare


def python_program(requirements, script):
    def prepare():
        packages = installs.python_packages(requirements)
        return [sys.executable, installs.CLIENTS / "python" / script], {
            "PYTHONPATH": str(packages)}
    return prepare


CLIENTS = [
    Client("python3-redis", "redis-py (Debian)", "Python", (2,),
           debian_python("redis", "python3-redis", "redis_py.py")),
    Client("redis-py-4", "redis-py", "Python", (2,), python_program("redis-4", "redis_py.py")),
    Client("redis-py-8", "redis-py", "Python", (2, 3), python_program("redis-8", "redis_py.py"),
           in_ci=True),
]
