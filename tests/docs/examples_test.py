#!/usr/bin/env python3
"""Every example of the README and of docs is run, and every RL.* command has its page.

    examples_test.py path/to/weir-server [unittest options]

Invariants:
1. A page has a server of its own, with data on disk, and its transcripts run in order.
2. What a page says of a command's row (form, categories) is what the server says.
"""

import re
import sys
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
PAGES = ROOT / "docs/commands"
sys.path.insert(0, str(TESTS / "integration"))

import harness as servers  # noqa: E402
import transcripts  # noqa: E402

# Dialects of others: they have pages, too.
DIALECTS = {"cl.throttle", "throttle", "gcra", "increx"}
LIMITER = re.compile(r"(?:RL\.[A-Z]+|CL\.THROTTLE|THROTTLE|INCREX|ACL SETUSER) \S")
# A line with one of these words is a form, or a name, and no example.
FORM = re.compile(r"\b(?:key|limits|name|numkeys)\b|\.\.\.|[\[<]| \\?\| |RL\.POLICY [A-Z]+$")
# Pages whose lines other tests know more of: tests/migrate/page_test.py, tools/docs/compatibility.
ELSEWHERE = {"migrate.md", "compatibility.md"}
# Pages with programs, and what runs those with the real libraries.
PROGRAMS = {"calling.md": "tests/clients/calls/page.py",
            "when-weir-is-away.md": "tests/clients/calls/away.py",
            "backup.md": "tests/integration/test_backup.py",
            "metrics.md": "tests/integration/test_metrics.py",
            "tls.md": "tests/integration/test_tls.py",
            "http.md": "tests/integration/test_http.py",
            "rls.md": "tests/integration/test_rls.py",
            "operations.md": "tests/integration/test_operations.py"}


def all_pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def sections_of(text):
    """{heading: what stands below it}; the page's title is a heading."""
    found, name = {}, ""
    for line in text.splitlines():
        if heading := re.match(r"#{1,3} (.*)", line):
            name = heading.group(1)
        found.setdefault(name, []).append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def words_of(arguments):
    """The option words that COMMAND DOCS names."""
    words = set()
    for argument in arguments or []:
        facts = dict(zip(argument[::2], argument[1::2]))
        if b"token" in facts:
            words.add(facts[b"token"].decode())
        words |= words_of(facts.get(b"arguments"))
    return words


def lines_of(text):
    """The commands in a page's code spans and blocks, transcripts and forms apart."""
    found = []
    for first, lines in transcripts.blocks_of(text):
        if not transcripts.transcript_of(first, lines):
            found += [transcripts.without_remark(line).strip() for line in lines]
    outside = re.sub(r"(?ms)^```.*?^```", "", text)
    found += re.findall(r"`([^`\n]+)`", outside)
    return [line for line in found if LIMITER.match(line) and not FORM.search(line)]


class Examples(servers.ServerTest):
    def complaints(self, text):
        server = self.server().start()
        try:
            return transcripts.run_page(text, server.port, self.folder, self.data)
        finally:
            server.stop()

    def test_every_transcript_is_what_the_server_answers(self):
        ran = 0
        for page in all_pages():
            text = page.read_text()
            if not transcripts.transcripts_of(text):
                continue
            with self.subTest(page=str(page.relative_to(ROOT))):
                ran += 1
                self.folder_of_page(ran)
                wrong = self.complaints(text)
                self.assertEqual(wrong, [], "\n" + "\n".join(self.told(*each) for each in wrong))
        self.assertGreater(ran, 15)

    def test_programs_are_run_with_their_libraries(self):
        for page in all_pages():
            if not re.search(r"(?m)^\s*```[a-z]", page.read_text()):
                continue
            with self.subTest(page=page.name):
                self.assertIn(f"docs/{page.name}", (ROOT / PROGRAMS[page.name]).read_text())

    def folder_of_page(self, number):
        self.data = self.path(f"data-{number}")
        Path(self.data).mkdir()
        Path(self.data, "policies").touch()

    def server(self, *options, **named):
        return super().server(*options, dir=self.data, policies_file="policies", **named)

    @staticmethod
    def told(line, command, expected, shown):
        return "\n".join([f"line {line}: {command}", "  the page says"] +
                         ["    " + each for each in expected] + ["  and redis-cli shows"] +
                         ["    " + each for each in shown])

    def test_every_line_in_between_is_accepted(self):
        self.folder_of_page(0)
        with self.server(storage="memory").start().connect() as client:
            for policy in ("api", "team", "free"):
                client.call("RL.POLICY", "SET", policy, "100/1m")
            for page in all_pages():
                if page.name in ELSEWHERE:
                    continue
                lines = lines_of(page.read_text())
                with self.subTest(page=str(page.relative_to(ROOT))):
                    self.assertEqual([why for line in lines if (why := refusal(client, line))], [])


