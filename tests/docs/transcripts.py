"""Transcripts of redis-cli in pages of Markdown: found, run by the real redis-cli, compared.

A code block, fenced or indented, is a transcript if a line of it begins with redis-cli's prompt.
What follows a prompt's line, up to the next prompt, is the reply. A transcript is one session; a
line before its first prompt, such as `$ redis-cli -3 -p 7000`, may say how redis-cli is called.
Replies have to be equal to the letter, but for this notation:

    <id>        a word that differs each time; where the name stands again on the page, also in a
                command, it is the same word
    ~60000      a number of milliseconds that has run down since the page's first example: no more
                than 60000, and no less than that by more than the time that has passed
    ...         alone on a line: any number of lines; after a blank within one: any words
      # words   after two blanks, on a line of its own or at a line's end: a remark, not compared

A command without a reply on the page is run, and may not answer an error. A block that begins with
`$ cat weir-data/NAME` shows a file of the server's folder: it is written there before what follows.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

CLI = "redis-cli"
PROMPT = re.compile(r"127\.0\.0\.1:\d+(?:\[\d+\])?> ")
FILE = re.compile(r"\$ cat weir-data/(\S+)")
CALL = re.compile(r"\$ redis-cli(.*)")
REMARK = re.compile(r"\s{2,}# .*$|^# .*$")
TOOK = re.compile(r"\(\d+\.\d\ds\)")  # shown of what took half a second or more
PLACE = re.compile(r"<([a-z][a-z0-9_-]*)>|~(\d+)|(?<= )(\.\.\.)(?=[ ;]|$)")
SLACK_MS = 2  # a reply is rounded up, and a clock is read before and after it


@dataclass
class Example:
    """A command and the lines of its reply; without lines any reply but an error will do."""

    line: int  # of the page, from 1
    command: str
    reply: list = field(default_factory=list)


@dataclass
class Transcript:
    options: list  # of redis-cli
    examples: list
    file: str = ""  # shown in place of a transcript, and what it holds
    holds: str = ""


def without_remark(line):
    return REMARK.sub("", line).rstrip()


def blocks_of(text):
    """[(number of the first line, lines)] of a page's code blocks, their indent taken away."""
    blocks, lines, fence, after_blank = [], None, None, True
    for number, line in enumerate(text.splitlines() + [""], 1):
        if fence is not None:
            if line.strip() == fence:
                fence, lines = None, None
            else:
                lines.append(line)
        elif re.match(r"\s*```", line):
            fence, lines = "```", []
            blocks.append((number + 1, lines))
        elif line.startswith("    ") and (lines is not None or after_blank):
            if lines is None:
                lines = []
                blocks.append((number, lines))
            lines.append(line[4:])
        else:
            lines = None
        after_blank = not line.strip()
    if fence is not None:
        raise ValueError(f"a fence is open at the end of the page: {blocks[-1]}")
    return blocks


def transcript_of(first, lines):
    """The transcript that a block is, or nothing."""
    if lines and (shown := FILE.fullmatch(lines[0])):
        return Transcript([], [], shown.group(1), "\n".join(lines[1:]) + "\n")
    if not any(PROMPT.match(line) for line in lines):
        return None
    options, examples = [], []
    for number, line in enumerate(lines, first):
        if prompt := PROMPT.match(line):
            examples.append(Example(number, without_remark(line[prompt.end():])))
        elif examples:
            is_remark = REMARK.fullmatch(line)
            if not is_remark:
                examples[-1].reply.append(without_remark(line))
        elif call := CALL.fullmatch(without_remark(line)):
            options = call.group(1).split()
        elif line.strip():
            raise ValueError(f"line {number} is neither a prompt nor a call of redis-cli: {line}")
    for example in examples:
        while example.reply and not example.reply[-1]:
            example.reply.pop()
    return Transcript(options, examples)


def transcripts_of(text):
    found = (transcript_of(first, lines) for first, lines in blocks_of(text))
    return [transcript for transcript in found if transcript]


class Shell:
    """redis-cli, which is given one line after the other and shows replies as in a terminal."""

    END = "end of the reply"

    def __init__(self, port, folder, options):
        if shutil.which(CLI) is None:
            sys.exit(f"{CLI} is missing, and it is what runs the examples")
        options = re.sub(r"-p \d+", "", " ".join(options)).split()
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C",
                       "REDISCLI_HISTFILE": "/dev/null"}
        self.process = subprocess.Popen(
            [CLI, "-p", str(port), "--no-raw", *options], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True)

    def ask(self, command):
        """The lines of the reply."""
        self.process.stdin.write(f'{command}\nECHO "{self.END}"\n')
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.rstrip("\n") == f'"{self.END}"':
                return [each for each in lines if not TOOK.fullmatch(each)]
            lines.append(line.rstrip("\n").rstrip())
        raise AssertionError(f"redis-cli ended at {command}: {lines}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def known(text, words):
    """The text with the words that its places have by now."""
    return PLACE.sub(lambda place: words.get(place.group(1), place.group(0)), text)


def line_fits(expected, shown, words, passed_ms):
    """Compares a line; keeps what stands in new places."""
    pattern, places, at = "", [], 0  # a place is a name, or the most that a number may be
    for place in PLACE.finditer(expected):
        name, most, _ = place.groups()
        pattern += re.escape(expected[at:place.start()])
        pattern += r"([^\s\"]+)" if name else r"(-?\d+)" if most else ".*"
        at = place.end()
        if name or most:
            places.append(name or int(most))
    found = re.fullmatch(pattern + re.escape(expected[at:]), shown)
    if found is None:
        return False
    for place, value in zip(places, found.groups()):
        if isinstance(place, int):
            if not place - passed_ms - SLACK_MS <= int(value) <= place:
                return False
        elif words.setdefault(place, value) != value:
            return False
    return True


def reply_fits(expected, shown, words, passed_ms):
    if not expected:
        return not any(line.startswith("(error)") for line in shown)
    if "..." in expected:
        cut = expected.index("...")
        rest = len(expected) - cut - 1
        if len(shown) < cut + rest:
            return False
        return (lines_fit(expected[:cut], shown[:cut], words, passed_ms)
                and lines_fit(expected[cut + 1:], shown[len(shown) - rest:], words, passed_ms))
    return lines_fit(expected, shown, words, passed_ms)


def lines_fit(expected, shown, words, passed_ms):
    return len(expected) == len(shown) and all(
        line_fits(one, other, words, passed_ms) for one, other in zip(expected, shown))


def run_page(text, port, folder, data=""):
    """What is wrong with a page's transcripts: [(line of the page, command, expected, shown)].

    `folder` is where redis-cli is at home, `data` the server's."""
    wrong, words, began = [], {}, time.monotonic()
    for transcript in transcripts_of(text):
        if transcript.file:
            Path(data, transcript.file).write_text(transcript.holds, encoding="utf-8")
            continue
        shell = Shell(port, folder, transcript.options)
        try:
            for example in transcript.examples:
                shown = shell.ask(known(example.command, words))
                passed_ms = (time.monotonic() - began) * 1000
                if not reply_fits(example.reply, shown, words, passed_ms):
                    wrong.append((example.line, example.command, example.reply, shown))
        finally:
            shell.close()
    return wrong
