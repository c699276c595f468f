"""Scripts: ways out of the sandbox, bent input for its libraries, memory, and time."""

from attacks import attack
from script_bodies import BENT, CALLS, ESCAPES, LOOPS, REPLIES, UNCHARGED

SOUND = ("return {tostring(1), #('x'):rep(3), cjson.encode({1}), type(redis.call), #cmsgpack.pack(1),"
         " type(string.format)}")
SOUND_REPLY = [b"1", 3, b"[1]", b"function", 1, b"function"]


def run_bodies(arena, bodies, look=None):
    """Each in turn; the engine must be whole after each, and the server alive."""
    arena.start(script_time_limit_ms=arena.size(100, 2000),
                busy_reply_threshold=arena.size(50, 500))
    client = arena.connect()
    with arena.bystander():
        for body in bodies:
            reply = client.ask("EVAL", body, 0)
            if look is not None:
                look(body, reply)
            if client.ask("EVAL", SOUND, 0) != SOUND_REPLY:
                arena.fault(f"the engine is not whole after {body[:60]}")
            client.call("FLUSHALL")


@attack
def script_escapes(arena):
    """Everything that is not in the sandbox, bytecode, and changes of shared tables."""
    def look(body, reply):
        if isinstance(reply, bytes) and b"ESCAPED" in reply:
            arena.fault(f"a way out: {body[:80]}")
    run_bodies(arena, ESCAPES, look)


@attack
def script_bent_input(arena):
    """Bent and deep input for cjson, cmsgpack, struct, bit, and patterns."""
    run_bodies(arena, BENT)


@attack
def script_replies(arena):
    """Deep, endless and huge replies, and lines inside errors and statuses."""
    def look(body, reply):
        if reply == "injected":
            arena.fault(f"a reply inside a reply: {body[:80]}")
    run_bodies(arena, REPLIES, look)


@attack
def script_calls(arena):
    """Commands that are not for scripts, and too many arguments."""
    run_bodies(arena, CALLS)


@attack
def script_loops(arena):
    """Loops without an end: each of them ends with the script's time."""
    run_bodies(arena, LOOPS)


@attack
def script_long_strings(arena):
    """Work on long strings inside single instructions."""
    size = arena.size("1e5", "3e6")
    run_bodies(arena, [body.replace("SIZE", size) for body in UNCHARGED])
