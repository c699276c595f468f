"""Clients and libraries of Python."""

import sys
from pathlib import Path

from .. import installs, installs_python
from .client import Client


def debian_python(module, package, script):
    """A Python client from Debian's packages, which only Debian's own Python sees."""
    def prepare():
        python = Path("/usr/bin/python3")
        if not python.exists():
            raise installs.Missing("there is no /usr/bin/python3")
        try:
            installs.command([str(python), "-c", f"import {module}"])
        except installs.Missing as error:
            raise installs.Missing(f"the package {package} is not installed") from error
        return [python, installs.CLIENTS / "python" / script], {}
    return prepare


def python_program(requirements, script, **environment):
    def prepare():
        packages = installs.python_packages(requirements)
        return [sys.executable, installs.CLIENTS / "python" / script], {
            "PYTHONPATH": str(packages), **environment}
    return prepare


def redis_py(version, protocols, **options):
    return Client(f"redis-py-{version}", "redis-py", "Python", protocols,
                  python_program(f"redis-{version}", "redis_py.py"), **options)


def limiter(name, title, via, requirements, script, mode="", **options):
    return Client(name, title, "Python", (2, 3),
                  python_program(requirements, script, CLIENTS_MODE=mode), via=via, **options)


# What redis-py's tests ask beyond weir: its documented commands are not all of Redis'.
BEYOND = (
    (r"unknown command '(X[A-Z]+)'", "streams"),
    (r"unknown command 'GEO", "geographic commands"),
    (r"unknown command '(BIT\w+|[GS]ETBIT)'", "bitmaps"),
    (r"unknown command 'PF", "HyperLogLog"),
    (r"unknown command 'ACL'", "users and their rights"),
    (r"unknown command '(MONITOR|SLOWLOG)'", "MONITOR and SLOWLOG"),
    (r"unknown command '(MODULE|REPLICAOF|LCS)'", "modules, replication and LCS"),
    (r"unknown subcommand '(STATS|MALLOC-STATS)'", "Redis' statistics of its memory"),
    (r"unknown subcommand '(GETREDIR|TRACKINGINFO)'", "client-side caching"),
    (r"test_command_list: ", "more than 300 commands"),
    (r"test_config_get_multi_params: ", "Redis' own encodings in CONFIG GET"),
    (r"test_lolwut: ", "Redis' own LOLWUT"),
)


def suite(name, **options):
    return Client(f"{name}-suite", name, "Python", (3,), installs_python.suite(name),
                  is_suite=True, **options)


CLIENTS = [
    Client("python3-redis", "redis-py (Debian)", "Python", (2,),
           debian_python("redis", "python3-redis", "redis_py.py")),
    redis_py(4, (2,)), redis_py(5, (2, 3)), redis_py(6, (2, 3)), redis_py(7, (2, 3)),
    redis_py(8, (2, 3), in_ci=True,
             configure="`redis.Redis(host=HOST, port=PORT)`; RESP3 is its default"),
    limiter("limits", "limits", "redis-py 7", "limiters-redis-7", "limits_package.py", "sync",
            in_ci=True,
            configure="`storage_from_string(\"redis://HOST:PORT\")`, or `async+redis://`"),
    limiter("limits-async", "limits (async)", "redis-py 7", "limiters-redis-7",
            "limits_package.py", "redispy"),
    limiter("limits-coredis", "limits (async)", "coredis 5", "limiters-redis-7",
            "limits_package.py", "coredis"),
    limiter("flask-limiter", "Flask-Limiter", "limits 5.8, redis-py 7", "limiters-redis-7",
            "flask_limiter_app.py",
            configure="`Limiter(..., storage_uri=\"redis://HOST:PORT\")`"),
    limiter("slowapi", "slowapi", "limits 5.8, redis-py 7", "limiters-redis-7", "slowapi_app.py",
            configure="`Limiter(..., storage_uri=\"redis://HOST:PORT\")`"),
    limiter("fastapi-limiter", "fastapi-limiter", "PyrateLimiter 4.5, redis-py 8",
            "limiters-redis-8", "fastapi_limiter_app.py",
            configure="`RedisBucket.init(rates, redis.asyncio.Redis(host=HOST, port=PORT), key)` "
            "behind `RateLimiter(limiter=Limiter(...))`"),
    limiter("pyrate-limiter", "PyrateLimiter", "redis-py 8", "limiters-redis-8",
            "pyrate_limiter_package.py", "sync",
            configure="`RedisBucket.init(rates, redis.Redis(host=HOST, port=PORT), key)`"),
    limiter("pyrate-limiter-async", "PyrateLimiter (async)", "redis-py 8", "limiters-redis-8",
            "pyrate_limiter_package.py", "async"),
    limiter("throttled-py", "throttled-py", "redis-py 7", "limiters-redis-7",
            "throttled_package.py", "sync",
            configure="`RedisStore(server=\"redis://HOST:PORT/0\")`"),
    limiter("throttled-py-async", "throttled-py (async)", "redis-py 7", "limiters-redis-7",
            "throttled_package.py", "async"),
    limiter("django-ratelimit", "django-ratelimit", "django-redis 7, redis-py 8",
            "limiters-redis-8", "django_ratelimit_app.py",
            configure="`CACHES = {\"default\": {\"BACKEND\": \"django_redis.cache.RedisCache\", "
            "\"LOCATION\": \"redis://HOST:PORT/0\"}}`"),
    suite("limits"), suite("flask-limiter"), suite("pyrate-limiter"),
    suite("throttled-py", seconds_max=600), suite("django-redis", seconds_max=900),
    suite("redis-py", seconds_max=900, beyond=BEYOND),
]
