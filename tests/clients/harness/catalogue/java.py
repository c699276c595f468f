"""Clients and libraries of Java."""

from .. import installs_java
from .client import Client


def java_program(main, profile):
    def prepare():
        return installs_java.java_program(main, profile), {}
    return prepare


REDISSON = ('in `Config`: `useSingleServer().setAddress("redis://HOST:PORT")`, or in a cluster '
            '`useClusterServers()` with `setReadMode(ReadMode.MASTER)`: its default reads from '
            'replicas, which at weir lead on to the primary, a hop more for each read')
BUCKET4J = ("give `Bucket4jLettuce`, `Bucket4jJedis` or `Bucket4jRedisson` a client made with "
            "weir's address")
GATEWAY = "in the application's properties: `spring.data.redis.host` and `spring.data.redis.port`"

CLIENTS = [
    Client("lettuce-7", "Lettuce", "Java", (2, 3), java_program("BareLettuce", "lettuce"),
           in_ci=True, configure='`RedisClient.create("redis://HOST:PORT")`'),
    Client("jedis-8", "Jedis", "Java", (2, 3), java_program("BareJedis", "jedis"),
           configure='`RedisClient.create("redis://HOST:PORT")`'),
    Client("redisson-rate-limiter", "Redisson RRateLimiter", "Java", (2, 3),
           java_program("RedissonRateLimiter", "redisson"), in_ci=True, configure=REDISSON),
    Client("redisson-gcra", "Redisson RGcra", "Java", (2, 3),
           java_program("RedissonGcra", "redisson"), configure=REDISSON),
    Client("bucket4j-lettuce", "Bucket4j", "Java", (2, 3),
           java_program("Bucket4jOnLettuce", "bucket4j-lettuce"), via="Lettuce 7.7",
           configure=BUCKET4J),
    Client("bucket4j-jedis", "Bucket4j", "Java", (2, 3),
           java_program("Bucket4jOnJedis", "bucket4j-jedis"), via="Jedis 8.0"),
    Client("bucket4j-redisson", "Bucket4j", "Java", (2, 3),
           java_program("Bucket4jOnRedisson", "bucket4j-redisson"), via="Redisson 4.7"),
    Client("spring-cloud-gateway", "Spring Cloud Gateway", "Java", (2, 3),
           java_program("Gateway", "gateway"), via="Spring Data Redis 4.1, Lettuce 7.5",
           configure=GATEWAY),
]
