"""Clients that look for who serves by asking sentinels, while that changes; and HAProxy, which asks ROLE."""

from . import go, java, node, python
from .client import Client


def rider(name, title, language, prepare, protocols=(3,), log="file", **options):
    return Client(f"{name}-failover", title, language, protocols, prepare, is_of_calls=True, log=log, **options)


def redis_py(mode):
    return python.python_program("redis-8", "failover_redis_py.py", CLIENTS_MODE=mode)


CLIENTS = [
    rider("redis-py", "redis-py Sentinel", "Python", redis_py("sentinel"), in_ci=True),
    rider("redis-py-postgres", "redis-py Sentinel, the log in PostgreSQL", "Python", redis_py("sentinel"),
          log="postgres", in_ci=True),
    rider("haproxy", "HAProxy checking ROLE, redis-py", "Python", redis_py("haproxy"), in_ci=True),
    rider("ioredis", "ioredis with sentinels", "Node", node.node_program("failover_ioredis.js", "ioredis"),
          in_ci=True),
    rider("node-redis", "node-redis createSentinel", "Node",
          node.node_program("failover_node_redis.js", "redis6")),
    rider("go-redis", "go-redis FailoverClient", "Go", go.go_program("goredis_failover"), in_ci=True),
    rider("lettuce", "Lettuce with sentinels", "Java", java.java_program("FailoverLettuce", "lettuce")),
    rider("jedis", "Jedis RedisSentinelClient", "Java", java.java_program("FailoverJedis", "jedis")),
    rider("redisson", "Redisson sentinel servers, RLock", "Java",
          java.java_program("FailoverRedisson", "redisson"), in_ci=True),
]
