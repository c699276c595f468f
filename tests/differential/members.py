"""Replies made of a collection's elements: in order where the form has one, as sets elsewhere."""

from compare import COMPARE
from wire import decode

SCAN_PAGES_MAX = 10_000
ORDERED = (b"listpack", b"intset", b"quicklist")  # the forms whose order is part of what they are
ALL = {b"HRANDFIELD": b"HGETALL", b"SRANDMEMBER": b"SMEMBERS"}


class Difference(Exception):
    """`ours` and `theirs` say in what the servers differ, as raw bytes or text."""

    def __init__(self, ours, theirs):
        super().__init__("the servers differ")
        self.ours = ours if isinstance(ours, bytes) else repr(ours).encode()
        self.theirs = theirs if isinstance(theirs, bytes) else repr(theirs).encode()


def raw_replies(pair, args):
    return [connection.exchange([connection.encode(args)], 1)[0] for connection in pair]


def elements(raw, in_pairs):
    """Sorted, fields with their values."""
    flat = decode(raw)
    return sorted(zip(flat[::2], flat[1::2])) if in_pairs else sorted(flat)


def require_same(pair, args, is_ordered, in_pairs):
    ours, theirs = raw_replies(pair, args)
    if ours == theirs:
        return
    are_lists = ours[:1] == theirs[:1] and ours[:1] in b"*~%"
    if is_ordered or not are_lists or elements(ours, in_pairs) != elements(theirs, in_pairs):
        raise Difference(ours, theirs)


def ask(pair, *args):
    """What Redis says; both are asked, since asking counts as a hit or a miss."""
    return [connection.command(*args) for connection in pair][1]


def is_ordered(pair, key):
    return ask(pair, b"OBJECT", b"ENCODING", key) in ORDERED


def as_is(player, pair, op):
    """What is longer than other requests may be."""
    ours, theirs = raw_replies(pair, op.args)
    if ours != theirs:
        raise Difference(ours, theirs)


def ordered(player, pair, op):
    require_same(pair, op.args, is_ordered(pair, op.args[1]), op.args[0].upper() == b"HGETALL")


def pop(player, pair, op):
    """Only where no choice is left: the last member, or all of them; which Redis counts as a hit."""
    player.compare_metrics()
    size = ask(pair, b"SCARD", op.args[1])
    if isinstance(size, int) and (len(op.args) < 3 or op.args[2].isdigit()):
        wanted = int(op.args[2]) if len(op.args) > 2 else 1
        if 0 < wanted < size:
            return
    require_same(pair, op.args, is_ordered(pair, op.args[1]), False)
    player.metrics = player.read_metrics()


def page_by_page(player, pair, op):
    """Every element exactly once, and in one ordered page where the form has an order. Each page
    counts as a hit, and their number is each server's own."""
    player.compare_metrics()
    def iterate(connection):
        cursor, found, pages = b"0", [], 0
        while pages < SCAN_PAGES_MAX:
            reply = connection.command(op.args[0], op.args[1], cursor, *op.args[2:])
            if not isinstance(reply, list):
                return reply
            cursor, page = reply
            found += zip(page[::2], page[1::2]) if op.args[0].upper() != b"SSCAN" else page
            if cursor == b"0":
                return found
            pages += 1
        return b"no end of the iteration"

    ours, theirs = [iterate(connection) for connection in pair]
    player.metrics = player.read_metrics()
    if not is_ordered(pair, op.args[1]) and isinstance(theirs, list):
        theirs = sorted(set(theirs))  # Redis may show one twice while its table shrinks
        ours = sorted(ours)
    if ours != theirs:
        raise Difference(ours, theirs)


def sort(player, pair, op):
    """After a number that was out of range, in whatever command, Redis may refuse good ones; then it
    looks up fewer keys."""
    player.compare_metrics()
    ours, theirs = raw_replies(pair, op.args)
    player.metrics = player.read_metrics()
    if not COMPARE["sorted"](player.profile, ours, theirs):
        raise Difference(ours, theirs)


def redump(player, pair, op):
    """What one of the servers dumps is RESTOREd on both."""
    source, target = op.args[1:3]
    player.compare_metrics()
    dumps = [connection.command(b"DUMP", source) for connection in pair]
    dump = dumps[sum(source + target) % 2]
    got = [connection.command(b"RESTORE", target, b"0", dump, *op.args[3:]) for connection in pair]
    player.metrics = player.read_metrics()
    if got[0] != got[1]:
        raise Difference(*got)


def picked(raw, with_values, protocol3):
    """What was picked, as members or as pairs of a field and its value."""
    items = decode(raw) if raw[:1] in b"*~" else [decode(raw)]
    if not with_values:
        return items
    return [tuple(item) for item in items] if protocol3 else list(zip(items[::2], items[1::2]))


def random_elements(player, pair, op):
    """As many as Redis picks, in the same form; ones that are there, and not twice where they have
    to differ."""
    ours, theirs = raw_replies(pair, op.args)
    if ours == theirs:
        return
    if ours[:1] != theirs[:1] or ours[:1] not in b"*$" or b"$-1\r\n" in (ours, theirs):
        raise Difference(ours, theirs)
    all_of = raw_replies(pair, [ALL[op.args[0].upper()], op.args[1]])[0]
    is_hash, protocol3 = op.args[0].upper() == b"HRANDFIELD", all_of[:1] in b"%~"
    with_values = len(op.args) > 3
    ours_picked, theirs_picked = [picked(raw, with_values, protocol3) for raw in (ours, theirs)]
    flat = decode(all_of)
    have = flat if not is_hash else list(zip(flat[::2], flat[1::2])) if with_values else flat[::2]
    fits = len(ours_picked) == len(theirs_picked) and set(ours_picked) <= set(have)
    if len(op.args) > 2 and not op.args[2].startswith(b"-"):
        everything = len(ours_picked) == len(have) and is_ordered(pair, op.args[1])
        fits = fits and len(set(ours_picked)) == len(ours_picked) and not everything
    if not fits:
        raise Difference(ours, theirs)


SPECIALS = {"special:as-is": as_is, "special:sort": sort, "special:ordered": ordered,
            "special:pop": pop, "special:redump": redump,
            "special:random": random_elements, "special:collection-scan": page_by_page}
