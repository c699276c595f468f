"""What docs/calling.md says of one client, asked of it: checks.py COMMAND... is its caller program.

The client is one whose user knows nothing of that page but the ID: it stays on its defaults, and
the user asks again after an error. Only the read time-out is set to a second (CLIENTS_READ_MS)
where the default is longer.
    CLIENTS_RESENDS      1 when the client itself sends again what was lost with a connection, or 0
    CLIENTS_MULTIPLEXED  1 when all callers share one connection, or 0
    CLIENTS_HAS_READ     1 when the client gives up reading, or 0
    CLIENTS_CAN_WAIT     1 when it can send a command that waits, or 0
"""

import contextlib
import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from caller import CallError, Caller  # noqa: E402
from direct import Direct, Refused  # noqa: E402
from lossy_proxy import SILENCE, LossyProxy  # noqa: E402
from report import IS_WEIR, PORT, Skip, check, expect, expect_between, say  # noqa: E402

RESENDS = int(os.environ["CLIENTS_RESENDS"])
IS_MULTIPLEXED = os.environ["CLIENTS_MULTIPLEXED"] == "1"
HAS_READ = os.environ["CLIENTS_HAS_READ"] == "1"
CAN_WAIT = os.environ["CLIENTS_CAN_WAIT"] == "1"
ASKS_MAX = 20
TIMES_MAX = 3
TEN_MINUTES = "GCRA 1/10m BURST 99"


class LaterComer:
    """Who asks in the same queue, without a library. `end` is when it was served."""

    def __init__(self, words):
        self.reply = []
        self.end = 0.0
        self.thread = threading.Thread(target=self.ask, args=(words,), daemon=True)
        self.thread.start()

    def ask(self, words):
        with contextlib.suppress(Refused):
            self.reply = Direct(PORT).ask(words)
        self.end = time.monotonic()


def need_weir():
    if not IS_WEIR:
        raise Skip("Redis has no limiter")


def need_waiting():
    need_weir()
    if not CAN_WAIT:
        raise Skip("the library sends commands it does not know in scripts alone, which do not wait")


def again_and_again(body):
    """A busy machine may keep a client from asking at the instant of its turn; a fault does each
    time."""
    def repeated():
        for turn in range(TIMES_MAX - 1):
            with contextlib.suppress(Refused):
                return body(turn)
        return body(TIMES_MAX)
    return repeated


def until_answered(words):
    """The first reply that is no error, as of a user who asks again after each."""
    for _ in range(ASKS_MAX):
        call = caller.call(words)
        with contextlib.suppress(CallError):
            call.numbers()
            return call
        time.sleep(0.1)
    raise AssertionError(f"{ASKS_MAX} errors, the last: {call.error}")


def left(key):
    return direct.ask(f"RL.PEEK {key} {TEN_MINUTES} COST 0")[2]


def answers():
    expect(caller.call("ECHO hello").reply(), "hello")


def resends():
    """INCR whose reply is lost with the connection: it counts how often it was sent."""
    proxy.lose("lost")
    call = caller.call("INCR lost")
    try:
        reply = call.reply()
    except CallError as error:
        reply = f"an error, {error}"
    expect(reply.split(",")[0], "2" if RESENDS else "an error")
    expect((proxy.sent("lost"), direct.ask("GET lost")), (1 + RESENDS, str(1 + RESENDS)), "sent")


def retry_without_id():
    """What the page warns of: the request is charged each time that it is sent."""
    need_weir()
    proxy.lose("twice")
    until_answered(f"RL.TAKE twice {TEN_MINUTES}")
    expect((proxy.sent("twice"), left("twice")), (2, 98), "sent, left")


def retry_with_id():
    need_weir()
    proxy.lose("once")
    reply = until_answered(f"RL.TAKE once {TEN_MINUTES} ID token-1").numbers()
    expect((proxy.sent("once"), left("once")), (2, 99), "sent, left")
    expect(reply[:3], [1, 100, 99])