def refusal(client, line):
    client.call("FLUSHALL")
    try:
        client.call(*line.split())
    except servers.Refused as refused:
        return f"{line}: {refused}"
    return ""


class Commands(servers.ServerTest):
    """The pages beside the command table."""

    def setUp(self):
        super().setUp()
        self.client = self.memory_server().connect()
        self.addCleanup(self.client.close)
        names = [name.decode() for name in self.client.call("COMMAND", "LIST")]
        self.names = sorted(n for n in names
                            if "|" not in n and (n.startswith("rl.") or n in DIALECTS))
        self.assertGreater(len(self.names), 15)

    def page(self, name):
        return (PAGES / f"{name}.md").read_text()

    def leaves(self, name):
        """[(name with blanks, COMMAND INFO, COMMAND DOCS)] of a command, or of its subcommands."""
        [info] = self.client.call("COMMAND", "INFO", name)
        docs = self.facts(self.client.call("COMMAND", "DOCS", name)[1])
        if not info[9]:
            return [(name.upper(), info, docs)]
        inner = docs[b"subcommands"]
        inner = dict(zip(inner[::2], inner[1::2]))
        return [(row[0].decode().replace("|", " ").upper(), row, self.facts(inner[row[0]]))
                for row in info[9]]

    @staticmethod
    def facts(docs):
        return dict(zip(docs[::2], docs[1::2]))

    def test_every_command_has_a_page_and_every_page_a_command(self):
        pages = {path.stem for path in PAGES.glob("*.md")}
        self.assertEqual(pages, set(self.names))

    def test_a_page_has_the_form_of_the_command(self):
        overview = (ROOT / "docs/commands.md").read_text().replace("\\|", "|")
        forms = re.findall(r"(?m)^\| \[?`([^`]+)`", overview)
        for name in self.names:
            lines = self.page(name).splitlines()
            for leaf, _, _ in self.leaves(name):
                with self.subTest(command=leaf):
                    [form] = [each for each in forms if (each + " ").startswith(leaf + " ")]
                    self.assertIn("    " + form, lines)

    def test_a_page_names_every_option(self):
        for name in self.names:
            rows = "\n".join(row for row in self.page(name).splitlines() if row.startswith("|"))
            for leaf, _, docs in self.leaves(name):
                words = words_of(docs.get(b"arguments"))
                with self.subTest(command=leaf):
                    self.assertEqual([w for w in words if not re.search(rf"\b{w}\b", rows)], [])

    def test_a_page_names_the_categories(self):
        for name in self.names:
            for leaf, info, _ in self.leaves(name):
                with self.subTest(command=leaf):
                    categories = " ".join(sorted(category for category in info[6]))
                    section = sections_of(self.page(name))[leaf]
                    self.assertIn(f"Categories: {categories}", section)

    def test_a_page_has_two_examples(self):
        for name in self.names:
            found = transcripts.transcripts_of(self.page(name))
            with self.subTest(command=name):
                self.assertGreaterEqual(sum(len(each.examples) for each in found), 2)

    def test_the_overview_links_to_every_page(self):
        overview = (ROOT / "docs/commands.md").read_text()
        missing = [name for name in self.names if f"(commands/{name}.md" not in overview]
        self.assertEqual(missing, [])


def anchors_of(text):
    """As GitHub makes them of headings."""
    outside = re.sub(r"(?ms)^```.*?^```", "", text)
    headings = re.findall(r"(?m)^#+ (.*)", outside)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page, text):
    outside = re.sub(r"(?ms)^```.*?^```", "", text)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", outside):
        if target.startswith("https:"):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name) if name else page
        if not path.exists() or anchor and anchor not in anchors_of(path.read_text()):
            broken.append(target)
    return broken


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        for page in [*all_pages(), *ROOT.glob("*.md")]:
            with self.subTest(page=str(page.relative_to(ROOT))):
                self.assertEqual(broken_links(page, page.read_text()), [])

    def test_a_broken_link_is_seen(self):
        text = "[a](commands.md) [b](commands.md#nowhere) [c](nothing.md) [d](https://x.example)"
        self.assertEqual(broken_links(ROOT / "docs/x.md", text),
                         ["commands.md#nowhere", "nothing.md"])


