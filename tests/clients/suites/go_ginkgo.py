"""Reads what Ginkgo, a test framework of Go, prints with -ginkgo.v: a block for each test."""

import re

RULER = re.compile(r"^-{30}\n", re.MULTILINE)
END = re.compile(r"^(?:•|S|P) (?:\[(\w+)\] )?\[[\d.]+ seconds\]", re.MULTILINE)
ENDS = {None: "pass", "SKIPPED": "skip", "PENDING": "skip"}
REASON = re.compile(r"^\s+\[(?:FAILED|PANICKED|SKIPPED|TIMEDOUT)\] ?(?!in )(.*?)(?=^\s+In \[|\Z)",
                    re.MULTILINE | re.DOTALL)
LABELS = re.compile(r"( \[[^\]]*\])+$")


def specs(text):
    """(name, pass or fail or skip, why) of each test; nothing when this is not Ginkgo's output."""
    if "Running Suite:" not in text:
        return
    for block in RULER.split(text):
        end = END.search(block)
        head = block.lstrip().splitlines()[:2]
        if not end or len(head) < 2 or head[0].startswith("["):
            continue
        reason = REASON.search(block, end.end())
        yield (LABELS.sub("", head[0].strip()), ENDS.get(end[1], "fail"),
               reason[1] if reason else "")
