"""Prints the results as a table, and as the page docs/clients.md."""

HEADS = ("client", "version", "protocol", "on Redis", "on weir", "seconds")

PAGE = """# Clients that were tried

Each row is an unmodified client library or tool, from its own registry, run against `weir-server`
and against `redis-server` {redis}: the same program, the same checks. Passed checks are counted as
passed/asked. Weir is asked more, because Redis has no CL.THROTTLE{more}. In the
middle of each run the server is killed with SIGKILL while four callers write; it is started again
after a second, and the client has to reconnect by itself, find its data and its limits again, and
find every write that was acknowledged.

{table}
Weir {weir}, storage {storage}; {missing}.

What is checked: the handshake and the protocol that was agreed on; the client's name in CLIENT LIST;
PING; keys and values of any bytes, empty and 1 MB; a pipeline of 1000 commands; EXPIRE, TTL, PTTL and
PERSIST; INCR from 16 concurrent callers, exactly; SCAN; errors, as the client's own error type; a
password, right and wrong; INFO; CL.THROTTLE's figures, and that 16 concurrent callers are granted
exactly the burst; the restart. `redis-cli` is used as a person would: on a terminal with hints and
HELP, with `-3`, `--stat`, `--scan`, `--bigkeys`. `redis-benchmark` runs ping, set, get, incr and mset
at pipeline 16.

Made by `tools/test-clients --write-docs`. The programs are in tests/clients/.
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
        head = (self.client.title, ", ".join(sorted(versions)) or "-", f"RESP{self.protocol}")
        if self.not_run:
            return (*head, f"not run: {self.not_run}", "", "")
        counts = [self.outcomes[server].summary() for server in ("redis", "weir")]
        seconds = sum(outcome.seconds for outcome in self.outcomes.values())
        return (*head, *counts, f"{seconds:.1f}")


def aligned(rows, separator, ends):
    """Lines of equally wide columns; a not-run reason may run over the columns behind it."""
    lines = [HEADS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines if column < 3 or "not run" not in line[3])
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


def skipped_on_redis(rows):
    skips = {f"{name} ({why})" for row in rows if "redis" in row.outcomes
             for name, why in row.outcomes["redis"].skipped if "CL.THROTTLE" not in why}
    return f", and was not asked on Redis: {'; '.join(sorted(skips))}" if skips else ""


def page(rows, versions, storage):
    not_run = sorted({f"{row.client.title} ({row.not_run})" for row in rows if row.not_run})
    return PAGE.format(redis=versions["redis"], weir=versions["weir"], storage=storage,
                       table=markdown(rows), more=skipped_on_redis(rows),
                       missing="not run: " + "; ".join(not_run) if not_run else "all were run")
