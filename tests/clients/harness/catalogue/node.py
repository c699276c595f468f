"""Clients and libraries of Node.js."""

from .. import installs
from .client import Client


def node_program(script, package):
    def prepare():
        packages = installs.node_packages()
        return ["node", installs.CLIENTS / "node" / script], {
            "NODE_PATH": str(packages), "CLIENTS_PACKAGE": package}
    return prepare


CLIENTS = [
    Client("ioredis-5", "ioredis", "Node", (2,), node_program("ioredis.js", "ioredis5")),
    Client("ioredis-6", "ioredis", "Node", (2, 3), node_program("ioredis.js", "ioredis6"),
           in_ci=True),
    Client("node-redis-5", "node-redis", "Node", (2, 3), node_program("node_redis.js", "redis5")),
    Client("node-redis-6", "node-redis", "Node", (2, 3), node_program("node_redis.js", "redis6"),
           in_ci=True),
]
