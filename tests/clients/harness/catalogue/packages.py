"""weir's own clients: the tests in clients/, with the versions underneath that they promise.

On Redis only what asks no server is run.
"""

import sys

from .. import installs
from . import node
from .client import Client

SECONDS_MAX = 240


def python_package(requirements):
    def prepare():
        packages = installs.python_packages(requirements)
        return [sys.executable, installs.CLIENTS / "python/weir_package.py"], {
            "PYTHONPATH": str(packages), "CLIENTS_PACKAGES": str(packages)}
    return prepare


def package(name, title, requirements, **options):
    return Client(f"{name}-package", title, "Python", (3,), python_package(requirements), is_of_calls=True,
                  seconds_max=SECONDS_MAX, **options)


def node_package(name, ioredis, node_redis, via):
    return Client(f"{name}-package", "weir for Node.js", "Node", (3,),
                  node.node_program("weir_package.js", ioredis, node_redis), is_of_calls=True,
                  seconds_max=SECONDS_MAX, via=via)


CLIENTS = [
    package("python", "weir for Python", "weir-package", via="redis-py 8"),
    package("python-oldest", "weir for Python", "redis-6", via="redis-py 6"),
    node_package("node", "ioredis", "redis6", "ioredis 6, node-redis 6"),
    node_package("node-oldest", "ioredis5", "redis5", "ioredis 5, node-redis 5"),
]
