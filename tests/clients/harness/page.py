"""Writes docs/clients.md from the rows: all the sentences of that page are here.

What it says of a single library comes from the catalogue (`configure`, `beyond`) and from the
programs' own words (the reasons of skipped checks).
"""

from . import table

PAGE = """# Does my library work with weir?

Every row below is an unmodified library from its language's package registry (or Debian), run against `weir-server`
{weir} (storage {storage}) and against `redis-server` {redis} (`appendfsync always`) by the same program on empty data.
Checks are of figures: how many of a burst were admitted, what remained, how long to wait, which keys were stored with
which time to live, that 16 concurrent callers get exactly the limit, and that all of it goes on after the server was
killed and started again. They are counted as passed/asked. A library in these tables needs nothing but weir's host and
port where Redis' stood.

{summary}

{languages}
{suites}
{better}
{absent}
## The whole language, on the clients' defaults

redis-py, ioredis, go-redis and Jedis, made with a host and a port and nothing else, send the same table of requests, every
form of [RL.*](commands.md#limiters), and get the same replies (`tools/test-clients language`). All four speak RESP3 by
themselves in the versions above; ioredis 5, which is asked too, speaks RESP2. Nothing has to be set. What differs is how a
map reaches the caller (FULL, HEADERS, RL.INFO, RL.POLICY GET and STATS), and little else:

| client | a map is | a null reply is | to know |
|---|---|---|---|
| redis-py | `dict`; keys and strings are `bytes` without `decode_responses=True` | `None` | a subcommand of COMMAND is one word with it: `execute_command("COMMAND DOCS", "rl.take")` |
| ioredis | keys and values in turn, in RESP3 too; with `replyMapping: "resp3"` an object | `null` | a user with `+@ratelimit` alone works, with a warning at each connection: give it `+info` too, or set `enableReadyCheck: false` |
| go-redis | `map[any]any` | the error `redis.Nil` | |
| Jedis | `List<KeyValue>`; strings are `byte[]` | `null` | |

- A turn of RL.ACQUIRE that lasts longer than the client reads (redis-py and go-redis 5 s, Jedis 2 s) is kept by its ID:
  redis-py and go-redis ask again by themselves, with Jedis the caller does. A reply that is lost is charged once, likewise.
- A user with `+@ratelimit` alone logs in with each of them, takes permits, and is refused all else.

## What the checks are

- **Clients**: the handshake and the protocol agreed on; the client's name in CLIENT LIST; keys and values of any bytes,
  empty and 1 MB; a pipeline of 1000 commands; EXPIRE, TTL, PTTL and PERSIST; INCR from 16 concurrent callers, every
  number once; SCAN; errors as the client's own error type; a password, right and wrong; INFO; CL.THROTTLE's figures.
  In the middle the server is killed with SIGKILL while four callers write, and started again after a second: the client
  has to go on by itself, find its data and every write that was acknowledged, and its limiter where it was, the time in
  between counted.
- **Limiter libraries**: the figures named above, by the library's own calls; in a framework, by HTTP requests to a real
  small application. A library that lets requests through when its store fails is asserted not to be doing so.
- **redis-cli**: from scripts (`-x`, `-n`, `-r`, `-u`, `-e`, `--json`, `--csv`, `--pipe`), its tools (`--stat`, `--scan`,
  `--bigkeys`), and on a terminal as a person uses it: hints, completion, HELP, SELECT, and the kill and restart.
- **redis-benchmark**: `-t ping,set,get,incr,mset` at pipeline 16, random keys, 200 connections, two threads,
  CL.THROTTLE, and again after a kill; the counters on the server must show every request.

Made by `tools/test-clients --write-docs`; the programs are in [tests/clients](../tests/clients/README.md).
"""

SUITES = """## Their own test suites

The tests that a library's authors wrote against Redis, unchanged, as published with the package: all that need one
plain server, so without those of clusters, sentinels, TLS, modules and other stores. Compared by name: a test that fails
on Redis too is not weir's, and a test that Redis passes counts as *only on weir* when weir did not pass it, for whatever
reason. *Beyond weir* are tests that ask for something weir does not claim to be.

{table}{notes}"""

