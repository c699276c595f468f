"""weir's own clients: the tests in clients/, with the versions underneath that they promise.

On Redis only what asks no server is run.
"""

import sys

from .. import installs, installs_java
from .client import Client

SECONDS_MAX = 240


def python_package(requirements):
    def prepare():
        packages = installs.python_packages(requirements)
        return [sys.executable, installs.CLIENTS / "python/weir_package.py"], {
            "PYTHONPATH": str(packages), "CLIENTS_PACKAGES": str(packages)}
    return prepare


def java_package():
    return installs_java.package_program("WeirPackage", "package"), {}


def package(name, title, requirements, **options):
    return Client(f"{name}-package", title, "Python", (3,), python_package(requirements), is_of_calls=True,
                  seconds_max=SECONDS_MAX, **options)


CLIENTS = [
    package("python", "weir for Python", "weir-package", via="redis-py 8"),
    package("python-oldest", "weir for Python", "redis-6", via="redis-py 6"),
    Client("java-package", "weir for Java", "Java", (3,), java_package, via="Lettuce 7.7, Spring Boot 4.1",
           is_of_calls=True),
]
