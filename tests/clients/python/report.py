"""What every Python program of tests/clients shares: its orders, its report, its callers.

The lines it writes are described in harness/session.py.
"""

import os
import sys
import threading

HOST = "127.0.0.1"
PORT = int(os.environ["CLIENTS_PORT"])
PROTOCOL = int(os.environ["CLIENTS_PROTOCOL"])
IS_WEIR = os.environ["CLIENTS_SERVER"] == "weir"
IS_DURABLE = os.environ["CLIENTS_DURABLE"] == "1"
CALLERS = 16


class Skip(Exception):
    """This server or library cannot be asked, for the reason given."""


def say(line):
    print(line, flush=True)


def expect(got, wanted, what="got"):
    if got != wanted:
        raise AssertionError(f"{what} {got!r:.300}, wanted {wanted!r:.300}")


def expect_between(low, got, high, what="got"):
    if not low <= got <= high:
        raise AssertionError(f"{what} {got!r}, wanted {low} to {high}")


def expect_error(kind, text, call):
    """The library's own exception of this kind, with the server's words in it."""
    try:
        got = call()
    except kind as error:
        if text not in str(error):
            raise AssertionError(f"the error says {str(error)!r}, wanted {text!r}") from error
        return
    raise AssertionError(f"got {got!r:.300}, wanted an error with {text!r}")


def check(name, body):
    try:
        body()
    except Skip as skip:
        say(f"skip {name}: {skip}")
    except Exception as error:  # whatever a library throws is what the report is about
        why = " ".join(f"{type(error).__name__}: {error}".split())
        say(f"not ok {name}: {why[:600]}")
    else:
        say(f"ok {name}")


def need_weir():
    if not IS_WEIR:
        raise Skip("Redis has no CL.THROTTLE")


def need_durable():
    if not IS_DURABLE:
        raise Skip("the server keeps nothing over a restart")


def together(body, callers=CALLERS):
    """The results of body() from so many threads that start at once."""
    results, errors = [], []
    gate = threading.Barrier(callers)

    def one():
        try:
            gate.wait()
            results.append(body())
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=one) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def restart_server():
    """Has the server killed and started again; returns when it answers."""
    say("restart")
    if not sys.stdin.readline():
        sys.exit("the server did not come back")