BETTER = """## Where weir does better

Checks that are made on weir alone, since they cannot hold on Redis:

{lines}
"""

ABSENT = """## What was not run, and what was not asked

{not_run}

Not asked, and so not counted:

{skipped}
"""


def grouped(rows):
    """{language: rows}, in the catalogue's order."""
    found = {}
    for row in rows:
        found.setdefault(row.client.language, []).append(row)
    return found


def configurations(rows):
    lines = {row.client.title: row.client.configure for row in rows if row.client.configure}
    return "".join(f"- {title}: {text}\n" for title, text in lines.items())


def language(name, rows):
    how = configurations(rows)
    return (f"## {name}\n\n{table.markdown(rows)}" +
            (f"\nPointing them at weir:\n\n{how}" if how else ""))


def suite_notes(rows):
    lines = []
    for row in (row for row in rows if row.outcomes):
        lines += [f"- {row.client.title}: `{name}` fails on weir alone: {why}"
                  for name, why in row.only_on_weir()]
        lines += [f"- {row.client.title}: {len(names)} for {words}"
                  for words, names in row.beyond().items()]
    return "".join(f"\n{line}" for line in lines) + "\n"


def suites(rows):
    if not rows:
        return ""
    return SUITES.format(table=table.markdown(rows), notes=suite_notes(rows))


def better_of(row):
    """{why Redis cannot: names} of the checks that passed on weir and were skipped on Redis."""
    if not row.outcomes:
        return {}
    passed = set(row.outcomes["weir"].passed)
    found = {why: sorted(names & passed)
             for why, (names, _) in table.reasons([("redis", row.outcomes["redis"])]).items()}
    return {why: names for why, names in found.items() if names}


def better(rows):
    found = {}
    for row in rows:
        for why, names in better_of(row).items():
            titles, checks = found.setdefault(why, ([], set()))
            if row.client.title not in titles:
                titles.append(row.client.title)
            checks.update(names)
    lines = [f"- {why}: {', '.join(sorted(checks))} ({', '.join(titles)})"
             for why, (titles, checks) in sorted(found.items())]
    return BETTER.format(lines="\n".join(lines)) if lines else ""


def skipped(rows):
    """A line per reason: the checks that weir was not asked, and those that neither was."""
    lines = []
    found = table.reasons([pair for row in rows for pair in row.outcomes.items()])
    told = {why for row in rows for why in better_of(row)}
    for why, (names, places) in sorted(found.items()):
        if why not in told or "weir" in places:
            lines.append(f"- {', '.join(sorted(names))} on {' and '.join(sorted(places))}: {why}")
    return "\n".join(lines) or "- nothing"


def absent(clients, everything):
    not_run = {f"- {row.client.title}: {row.not_run}" for row in everything if row.not_run}
    lines = "\n".join(sorted(not_run)) or "Every library was run."
    return ABSENT.format(not_run=lines, skipped=skipped(clients))


def summary(clients, tests):
    ran = [row for row in clients if row.outcomes]
    libraries = {row.client.title for row in ran}
    checks = sum(len(row.outcomes["weir"].passed) for row in ran)
    failed = sum(len(row.failures()) for row in clients + tests)
    bad = "none failed" if not failed else f"**{failed} failed**"
    return (f"{len(libraries)} libraries and clients in {len({row.client.language for row in ran})}"
            f" languages; {checks} checks passed on weir, {bad}.")


def page(rows, versions, storage):
    rows = [row for row in rows if not row.client.is_of_calls]
    clients, tests = table.split(rows)
    return PAGE.format(
        redis=versions["redis"], weir=versions["weir"], storage=storage,
        summary=summary(clients, tests), suites=suites(tests), better=better(clients),
        languages="\n".join(language(*pair) for pair in grouped(clients).items()),
        absent=absent(clients, rows))
