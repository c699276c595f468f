"""Two windows on one request, in our own words, beside one RL.TAKE with two limits."""

import lockstep
import report
from lockstep import REDIS, ask, new_key

WINDOWS = ((12, 2000), (5, 500))
LIMITS = "FIXED 12/2s FIXED 5/500ms"


def one_after_the_other(key):
    """A counter for each level, asked in turn: what one granted is gone if the next denies."""
    def one(cost):
        for count, period_ms in WINDOWS:
            name = f"{key}:{period_ms}"
            hits = REDIS.call("INCRBY", name, cost)
            if hits == cost:
                REDIS.call("PEXPIRE", name, period_ms)
            if hits > count:
                return False
        return True
    return one


SCRIPT = """
for i = 1, #KEYS do
  if tonumber(redis.call('GET', KEYS[i]) or 0) + ARGV[1] > tonumber(ARGV[2 * i]) then
    return 0
  end
end
for i = 1, #KEYS do
  if redis.call('INCRBY', KEYS[i], ARGV[1]) == tonumber(ARGV[1]) then
    redis.call('PEXPIRE', KEYS[i], ARGV[2 * i + 1])
  end
end
return 1
"""


def script(client, key):
    keys = [f"{key}:{period_ms}" for _, period_ms in WINDOWS]
    numbers = [number for window in WINDOWS for number in window]
    return lambda cost: client.call("EVAL", SCRIPT, len(keys), *keys, cost, *numbers) == 1


def limiters():
    key = new_key("levels")
    return {"script on Redis": script(REDIS, key), "script on weir": script(lockstep.WEIR, key),
            "RL.TAKE": lambda cost: ask("RL.TAKE {key} {limits} COST {cost}", key=key + ":rl",
                                        limits=LIMITS, cost=cost)[0] == 1}


def half_charged():
    """Four bursts of eight: each spends the upper level on requests that the lower one denies."""
    stream = [(600 * burst, 1) for burst in range(3) for _ in range(8)]

    def both():
        key = new_key("half")
        return {"one after the other": one_after_the_other(key),
                "RL.TAKE": lambda cost: ask("RL.TAKE {key} {limits}", key=key,
                                            limits=LIMITS)[0] == 1}
    answers = lockstep.play(stream, both, 70)
    counts = {name: sum(each) for name, each in answers.items()}
    report.expect(counts, {"one after the other": 9, "RL.TAKE": 12})
    lockstep.figure(f"half charged: three bursts of 8 at 12 in 2 s and 5 in 500 ms: counters admit "
                    f"{counts['one after the other']}, RL.TAKE {counts['RL.TAKE']}")


report.say("version own scripts")
lockstep.check_same("two levels", [(0, 1)] * 7 + [(600, 1)] * 7 + [(1200, 1)] * 4 + [(2150, 1)] * 6,
                    limiters, 70)
report.check("half charged", half_charged)
report.say("done")
