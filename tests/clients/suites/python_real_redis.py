"""A pytest plugin for suites that were written against fakeredis: its names are the real client's.

The tests then speak to the port that redis-py takes by itself, which here is the server's.
"""

import sys
import types

import redis
import redis.asyncio


def module(name, client):
    made = types.ModuleType(name)
    made.FakeRedis = client.Redis
    made.FakeConnection = client.Connection
    return made


sys.modules["fakeredis"] = module("fakeredis", redis)
sys.modules["fakeredis.aioredis"] = module("fakeredis.aioredis", redis.asyncio)
sys.modules["fakeredis"].aioredis = sys.modules["fakeredis.aioredis"]
