"""Runs clients against Redis and weir and tells how it went."""

import argparse
import signal
import sys
import time
from pathlib import Path

from . import catalogue, installs, servers, session, table

ROOT = Path(__file__).resolve().parents[3]
CI_SECONDS_MAX = 900

USAGE = """Runs real client programs against weir-server and redis-server, with a kill -9 and a
restart in the middle, and prints one table. Packages are installed in pinned versions into
${XDG_CACHE_HOME:-~/.cache}/weir-clients. A client that cannot be run here is listed as not run."""


def arguments():
    parser = argparse.ArgumentParser(prog="tools/test-clients", description=USAGE)
    parser.add_argument("names", nargs="*", metavar="name",
                        help="clients to run, without any all: " +
                        ", ".join(client.name for client in catalogue.ALL))
    parser.add_argument("--weir", default=str(ROOT / "build/release/weir-server"),
                        metavar="PROGRAM", help="the weir-server to try")
    parser.add_argument("--redis", default="redis-server", metavar="PROGRAM")
    parser.add_argument("--storage", default="rocksdb", choices=["rocksdb", "memory"],
                        help="with memory, what should survive the restart is not asked")
    parser.add_argument("--strict", action="store_true",
                        help="fail when a client could not be run")
    parser.add_argument("--ci", action="store_true",
                        help="only those that stand for a language; start none after "
                        f"{CI_SECONDS_MAX} s: the rest is not run")
    parser.add_argument("--write-docs", action="store_true", help="write docs/clients.md")
    return parser.parse_args()


def try_on(server, command, protocol, extra):
    try:
        return session.run(command, server, protocol, extra)
    finally:
        server.close()


def try_client(client, protocol, options, is_late):
    row = table.Row(client, protocol)
    if is_late:
        row.not_run = f"the {CI_SECONDS_MAX} s for all clients were over"
        return row
    try:
        command, extra = client.prepare()
    except installs.Missing as missing:
        row.not_run = str(missing)
        return row
    command = [str(word) for word in command]
    for make, detail in ((servers.redis, ()), (servers.weir, (options.storage,))):
        server = make(getattr(options, make.__name__), *detail)
        row.outcomes[server.name] = try_on(server, command, protocol, extra)
    return row


def tell(row):
    """One line as soon as a row is ready, and below it all that is not as it should be."""
    print("  ".join(filter(None, row.cells())), flush=True)
    for server, name, why in row.failures():
        print(f"    not ok on {server}: {name}: {why}")
    for server, outcome in row.outcomes.items():
        for why in sorted({why for _, why in outcome.skipped}):
            names = [name for name, other in outcome.skipped if other == why]
            print(f"    skipped on {server}: {', '.join(names)}: {why}")
        for line in outcome.noise[-20:] if outcome.failed else []:
            print(f"    {server} | {line}")


def run(options, clients):
    begin = time.monotonic()
    rows = []
    for client in clients:
        for protocol in client.protocols:
            is_late = options.ci and time.monotonic() - begin > CI_SECONDS_MAX
            rows.append(try_client(client, protocol, options, is_late))
            tell(rows[-1])
    return rows


def write_docs(rows, options, versions):
    # The folder is named after what is tried, so a part of the clients would be a wrong page.
    if options.names:
        sys.exit("test-clients: --write-docs takes all clients")
    path = ROOT / "docs/clients.md"
    path.write_text(table.page(rows, versions, options.storage))
    print(f"wrote {path.relative_to(ROOT)}")


def main():
    options = arguments()
    # So that what was started is ended too when a time limit ends this program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        clients = catalogue.chosen(options.names)
        if options.ci and not options.names:
            clients = [client for client in clients if client.in_ci]
    except ValueError as error:
        sys.exit(f"test-clients: {error}")
    versions = {name: servers.version(getattr(options, name)) for name in ("redis", "weir")}
    for name, found in versions.items():
        if not found:
            sys.exit(f"test-clients: cannot run {getattr(options, name)}, the {name} to try")
    rows = run(options, clients)
    print(f"\nredis {versions['redis']}, weir {versions['weir']} ({options.storage})\n")
    print(table.text(rows))
    if options.write_docs:
        write_docs(rows, options, versions)
    failed = sum(len(row.failures()) for row in rows)
    absent = sum(bool(row.not_run) for row in rows)
    passed = sum(len(outcome.passed) for row in rows for outcome in row.outcomes.values())
    print(f"\n{passed} checks passed, {failed} failed, {absent} of {len(rows)} rows not run")
    return 1 if failed or (options.strict and absent) else 0
