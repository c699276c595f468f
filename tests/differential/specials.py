"""What takes more than one request to compare: whole iterations, random picks, bad bytes."""

import members
import scores
from members import Difference
from wire import encode

SENTINEL = b"the end of the bytes"
SCAN_PAGES_MAX = 10_000
SILENCE_S = 0.1   # after which a server is taken to wait for more bytes ...
PATIENCE_S = 10   # ... unless the other one has answered


def run_on(pair, action):
    return [action(connection) for connection in pair]


def scan(player, pair, op):
    """Every key exactly once: nothing changes meanwhile."""
    def iterate(connection):
        cursor, keys = b"0", []
        for _ in range(SCAN_PAGES_MAX):
            reply = connection.command(b"SCAN", cursor, *op.args[1:])
            if not isinstance(reply, list):
                return reply
            cursor, page = reply
            keys += page
            if cursor == b"0":
                return keys
        return b"no end of the iteration"

    ours, theirs = run_on(pair, iterate)
    if isinstance(theirs, list):  # Redis may show a key twice while its table grows
        theirs = sorted(set(theirs))
    if isinstance(ours, list):
        ours = sorted(ours)
    if ours != theirs:
        raise Difference(ours, theirs)


def randomkey(player, pair, op):
    """Any key there is, and null only where there is none."""
    def pick(connection):
        return connection.command(b"RANDOMKEY"), connection.command(b"KEYS", b"*")

    ours, theirs = run_on(pair, pick)
    for key, keys in (ours, theirs):
        if sorted(keys) != sorted(ours[1]) or key not in (keys or [None]):
            raise Difference(ours, theirs)


def foreign(player, pair, op):
    """Makes a key of a type that string commands refuse."""
    key = op.args[1] if len(op.args) > 1 else b"a"
    for connection in pair:
        connection.command(b"DEL", key)
        connection.command(b"RPUSH", key, b"x")


def restart(player, pair, op):
    """Of ours, where it keeps what it has."""
    if player.servers[0].is_lasting:
        player.restart_ours()


def raw_bytes(player, pair, op):
    """Whatever bytes: the same answers, and then the end of the connection or not."""
    data = op.args[1] + encode(b"ECHO", SENTINEL)
    until = b"$%d\r\n%b\r\n" % (len(SENTINEL), SENTINEL)
    got = run_on(pair, lambda connection: connection.transcript(data, until, SILENCE_S))
    if got[0] != got[1]:
        got = run_on(pair, lambda connection: connection.transcript(b"", until, PATIENCE_S))
    if got[0] != got[1]:
        raise Difference(*got)
    if got[0][1] or not got[0][0].endswith(until):
        player.reconnect(pair)
    for connection in pair:
        connection.received = b""


SPECIALS = {**members.SPECIALS, **scores.SPECIALS, "special:scan": scan,
            "special:randomkey": randomkey, "special:foreign": foreign,
            "special:restart": restart, "special:bytes": raw_bytes}
