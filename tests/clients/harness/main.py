"""Runs clients against Redis and weir and tells how it went."""

import argparse
import signal
import sys
import time
from pathlib import Path

from . import catalogue, clusters, installs, kept, page, servers, session, shards, table

ROOT = Path(__file__).resolve().parents[3]
CI_SECONDS_MAX = 1700

USAGE = """Runs real client programs against weir-server and redis-server, with a kill -9 and a
restart in the middle, and prints one table. Packages are installed in pinned versions into
${XDG_CACHE_HOME:-~/.cache}/weir-clients. A client that cannot be run here is listed as not run."""


def arguments():
    parser = argparse.ArgumentParser(prog="tools/test-clients", description=USAGE)
    parser.add_argument("names", nargs="*", metavar="name",
                        help="clients to run, without any all but the suites: " +
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
    parser.add_argument("--suites", action="store_true",
                        help="the libraries' own test suites, too")
    parser.add_argument("--keep", type=Path, metavar="FOLDER",
                        help="keep each result there, and run only what it does not hold")
    parser.add_argument("--write-docs", action="store_true",
                        help="write docs/clients.md, for which everything is run")
    return parser.parse_args()


def try_on(make, client, protocol, prepared):
    """One run; whatever goes wrong around it is this run's failure and stops no other."""
    command, extra = prepared
    server = None
    try:
        server = make()
        return session.run([str(word) for word in command], server, protocol, extra,
                           client.limit_seconds())
    except Exception as error:
        outcome = session.Outcome()
        outcome.failed.append(("server", f"{type(error).__name__}: {error}"))
        return outcome
    finally:
        if server:
            server.close()


def makers_of(client, options):
    if client.log and client.owners:  # a Redis cluster of one master has nobody who could take over
        return {"redis": lambda: clusters.redis(options.redis, client.owners, False),
                "weir": lambda: shards.weir(options.weir, client.log, in_cluster=True)}
    if client.log:
        return {"redis": lambda: shards.redis(options.redis),
                "weir": lambda: shards.weir(options.weir, client.log)}
    if client.owners == 0:
        return {"redis": lambda: servers.redis(options.redis),
                "weir": lambda: servers.weir(options.weir, options.storage)}
    more = (client.owners, client.kills_all_owners)
    return {"redis": lambda: clusters.redis(options.redis, *more),
            "weir": lambda: clusters.weir(options.weir, options.storage, *more)}


def try_client(client, protocol, options, is_late):
    row = table.row(client, protocol)
    if is_late:
        row.not_run = f"the {CI_SECONDS_MAX} s for all clients were over"
        return row
    try:
        with installs.at_most(client.ci_install_seconds if options.ci else 0):
            prepared = client.prepare()
    except installs.Missing as missing:
        row.not_run = str(missing)
        return row
    except Exception as error:
        row.not_run = f"it could not be prepared: {type(error).__name__}: {error}"
        row.is_broken = True
        return row
    makers = makers_of(client, options)
    for name in table.BOTH:
        row.outcomes[name] = try_on(makers[name], client, protocol, prepared)
    return row


def tell(row):
    """One line as soon as a row is ready, and below it all that is not as it should be."""
    print("  ".join(filter(None, row.cells())), flush=True)
    for server, name, why in row.failures():
        print(f"    not ok on {server}: {name}: {why}")
    for server, outcome in row.outcomes.items():
        if outcome.figures:
            print(f"    {server}: " + ", ".join(" ".join(pair) for pair in outcome.figures.items()))
    for line in row.remarks():
        print(f"    {line}")
    for server, outcome in row.outcomes.items():
        for line in outcome.noise[-20:] if row.failures() else []:
            print(f"    {server} | {line}")
    sys.stdout.flush()


def kept_or_tried(client, protocol, options, is_late):
    if not options.keep:
        return try_client(client, protocol, options, is_late)
    store, row = kept.Kept(options.keep), table.row(client, protocol)
    if not store.load(row):
        row = try_client(client, protocol, options, is_late)
        store.save(row)
    return row


def run(options, clients):
    begin = time.monotonic()
    rows = []
    for client in clients:
        # In CI a cluster speaks the newer protocol only: with one server both are tried.
        protocols = client.protocols[-1:] if options.ci and (client.owners or client.log) else client.protocols
        for protocol in protocols:
            is_late = options.ci and time.monotonic() - begin > CI_SECONDS_MAX
            rows.append(kept_or_tried(client, protocol, options, is_late))
            tell(rows[-1])
    return rows


def write_docs(rows, options, versions):
    path = ROOT / "docs/clients.md"
    path.write_text(page.page(rows, versions, options.storage))
    print(f"wrote {path.relative_to(ROOT)}")


def chosen(options):
    """What is named; without names what stands for a language in CI, or all, with the suites."""
    clients = catalogue.chosen(options.names)
    if options.names:
        return clients
    if options.ci:
        return [client for client in clients if client.in_ci]
    with_suites = options.suites or options.write_docs
    return [client for client in clients if with_suites or not client.is_suite]


def main():
    options = arguments()
    # So that what was started is ended too when a time limit ends this program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.write_docs and (options.names or options.ci):
        sys.exit("test-clients: --write-docs takes all clients")  # a part were a wrong page
    try:
        clients = chosen(options)
    except ValueError as error:
        sys.exit(f"test-clients: {error}")
    versions = {name: servers.version(getattr(options, name)) for name in ("redis", "weir")}
    for name, found in versions.items():
        if not found:
            sys.exit(f"test-clients: cannot run {getattr(options, name)}, the {name} to try")
    rows = run(options, clients)
    print(f"\nredis {versions['redis']}, weir {versions['weir']} ({options.storage})")
    print(table.text(rows))
    if options.write_docs:
        write_docs(rows, options, versions)
    failed = sum(len(row.failures()) for row in rows)
    absent = sum(bool(row.not_run) for row in rows)
    passed = sum(len(outcome.passed) for row in rows for outcome in row.outcomes.values())
    print(f"\n{passed} checks passed, {failed} failed, {absent} of {len(rows)} rows not run")
    return 1 if failed or (options.strict and absent) else 0
