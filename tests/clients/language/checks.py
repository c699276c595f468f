"""The language of limits, spoken by one client on its defaults: checks.py COMMAND... is its caller
program (calls/caller.py), which here has the client's own protocol, time-outs and pool.

Each file of rows/ is a check, on a keyspace without keys and policies. What takes more than a request
and its reply is a check here: a turn that outlasts the read time-out, a lost reply, a user's rights.
    CLIENTS_MAPS      what the client makes of a map: map, flat or pairs, see table.py
    CLIENTS_ERROR     how it calls a server's error
    CLIENTS_HAS_READ  1 when it gives up reading within the turn's seconds, or 0
"""

import contextlib
import json
import os
import sys
import threading
import time
from pathlib import Path

CLIENTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CLIENTS / "calls"), str(CLIENTS / "python")]

import table  # noqa: E402
from caller import CallError, Caller  # noqa: E402
from direct import Direct  # noqa: E402
from lossy_proxy import LossyProxy  # noqa: E402
from report import IS_WEIR, PORT, PROTOCOL, check, expect, expect_between, say  # noqa: E402

ERROR = os.environ["CLIENTS_ERROR"]
HAS_READ = os.environ["CLIENTS_HAS_READ"] == "1"
ASKS_MAX = 20
WHY_MAX = 1500
# Longer than redis-py and go-redis read (5 s); Jedis reads for 2 s, and is amid its fourth time then.
TURN_MS = 7200
TURN, LOST = "the-turn", "the-lost"
# It changes what is answered to every key: nothing else runs then.
LAST = "limiting"


class Mismatch(Exception):
    """A client, what it asked, what it got, what was expected."""


def asked(comparison, row):
    """Nothing when the row holds; otherwise in what it does not."""
    request = comparison.words(row.request)
    wanted = f"an error with {row.error!r}" if row.error else json.dumps(row.reply)
    try:
        text = caller.shape(request).reply()
    except CallError as error:
        got = f"the error {error}"
        is_held = row.error and row.error in str(error) and str(error).startswith(ERROR)
    else:
        got = text
        is_held = not row.error and comparison.is_equal(json.loads(text), row.reply)
    if not is_held:
        raise Mismatch(f"{TITLE}: {request}: got {got}, expected {wanted}")


def clean():
    """No keys and no policies, but for the keys of the turn."""
    for key in direct.ask("KEYS *"):
        if not key.startswith(TURN):
            direct.ask(f"DEL {key}")
    for policy in direct.ask("RL.POLICY LIST"):
        direct.ask(f"RL.POLICY DEL {policy}")


def section(name, rows):
    """A line for each row that does not hold; the section's own when all do."""
    clean()
    comparison = table.Comparison(os.environ["CLIENTS_MAPS"])
    has_failed = False
    for row in rows:
        try:
            asked(comparison, row)
        except Exception as error:  # a mismatch, or no answer at all
            has_failed = True
            say(f"not ok {row.place.replace(':', ' line ')}: {' '.join(str(error).split())[:WHY_MAX]}")
    if not has_failed:
        say(f"ok {name}")


def until_answered(words):
    """The first reply that is no error, as of a user who asks again with the same ID."""
    for _ in range(ASKS_MAX):
        call = caller.call(words)
        with contextlib.suppress(CallError):
            return call.numbers()
        time.sleep(0.1)
    raise AssertionError(f"{TITLE}: {ASKS_MAX} errors, the last: {call.error}")


def answers():
    expect(caller.call("ECHO hello").reply(), "hello")


def on_defaults():
    line = caller.shape("CLIENT INFO").reply()
    expect(f" resp={PROTOCOL} " in line, True, f"{TITLE}: resp={PROTOCOL} in {line}:")


