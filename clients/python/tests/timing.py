"""How long a call has taken of its own accord, on a machine that is busy with other things, too."""

import contextlib
import os
import time
from unittest import mock

from weir import steps

PATIENT_S = 120  # a deadline of what is not asked whether it is in time
SLACK_S = 0.5
TASKS = "/proc/self/task"


def kept_waiting_s():
    """Seconds for which threads of this process have been ready to run, and had no processor."""
    total = 0
    for task in os.listdir(TASKS):
        with contextlib.suppress(OSError), open(f"{TASKS}/{task}/schedstat", encoding="ascii") as stat:
            total += int(stat.read().split()[1])
    return total / 1e9


class Stopwatch:
    """`longest` of what was timed, less what the process was kept waiting meanwhile."""

    def __init__(self):
        self.longest = 0.0

    @contextlib.contextmanager
    def timing(self):
        kept, begin = kept_waiting_s(), time.perf_counter()
        yield
        taken = time.perf_counter() - begin
        self.longest = max(self.longest, taken - (kept_waiting_s() - kept))


def patient():
    """A context in which every Weir that is made has much time, whatever deadline it is given."""
    stack = contextlib.ExitStack()
    for module in ("weir.connection", "weir.aio.connection"):
        stack.enter_context(mock.patch(f"{module}.Options", lambda _, retries: steps.Options(PATIENT_S, retries)))
    return stack
