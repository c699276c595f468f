"""Clients whose time-outs and retries docs/calling.md tells: the checks of calls/checks.py."""

import sys

from .. import installs
from . import go, java, node, python
from .client import Client

SECOND_MS = 1000


def checked(prepare, resends, multiplexed, has_read, read_ms, can_wait):
    def prepared():
        command, environment = prepare()
        return [sys.executable, installs.CLIENTS / "calls/checks.py", *command], {
            **environment, "CLIENTS_RESENDS": str(int(resends)),
            "CLIENTS_MULTIPLEXED": str(int(multiplexed)), "CLIENTS_HAS_READ": str(int(has_read)),
            "CLIENTS_READ_MS": str(read_ms), "CLIENTS_CAN_WAIT": str(int(can_wait))}
    return prepared


def caller(name, title, language, protocol, prepare, resends, multiplexed=False, has_read=True,
           read_ms=0, can_wait=True, **options):
    """`protocol` is the client's own default. read_ms 0 leaves its read time-out as it is."""
    return Client(f"{name}-calls", title, language, (protocol,),
                  checked(prepare, resends, multiplexed, has_read, read_ms, can_wait),
                  is_of_calls=True, **options)


def openapi():
    packages = installs.python_packages("schemathesis")
    return [sys.executable, installs.CLIENTS / "http/openapi.py"], {"PYTHONPATH": str(packages)}


CLIENTS = [
    caller("redis-py", "redis-py", "Python", 3, python.python_program("redis-8", "caller_redis_py.py"), resends=True, read_ms=SECOND_MS, in_ci=True),
    caller("ioredis", "ioredis", "Node", 3, node.node_program("caller.js", "ioredis"),
           resends=True, multiplexed=True, has_read=False, in_ci=True),
    caller("node-redis", "node-redis", "Node", 3, node.node_program("caller.js", "redis6"),
           resends=False, multiplexed=True, has_read=False),
    caller("go-redis", "go-redis", "Go", 3, go.go_program("caller"), resends=True,
           read_ms=SECOND_MS, in_ci=True),
    caller("rueidis", "rueidis", "Go", 3, go.limiter("rueidiscaller"), resends=False,
           multiplexed=True, read_ms=SECOND_MS),
    caller("jedis", "Jedis", "Java", 3, java.java_program("CallerJedis", "jedis"), resends=False,
           in_ci=True),
    caller("lettuce", "Lettuce", "Java", 3, java.java_program("CallerLettuce", "lettuce"),
           resends=True, multiplexed=True, read_ms=SECOND_MS),
    caller("redisson", "Redisson", "Java", 3, java.java_program("CallerRedisson", "redisson"),
           resends=True, has_read=False, read_ms=SECOND_MS, can_wait=False),
    Client("calling-page", "docs/calling.md's snippets", "each", (3,),
           lambda: ([sys.executable, installs.CLIENTS / "calls/page.py"], {}), is_of_calls=True,
           seconds_max=300),
    Client("away-page", "docs/when-weir-is-away.md's limiters", "each", (3,),
           lambda: ([sys.executable, installs.CLIENTS / "calls/away.py"], {}), is_of_calls=True,
           seconds_max=150, in_ci=True),
    Client("gate-proxies", "docs/http.md's proxies", "each", (3,),
           lambda: ([sys.executable, installs.CLIENTS / "gate/proxies.py"],
                    {"CLIENTS_PROXIES": str(installs.python_packages("proxies"))}),
           is_of_calls=True, in_ci=True),
    Client("rls-envoy", "docs/rls.md's Envoy", "each", (3,),
           lambda: ([sys.executable, installs.CLIENTS / "gate/rls.py"],
                    {"CLIENTS_PROXIES": str(installs.python_packages("proxies"))}),
           is_of_calls=True, in_ci=True),
    Client("rls-go", "Envoy's rate limit service, a generated client", "Go", (2,), go.rate_limit_service,
           is_of_calls=True, in_ci=True, ci_install_seconds=45),
    Client("openapi", "schemathesis", "Python", (3,), openapi, is_of_calls=True, in_ci=True,
           seconds_max=1260),  # it ends by itself before
]
