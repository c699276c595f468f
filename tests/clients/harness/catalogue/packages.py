"""weir's own clients: the tests in clients/, with the versions underneath that they promise.

On Redis only what asks no server is run.
"""

import os
import sys

from .. import installs, installs_go, installs_java
from . import node
from .client import Client

SECONDS_MAX = 480  # on a machine that is busy with other things; it takes a quarter of that
# Of what looks for leaks as long as WEIR_LEAKS_SECONDS says, in Node.js for two libraries, and runs short tests besides.
LONG_SECONDS_MAX = 780 + 2 * int(os.environ.get("WEIR_LEAKS_SECONDS", "120"))


def python_package(requirements, tests):
    def prepare():
        packages = installs.python_packages(requirements)
        return [sys.executable, installs.CLIENTS / "python/weir_package.py"], {
            "PYTHONPATH": str(packages), "CLIENTS_PACKAGES": str(packages), "CLIENTS_TESTS": tests}
    return prepare


def go_package(tests):
    def prepare():
        described = installs_go.package([".", "internal/core", "weirhttp", "weirotel"])
        return [sys.executable, installs.CLIENTS / "go/weir_package.py"], {
            "CLIENTS_PACKAGES": str(described), "CLIENTS_TESTS": tests}
    return prepare


def node_package(ioredis, node_redis, tests="test"):
    prepare = node.node_program("weir_package.js", ioredis, node_redis, "weir_package")

    def prepare_tests():
        command, environment = prepare()
        return command, {**environment, "CLIENTS_TESTS": tests}
    return prepare_tests


def java_package(*classes):
    return lambda: ([*installs_java.package_program("WeirPackage", "package"), *classes], {})


def package(name, language, prepare, seconds_max=SECONDS_MAX, **options):
    return Client(f"{name}-package", f"weir for {language}", language, (3,), prepare, is_of_calls=True,
                  seconds_max=seconds_max, **options)


CLIENTS = [
    package("python", "Python", python_package("weir-package", "test"), via="redis-py 8", in_ci=True),
    package("python-oldest", "Python", python_package("redis-6", "test"), via="redis-py 6"),
    package("python-long", "Python", python_package("weir-package", "long"), LONG_SECONDS_MAX, via="redis-py 8"),
    package("go", "Go", go_package("test"), via="go-redis 9", in_ci=True),
    package("go-long", "Go", go_package("long"), LONG_SECONDS_MAX, via="go-redis 9"),
    package("node", "Node", node_package("ioredis", "redis6"), via="ioredis 6, node-redis 6", in_ci=True),
    package("node-oldest", "Node", node_package("ioredis5", "redis5"), via="ioredis 5, node-redis 5"),
    package("node-long", "Node", node_package("ioredis", "redis6", "long"), LONG_SECONDS_MAX, via="ioredis 6, node-redis 6"),
    package("java", "Java", java_package(), via="Lettuce 7.7, Spring Boot 4.1", in_ci=True),
    package("java-long", "Java", java_package(r"weir\.Leaks"), LONG_SECONDS_MAX, via="Lettuce 7.7"),
]
