"""Runs one Python library's own tests, as they lie in its source distribution, against the server.

CLIENTS_SUITE names it, SUITE_SOURCE is the unpacked distribution, PYTHONPATH holds what it needs.
Tests that need another kind of server than a single Redis are left out by the arguments here.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import fixed_ports

PLUGINS = ["-p", "python_reporter", "-p", "python_services"]
# Nothing is written where the sources lie, and no option of the library's own developers applies.
ALWAYS = ["-o", "addopts=", "-p", "no:cacheprovider", "-q", "--tb=native"]
PYTEST_RAN = (0, 1)  # all passed; some failed


@dataclass(frozen=True)
class Suite:
    """Which tests, on which ports they look for the server, and one pytest for each of `runs`."""
    arguments: list
    ports: tuple
    runs: tuple = ((),)


LOOP = ["-o", "asyncio_default_fixture_loop_scope=function"]
ONE_LOOP = ["-o", "asyncio_default_fixture_loop_scope=session",
            "-o", "asyncio_default_test_loop_scope=session"]
# Of redis-py: what one server without modules can be asked. Left out: clusters, sentinels, TLS,
# Redis' modules, and tests of parts that never reach a server.
REDIS_PY = ("client", "commands", "connect", "connection", "connection_pool", "encoding", "lock",
            "monitor", "pipeline", "pubsub", "retry", "scripting")
REDIS_PY_MARKS = "not redismod and not onlycluster and not ssl and not replica"
# Django reads its settings once in a process, so each of them is a run.
DJANGO_SETTINGS = ("gzip", "herd", "json", "lz4", "msgpack", "sharding", "zlib", "zstd")
SUITES = {
    "limits": Suite(["tests", "--ignore=tests/benchmarks", "-m", "redis or valkey", *LOOP],
                    (7379, 12379)),
    "pyrate-limiter": Suite(["tests", "-m", "redis or asyncredis"], (6379,)),
    "flask-limiter": Suite(["tests", "-k", "redis"], (46379,)),
    "throttled-py": Suite(["tests", "-p", "python_real_redis", "-k", "redis", *ONE_LOOP], (6379,)),
    "django-redis": Suite(["tests"], (6379,), (
        ("-k", "not sqlite_"), *(("-k", f"sqlite_{name}") for name in DJANGO_SETTINGS))),
    "redis-py": Suite([*(f"tests/{folder}test_{part}.py" for part in REDIS_PY
                         for folder in ("", "test_asyncio/")), "-m", REDIS_PY_MARKS], (6379,)),
}


def run(suite, arguments, log, report):
    command = [sys.executable, "-m", "pytest", *ALWAYS, *PLUGINS, *suite.arguments, *arguments]
    return fixed_ports.run(
        command, suite.ports, int(os.environ["CLIENTS_PORT"]), cwd=os.environ["SUITE_SOURCE"],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[report],
        env={**os.environ, "SUITE_REPORT": str(report)})


def main():
    suite = SUITES[os.environ["CLIENTS_SUITE"]]
    print(f"version {os.environ['SUITE_VERSION']}", flush=True)
    for arguments in suite.runs:
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            status = run(suite, arguments, log, os.dup(1))
            if status not in PYTEST_RAN:
                log.seek(0)
                print(*log.read().splitlines()[-20:], sep="\n")
                sys.exit(f"pytest ended with {status}")
    print("done", flush=True)


if __name__ == "__main__":
    main()
