"""What the programs of limiter libraries share: a look at the server, callers over HTTP, paced checks.

The bare connection here is never the library's own: what a library stored is read past it.
"""

import asyncio
import http.client
import inspect
import os
import time
from concurrent.futures import ThreadPoolExecutor

import redis
from report import (CALLERS, HOST, IS_WEIR, PORT, PROTOCOL, Skip, check, expect, expect_between,
                    need_durable, restart_server, say)

URL = f"redis://{HOST}:{PORT}/0?protocol={PROTOCOL}"
ATTEMPTS_MAX = 5
IS_CLUSTER = "CLIENTS_OWNERS" in os.environ
bare = (redis.RedisCluster if IS_CLUSTER else redis.Redis)(host=HOST, port=PORT,
                                                           decode_responses=True)


class Late(Exception):
    """The machine was too slow for this attempt to prove anything."""


def stored():
    """{key: type} of everything on the server."""
    return {key: bare.type(key) for key in sorted(bare.scan_iter(count=1000))}


def expect_ttl(key, low_ms, high_ms):
    expect_between(low_ms, bare.pttl(key), high_ms, f"the time to live of {key}")


def again(body):
    """body(), once more when it was Late."""
    def repeated():
        for attempt in range(ATTEMPTS_MAX):
            try:
                return body(attempt)
            except Late as late:
                last = late
        raise AssertionError(f"the machine was late {ATTEMPTS_MAX} times: {last}")
    return repeated


def wait_until(instant, margin_s):
    """Sleeps until time.time() says `instant`; Late when that was over by margin_s."""
    time.sleep(max(0.0, instant - time.time()))
    in_time(instant + margin_s)


def in_time(deadline):
    if time.time() > deadline:
        raise Late(f"{(time.time() - deadline) * 1000:.0f} ms too late")


def scripts_kept(*digests):
    """The library's scripts are still known after the restart, so EVALSHA goes on at once."""
    def body():
        need_durable()
        if IS_CLUSTER:
            raise Skip("an owner is sent a script when it is first asked")
        if not IS_WEIR:
            raise Skip("Redis forgets its scripts when it restarts")
        expect(bare.script_exists(*digests), [True] * len(digests), "SCRIPT EXISTS")
    return body


def restart():
    restart_server()
    for _ in range(3):
        try:
            return bare.ping()
        except redis.ConnectionError:
            pass  # the connection from before
    return bare.ping()


loop = asyncio.new_event_loop()


def settle(value):
    """The result, whether the library's call was a plain one or a coroutine."""
    return loop.run_until_complete(value) if inspect.isawaitable(value) else value


def crowd(call, calls_each):
    """The results of 16 concurrent callers, threads or, when call() is a coroutine, tasks."""
    if not inspect.iscoroutinefunction(call):
        with ThreadPoolExecutor(CALLERS) as pool:
            return list(pool.map(lambda _: call(), range(CALLERS * calls_each)))

    async def caller():
        return [await call() for _ in range(calls_each)]

    async def all_of_them():
        return sum(await asyncio.gather(*(caller() for _ in range(CALLERS))), [])

    return settle(all_of_them())


class Site:
    """Asks a web application on this port, on a new connection each time."""

    def __init__(self, port):
        self.port = port

    def get(self, path, headers=None):
        """(status, headers in lower case, body)"""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=10)
        try:
            connection.request("GET", path, headers=headers or {})
            reply = connection.getresponse()
            return (reply.status, {name.lower(): value for name, value in reply.getheaders()},
                    reply.read())
        finally:
            connection.close()

    def statuses(self, path, count):
        return [self.get(path)[0] for _ in range(count)]

    def crowd(self, path, calls_each):
        return crowd(lambda: self.get(path)[0], calls_each)


def run(version, **checks):
    """The whole program: its version, its checks in this order, done."""
    say(f"version {version}")
    for name, body in checks.items():
        check(name.replace("_", "-"), body)
    say("done")
