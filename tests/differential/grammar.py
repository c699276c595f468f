"""From a usage line to requests: right ones, and ones that are wrong in every way.

A table is a list of rows. A row is a usage line in the notation of HELP:

    Row("SET key value [NX | XX] [GET] [EX seconds | PX milliseconds | KEEPTTL]", weight=8)

Words in upper case stand as they are (in any case of letters, now and then); words in lower case
are kinds of arguments, made by KINDS below or by the row itself (`kinds`); [ ] is optional, |
separates alternatives, "..." lets what is before it in the brackets come again.
"""

import itertools
import re
from dataclasses import dataclass, field
from functools import cached_property

import pools

INLINE_BYTES_MAX = 10_000  # far from the bound of 64 KB even when every byte is escaped
ARGUMENTS_MAX = 200
INTEGER = re.compile(rb"-?[1-9][0-9]{0,18}|0")


@dataclass
class Row:
    usage: str
    weight: int = 4
    compare: str = "exact"  # a name in compare.COMPARE
    # Its relative times stand at these places or behind these words: none may pass during a run.
    relative_at: tuple = ()
    relative_after: tuple = ()
    # Words whose instant may lie in the past and leave a key that has ended but is still counted.
    lingers_after: tuple = ()
    waits_at: int = None  # the place of a timeout, which is to be one of pools.TIMEOUTS
    ends: bool = False      # the server closes the connection after its reply
    only_keys: tuple = ()   # what the first argument has to be, if there is one
    kinds: dict = field(default_factory=dict)  # own kinds: name -> function of a Maker

    @cached_property
    def tree(self):
        return parse(self.usage)

    @property
    def has_times(self):
        return bool(self.relative_at or self.relative_after or self.lingers_after)


@dataclass
class Op:
    args: list
    compare: str = "exact"
    inline: bool = False
    ends: bool = False
    node: int = 0  # which of several owners it is sent to


class Special(Op):
    """Something that takes several requests; `compare` names a function in specials.SPECIALS."""


def parse(usage):
    """A tree of ("word", text), ("all", [...]), ("one", [...]), ("maybe", node), ("more", node)."""
    tokens = re.findall(r"\[|\]|\||\.\.\.|[^\s\[\]|]+", usage)

    def alternatives():
        choices = [[]]
        while tokens and tokens[0] != "]":
            token = tokens.pop(0)
            if token == "[":
                inner = alternatives()
                tokens.pop(0)
                choices[-1].append(("maybe", inner))
            elif token == "|":
                choices.append([])
            elif token == "...":
                choices[-1] = [("more", ("all", choices[-1]))]
            else:
                choices[-1].append(("word", token))
        nodes = [("all", choice) for choice in choices]
        return nodes[0] if len(nodes) == 1 else ("one", nodes)

    return alternatives()


