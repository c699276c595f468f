"""When two replies count as the same. To the byte, except where time or order comes in."""

import re

from wire import decode

LATE_MS = 10_000  # how much later one server may have run a command than the other
drift_ms = 0  # by how much a shard's instants may have gone from the wall clock since a key was written


class Profile:
    """What a stream may contain, and so what its replies can be held to."""

    def __init__(self, relative_times, lingering, counted):
        self.relative_times = relative_times  # lives counted from now on
        self.lingering = lingering            # keys that have ended when they are made
        self.counted = counted                # nothing whose hits and misses depend on order


def exact(profile, ours, theirs):
    return ours == theirs


def is_cut_error(ours, theirs):
    """weir shows no more than 1024 bytes of an argument in an error."""
    shown = 1024
    return ours[:1] == b"-" and shown < len(ours) < len(theirs) and ours[:shown] == theirs[:shown]


def near(ours, theirs, slack):
    if not (ours.startswith(b":") and theirs.startswith(b":")):
        return ours == theirs
    first, second = int(ours[1:]), int(theirs[1:])
    return first == second or (min(first, second) > 0 and abs(first - second) <= slack)


def seconds(profile, ours, theirs):
    return near(ours, theirs, LATE_MS // 1000)


def milliseconds(profile, ours, theirs):
    return near(ours, theirs, LATE_MS)


def instant_s(profile, ours, theirs):
    return near(ours, theirs, min(drift_ms, 1)) or (profile.relative_times and seconds(profile, ours, theirs))


def instant_ms(profile, ours, theirs):
    return near(ours, theirs, drift_ms) or (profile.relative_times and milliseconds(profile, ours, theirs))


def dbsize(profile, ours, theirs):
    """Keys that have ended are counted until somebody meets them."""
    return ours == theirs or (profile.lingering and ours[:1] == theirs[:1] == b":")


def unordered(profile, ours, theirs):
    if ours[:1] not in b"*~%" or theirs[:1] != ours[:1]:
        return ours == theirs
    return sorted(decode(ours)) == sorted(decode(theirs))


def listing(profile, ours, theirs):
    """Lists of lists in any order."""
    def arranged(value):
        return sorted(map(arranged, value), key=repr) if isinstance(value, list) else value
    if ours[:1] != b"*" or theirs[:1] != b"*":
        return ours == theirs
    return arranged(decode(ours)) == arranged(decode(theirs))


def loading(profile, ours, theirs):
    """Of two functions that exist already, Redis names either."""
    def masked(raw):
        return re.sub(rb"^-ERR Function \S+ already", b"-ERR Function already", raw)
    return masked(ours) == masked(theirs)


def shape(profile, ours, theirs):
    """The same kind of reply; errors and nulls to the byte."""
    if ours[:1] in b"-_" or ours.startswith(b"$-1"):
        return ours == theirs
    return ours[:1] == theirs[:1] and not theirs.startswith(b"$-1")


def scan_page(profile, ours, theirs):
    """One page says nothing about the next: tables differ in order."""
    if ours[:1] != b"*":
        return ours == theirs
    return theirs.startswith(b"*2\r\n$") and len(decode(ours)) == 2


def before_7_2(profile, ours, theirs):
    """What Redis 7.0 takes for an argument too many is one that came later."""
    return ours == theirs or theirs.startswith(b"-ERR wrong number of arguments")


def encoding(profile, ours, theirs):
    """A collection's has to be the same; a string's follows from its history on Redis."""
    loose = any(name in theirs for name in (b"raw", b"embstr", b"int\r"))
    return ours == theirs or (loose and shape(profile, ours, theirs))


def sorted_alike(profile, ours, theirs):
    """After a number that was out of range, in whatever command, Redis may refuse good ones."""
    return ours == theirs or theirs.startswith(b"-ERR One or more scores can't be converted")


def hello(profile, ours, theirs):
    """All but the server's version and the connection's number."""
    def masked(raw):
        raw = re.sub(rb"(version\r\n)\$\d+\r\n[^\r]+", rb"\1", raw)
        return re.sub(rb"(id\r\n):\d+", rb"\1", raw)
    return masked(ours) == masked(theirs)


COMPARE = {"exact": exact, "seconds": seconds, "milliseconds": milliseconds,
           "instant-s": instant_s, "instant-ms": instant_ms, "dbsize": dbsize,
           "unordered": unordered, "listing": listing,
           "loading": loading, "shape": shape, "scan-page": scan_page,
           "before-7.2": before_7_2, "encoding": encoding, "sorted": sorted_alike, "hello": hello}