def late_retry_with_id():
    """The connection stays and the reply does not come: the client gives up reading."""
    need_weir()
    if not HAS_READ or IS_MULTIPLEXED:
        raise Skip("the client does not give up a connection because a reply is late")
    proxy.lose("late", how=SILENCE)
    reply = until_answered(f"RL.TAKE late {TEN_MINUTES} ID token-2").numbers()
    expect((proxy.sent("late"), left("late")), (2, 99), "sent, left")
    expect(reply[:3], [1, 100, 99])


def multiplexed():
    """Whether a waiting call holds up the other callers of the same client."""
    need_waiting()
    direct.ask("RL.TAKE crowd GCRA 1/1500ms")
    direct.ask("RL.TAKE crowd GCRA 1/1500ms")
    waiting = caller.call("RL.ACQUIRE crowd GCRA 1/1500ms TIMEOUT 9000 ID crowd-1")
    until_blocked(1)
    other = caller.call("ECHO hello")
    if IS_MULTIPLEXED:
        expect(other.done.wait(0.3), False, "answered")
    else:
        expect((other.reply(), waiting.done.is_set()), ("hello", False))
    until_blocked(0)


def until_blocked(count):
    while f"blocked_clients:{count}\r" not in direct.ask("INFO clients"):
        time.sleep(0.01)


def turn_is_kept(key, rate_ms, disturb):
    """The client asks first, loses its reading or its connection, and asks again; another asks
    after it. The first is served first, and each of them is charged once."""
    limit = f"GCRA 1/{rate_ms}ms"
    begin = time.monotonic()
    expect(direct.ask(f"RL.TAKE {key} {limit}")[0], 1)
    proxy.watch(key)
    later = []

    def join():
        until_blocked(1)
        later.append(LaterComer(f"RL.ACQUIRE {key} {limit} TIMEOUT 60000 ID later"))
        until_blocked(2)
        disturb()

    joining = threading.Thread(target=join, daemon=True)
    joining.start()
    first = until_answered(f"RL.ACQUIRE {key} {limit} TIMEOUT 60000 ID first")
    joining.join()
    later[0].thread.join()
    full_after_ms = direct.ask(f"RL.PEEK {key} {limit} COST 0")[4]
    passed_ms = (time.monotonic() - begin) * 1000
    expect_between(2, proxy.sent(key), ASKS_MAX, "sent")
    expect((first.numbers()[0], later[0].reply[:1]), (1, [1]), "granted")
    expect(first.end < later[0].end, True, "the first was served first")
    expect(round((full_after_ms + passed_ms) / rate_ms), 3, "charged")


def turn_kept_unread(turn):
    need_waiting()
    if not HAS_READ:
        raise Skip("the client never gives up reading")
    if IS_MULTIPLEXED:
        raise Skip("the client keeps the connection, where its first request goes on waiting")
    turn_is_kept(f"unread-{turn}", 3500, lambda: None)


def turn_kept_cut(turn):
    need_waiting()
    turn_is_kept(f"cut-{turn}", 2500, proxy.cut)


def waits():
    """As the page says a waiting call is sent: longer than the usual read time-out, sent once,
    and in nobody's way."""
    need_waiting()
    direct.ask("RL.TAKE lone GCRA 1/2500ms")
    direct.ask("RL.TAKE lone GCRA 1/2500ms")
    proxy.watch("lone")
    waiting = caller.wait("RL.ACQUIRE lone GCRA 1/2500ms TIMEOUT 9000 ID waiting")
    until_blocked(1)
    other = caller.call("ECHO hello")
    expect((other.reply(), waiting.numbers()[0]), ("hello", 1))
    expect((proxy.sent("lone"), other.end < waiting.end), (1, True), "sent, the other was first")


proxy = LossyProxy(PORT)
direct = Direct(PORT)
caller = Caller(sys.argv[1:], proxy.port)
say(f"version {caller.version}")
for name, body in (("answers", answers), ("resends", resends),
                   ("retry-without-id", retry_without_id), ("retry-with-id", retry_with_id),
                   ("late-retry-with-id", late_retry_with_id), ("multiplexed", multiplexed),
                   ("waits", waits), ("turn-kept-unread", again_and_again(turn_kept_unread)),
                   ("turn-kept-cut", again_and_again(turn_kept_cut))):
    check(name, body)
caller.close()
say("done")
