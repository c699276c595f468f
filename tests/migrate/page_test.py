#!/usr/bin/env python3
"""Every command line of docs/migrate.md is accepted, and every source has its section and driver.

    page_test.py path/to/weir-server [unittest options]

Invariants:
1. A line is what stands in a code span or in a code block and begins with a limiter command.
2. Each line meets an empty server, so that no other line decides about it; policies stay.
"""

import re
import sys
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs/migrate.md"
sys.path.insert(0, str(TESTS / "integration"))

import harness as servers  # noqa: E402

COMMAND = re.compile(r"(RL\.[A-Z]+|CL\.THROTTLE|INCREX) ")
# Sections that are about no one source.
GENERAL = {"What is the same everywhere", "Moving the data of a running Redis"}
# What answers no verdict of six integers, allowed first.
OTHERS = ("RL.POLICY", "RL.RESET", "RL.REFUND", "RL.INFO", "RL.CANCEL", "CL.THROTTLE", "INCREX")


# What a section's library is called where its version is pinned, here and for tests/clients.
ARTIFACTS = {"Redisson RRateLimiter": "redisson", "go-redis' redis_rate": "redis_rate/v10",
             "go-zero periodlimit and tokenlimit": "go-zero",
             "Spring Cloud Gateway": "gateway-server-webflux", "Bucket4j": "bucket4j_jdk17-lettuce"}
PINS = (("migrate/jvm/pom.xml", "migrate/go/go.mod"),
        ("clients/java/pom.xml", "clients/go/limiters/go.mod"))


def pinned(artifact, paths):
    """The versions of what is called so, in files of Maven and of Go."""
    found = set()
    for path in paths:
        text = (TESTS / path).read_text()
        for name, value in re.findall(r"<([\w.]+\.version)>(.*?)<", text):
            text = text.replace("${%s}" % name, value)
        found |= set(re.findall(rf"{artifact}(?:</artifactId>\s*<version>| v)([\d.]+\d)", text))
    return found


def lines_of(text):
    """[(section, line)] of a page."""
    found, section = [], ""
    for row in text.splitlines():
        if row.startswith("## "):
            section = row[3:]
        spans = [row.strip()] if row.startswith("    ") else re.findall(r"`([^`]+)`", row)
        found += [(section, span) for span in spans if COMMAND.match(span)]
    return found


def complaint(client, line):
    """What is wrong with a line, or nothing."""
    client.call("FLUSHALL")
    try:
        reply = client.call(*line.split())
    except servers.Refused as refused:
        return str(refused)
    if line.startswith(OTHERS):
        return ""
    allowed = reply[1] if reply[0] == b"allowed" else reply[0]  # with FULL it has its name
    if allowed != 1:
        return f"was not allowed: {reply}"
    return ""


class Page(servers.ServerTest):
    def setUp(self):
        super().setUp()
        self.text = PAGE.read_text()
        self.client = self.memory_server().connect()
        self.addCleanup(self.client.close)

    def test_every_line_is_accepted(self):
        lines = lines_of(self.text)
        self.assertGreater(len(lines), 60)
        wrong = [f"{line}: {why}" for _, line in lines if (why := complaint(self.client, line))]
        self.assertEqual(wrong, [])

    def test_a_wrong_line_is_seen(self):
        page = "## X\n| a | `RL.TAKE user:42 GCRA nonsense` |\n\n    RL.TAKE u FIXED 5/1s COST 6\n"
        lines = lines_of(page)
        self.assertEqual([section for section, _ in lines], ["X", "X"])
        first, second = [complaint(self.client, line) for _, line in lines]
        self.assertIn("nonsense", first)
        self.assertIn("not allowed", second)

    def test_every_source_has_a_section_with_lines(self):
        sections = {section for section, _ in lines_of(self.text)}
        self.assertEqual([name for name in self.sections() if name not in sections], [])
        headings = set(re.findall(r"(?m)^## (.*)", self.text)) - GENERAL
        self.assertEqual(headings, set(self.sections()), "a section without a driver")

    def test_the_table_links_to_the_sections(self):
        for title, anchor in re.findall(r"(?m)^\| \[(.*?)\]\(#(.*?)\)", self.text):
            self.assertIn(title, self.sections())
            self.assertEqual(anchor, re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-"))

    def test_what_was_tried_is_what_is_run(self):
        tried = dict(re.findall(r"(?m)^\| \[(.*?)\].*\(tried: v?([\d.]+\d)", self.text))
        self.assertEqual(set(tried), set(ARTIFACTS))
        for title, version in tried.items():
            for paths in PINS:
                self.assertIn(version, pinned(ARTIFACTS[title], paths), f"{title}, {paths}")

    @staticmethod
    def sections():
        source = (TESTS / "migrate/runner/sources.py").read_text()
        return re.findall(r'Source\("[^"]+", "([^"]+)"', source)


if __name__ == "__main__":
    servers.main()
