"""Clients and libraries of Node.js."""

from .. import installs
from .client import Client

IOREDIS = ("ioredis 6", "ioredis")
NODE_REDIS = ("node-redis 6", "redis6")
NODE_REDIS_3 = ("node-redis 3", "redis3")

USE_IOREDIS = '`new Redis({ host: "HOST", port: PORT })`, or a URL'
USE_NODE_REDIS = '`createClient({ url: "redis://HOST:PORT" })`'
USE_CLIENT = "give it an ioredis or node-redis client made with weir's address"


def node_program(script, package, via="", lock=""):
    def prepare():
        packages = installs.node_packages(lock)
        return ["node", installs.CLIENTS / "node" / script], {
            "NODE_PATH": str(packages), "CLIENTS_PACKAGE": package, "CLIENTS_VIA": via}
    return prepare


def bare(name, title, script, package, protocols, **details):
    return Client(name, title, "Node", protocols, node_program(script, package), **details)


def library(name, package, script, via, protocols=(2, 3), **details):
    """A limiter library that speaks through the client `via`."""
    title, module = via
    return Client(name, package, "Node", protocols, node_program(script, package, module),
                  via=title, **details)


def suite(name, package, via):
    """The tests that the package carries."""
    return library(name, package, "../suites/node_suite.js", via, (2,), is_suite=True)


CLIENTS = [
    bare("ioredis-5", "ioredis", "ioredis.js", "ioredis5", (2,)),
    bare("ioredis-6", "ioredis", "ioredis.js", "ioredis", (2, 3), in_ci=True,
         configure=USE_IOREDIS),
    bare("node-redis-5", "node-redis", "node_redis.js", "redis5", (2, 3)),
    bare("node-redis-6", "node-redis", "node_redis.js", "redis6", (2, 3), in_ci=True,
         configure=USE_NODE_REDIS),
    library("rate-limiter-flexible", "rate-limiter-flexible", "rate_limiter_flexible.js", IOREDIS,
            in_ci=True, configure="`storeClient`: " + USE_CLIENT),
    library("rate-limiter-flexible-redis", "rate-limiter-flexible", "rate_limiter_flexible.js",
            NODE_REDIS),
    library("rate-limit-redis", "rate-limit-redis", "rate_limit_redis.js", NODE_REDIS,
            configure="`sendCommand`: a function that calls a client made with weir's address"),
    library("rate-limit-redis-ioredis", "rate-limit-redis", "rate_limit_redis.js", IOREDIS),
    library("fastify-rate-limit", "@fastify/rate-limit", "fastify_rate_limit.js", IOREDIS,
            configure="`redis`: an ioredis client made with weir's address"),
    library("nest-throttler", "@nest-lab/throttler-storage-redis", "nest_throttler.js", IOREDIS,
            configure='`storage: new ThrottlerStorageRedisService("redis://HOST:PORT")`'),
    library("bottleneck", "bottleneck", "bottleneck.js", IOREDIS,
            configure='`clientOptions: { host: "HOST", port: PORT }`; what Redis 7 broke (lost '
            "settings, overweight jobs) works"),
    library("bottleneck-redis", "bottleneck", "bottleneck.js", NODE_REDIS_3, (2,)),
    library("ratelimiter", "ratelimiter", "ratelimiter.js", IOREDIS,
            configure="`db`: " + USE_CLIENT),
    library("async-ratelimiter", "async-ratelimiter", "async_ratelimiter.js", IOREDIS,
            configure="`db`: an ioredis client made with weir's address"),
    library("rolling-rate-limiter", "rolling-rate-limiter", "rolling_rate_limiter.js", IOREDIS,
            configure="`client`: " + USE_CLIENT),
    library("rolling-rate-limiter-redis", "rolling-rate-limiter", "rolling_rate_limiter.js",
            NODE_REDIS),
    library("bullmq", "bullmq", "bullmq.js", IOREDIS,
            configure="`connection: { host, port }` does for `queue.rateLimit()` and its kin; its "
            "jobs need streams, which weir has not"),
    suite("fastify-rate-limit-suite", "@fastify/rate-limit", IOREDIS),
    suite("bottleneck-suite", "bottleneck", IOREDIS),
    suite("bottleneck-suite-redis", "bottleneck", NODE_REDIS_3),
]
