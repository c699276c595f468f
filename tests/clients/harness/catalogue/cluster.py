"""Clients of clusters, against one owner, three, and a shard, and limiter libraries that speak through them."""

from dataclasses import replace

from . import go, java, node, python, tools
from .client import Client

PROTOCOLS = (2, 3)


def of_owners(prepare, owners):
    def prepared():
        command, environment = prepare()
        return command, {**environment, "CLIENTS_OWNERS": str(owners)}
    return prepared


def both(name, title, language, prepare, protocols=PROTOCOLS, in_ci=False, **options):
    """The entry for one owner, the one for three, which stands for the language in CI, and the one for a shard."""
    one = Client(f"{name}-1-cluster", f"{title}, 1 owner", language, protocols,
                 of_owners(prepare, 1), is_of_calls=True, owners=1, **options)
    return [one, replace(one, name=f"{name}-3-cluster", title=f"{title}, 3 owners", owners=3,
                         prepare=of_owners(prepare, 3), in_ci=in_ci),
            replace(one, name=f"{name}-shard-cluster", title=f"{title}, a shard", log="file",
                    in_ci=in_ci and language in ("Python", "Go"))]


def library(name, title, language, prepare, **options):
    """A limiter library on three owners: the checks that it passes on one server; all are killed."""
    return Client(f"{name}-cluster", f"{title}, 3 owners", language, PROTOCOLS,
                  of_owners(prepare, 3), is_of_calls=True, owners=3, kills_all_owners=True,
                  **options)


def limits(mode):
    return python.python_program("limiters-redis-7", "limits_package.py", CLIENTS_MODE=mode)


def bucket4j(client, **options):
    name = client.lower()
    return library(f"bucket4j-{name}", f"Bucket4j on {client}", "Java",
                   java.java_program(f"Bucket4jOn{client}", f"bucket4j-{name}"), **options)


def on_ioredis(package, script):
    return library(package.strip("@").replace("/", "-"), f"{package} on ioredis", "Node",
                   node.node_program(script, package, "ioredis"))


CLIENTS = [
    *both("redis-tools", "redis-cli and redis-benchmark", "C",
          tools.tool_program("redis-cli", "cluster.py"), in_ci=True),
    *both("redis-py", "redis-py RedisCluster", "Python",
          python.python_program("redis-8", "cluster_redis_py.py"), in_ci=True),
    *both("ioredis", "ioredis Cluster", "Node",
          node.node_program("cluster_ioredis.js", "ioredis"), in_ci=True),
    *both("node-redis", "node-redis cluster", "Node",
          node.node_program("cluster_node_redis.js", "redis6")),
    *both("go-redis", "go-redis ClusterClient", "Go", go.go_program("goredis_cluster"),
          in_ci=True),
    *both("rueidis", "rueidis", "Go", go.limiter("rueidis_cluster")),
    *both("lettuce", "Lettuce RedisClusterClient", "Java",
          java.java_program("ClusterLettuce", "lettuce"), in_ci=True),
    *both("jedis", "Jedis RedisClusterClient", "Java",
          java.java_program("ClusterJedis", "jedis")),
    *both("redisson", "Redisson cluster servers", "Java",
          java.java_program("ClusterRedisson", "redisson")),
    library("redis-rate", "redis_rate", "Go", go.limiter("redisrate"), in_ci=True),
    library("go-zero", "go-zero", "Go", go.limiter("gozero")),
    library("limits", "limits", "Python", limits("sync")),
    library("limits-async", "limits (async)", "Python", limits("redispy")),
    library("rate-limiter-flexible", "rate-limiter-flexible on ioredis", "Node",
            node.node_program("rate_limiter_flexible.js", "rate-limiter-flexible", "ioredis")),
    library("rate-limiter-flexible-redis", "rate-limiter-flexible on node-redis", "Node",
            node.node_program("rate_limiter_flexible.js", "rate-limiter-flexible", "redis6")),
    on_ioredis("async-ratelimiter", "async_ratelimiter.js"),
    on_ioredis("ratelimiter", "ratelimiter.js"),
    on_ioredis("rolling-rate-limiter", "rolling_rate_limiter.js"),
    on_ioredis("@fastify/rate-limit", "fastify_rate_limit.js"),
    library("redisson-rate-limiter", "Redisson RRateLimiter", "Java",
            java.java_program("RedissonRateLimiter", "redisson")),
    *map(bucket4j, ("Lettuce", "Jedis", "Redisson")),
    library("spring-cloud-gateway", "Spring Cloud Gateway", "Java",
            java.java_program("Gateway", "gateway")),
]
