"""fastapi-limiter in a real FastAPI application under uvicorn, its buckets on the server."""

import importlib.metadata
import time

import fastapi
import redis.asyncio
import uvicorn_site
from fastapi_limiter.depends import RateLimiter
from limiters import (HOST, IS_WEIR, PORT, PROTOCOL, Skip, again, bare, expect, expect_between,
                      in_time, need_durable, restart, run, scripts_kept, stored, wait_until)
from pyrate_limiter import BucketFactory, Limiter, Rate, RateItem, RedisBucket

MINUTE = 60_000
buckets = {}


class Buckets(BucketFactory):
    """A bucket for each key that the application is asked with, as the library's README has it."""

    def __init__(self, name, *rates):
        self.name = name
        self.rates = list(rates)

    def wrap_item(self, name, weight=1):
        return RateItem(name, int(time.time() * 1000), weight=weight)

    async def get(self, item):
        key = f"{self.name}:{item.name}"
        if key not in buckets:
            client = redis.asyncio.Redis(host=HOST, port=PORT, protocol=PROTOCOL)
            buckets[key] = await RedisBucket.init(self.rates, client, key)
        return buckets[key]


app = fastapi.FastAPI()


def page(path, *rates):
    limit = RateLimiter(limiter=Limiter(Buckets(path, *rates)))

    @app.get(f"/{path}", dependencies=[fastapi.Depends(limit)])
    async def body():
        return path


page("ten", Rate(10, MINUTE))
page("two", Rate(3, 1000), Rate(4, 60_000))
page("crowd", Rate(50, MINUTE))
page("kept", Rate(10, MINUTE))
site = uvicorn_site.serve(app)


def burst():
    replies = [site.get("/ten") for _ in range(13)]
    expect([status for status, _, _ in replies], [200] * 10 + [429] * 3)
    expect(replies[-1][2], b'{"detail":"Too Many Requests"}')
    other = site.get("/ten", {"X-Forwarded-For": "10.0.0.1"})
    expect(other[0], 200, "another caller")


def keys():
    found = stored()
    expect(set(found.values()), {"zset"})
    expect(sorted(bare.zcard(key) for key in found), [1, 10])
    expect(sorted(key.split(":")[1] for key in found), ["10.0.0.1", HOST])
    instants = [score for key in found for _, score in bare.zrange(key, 0, -1, withscores=True)]
    expect_between(time.time() * 1000 - 5000, min(instants), time.time() * 1000, "a score")


def window(_):
    """3 in a second and 4 in a minute."""
    bare.delete(*bare.keys("two:*") or ["none"])
    begin = time.time()
    first = site.statuses("/two", 4)
    in_time(begin + 0.7)
    wait_until(begin + 1.8, 0.8)
    expect(first + site.statuses("/two", 2), [200] * 3 + [429, 200, 429])


def concurrent():
    statuses = site.crowd("/crowd", 10)
    expect((statuses.count(200), statuses.count(429)), (50, 110))


def restarted():
    expect(site.statuses("/kept", 4), [200] * 4)
    restart()


def digests():
    return {bucket.script_hash for bucket in buckets.values()}


def goes_on():
    need_durable()
    if not IS_WEIR:
        raise Skip("after a restart of Redis this library's EVALSHA fails until it is started anew")
    expect(site.statuses("/kept", 7), [200] * 6 + [429])


def kept():
    """An application that is started anew finds what was counted."""
    need_durable()
    buckets.clear()
    expect(site.statuses("/kept", 1 if IS_WEIR else 7), [429] if IS_WEIR else [200] * 6 + [429])


run(importlib.metadata.version("fastapi-limiter"), burst=burst, stored=keys, window=again(window),
    concurrent=concurrent, restart=restarted, scripts_kept=lambda: scripts_kept(*digests())(),
    goes_on=goes_on, kept=kept)
