"""Makes a failing stream short: the fewest requests found in the time given that still fail."""

import time

from player import Mismatch
from streams import stream_of_steps


def shrink(player, stream, mismatch, budget_s):
    """The steps left and their mismatch; None for the steps if the stream does not fail when its
    requests are sent one by one."""
    deadline = time.monotonic() + budget_s
    player.timeout_s = 2

    def fails(steps):
        try:
            player.play(stream_of_steps(stream.profile, steps))
        except Mismatch as found:
            return found
        return None

    steps = stream.steps()[:mismatch.at + 1]
    last = fails(steps)
    if last is None:
        return None, mismatch
    steps = steps[:last.at + 1]
    size = max(len(steps) // 2, 1)
    while time.monotonic() < deadline:
        at, shorter = 0, False
        while at < len(steps) and time.monotonic() < deadline:
            found = fails(steps[:at] + steps[at + size:])
            if found is None:
                at += size
                continue
            steps = (steps[:at] + steps[at + size:])[:found.at + 1]
            last, shorter = found, True
        if size == 1 and not shorter:
            break
        size = size if shorter and size == 1 else max(size // 2, 1)
    return steps, last
