"""Replies about sorted sets that two servers need not give alike."""

from members import Difference, ask, picked, raw_replies


def scores_of(pair, key):
    """Of each server, member -> score; what is no sorted set has none."""
    def read(connection):
        found = connection.command(b"ZRANGE", key, b"0", b"-1", b"WITHSCORES")
        if not isinstance(found, list):
            return {}
        in_pairs = found and isinstance(found[0], list)  # RESP3
        return dict(found if in_pairs else zip(found[::2], found[1::2]))
    return [read(connection) for connection in pair]


def random_members(player, pair, op):
    """As many as Redis picks, in the same form; ones that are there, with their scores, and not
    twice where they have to differ."""
    ours, theirs = raw_replies(pair, op.args)
    have = scores_of(pair, op.args[1])[0]
    if ours == theirs:
        return
    if ours[:1] != theirs[:1] or ours[:1] not in b"*$" or b"$-1\r\n" in (ours, theirs):
        raise Difference(ours, theirs)
    with_scores = len(op.args) > 3
    in_pairs = b"*2\r\n" in theirs[4:]
    ours_picked, theirs_picked = [picked(raw, with_scores, in_pairs) for raw in (ours, theirs)]
    there = set(have.items()) if with_scores else set(have)
    fits = len(ours_picked) == len(theirs_picked) and set(ours_picked) <= there
    if len(op.args) > 2 and not op.args[2].startswith(b"-"):
        fits = fits and len(set(ours_picked)) == len(ours_picked)
    if not fits:
        raise Difference(ours, theirs)


def lex(player, pair, op):
    """The same bytes, unless many members have different scores: then nobody says what comes."""
    key = op.args[2 if op.args[0].upper() == b"ZRANGESTORE" else 1]
    is_large = ask(pair, b"OBJECT", b"ENCODING", key) == b"skiplist"
    if is_large and len(set(scores_of(pair, key)[1].values())) > 1:
        return
    ours, theirs = raw_replies(pair, op.args)
    if ours != theirs:
        raise Difference(ours, theirs)


SPECIALS = {"special:random-members": random_members, "special:lex": lex}