class Maker:
    """Makes the requests of one stream; `coverage` hears of them."""

    def __init__(self, rng, rows, profile, known_names, coverage):
        self.rng = rng
        self.rows = rows
        self.weights = list(itertools.accumulate(row.weight for row in rows))
        self.coverage = coverage
        self.chosen = []  # of the row's branches
        self.profile = profile
        self.known_names = known_names  # of Redis' commands
        self.times = pools.RelativeTimes()
        self.used_s = []
        self.scripts = []  # the last ones

    def op(self):
        row = self.rng.choices(self.rows, cum_weights=self.weights)[0]
        special = row.compare.startswith("special:")
        for _ in range(100):
            right = self.args(row)
            chosen = self.chosen
            args = right if special else self.mutated(row, right)
            if self.is_steady(row, args):
                if args is right:
                    self.coverage.add(row, chosen)
                if special:
                    return Special(args, row.compare)
                inline = self.rng.random() < 0.03 and sum(map(len, args)) < INLINE_BYTES_MAX
                return Op(args, row.compare, inline, row.ends)
        raise AssertionError(f"{row.usage}: no request that time cannot change")

    def args(self, row):
        args = []
        self.row, self.chosen = row, []
        self.fill(row.tree, args)
        if args and self.rng.random() < 0.2:
            args[0] = self.random_case(args[0])
        return args

    def fill(self, node, args):
        kind, content = node
        if kind == "word":
            args.append(self.word(content))
        elif kind == "all":
            for part in content:
                self.fill(part, args)
        elif kind == "one":
            node = self.rng.choice(content)
            self.chosen.append(node)
            self.fill(node, args)
        elif kind == "maybe":
            if self.rng.random() < 0.4:
                self.chosen.append(content)
                self.fill(content, args)
        else:
            for _ in range(self.rng.choice((1, 1, 1, 2, 2, 3, 12))):
                self.fill(content, args)

    def word(self, word):
        if word in self.row.kinds:
            return self.row.kinds[word](self)
        if word in KINDS:
            return KINDS[word](self)
        if word != word.upper():
            raise KeyError(f"{self.row.usage}: nothing makes '{word}'")
        return self.random_case(word.encode()) if self.rng.random() < 0.15 else word.encode()

    def random_case(self, word):
        return bytes(byte ^ 0x20 if chr(byte).isalpha() and self.rng.random() < 0.5 else byte
                     for byte in word)

    def mutated(self, row, args):
        """One request in eight is bent: arguments missing, twice, swapped, out of place, junk."""
        rng = self.rng
        while rng.random() < 0.12:
            at = rng.randrange(1, len(args)) if len(args) > 1 else 1
            how = rng.randrange(6)
            if how == 0:
                args = args[:at] + args[at + 1:]
            elif how == 1:
                args = args[:at] + [self.junk()] + args[at:]
            elif how == 2 and at < len(args):
                args = args[:at] + [self.junk()] + args[at + 1:]
            elif how == 3 and at < len(args):
                args = args + [args[at]]
            elif how == 4 and at < len(args):
                other, args = rng.randrange(1, len(args)), list(args)
                args[at], args[other] = args[other], args[at]
            else:
                args = args + self.args(row)[rng.randint(1, 3):]
        return args if len(args) <= ARGUMENTS_MAX else args[:ARGUMENTS_MAX]

    def junk(self):
        rng = self.rng
        kind = rng.randrange(4)
        if kind == 0:
            return rng.choice(pools.JUNK)
        if kind == 1:
            return rng.choice(pools.INTEGERS)
        return rng.choice(pools.NOT_INTEGERS) if kind == 2 else rng.choice(pools.KEYS)

    # What time would make of a request depends on when a server runs it, so such requests are not
    # sent: a key with a life of seconds, or two lives that end at nearly the same instant. Nor is
    # what the stream's profile leaves out.
    def is_steady(self, row, args):
        if row.only_keys and len(args) > 1 and args[1] not in row.only_keys:
            return False
        if row.waits_at is not None and row.waits_at < len(args) and \
                args[row.waits_at] not in pools.TIMEOUTS:
            return False
        is_scan = self.profile.counted and bool(args) and args[0].upper() == b"SCAN"
        if not row.has_times and not is_scan:
            return True
        words = [arg.upper() for arg in args]
        relative = [at for at in row.relative_at if at < len(args)]
        relative += [at for at in range(1, len(args))
                     if words[at - 1].decode("latin-1") in row.relative_after]
        lingering = [at for at in range(1, len(args))
                     if words[at - 1].decode("latin-1") in row.lingers_after]
        if not self.profile.lingering and any(self.is_past(args[at]) for at in lingering):
            return False
        if is_scan and b"TYPE" in words:
            return False  # Redis counts each key whose type it looks at as a read
        lives_s = []
        for at in relative:
            if not INTEGER.fullmatch(args[at]):
                continue
            life = int(args[at])
            if life <= 0 or life > 9223372036854775000:  # at once, or an error
                continue
            in_ms = words[0].startswith(b"P") or words[at - 1] == b"PX"
            lives_s.append(life / 1000 if in_ms else life)
        for life_s in lives_s:
            if not self.profile.relative_times or life_s < 100_000:
                return False
            if any(abs(life_s - used_s) < 60 for used_s in self.used_s):
                return False
        self.used_s += lives_s
        return True

    @staticmethod
    def is_past(argument):
        return bool(INTEGER.fullmatch(argument)) and 0 < int(argument) < 1_700_000_000_000


def choose(*lists):
    joined = [item for items in lists for item in items]
    return lambda maker: maker.rng.choice(joined)


def mostly(usual, unusual, share=0.9):
    return lambda maker: (usual if maker.rng.random() < share else unusual)(maker)


def relative(unit):
    def make(maker):
        if maker.profile.relative_times and maker.rng.random() < 0.7:
            return getattr(maker.times, unit)()
        return maker.rng.choice(pools.ENDED + pools.NEVER_FITS + pools.NOT_INTEGERS)
    return make


def integer(maker):
    return maker.rng.choice(pools.INTEGERS)


KINDS = {
    "key": mostly(mostly(choose(pools.KEYS[:3]), choose(pools.KEYS), 0.4),
                  lambda maker: pools.random_bytes(maker.rng), 0.97),
    "value": lambda maker: pools.value(maker.rng),
    "message": lambda maker: pools.value(maker.rng),
    "integer": mostly(integer, choose(pools.NOT_INTEGERS), 0.85),
    "small": choose([b"0", b"1", b"2", b"5", b"-1", b"-3", b"10", b"100", b"-100"]),
    "float": mostly(choose(pools.FLOATS), choose(pools.NOT_FLOATS), 0.85),
    "seconds": relative("seconds"),
    "milliseconds": relative("milliseconds"),
    "unix-seconds": mostly(choose(pools.FAR_S, pools.FAR_S, pools.PAST),
                           choose(pools.ENDED, pools.OVERFLOWS, pools.NOT_INTEGERS), 0.8),
    "unix-milliseconds": mostly(choose(pools.FAR_MS, pools.FAR_MS, pools.PAST),
                                choose(pools.ENDED, pools.NOT_INTEGERS), 0.8),
    # Either tiny or refused: what lies between would cost half a gigabyte.
    "offset": choose([b"0", b"1", b"2", b"9", b"100", b"3000", b"70000", b"536870912", b"-1",
                      b"4294967296", b"9223372036854775807", b"abc", b""]),
    "db": mostly(choose([b"0", b"0", b"0", b"1", b"2"]),
                 choose([b"15", b"16", b"-1", b"99", b"abc", b"", b"3000000000", b"-3000000000",
                         b"9223372036854775808", b"01"]), 0.9),
    "pattern": choose(pools.PATTERNS),
    "cursor": choose(pools.CURSORS),
    "count": choose([b"1", b"2", b"3", b"10", b"1000", b"9223372036854775807"]),
    "bad-count": choose([b"0", b"-1", b"abc", b"", b"9223372036854775808", b"1.5"]),
    "type": choose([b"string", b"STRING", b"nosuch", b"", b"none", b"hash", b"set", b"zset",
                    b"list"]),
    "junk": lambda maker: maker.junk(),
}
