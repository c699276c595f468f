"""The results as rows: one for each client and protocol, one for each suite of a library's tests.

Invariants:
1. What was not run shows no figures.
2. A test that Redis passes and weir does not report as passed is weir's failure, also when weir
   skipped it or the suite stopped before it; only the catalogue's `beyond` takes it out, in words.
"""

import re

from .session import HARNESS_CHECKS

BOTH = ("redis", "weir")


def reasons(outcomes):
    """{why: (names, servers)} of what was skipped."""
    found = {}
    for server, outcome in outcomes:
        for name, why in outcome.skipped:
            names, places = found.setdefault(why, (set(), set()))
            names.add(name)
            places.add(server)
    return found


class Row:
    """A client and a protocol, with an outcome per server, or the reason it was not run."""

    heads = ("library", "version", "via", "protocol", "on Redis", "on weir", "seconds")

    def __init__(self, client, protocol):
        self.client = client
        self.protocol = protocol
        self.outcomes = {}
        self.not_run = ""
        self.is_broken = False  # it was not run because of a fault, not for want of something

    def broken(self):
        return [("neither", "prepare", self.not_run)] if self.is_broken else []

    def failures(self):
        return self.broken() + [(server, name, why) for server, outcome in self.outcomes.items()
                                for name, why in outcome.failed]

    def remarks(self):
        """What is worth a line in the report below the row."""
        for server, outcome in self.outcomes.items():
            for why, (names, _) in sorted(reasons([(server, outcome)]).items()):
                yield f"skipped on {server}: {', '.join(sorted(names))}: {why}"

    def version(self):
        versions = {outcome.version for outcome in self.outcomes.values()} - {""}
        return ", ".join(sorted(versions)) or "-"

    def seconds(self):
        return f"{sum(outcome.seconds for outcome in self.outcomes.values()):.1f}"

    def head(self):
        return self.client.title, self.version(), self.client.via or "-", f"RESP{self.protocol}"

    def figures(self):
        return [self.outcomes[server].summary() for server in BOTH]

    def cells(self):
        if self.not_run:
            blank = len(self.heads) - len(self.head()) - 1
            return (*self.head(), f"not run: {self.not_run}", *[""] * blank)
        return (*self.head(), *self.figures(), self.seconds())


class SuiteRow(Row):
    """The tests that a library brought along, compared by name."""

    heads = ("suite", "version", "tests", "passed on Redis", "passed on weir", "failed on both",
             "only on weir", "beyond weir", "seconds")

    def passed(self, server):
        return set(self.outcomes[server].passed) - {name for name, _ in self.failed(server)}

    def failed(self, server):
        return [pair for pair in self.outcomes[server].failed if pair[0] not in HARNESS_CHECKS]

    def fallen(self):
        """[(name, why)] of what Redis passes and weir does not."""
        whys = {**{name: f"skipped: {why}" for name, why in self.outcomes["weir"].skipped},
                **dict(self.failed("weir"))}
        missing = self.passed("redis") - self.passed("weir")
        return [(name, whys.get(name, "it was not reported")) for name in sorted(missing)]

    def beyond_of(self, name, why):
        """In words what the test asks for, when it is something that weir does not claim to be."""
        for pattern, words in self.client.beyond:
            if re.search(pattern, f"{name}: {why}"):
                return words
        return ""

    def beyond(self):
        """{words: [name, ...]}"""
        found = {}
        for name, why in self.fallen():
            words = self.beyond_of(name, why)
            if words:
                found.setdefault(words, []).append(name)
        return found

    def only_on_weir(self):
        return [(name, why) for name, why in self.fallen() if not self.beyond_of(name, why)]

    def failed_on_both(self):
        return {name for name, _ in self.failed("redis")} & {name for name, _ in
                                                             self.failed("weir")}

    def failures(self):
        stopped = [(server, name, why) for server, outcome in self.outcomes.items()
                   for name, why in outcome.failed if name in HARNESS_CHECKS]
        fallen = self.only_on_weir() if self.outcomes else []
        return self.broken() + stopped + [("weir", name, why) for name, why in fallen]

    def remarks(self):
        if self.not_run:
            return
        both, whys = self.failed_on_both(), dict(self.failed("redis"))
        for name in sorted(both):
            yield f"fails on both: {name}: {whys[name]}"
        for name in sorted(set(whys) - both):
            yield f"fails on redis alone: {name}: {whys[name]}"
        for words, names in self.beyond().items():
            yield f"beyond weir: {len(names)} for {words}, such as {names[0]}"

    def head(self):
        return self.client.title, self.version()

    def figures(self):
        tests = set().union(*(self.passed(server) | {name for name, _ in self.failed(server)}
                              for server in BOTH))
        beyond = sum(len(names) for names in self.beyond().values())
        return [str(count) for count in (
            len(tests), len(self.passed("redis")), len(self.passed("weir")),
            len(self.failed_on_both()), len(self.only_on_weir()), beyond)]


def row(client, protocol):
    return SuiteRow(client, protocol) if client.is_suite else Row(client, protocol)


def aligned(rows, separator, ends):
    """Lines of equally wide columns; a not-run reason may run over the columns behind it."""
    heads = rows[0].heads
    lines = [heads, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines if not line[column].startswith("not run"))
              for column in range(len(heads))]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths)]
        yield ends[0] + separator.join(cells).rstrip() + ends[1]


def split(rows):
    """Rows of clients, rows of suites."""
    return ([row for row in rows if not row.client.is_suite],
            [row for row in rows if row.client.is_suite])


def text(rows):
    return "\n".join("\n" + "\n".join(aligned(part, "  ", ("", ""))) for part in split(rows)
                     if part)


def markdown(rows):
    lines = list(aligned(rows, " | ", ("| ", " |")))
    lines.insert(1, "|" + "---|" * len(rows[0].heads))
    return "\n".join(lines) + "\n"
