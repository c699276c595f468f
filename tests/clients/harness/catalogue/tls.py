"""The bare clients again, over TLS: the same programs and the same checks."""

from ..session import TLS_WANTED
from . import go, java, node, python
from .client import Client


def encrypted(prepare):
    def prepared():
        command, environment = prepare()
        return command, {**environment, TLS_WANTED: "1"}
    return prepared


def client(name, title, language, protocol, prepare, **options):
    return Client(f"{name}-tls", title, language, (protocol,), encrypted(prepare),
                  is_of_calls=True, **options)


CLIENTS = [
    client("redis-py", "redis-py", "Python", 3, python.python_program("redis-8", "redis_py.py"),
           in_ci=True),
    client("ioredis", "ioredis", "Node", 3, node.node_program("ioredis.js", "ioredis"), in_ci=True),
    client("lettuce", "Lettuce", "Java", 3, java.java_program("BareLettuce", "lettuce"), in_ci=True),
    client("go-redis", "go-redis", "Go", 3, go.go_program("goredis"), in_ci=True),
]
