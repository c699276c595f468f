"""Messages, monitors, patterns, invalidations, and commands that change everything at once."""

from attacks import attack
from harness import encode


@attack
def eval_publish(arena):
    """A script publishes megabytes to one subscriber until its time is over."""
    arena.start(script_time_limit_ms=arena.size(2500, 5000))
    arena.connect().call("SUBSCRIBE", "c")
    client = arena.connect()
    with arena.bystander():
        client.request("EVAL", "local x = string.rep('x', 1000000) for i = 1, 20000 do"
                               " redis.call('PUBLISH', 'c', x) end", 0)
        arena.watch(arena.size(3, 12))
        arena.settle()


@attack
def deaf_subscribers(arena):
    """Fifty subscribers that read nothing, and a publisher."""
    arena.start()
    for _ in range(50):
        arena.connect().call("SUBSCRIBE", "c")
    client = arena.connect()
    arena.memory_mb += 50 * 32
    with arena.bystander():
        client.send(encode("PUBLISH", "c", b"x" * 200_000) * arena.size(200, 1000))
        arena.watch()
        arena.settle()


@attack
def monitor_script(arena):
    """Somebody monitors, and a script says megabytes until its time is over."""
    arena.start(script_time_limit_ms=arena.size(1000, 5000))
    arena.connect().call("MONITOR")
    client = arena.connect()
    with arena.bystander():
        client.request("EVAL", "local x = string.rep('x', 1000000) for i = 1, 1e9 do"
                               " redis.call('ECHO', x) end", 0)
        arena.watch(arena.size(2, 12))
        arena.settle()


@attack
def long_pattern(arena):
    """One message, and the longest patterns that almost match at every place."""
    arena.start()
    long = 4096  # bytes; a longer pattern is refused
    patterns = ["*" + "a" * (long - 2 - i) + "b" for i in range(arena.size(5, 50))]
    arena.connect().call("PSUBSCRIBE", *patterns)
    client = arena.connect()
    with arena.bystander():
        client.request("PUBLISH", "a" * arena.size(40_000, 400_000), "x")
        arena.settle(arena.size(10, 90))


@attack
def broadcast_tracking(arena):
    """Two hundred clients are told of every key, and one command sets very many."""
    arena.start()
    inbox = arena.connect().call("CLIENT", "ID")
    for _ in range(arena.size(50, 200)):
        arena.connect().call("CLIENT", "TRACKING", "ON", "BCAST", "REDIRECT", inbox)
    client = arena.connect()
    count = arena.size(20_000, 100_000)
    with arena.bystander():
        client.call("MSET", *[word for i in range(count) for word in ("key:%020d" % i, "x")])
        arena.settle()


@attack
def flushall_pipeline(arena):
    """FLUSHALL thousands of times."""
    arena.start()
    client = arena.connect()
    with arena.bystander():
        client.pipeline([("FLUSHALL",)] * arena.size(500, 5000))


@attack
def flushall_script(arena):
    """FLUSHALL in a script, until its time is over."""
    arena.start(script_time_limit_ms=arena.size(1000, 5000))
    client = arena.connect()
    with arena.bystander():
        client.ask("EVAL", "for i = 1, 1e6 do redis.call('FLUSHALL') end", 0)


@attack
def swapdb_pipeline(arena):
    """SWAPDB thousands of times."""
    arena.start()
    client = arena.connect()
    with arena.bystander():
        client.pipeline([("SWAPDB", 0, 1)] * arena.size(3000, 20_000))
