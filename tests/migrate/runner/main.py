"""Runs the sources of docs/migrate.md against Redis and weir, and tells how it went."""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from harness import servers, session

from . import sources

ROOT = Path(__file__).resolve().parents[3]

USAGE = """Runs the real libraries of docs/migrate.md, each against a redis-server of its own (or in
its own process), against weir-server, and beside the RL.* line that the page gives for it: the same
requests at the same instants, and the answers compared. Libraries are installed in pinned versions
into ${XDG_CACHE_HOME:-~/.cache}/weir-clients. What cannot be run here is listed as not run."""


def arguments():
    parser = argparse.ArgumentParser(prog="tools/test-migrate", description=USAGE)
    parser.add_argument("names", nargs="*", metavar="name",
                        help="sources to run, without any all: " +
                        ", ".join(source.name for source in sources.ALL))
    parser.add_argument("--weir", default=str(ROOT / "build/release/weir-server"),
                        metavar="PROGRAM", help="the weir-server to try")
    parser.add_argument("--redis", default="redis-server", metavar="PROGRAM")
    parser.add_argument("--strict", action="store_true",
                        help="fail when a source could not be run")
    return parser.parse_args()


def redis(options, needs):
    extra, environment = needs
    server = servers.Server("redis", options.redis, ["--save", "", *extra], durable=False)
    os.environ.update(environment)
    try:
        return server.start()
    except RuntimeError:
        server.close()
        raise
    finally:
        for name in environment:
            del os.environ[name]


def run(source, options):
    """The outcome of one source; installs.Missing when it cannot be run here."""
    command, extra = source.prepare()
    needs = source.redis_needs()
    other = redis(options, needs)
    try:
        extra = {**extra, "MIGRATE_REDIS_PORT": str(other.port)}
        weir = servers.weir(options.weir, "rocksdb")
        try:
            return session.run(command, weir, 2, extra)
        finally:
            weir.close()
    finally:
        other.close()


def tell(source, outcome):
    print(f"{source.name:11} {outcome.version or '-':34} {outcome.summary():>6} "
          f"{outcome.seconds:6.1f} s", flush=True)
    for name, why in outcome.failed:
        print(f"    not ok: {name}: {why}")
    figures = [line[len("figure "):] for line in outcome.noise if line.startswith("figure ")]
    rest = [line for line in outcome.noise if not line.startswith("figure ")]
    for line in figures:
        print(f"    {line}")
    for line in rest[-30:] if outcome.failed else []:
        print(f"    | {line}")
    sys.stdout.flush()


def main():
    options = arguments()
    # So that what was started is ended too when a time limit ends this program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        wanted = sources.chosen(options.names)
    except ValueError as error:
        sys.exit(f"test-migrate: {error}")
    versions = {name: servers.version(getattr(options, name)) for name in ("redis", "weir")}
    for name, found in versions.items():
        if not found:
            sys.exit(f"test-migrate: cannot run {getattr(options, name)}, the {name} to try")
    print(f"redis {versions['redis']}, weir {versions['weir']}\n")
    begin, passed, failed, absent = time.monotonic(), 0, 0, 0
    for source in wanted:
        try:
            outcome = run(source, options)
        except sources.Missing as missing:
            print(f"{source.name:11} not run: {missing}", flush=True)
            absent += 1
            continue
        tell(source, outcome)
        passed += len(outcome.passed)
        failed += len(outcome.failed)
    print(f"\n{passed} checks passed, {failed} failed, {absent} of {len(wanted)} sources not run, "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if failed or not passed or (options.strict and absent) else 0
