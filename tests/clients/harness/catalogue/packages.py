"""weir's own clients: the tests in clients/, with the versions underneath that they promise.

On Redis only what asks no server is run.
"""

import sys

from .. import installs, installs_go
from .client import Client

SECONDS_MAX = 240


def python_package(requirements):
    def prepare():
        packages = installs.python_packages(requirements)
        return [sys.executable, installs.CLIENTS / "python/weir_package.py"], {
            "PYTHONPATH": str(packages), "CLIENTS_PACKAGES": str(packages)}
    return prepare


def go_package():
    described = installs_go.package([".", "internal/core", "weirhttp"])
    return [sys.executable, installs.CLIENTS / "go/weir_package.py"], {"CLIENTS_PACKAGES": str(described)}


def package(name, language, prepare, **options):
    return Client(f"{name}-package", f"weir for {language}", language, (3,), prepare, is_of_calls=True,
                  seconds_max=SECONDS_MAX, **options)


CLIENTS = [
    package("python", "Python", python_package("weir-package"), via="redis-py 8"),
    package("python-oldest", "Python", python_package("redis-6"), via="redis-py 6"),
    package("go", "Go", go_package, via="go-redis 9"),
]
