"""Clients and libraries of Go."""

import subprocess
import sys

from .. import installs, installs_go
from .client import Client

# What tests of whole clients ask for and weir does not claim to be, with the words for it.
BEYOND = (
    (r"unknown command 'x|TestStreams", "streams"),
    (r"unknown command 'geo", "geographic commands"),
    (r"unknown command '(bit|[gs]etbit)|filter commands by pattern", "bitmaps"),
    (r"unknown command 'pf|unknown command 'PF|TestKeyGroupMetrics", "HyperLogLog"),
    (r"unknown command '(migrate|replicaof|slaveof)|does not speak Redis' replication|Command Tips|ReplBacklog",
     "replication and clusters"),
    (r"unknown command 'lcs", "LCS"),
    (r"LFU maxmemory policy", "eviction"),
    (r"RdbFileSize", "RDB files"),
)

# Of go-redis' 1572 tests those of one server: no cluster, ring, sentinel, module or load test.
GO_REDIS_TESTS = ("^go-redis (Commands|Client|Conn|Tx|PubSub|pipelining|pool|ScanIterator|"
                  "NewScriptServerSHA|RawCmd|Cmd|withConn|Monitor command|NoRetry behavior|"
                  "Hook|error) ")

GO_REDIS, REDIGO = "go-redis 9", "redigo 1"


def go_program(name, module="", beside=(), **environment):
    """Our program NAME of go/MODULE. `beside` are pairs (variable, package): programs of others
    that are built too, and whose paths the program finds in these variables."""
    def prepare():
        others = {variable: str(installs.go_program(package, module))
                  for variable, package in beside}
        return [installs.go_program(f"./{name}", module)], {**environment, **others}
    return prepare


def limiter(name, **environment):
    return go_program(name, "limiters", **environment)


def rate_limit_service():
    """A client that is generated from the newest messages, beside the service that is compared, with its own."""
    if subprocess.run(["/usr/bin/python3", "-c", "import yaml"], capture_output=True, check=False).returncode:
        raise installs.Missing("tools/weir-policies needs python3-yaml")
    service = installs.go_program("github.com/envoyproxy/ratelimit/src/service_cmd", "envoy")
    grpcurl = installs.go_program("github.com/fullstorydev/grpcurl/cmd/grpcurl", "grpcurl")
    return [installs.go_program(".", "rls")], {
        "CLIENTS_RATELIMIT": str(service), "CLIENTS_GRPCURL": str(grpcurl),
        "CLIENTS_CONVERTER": str(installs.CLIENTS.parents[1] / "tools/weir-policies")}


def suite(module, packages=(".",), ports="", test=(), beside="limiters", **environment):
    """The module's own tests; `ports` are those written into them, `test` arguments for them."""
    def prepare():
        if ports:
            installs.namespaces()
        folder = installs_go.suite(module, packages, beside)
        where = ["--ports", ports] if ports else []
        return [sys.executable, installs.CLIENTS / "suites/go_suite.py", folder, *where, "--",
                *test], environment
    return prepare


