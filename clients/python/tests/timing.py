"""How long a call has taken of its own accord, on a machine that is busy with other things, too."""

import contextlib
import os
import time
from unittest import mock

from weir import steps

PATIENT_S = 120  # a deadline of what is not asked whether it is in time
SLACK_S = 0.5
TASKS = "/proc/self/task"


def kept_waiting():
    """Seconds for which each thread of this process has been ready to run, and had no processor."""
    found = {}
    for task in os.listdir(TASKS):
        with contextlib.suppress(OSError), open(f"{TASKS}/{task}/schedstat", encoding="ascii") as stat:
            found[task] = int(stat.read().split()[1]) / 1e9
    return found


def kept_waiting_since(before):
    """A thread that has ended since, as one that an earlier test left, says nothing: what it waited was before."""
    return sum(max(0.0, waited - before.get(task, 0.0)) for task, waited in kept_waiting().items())


class Stopwatch:
    """`longest` of what was timed, less what the process was kept waiting meanwhile."""

    def __init__(self):
        self.longest = 0.0

    @contextlib.contextmanager
    def timing(self):
        before, begin = kept_waiting(), time.perf_counter()
        yield
        taken = time.perf_counter() - begin
        self.longest = max(self.longest, taken - kept_waiting_since(before))


def patient():
    """A context in which every Weir that is made has much time, whatever deadline it is given."""
    stack = contextlib.ExitStack()
    for module in ("weir.connection", "weir.aio.connection"):
        stack.enter_context(mock.patch(f"{module}.Options", lambda _, retries: steps.Options(PATIENT_S, retries)))
    return stack
