"""The table of requests and replies in rows/, and how a reply is compared with what stands there.

A file holds rows, one after the other, and its name is the name of the check:
    # a comment
    > RL.TAKE user:42 100/1m           a request, its words separated by spaces; $NAME is an id
    < [1, 100, 99, 0, "0..600", 0]     the reply, as JSON
    ! must be count/period             or words of the error, in place of a reply
A line that begins with a space goes on with the line before it. In a reply these strings stand for
more than themselves:
    "LOW..HIGH"    an integer from LOW to HIGH; as in every reply, an integer is no string
    "$NAME"        an id: an integer above 0, the same wherever the file says $NAME
    "/PATTERN/"    a string in which this regular expression is found
    "*"            anything at all
    "..."          the last of a list, or a key of an object: more of them may be there
An object is a map as the client of the run answers one, see SHAPES.
"""

import json
import re
from pathlib import Path

ROWS = Path(__file__).resolve().parent / "rows"
RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")
MORE = "..."


class Row:
    """A request, and either its reply or words of its error; `place` is FILE:LINE."""

    def __init__(self, place, request):
        self.place = place
        self.request = request
        self.reply = ""
        self.error = ""

    def finished(self):
        if bool(self.reply) == bool(self.error):
            raise ValueError(f"{self.place}: a request needs a reply or an error, and one of them")
        if self.reply:
            try:
                self.reply = json.loads(self.reply)
            except ValueError as error:
                raise ValueError(f"{self.place}: the reply is no JSON: {error}") from error
        return self


def joined(text):
    """(line number, line) with the lines that go on put together."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(" ") and found:
            found[-1][1] += " " + line.strip()
        elif line.strip() and not line.startswith("#"):
            found.append([number, line.rstrip()])
    return found


def parsed(name, text):
    rows = []
    for number, line in joined(text):
        mark, _, rest = line.partition(" ")
        if mark == ">":
            rows.append(Row(f"{name}:{number}", rest))
        elif mark == "<" and rows and not rows[-1].reply:
            rows[-1].reply = rest
        elif mark == "!" and rows and not rows[-1].error:
            rows[-1].error = rest
        else:
            raise ValueError(f"{name}:{number}: must begin with '> ', then '< ' or '! ': {line}")
    return [row.finished() for row in rows]


def sections():
    """{name: rows} of all files, in the order of their names."""
    return {path.stem: parsed(path.name, path.read_text()) for path in sorted(ROWS.glob("*.txt"))}


def of_map(got):
    return got if isinstance(got, dict) else None


def of_flat(got):
    if not isinstance(got, list) or len(got) % 2 or not all(isinstance(k, str) for k in got[::2]):
        return None
    return dict(zip(got[::2], got[1::2]))


def of_pairs(got):
    if not isinstance(got, list) or not all(isinstance(p, dict) and len(p) == 1 for p in got):
        return None
    return {key: value for pair in got for key, value in pair.items()}


# What a client makes of a map: a map of its language, keys and values in turn (RESP2, which has no
# maps), or a list of entries.
SHAPES = {"map": of_map, "flat": of_flat, "pairs": of_pairs}


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


class Comparison:
    """Replies of one run; it keeps the ids that were seen."""

    def __init__(self, shape):
        self.fields = SHAPES[shape]
        self.ids = {}

    def words(self, request):
        """The request with the ids in it."""
        return re.sub(r"\$(\w+)", lambda found: str(self.ids.get(found[1], found[0])), request)

    def is_equal(self, got, wanted):
        if isinstance(wanted, dict):
            return self.is_equal_map(self.fields(got), wanted)
        if isinstance(wanted, list):
            return isinstance(got, list) and self.is_equal_list(got, wanted)
        if isinstance(wanted, str):
            return self.is_equal_string(got, wanted)
        return type(got) is type(wanted) and got == wanted

    def is_equal_map(self, fields, wanted):
        if fields is None:
            return False
        expected = {key: value for key, value in wanted.items() if key != MORE}
        is_complete = MORE in wanted or len(fields) == len(expected)
        return is_complete and all(key in fields and self.is_equal(fields[key], value)
                                   for key, value in expected.items())

    def is_equal_list(self, got, wanted):
        if wanted and wanted[-1] == MORE:
            wanted = wanted[:-1]
            got = got[:len(wanted)]
        return len(got) == len(wanted) and all(map(self.is_equal, got, wanted))

    def is_equal_string(self, got, wanted):
        if wanted == "*":
            return True
        if limits := RANGE.fullmatch(wanted):
            return is_integer(got) and int(limits[1]) <= got <= int(limits[2])
        if wanted.startswith("$"):
            return is_integer(got) and got > 0 and self.ids.setdefault(wanted[1:], got) == got
        if not isinstance(got, str):
            return False
        if len(wanted) > 1 and wanted[0] == wanted[-1] == "/":
            return re.search(wanted[1:-1], got) is not None
        return " ".join(got.split()) == wanted
