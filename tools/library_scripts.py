"""The scripts of limiter libraries as loads: read out of the packages that tools/test-clients installs, never kept here.

A load is one library's call as the library sends it: EVALSHA with its keys and arguments. The key is
of the benchmark, and its limits are so wide that nothing is denied; Gateway asks the server for the
time, go-zero and limits send that of their client, which stands still here. Bucket4j reads the key
itself, counts, and compares and swaps; it is the swap that is sent, of a state for the same one.
"""

import re
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/clients"))

from harness import installs, installs_go, installs_java  # noqa: E402

NOW_S = 1_790_000_000
BUCKET = bytes(range(64))


@dataclass(frozen=True)
class Load:
    name: str
    script: str
    words: Callable[[str], tuple]  # after the SHA-1, by key
    first: Callable[[str], tuple] | None = None  # a request before all others, by key


def go_module(module):
    return installs_go.module_folder(module, installs.CLIENTS / "go/limiters")[0]


def redis_rate():
    text = (go_module("github.com/go-redis/redis_rate/v10") / "lua.go").read_text(encoding="utf-8")
    script = re.search(r"allowN = redis\.NewScript\(`(.*?)`", text, re.S)[1]
    return Load("redis_rate", script, lambda key: (1, f"rate:{key}", 1000000, 1000000, 1, 1))


def gateway():
    folder = installs_java.jars(installs.CLIENTS / "java/pom.xml", "java-package", "-P", "package")
    [jar] = folder.glob("spring-cloud-gateway-server-webflux-*.jar")
    with zipfile.ZipFile(jar) as file:
        script = file.read("META-INF/scripts/request_rate_limiter.lua").decode()
    return Load("gateway", script, lambda key: (2, f"request_rate_limiter.{{r.{key}}}.tokens",
                                                f"request_rate_limiter.{{r.{key}}}.timestamp", 1000000, 2000000, "", 1))


def go_zero():
    folder = go_module("github.com/zeromicro/go-zero") / "core/limit"
    token = (folder / "tokenscript.lua").read_text(encoding="utf-8")
    period = (folder / "periodscript.lua").read_text(encoding="utf-8")
    return [Load("go-zero-token", token, lambda key: (2, f"{{{key}}}.tokens", f"{{{key}}}.ts", 1000000, 2000000, NOW_S, 1)),
            Load("go-zero-period", period, lambda key: (1, key, 100000000, 60))]


def rate_limiter_flexible():
    text = (installs.node_packages() / "rate-limiter-flexible/lib/RateLimiterRedis.js").read_text(encoding="utf-8")
    script = re.search(r"incrTtlLuaScript = `(.*?)`", text, re.S)[1].replace("\\\n", "")
    return Load("flexible", script, lambda key: (1, f"rlflx:{key}", 1, 60))


def limits():
    folder = installs.python_packages("limiters-redis-7") / "limits/resources/redis/lua_scripts"
    fixed, moving, sliding = ((folder / f"{name}.lua").read_text(encoding="utf-8") for name in (
        "incr_expire", "acquire_moving_window", "acquire_sliding_window"))
    return [Load("limits-fixed", fixed, lambda key: (1, f"LIMITS:LIMITER/{key}/100000000/1/minute", 60, 1)),
            Load("limits-moving", moving, lambda key: (1, f"LIMITS:LIMITER/{key}/100/1/minute", f"{NOW_S}.123456", 100, 60, 1)),
            Load("limits-sliding", sliding, lambda key: (2, f"LIMITS:{{{key}}}/-1", f"LIMITS:{{{key}}}", 100000000, 3600, 1))]


def bucket4j():
    folder = installs_java.jars(installs.CLIENTS / "java/pom.xml", "java-bucket4j-jedis", "-P", "bucket4j-jedis")
    [jar] = folder.glob("bucket4j_jdk17-redis-common-*.jar")
    with zipfile.ZipFile(jar) as file:
        constants = file.read("io/github/bucket4j/redis/consts/LuaScripts.class")
    script = re.search(rb"if redis\.call\('get', KEYS\[1\]\)[^\0]*?psetex[^\0]*? end", constants)[0].decode()
    return Load("bucket4j", script, lambda key: (1, key, BUCKET, BUCKET, 60000), lambda key: ("SET", key, BUCKET))


def loads():
    made = [redis_rate(), gateway(), go_zero(), rate_limiter_flexible(), limits(), bucket4j()]
    return [load for part in made for load in (part if isinstance(part, list) else [part])]
