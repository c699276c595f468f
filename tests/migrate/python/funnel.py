"""A funnel kept in the process, as articles show it, beside RL.TAKE ... LEAKY."""

import time

import lockstep
import report
from lockstep import ask, new_key


class Funnel:
    """Leaks by whole units, and forgets the fraction of a unit each time that it leaks."""

    def __init__(self, capacity, per_second):
        self.capacity, self.per_second = capacity, per_second
        self.room, self.leaked_at = capacity, time.monotonic()

    def pour(self, quota):
        leaked = int((time.monotonic() - self.leaked_at) * self.per_second)
        if leaked >= 1:
            self.room = min(self.capacity, self.room + leaked)
            self.leaked_at = time.monotonic()
        if quota > self.room:
            return False
        self.room -= quota
        return True


def native(key, limits):
    return lambda cost: ask("RL.TAKE {key} {limits} COST {cost}", key=key, limits=limits,
                            cost=cost)[0] == 1


def limiters(capacity, per_second):
    limits = f"LEAKY {per_second}/1s CAPACITY {capacity}"
    return {"funnel": Funnel(capacity, per_second).pour, "RL.TAKE": native(new_key("funnel"),
                                                                          limits)}


def fraction():
    """Asked every 300 ms at one per 200 ms, the funnel loses a third of its rate."""
    stream = [(0, 5)] + [(300 * step + 40, 2 - step % 2) for step in range(1, 9)]
    answers = lockstep.play(stream, lambda: limiters(5, 5), 70)
    poured = {name: sum(cost for (_, cost), granted in zip(stream, each) if granted)
              for name, each in answers.items()}
    lockstep.figure(f"fraction: 5 a second, 2.4 s after filling it with 5, asked each 300 ms: "
                    f"funnel {poured['funnel']}, RL.TAKE {poured['RL.TAKE']} (17 have leaked)")
    report.expect(poured["RL.TAKE"], 17)
    report.expect_between(1, 17 - poured["funnel"], 8, "lost by the funnel")


report.say("version textbook, in this process")
lockstep.check_same("burst of 40", [(0, 1)] * 40, lambda: limiters(15, 1), 900)
lockstep.check_same("whole units", [(0, 1)] * 7 + [(1050, 3), (1050, 2), (1050, 1), (2100, 6),
                                                   (2100, 5)], lambda: limiters(5, 5), 100)
report.check("fraction", fraction)
report.say("done")