class Turn:
    """A caller who waits for longer than the client reads, while the other checks run."""

    def __init__(self):
        self.error = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        """Twice at most: a busy machine may keep a client from asking at the instant of its turn."""
        for key in (f"{TURN}-1", f"{TURN}-2"):
            try:
                self.wait(key, f"RL.ACQUIRE {key} 1/{TURN_MS}ms TIMEOUT 60s ID first")
                self.error = None
                return
            except Exception as error:
                self.error = error

    def wait(self, key, words):
        own = Direct(PORT)
        proxy.watch(key)
        expect(own.ask(f"RL.TAKE {key} 1/{TURN_MS}ms")[0], 1)
        replies = []
        ask = threading.Thread(target=lambda: replies.append(until_answered(words)), daemon=True)
        ask.start()
        while "blocked_clients:1\r" not in own.ask("INFO clients"):
            time.sleep(0.01)
        with contextlib.closing(Direct(PORT).socket) as behind:
            behind.sendall(words.replace("first", "later").encode() + b"\r\n")
            ask.join()
            expect(replies[0][:2], [1, 1], f"{TITLE}: {words}: got")
            behind.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                raise AssertionError(f"{TITLE}: who came later was served first: {behind.recv(99)}")
        # Charged once: the first turn is over, and this one ends within its time.
        left_ms = own.ask(f"RL.PEEK {key} 1/{TURN_MS}ms COST 0")[4]
        expect_between(1, left_ms, TURN_MS, f"{TITLE}: charged, ms")
        expect_between(1 + HAS_READ, proxy.sent(key), ASKS_MAX, f"{TITLE}: sent")

    def result(self):
        self.thread.join()
        if self.error:
            raise self.error


def retry_charges_once():
    proxy.lose(LOST)
    reply = until_answered(f"RL.TAKE {LOST} 100/1h ID token-1")
    left = direct.ask(f"RL.PEEK {LOST} 100/1h COST 0")[2]
    expect((reply[:3], proxy.sent(LOST), left), ([1, 100, 99], 2, 99), f"{TITLE}: reply, sent, left")


def crowd():
    """More callers share the client than Jedis has connections: the limit is exact."""
    calls = [caller.call("RL.TAKE crowd 25/1h") for _ in range(40)]
    expect(sum(call.numbers()[0] for call in calls), 25, f"{TITLE}: RL.TAKE crowd 25/1h, 40 at once: granted")


def user():
    """Who has +@ratelimit alone logs in by the client's defaults, asks, and does no more."""
    direct.ask("ACL SETUSER shop on >a-long-phrase +@ratelimit ~shop:*")
    theirs = Caller(sys.argv[1:], PORT, CLIENTS_USER="shop", CLIENTS_PASSWORD="a-long-phrase")
    try:
        expect(theirs.call("RL.TAKE shop:1 100/1h").numbers()[:3], [1, 100, 99], TITLE)
        for words in ("RL.TAKE other:1 100/1h", "RL.REFUND shop:1 1", "RL.POLICY DEL api"):
            try:
                raise AssertionError(f"{TITLE}: {words}: got {theirs.call(words).reply()}")
            except CallError as error:
                expect("permissions" in str(error), True, f"{TITLE}: {words}: {error}: refused")
    finally:
        theirs.close()
        direct.ask("ACL DELUSER shop")


def run_on_weir():
    check("on-defaults", on_defaults)
    turn = Turn()
    sections = table.sections()
    for name, rows in sections.items():
        if name != LAST:
            section(name, rows)
    check("retry-charges-once", retry_charges_once)
    check("crowd", crowd)
    check("user", user)
    check("turn-outlasts-reading", turn.result)
    section(LAST, sections[LAST])


proxy = LossyProxy(PORT)
direct = Direct(PORT)
caller = Caller(sys.argv[1:], proxy.port)
TITLE = f"{os.environ['CLIENTS_TITLE']} {caller.version}"
say(f"version {caller.version}")
check("answers", answers)
if IS_WEIR:
    run_on_weir()
else:
    say("skip language: Redis has no limiter")
caller.close()
say("done")
