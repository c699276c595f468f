"""redis-py, 4 to the newest, as an application uses it: see README.md for what each check means."""

import os
import time

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from report import (CALLERS, HOST, IS_WEIR, PORT, PROTOCOL, Skip, check, expect, expect_between,
                    expect_error, need_durable, need_weir, restart_server, say, together)

MAJOR = int(redis.__version__.split(".", maxsplit=1)[0])
ALL_BYTES = bytes(range(256))
TLS_PORT, TLS_CA = os.environ.get("CLIENTS_TLS_PORT"), os.environ.get("CLIENTS_TLS_CA")


def connect(**options):
    if MAJOR >= 5:
        options["protocol"] = PROTOCOL
    if TLS_PORT:
        return redis.Redis.from_url(f"rediss://{HOST}:{TLS_PORT}/0?ssl_ca_certs={TLS_CA}",
                                    socket_timeout=10, **options)
    return redis.Redis(host=HOST, port=PORT, socket_timeout=10, **options)


client = connect()
before = {}  # what a check before the restart left for those behind it


def throttle(key, *numbers, by=client):
    return by.execute_command("CL.THROTTLE", key, *numbers)


def as_dict(reply):
    pairs = reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2])
    return {name if isinstance(name, str) else name.decode(): value for name, value in pairs}


def handshake():
    hello = as_dict(client.execute_command("HELLO"))
    expect(hello["proto"], PROTOCOL, "proto")
    expect((hello["mode"], hello["role"]), (b"standalone", b"master"))
    expect(client.ping(), True)
    expect(client.echo("a b"), b"a b")


def client_list():
    if MAJOR < 5:
        raise Skip("redis-py 4 sends no CLIENT SETINFO")
    if not IS_WEIR:
        raise Skip("Redis 7.0 has no CLIENT SETINFO")
    mine = [row for row in client.client_list() if row["id"] == str(client.client_id())]
    expect([(row["lib-name"], row["lib-ver"]) for row in mine], [("redis-py", redis.__version__)])


def client_name():
    named = connect(client_name="named-client")
    expect(named.ping(), True)
    expect([row["name"] for row in client.client_list() if row["name"]], ["named-client"])
    named.close()


def binary():
    for value in (b"", b"\0", ALL_BYTES, b"\r\n$5\r\n", ALL_BYTES * 4096):
        expect(client.set(b"bin:" + ALL_BYTES, value), True)
        expect(client.get(b"bin:" + ALL_BYTES), value)
    expect(client.strlen(b"bin:" + ALL_BYTES), 1 << 20)
    expect(client.get("absent"), None)


def pipeline():
    pipe = client.pipeline(transaction=False)
    for index in range(500):
        pipe.set(f"pipe:{index}", index)
        pipe.get(f"pipe:{index}")
    expect(pipe.execute(), [reply for index in range(500) for reply in (True, b"%d" % index)])


def expiry():
    expect(client.set("ttl", "x"), True)
    expect((client.ttl("ttl"), client.ttl("absent")), (-1, -2))
    expect(client.expire("ttl", 100), True)
    expect_between(99, client.ttl("ttl"), 100)
    expect_between(99_000, client.pttl("ttl"), 100_000)
    expect(client.persist("ttl"), True)
    expect(client.set("soon", "x", px=30), True)
    time.sleep(0.06)
    expect((client.get("soon"), client.exists("soon")), (None, 0))


def incr_concurrent():
    replies = together(lambda: [client.incr("count") for _ in range(100)])
    expect(sorted(sum(replies, [])), list(range(1, CALLERS * 100 + 1)))


def scan():
    wanted = {b"scan:%d" % index for index in range(1000)}
    client.mset({key: "x" for key in wanted})
    expect(set(client.scan_iter(match="scan:*", count=50)), wanted)


def throttle_figures():
    need_weir()
    expect(throttle("user:42", 15, 30, 60), [0, 16, 15, -1, 2])
    expect([throttle("five", 4, 1, 10)[2] for _ in range(5)], [4, 3, 2, 1, 0])
    denied = throttle("five", 4, 1, 10)
    expect(denied[:3], [1, 5, 0])
    expect_between(9, denied[3], 10)


def throttle_concurrent():
    need_weir()
    replies = together(lambda: [throttle("crowd", 99, 1, 3600)[0] for _ in range(20)])
    expect(sum(replies, []).count(0), 100, "admitted")


