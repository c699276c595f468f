"""No comment of C++ is torn or too wide: a rule of tidy.py."""

import re

LONG_LINE = 85
WIDTH = 100


def indent_of(line):
    """Where the text of a comment line begins, after the number of a list's item."""
    return re.match(r"\s*//\s*(?:(?:\d+|[A-Z]\d*)\.\s+|-\s+)?", line).end()


def check_torn(root, files):
    """A formatter that wraps a comment leaves one word on a line of its own, and the comment goes on
    after it, or its list has lost the indent. Since .clang-format wraps none, its width is checked."""
    item = re.compile(r"\s*//\s*(\d+\.|-|[A-Z]\d*\.?)\s")
    for file in files:
        lines = file.lines if file.is_cpp else []
        for at, line in enumerate(lines):
            if re.match(r"\s*//", line) and len(line) > WIDTH:
                yield file.path, at + 1, f"a comment of {len(line)} columns, {WIDTH} are allowed"
            before, after = lines[at - 1] if at else "", lines[at + 1] if at + 1 < len(lines) else ""
            word = re.match(r"\s*//\s*(\S+)$", line)
            if not word or len(before) <= LONG_LINE or not re.match(r"\s*//", before):
                continue
            goes_on = re.match(r"\s*//\s*\S", after) and not item.match(after)
            if (goes_on and word[1][-1] not in ".:") or indent_of(line) < indent_of(before):
                yield file.path, at + 1, "one word after a long line of a comment: it is torn"
