"""Waits for a condition, with an end: sanitizers and a busy machine are slow, so nothing sleeps for a fixed time."""

import time

PATIENCE_S = 60  # far beyond what anything here takes, also under sanitizers


def wait_until(condition, what, patience_s=PATIENCE_S, pause_s=0.01):
    """What the condition says when it is met; an AssertionError that names `what` when time is over."""
    end = time.monotonic() + patience_s
    while not (met := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited {patience_s} s in vain: {what}")
        time.sleep(pause_s)
    return met