def errors():
    client.set("text", "x")
    expect_error(redis.ResponseError, "not an integer", lambda: client.incr("text"))
    expect_error(redis.ResponseError, "unknown command", lambda: client.execute_command("NOSUCH"))
    wrong = (lambda: throttle("text", 1, 1, 1)) if IS_WEIR else (lambda: client.lpush("text", "y"))
    expect_error(redis.ResponseError, "WRONGTYPE", wrong)
    expect(client.get("text"), b"x")


def password():
    client.config_set("requirepass", "s e c r e t")
    try:
        # Without this redis-py 8 tries a refused password ten times, with pauses.
        once = {"retry": Retry(NoBackoff(), 0)}
        refused = (redis.AuthenticationError, redis.ResponseError)
        expect(connect(password="s e c r e t", **once).ping(), True)
        expect_error(refused, "username-password", connect(password="wrong", **once).ping)
        expect_error(refused, "uthentica", connect(**once).ping)
    finally:
        client.config_set("requirepass", "")


def role():
    """The user that weir's README shows logs in with the client's defaults, and may only ask."""
    need_weir()
    client.execute_command("ACL", "SETUSER", "shop", "on", ">phrase", "+@ratelimit", "+ping",
                           "+select", "+client|setinfo", "+client|setname", "~shop:*")
    shop = connect(username="shop", password="phrase")
    expect(shop.ping(), True)
    expect(throttle("shop:1", 9, 1, 1000, by=shop)[0], 0)
    expect_error(redis.ResponseError, "rl.reset",
                 lambda: shop.execute_command("RL.RESET", "shop:1"))
    expect_error(redis.ResponseError, "@ratelimitadmin",
                 lambda: shop.execute_command("RL.TAKE", "shop:1", "GCRA", "1/1s", "FORCE"))
    shop.close()


def info():
    fields = client.info()
    expect(fields["redis_mode"], "standalone")
    expect(fields["role"], "master")
    expect((fields["loading"], fields["tcp_port"]), (0, PORT))
    expect(int(str(fields["redis_version"]).split(".", maxsplit=1)[0]) >= 7, True)


def restart():
    """Four callers count and are killed in the middle; they go on by themselves."""
    client.set("kept", ALL_BYTES)
    client.set("kept:ttl", "x", ex=1000)
    for _ in range(4 if IS_WEIR else 0):
        throttle("limit", 9, 1, 1000)
    before["at"] = time.monotonic()
    stop = []

    def count():
        acknowledged, resumed = 0, 0
        mine = connect()
        while not (stop and resumed >= 10):
            try:
                mine.incr("traffic")
                acknowledged, resumed = acknowledged + 1, resumed + bool(stop)
            except (redis.ConnectionError, redis.TimeoutError):
                if stop and time.monotonic() > stop[0] + 10:
                    raise
                time.sleep(0.01)
        return acknowledged

    def kill():
        time.sleep(0.3)
        restart_server()
        stop.append(time.monotonic())
        return 0

    roles = [kill, count, count, count, count]
    before["acknowledged"] = sum(together(lambda: roles.pop()(), len(roles)))


def reconnect():
    for _ in range(3):
        try:
            return expect(client.ping(), True)
        except redis.ConnectionError:
            pass  # one per broken connection is the library's way of telling
    raise AssertionError("still no connection after three tries")


def data_kept():
    need_durable()
    expect(client.get("kept"), ALL_BYTES)
    expect_between(900, client.ttl("kept:ttl"), 999)
    expect(len(list(client.scan_iter(match="scan:*"))), 1000)
    stored = int(client.get("traffic"))
    expect_between(before["acknowledged"], stored, before["acknowledged"] + 4, "stored writes")


def limiter_kept():
    need_weir()
    need_durable()
    reply = throttle("limit", 9, 1, 1000, 0)
    expect(reply[:4], [0, 10, 6, -1])
    passed = time.monotonic() - before["at"]
    expect_between(4000 - passed - 1, reply[4], 4001 - passed, "reset_after")
    expect([throttle("limit", 9, 1, 1000)[0] for _ in range(7)], [0] * 6 + [1])


say(f"version {redis.__version__}")
for body in (handshake, client_list, client_name, binary, pipeline, expiry, incr_concurrent, scan,
             throttle_figures, throttle_concurrent, errors, password, role, info, restart, reconnect,
             data_kept, limiter_kept):
    check(body.__name__.replace("_", "-"), body)
say("done")
