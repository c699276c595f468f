"""Prints the results as a table, and as the page docs/clients.md."""

HEADS = ("library", "version", "via", "protocol", "on Redis", "on weir", "seconds")

PAGE = """# Clients that were tried

Each row is an unmodified client, from Debian or its language's package registry, run against `weir-server` {weir} (storage
{storage}) and against `redis-server` {redis} (`appendfsync always`): the same program, the same checks, each on
empty data. Checks are counted as passed/asked.

{table}
{missing}.

Not asked, and so not counted:
{skipped}

What the checks are:

- **Libraries**: the handshake and the protocol agreed on; the client's name in CLIENT LIST; keys and values of any
  bytes, empty and 1 MB; a pipeline of 1000 commands; EXPIRE, TTL, PTTL and PERSIST; INCR from 16 concurrent callers,
  every number once; SCAN; errors as the client's own error type; a password, right and wrong; INFO; CL.THROTTLE's
  figures, and that 16 concurrent callers are granted exactly the burst. In the middle the server is killed with SIGKILL
  while four callers write, and started again after a second: the client has to go on by itself, find its data and every
  write that was acknowledged, and its limiter where it was, the time in between counted.
- **redis-cli**: from scripts (`-x`, `-n`, `-r`, `-u`, `-e`, `--json`, `--csv`, `--pipe`), its tools (`--stat`, `--scan`,
  `--bigkeys`), and on a terminal as a person uses it: hints, completion, HELP, SELECT, and the kill and restart.
- **redis-benchmark**: `-t ping,set,get,incr,mset` at pipeline 16, random keys, 200 connections, two threads,
  CL.THROTTLE, and again after a kill; the counters on the server must show every request.

Made by `tools/test-clients --write-docs`; the programs are in [tests/clients](../tests/clients/README.md).
"""


class Row:
    """One line: a client and a protocol, with an outcome per server, or the reason it was not run."""

    def __init__(self, client, protocol):
        self.client = client
        self.protocol = protocol
        self.outcomes = {}
        self.not_run = ""

    def failures(self):
        return [(server, name, why) for server, outcome in self.outcomes.items()
                for name, why in outcome.failed]

    def cells(self):
        versions = {outcome.version for outcome in self.outcomes.values()} - {""}
        head = (self.client.title, ", ".join(sorted(versions)) or "-", self.client.via or "-",
                f"RESP{self.protocol}")
        if self.not_run:
            return (*head, f"not run: {self.not_run}", "", "")
        counts = [self.outcomes[server].summary() for server in ("redis", "weir")]
        seconds = sum(outcome.seconds for outcome in self.outcomes.values())
        return (*head, *counts, f"{seconds:.1f}")


def aligned(rows, separator, ends):
    """Lines of equally wide columns; a not-run reason may run over the columns behind it."""
    lines = [HEADS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines if column < 4 or "not run" not in line[4])
              for column in range(len(HEADS))]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths)]
        yield ends[0] + separator.join(cells).rstrip() + ends[1]


def text(rows):
    return "\n".join(aligned(rows, "  ", ("", "")))


def markdown(rows):
    lines = list(aligned(rows, " | ", ("| ", " |")))
    lines.insert(1, "|" + "---|" * len(HEADS))
    return "\n".join(lines) + "\n"


def skipped(rows):
    """A line per reason: the checks that were not asked, and on which server."""
    checks, places = {}, {}
    for row in rows:
        for server, outcome in row.outcomes.items():
            for name, why in outcome.skipped:
                checks.setdefault(why, set()).add(name)
                places.setdefault(why, set()).add(server)
    lines = [f"- {', '.join(sorted(checks[why]))} on {' and '.join(sorted(places[why]))}: {why}"
             for why in sorted(checks)]
    return "\n".join(lines) or "- nothing"


def page(rows, versions, storage):
    not_run = sorted({f"{row.client.title} ({row.not_run})" for row in rows if row.not_run})
    return PAGE.format(redis=versions["redis"], weir=versions["weir"], storage=storage,
                       table=markdown(rows), skipped=skipped(rows),
                       missing="Not run: " + "; ".join(not_run) if not_run else "Every client was run")
