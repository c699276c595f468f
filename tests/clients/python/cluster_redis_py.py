"""redis-py's RedisCluster, as an application uses it: see README.md for what each check means."""

import os
import sys
import threading
import time

import redis
from redis.cluster import RedisCluster
from report import (CALLERS, HOST, IS_WEIR, PORT, PROTOCOL, Skip, check, expect, expect_between,
                    need_durable, need_weir, restart_server, say, together)

OWNERS = int(os.environ["CLIENTS_OWNERS"])
with open(os.environ["CLIENTS_KEYS"], encoding="ascii") as file:
    KEYS = file.read().split()  # of each slot
RESUME_S_MAX = 10
RESUMED_MIN = 10
GONE = (redis.ConnectionError, redis.TimeoutError, redis.exceptions.ClusterDownError,
        redis.exceptions.RedisClusterException)


def connect():
    return RedisCluster(host=HOST, port=PORT, protocol=PROTOCOL, socket_timeout=5)


client = connect()
before = {}


def owners():
    nodes = client.get_primaries()
    expect(len(nodes), OWNERS, "owners")
    for slot in (0, 5460, 5461, 10922, 10923, 16383):
        expect(client.cluster_keyslot(KEYS[slot]), slot)


def moved():
    if OWNERS == 1:
        raise Skip("a single owner has nobody to give a slot to")
    expect(client.get(KEYS[7]), None)
    say("move 7")
    sys.stdin.readline()
    expect(client.set(KEYS[7], "moved"), True)
    expect(connect().get(KEYS[7]), b"moved")


def every_slot():
    for begin in range(0, len(KEYS), 4096):
        pipe = client.pipeline()
        for key in KEYS[begin:begin + 4096]:
            pipe.set(key, key)
        expect(set(pipe.execute()), {True})
    pipe = client.pipeline()
    for key in KEYS:
        pipe.get(key)
    expect(pipe.execute(), [key.encode() for key in KEYS])
    sizes = client.dbsize(target_nodes=RedisCluster.PRIMARIES)
    expect(sum(sizes.values()) if isinstance(sizes, dict) else sizes, len(KEYS), "keys of all owners")


def pipeline():
    pipe = client.pipeline()
    for index in range(500):
        pipe.set(f"pipe:{index}", index)
        pipe.get(f"pipe:{index}")
    expect(pipe.execute(), [reply for index in range(500) for reply in (True, b"%d" % index)])


def evalsha():
    script = client.register_script("return redis.call('incrby', KEYS[1], ARGV[1])")
    expect([script(keys=[f"script:{index}"], args=[index]) for index in range(50)],
           list(range(50)))
    sha = client.script_load("return KEYS[1]")
    expect([client.evalsha(sha, 1, key) for key in KEYS[::2000]],
           [key.encode() for key in KEYS[::2000]])


def multi():
    for tag in range(20):
        with client.pipeline(transaction=True) as pipe:
            pipe.incr(f"{{multi{tag}}}a")
            pipe.incr(f"{{multi{tag}}}b")
            expect(pipe.execute(), [1, 1])


def cross_slot():
    try:
        client.execute_command("SINTER", "a", "b")
    except (redis.ResponseError, redis.exceptions.RedisClusterException) as error:
        expect("slot" in str(error).lower(), True, str(error))
    else:
        raise AssertionError("keys of several slots were taken")
    expect(client.mset_nonatomic({f"mset:{index}": "x" for index in range(20)}) != [], True)


def limiter():
    need_weir()

    def take():
        return [client.execute_command("CL.THROTTLE", f"user:{index}", 4, 1, 3600)[0]
                for index in range(40)]

    replies = sum(together(take, 8), [])
    expect(replies.count(0), 40 * 5, "admitted")
    reply = client.execute_command("RL.TAKE", "api:{7}", "GCRA", "10/1s")
    expect(reply[0], 1)


def restart():
    """Two write to the owner that is killed, two to the last one."""
    client.set(KEYS[5], "kept")
    away, up, done = threading.Event(), threading.Event(), []

    def write(key):
        mine, acknowledged, resumed, meanwhile = connect(), 0, 0, 0
        while resumed < RESUMED_MIN:
            try:
                mine.incr(key)
            except GONE:
                if up.is_set() and time.monotonic() > before["up"] + RESUME_S_MAX:
                    raise
                time.sleep(0.01)
                continue
            acknowledged += 1
            resumed += up.is_set()
            meanwhile += away.is_set() and not up.is_set()
        return key, acknowledged, meanwhile

    def kill():
        time.sleep(0.3)
        away.set()
        restart_server()
        before["up"] = time.monotonic()
        up.set()

    roles = [kill, *(lambda key=key: write(key) for key in
                     ("{%s}traffic" % KEYS[0], "{%s}traffic" % KEYS[16383]) * 2)]
    done = [result for result in together(lambda: roles.pop()(), len(roles)) if result]
    before["written"] = {}
    for key, acknowledged, meanwhile in done:
        before["written"][key] = before["written"].get(key, 0) + acknowledged
        if OWNERS > 1 and KEYS[16383] in key:
            expect_between(1, meanwhile, 1 << 30, "writes to another owner meanwhile")


def data_kept():
    need_durable()
    expect(client.get(KEYS[5]), b"kept")
    for key, acknowledged in before["written"].items():
        expect_between(acknowledged, int(client.get(key)), acknowledged + 2, f"writes of {key}")


say(f"version {redis.__version__}")
for body in (owners, moved, every_slot, pipeline, evalsha, multi, cross_slot, limiter, restart,
             data_kept):
    check(body.__name__.replace("_", "-"), body)
say("done")
