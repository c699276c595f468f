"""Clients that speak the whole language of limits on their defaults: language/checks.py."""

import sys

from .. import installs
from . import go, java, node, python
from .client import Client


def spoken(prepare, title, maps, error, has_read):
    def prepared():
        command, environment = prepare()
        return [sys.executable, installs.CLIENTS / "language/checks.py", *command], {
            **environment, "CLIENTS_TITLE": title, "CLIENTS_MAPS": maps, "CLIENTS_ERROR": error,
            "CLIENTS_HAS_READ": str(int(has_read))}
    return prepared


def speaker(name, title, language, protocol, prepare, maps, error, has_read=True, **options):
    """`protocol` is the client's own default, `maps` and `error` as in language/checks.py."""
    return Client(f"{name}-language", title, language, (protocol,),
                  spoken(prepare, title, maps, error, has_read), is_of_calls=True, **options)


CLIENTS = [
    speaker("redis-py", "redis-py", "Python", 3,
            python.python_program("redis-8", "caller_redis_py.py"), "map", "ResponseError",
            in_ci=True),
    speaker("ioredis", "ioredis", "Node", 3, node.node_program("caller.js", "ioredis"), "flat",
            "SimpleError", has_read=False, in_ci=True),
    speaker("ioredis-5", "ioredis", "Node", 2, node.node_program("caller.js", "ioredis5"), "flat",
            "ReplyError", has_read=False),
    speaker("go-redis", "go-redis", "Go", 3, go.go_program("caller"), "map", "proto.RedisError",
            in_ci=True),
    speaker("jedis", "Jedis", "Java", 3, java.java_program("CallerJedis", "jedis"), "pairs",
            "JedisDataException", in_ci=True),
]