class Runner(servers.ServerTest):
    """What the runner has to see, and what it has to let pass."""

    def run_page(self, page):
        server = self.memory_server()
        return transcripts.run_page(page, server.port, self.folder)

    def block(self, *lines, fence="```"):
        return "\n".join(["# A page", "", fence, *lines, fence, ""])

    def test_a_wrong_reply_is_seen(self):
        page = self.block("127.0.0.1:7000> RL.RESET nothing", "(integer) 1",
                          "127.0.0.1:7000> PING", "PONG")
        self.assertEqual(self.run_page(page), [(4, "RL.RESET nothing", ["(integer) 1"],
                                                ["(integer) 0"])])

    def test_an_indented_block_is_a_transcript(self):
        page = "Text.\n\n    127.0.0.1:7000> PING        # a remark\n    PANG\n\nText.\n"
        self.assertEqual(self.run_page(page), [(3, "PING", ["PANG"], ["PONG"])])

    def test_a_missing_and_a_surplus_line_are_seen(self):
        for lines in (["1) (integer) 1"], ["1) (integer) 1"] * 3):
            page = self.block("127.0.0.1:7000> LPUSH k 1 1", "127.0.0.1:7000> LRANGE k 0 -1",
                              *lines)
            self.assertEqual(len(self.run_page(page)), 1)

    def test_an_error_without_a_reply_on_the_page_is_seen(self):
        page = self.block("127.0.0.1:7000> RL.TAKE k nonsense")
        self.assertEqual(len(self.run_page(page)), 1)

    def test_a_place_is_one_word_on_the_whole_page(self):
        one = self.block("127.0.0.1:7000> INCR k", "(integer) <count>")
        self.assertEqual(self.run_page(one + self.block("127.0.0.1:7000> GET k", '"<count>"',
                                                        "127.0.0.1:7000> ECHO <count>",
                                                        '"<count>"')), [])
        self.assertEqual(len(self.run_page(one + one)), 1)

    def test_milliseconds_run_down_and_never_up(self):
        page = self.block("127.0.0.1:7000> SET k v PX 3600000", "127.0.0.1:7000> PTTL k",
                          "(integer) ~{}")
        self.assertEqual(self.run_page(page.replace("{}", "3600000")), [])
        for wrong in ("3590000", "4600000"):
            self.assertEqual(len(self.run_page(page.replace("{}", wrong))), 1)

    def test_lines_may_be_left_out(self):
        page = self.block("127.0.0.1:7000> RL.HELP", "1) ...", "...")
        self.assertEqual(len(self.run_page(page)), 1)
        page = self.block("127.0.0.1:7000> RL.HELP", "...")
        self.assertEqual(self.run_page(page), [])

    def test_words_may_be_left_out(self):
        page = self.block("127.0.0.1:7000> RL.TAKE k", "(error) ERR ... arguments ...; usage: ...",
                          "127.0.0.1:7000> RL.TAKE k", "(error) ERR ... arguments ...; use: ...")
        self.assertEqual([line for line, *_ in self.run_page(page)], [6])

    def test_a_file_is_written(self):
        page = self.block("$ cat weir-data/shown", "one", "two") + self.block(
            "127.0.0.1:7000> PING", "PONG")
        server = self.memory_server()
        self.assertEqual(transcripts.run_page(page, server.port, self.folder, self.folder), [])
        self.assertEqual(Path(self.folder, "shown").read_text(), "one\ntwo\n")

    def test_a_session_is_redis_cli_as_it_is_called(self):
        page = self.block("$ redis-cli -3 -p 7000", "127.0.0.1:7000> HGETALL none", "(empty hash)")
        self.assertEqual(self.run_page(page), [])

    def test_a_refused_line_is_seen_and_a_form_is_none(self):
        text = "As `RL.TAKE k GCRA nonsense` and `RL.TAKE key limits`.\n\n    RL.PEEK k 5/1s\n"
        self.assertEqual(lines_of(text), ["RL.PEEK k 5/1s", "RL.TAKE k GCRA nonsense"])
        with self.memory_server().connect() as client:
            self.assertEqual([bool(refusal(client, line)) for line in lines_of(text)],
                             [False, True])


if __name__ == "__main__":
    servers.main()