CLIENTS = [
    Client("go-redis-9", "go-redis", "Go", (2, 3), go_program("goredis"), in_ci=True,
           configure='`redis.NewClient(&redis.Options{Addr: "HOST:PORT"})`'),
    Client("rueidis", "rueidis", "Go", (2, 3), limiter("rueidis"),
           configure='`rueidis.ClientOption{InitAddress: []string{"HOST:PORT"}}`'),
    Client("rueidislimiter", "rueidislimiter", "Go", (2, 3), limiter("rueidislimiter"),
           via="rueidis 1",
           configure="`ClientOption` in `RateLimiterOption` has weir's address"),
    Client("redis-rate", "redis_rate", "Go", (2, 3), limiter("redisrate"), via=GO_REDIS,
           in_ci=True, configure="give `redis_rate.NewLimiter` a client made with weir's address"),
    Client("go-zero", "go-zero periodlimit, tokenlimit", "Go", (2, 3), limiter("gozero"),
           via=GO_REDIS, configure='`redis.RedisConf{Host: "HOST:PORT", Type: redis.NodeType}`'),
    Client("throttled-goredis", "throttled, goredisstore", "Go", (2, 3),
           limiter("throttled", CLIENTS_STORE="goredis"), via=GO_REDIS,
           configure="give `goredisstore.NewCtx` a client made with weir's address"),
    Client("throttled-redigo", "throttled, redigostore", "Go", (2,),
           limiter("throttled", CLIENTS_STORE="redigo"), via=REDIGO,
           configure="give `redigostore.NewCtx` a pool that dials weir's address"),
    Client("ulule-limiter", "ulule/limiter", "Go", (2, 3), limiter("ulule"), via=GO_REDIS,
           configure="give the Redis store's `NewStore` a client made with weir's address"),
    Client("go-redisstore", "sethvargo/go-limiter, go-redisstore", "Go", (2,),
           limiter("redisstore"), via=REDIGO,
           configure="`Dial` in `redisstore.Config` dials weir's address"),
    Client("envoy-ratelimit", "envoyproxy/ratelimit", "Go", (2,),
           go_program(".", "envoy", beside=[(
               "CLIENTS_RATELIMIT", "github.com/envoyproxy/ratelimit/src/service_cmd")]),
           via="radix 4", configure="`REDIS_SOCKET_TYPE=tcp REDIS_URL=HOST:PORT`"),
    Client("traefik", "Traefik's RateLimit middleware", "Go", (3,),
           lambda: ([installs_go.traefik()], {}), via=GO_REDIS,
           configure="`rateLimit.redis.endpoints: [HOST:PORT]`"),
    Client("redis-exporter", "redis_exporter", "Go", (2,),
           go_program(".", "exporter", beside=[(
               "CLIENTS_EXPORTER", "github.com/oliver006/redis_exporter")]),
           via=REDIGO, configure="`--redis.addr=redis://HOST:PORT`"),
    Client("redis-rate-suite", "redis_rate", "Go", (3,), is_suite=True,
           prepare=suite("github.com/go-redis/redis_rate/v10", ports="6379")),
    Client("throttled-suite", "throttled", "Go", (2,), is_suite=True,
           prepare=suite("github.com/throttled/throttled/v2", [
               ".", "store/goredisstore", "store/goredisstore.v8", "store/goredisstore.v9",
               "store/redigostore"], ports="6379")),
    Client("ulule-limiter-suite", "ulule/limiter", "Go", (3,), is_suite=True,
           prepare=suite("github.com/ulule/limiter/v3", ["drivers/store/redis"],
                         REDIS_URI="redis://127.0.0.1:{port}/0")),
    Client("go-redisstore-suite", "sethvargo/go-redisstore", "Go", (2,), is_suite=True,
           prepare=suite("github.com/sethvargo/go-redisstore", REDIS_HOST="127.0.0.1",
                         REDIS_PORT="{port}", REDIS_PASS="")),
    Client("go-redis-suite", "go-redis", "Go", (3,), is_suite=True, beyond=BEYOND,
           prepare=suite("github.com/redis/go-redis/v9", ports="6379", RE_CLUSTER="true",
                         REDIS_VERSION="7.0", test=[
                             "-test.timeout=200s", "-test.run=^TestGinkgoSuite$",
                             f"-ginkgo.focus={GO_REDIS_TESTS}",
                             "-ginkgo.v", "-ginkgo.no-color", "-ginkgo.seed=1"])),
    Client("redigo-suite", "redigo", "Go", (2,), is_suite=True, beyond=BEYOND,
           prepare=suite("github.com/gomodule/redigo", ["redis"], ports="16379", test=[
               f"-redis-server={installs.CLIENTS / 'suites/go_stand_in.py'}"])),
    Client("redis-exporter-suite", "redis_exporter", "Go", (2,), is_suite=True, beyond=BEYOND,
           prepare=suite("github.com/oliver006/redis_exporter", ["exporter"], beside="exporter",
                         TEST_REDIS_URI="redis://127.0.0.1:{port}",
                         TEST_REDIS7_URI="redis://127.0.0.1:{port}")),
]
