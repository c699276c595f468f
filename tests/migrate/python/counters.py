"""The counter scripts that many services carry, in our own words, beside RL.TAKE ... FIXED."""

import time

import lockstep
import report
from lockstep import REDIS, WEIR, ask, new_key

# The window starts with the first hit.
COUNTER = """
local hits = redis.call('INCRBY', KEYS[1], ARGV[3])
if hits == tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
if hits > tonumber(ARGV[1]) then
  return 0
end
return 1
"""
# The usual one without a script: two round trips, and a crash between them leaves no expiry.
PLAIN = "INCR, then EXPIRE"
# A key for each slot of time, and the wait for the next slot when this one is used up.
SLOT = """
local now = redis.call('TIME')
local ms = now[1] * 1000 + math.floor(now[2] / 1000)
local slot = math.floor(ms / ARGV[2])
local key = KEYS[1] .. ':' .. slot
local used = tonumber(redis.call('GET', key) or 0)
if used + ARGV[3] > tonumber(ARGV[1]) then
  return {0, (slot + 1) * ARGV[2] - ms}
end
redis.call('INCRBY', key, ARGV[3])
redis.call('PEXPIRE', key, ARGV[2] * 2)
return {1, 0}
"""
MARGIN_MS = 70


def counter(client, key, count, period_ms):
    return lambda cost: client.call("EVAL", COUNTER, 1, key, count, period_ms, cost) == 1


def plain(client, key, count, period_ms):
    def one(_):
        hits = client.call("INCR", key)
        if hits == 1:
            client.call("PEXPIRE", key, period_ms)
        return hits <= count
    return one


def native(key, limits):
    return lambda cost: ask("RL.TAKE {key} {limits} COST {cost}", key=key, limits=limits,
                            cost=cost)[0] == 1


def first_hit(count, period_ms):
    key = new_key("counter")
    return {"script on Redis": counter(REDIS, key, count, period_ms),
            "script on weir": counter(WEIR, key, count, period_ms),
            PLAIN: plain(REDIS, key + ":plain", count, period_ms),
            "RL.TAKE": native(key + ":rl", f"FIXED {count}/{period_ms}ms")}


def slot(client, key, count, period_ms):
    def one(cost):
        admitted, wait = client.call("EVAL", SLOT, 1, key, count, period_ms, cost)
        return admitted, wait
    return one


def slots(count, period_ms):
    key = new_key("slot")

    def take(cost):
        allowed, _, _, retry, _, _ = ask("RL.TAKE {key} {limits} COST {cost}", key=key + ":rl",
                                         limits=f"FIXED {count}/{period_ms}ms ALIGN EPOCH",
                                         cost=cost)
        return allowed, retry
    return {"script on Redis": slot(REDIS, key, count, period_ms),
            "script on weir": slot(WEIR, key, count, period_ms), "RL.TAKE": take}


def same_slots():
    stream = [(0, 1)] * 7 + [(500, 1), (1000, 5), (1000, 1), (1700, 1)]
    answers = lockstep.play(stream, lambda: slots(5, 1000), MARGIN_MS,
                            lambda: lockstep.at_fraction(0.1))
    names, apart = list(answers), 0
    for one in zip(*answers.values()):
        for answer, name in zip(one[1:], names[1:]):
            report.expect(answer[0], one[0][0], name)
            # A round in which two of them were asked further apart than this is played again.
            off = answer[1] - one[0][1]
            report.expect_between(-MARGIN_MS, off, MARGIN_MS, f"wait of {name}")
            apart = max(apart, abs(off))
    lockstep.figure("slots: " + lockstep.admitted(answers["RL.TAKE"]) + ", the same by all; waits "
                    f"at most {apart} ms apart")


def lost_expiry():
    """What a crash between INCR and EXPIRE leaves: the plain counter denies for ever."""
    key = new_key("lost")
    REDIS.call("SET", key, 5)
    limiter = native(key, "FIXED 5/200ms")
    for _ in range(5):
        report.expect(limiter(1), True)
    WEIR.call("PERSIST", key)
    report.expect(limiter(1), False)
    time.sleep(0.3)
    report.expect(plain(REDIS, key, 5, 200)(1), False, "the counter without an expiry")
    report.expect(limiter(1), True, "RL.TAKE after PERSIST")
    lockstep.figure("lost expiry: the counter denies for ever, RL.TAKE admits in the next window")


def denied_hits():
    """Costs that do not fit use a counter up all the same; ours only what was granted."""
    stream = [(0, 4), (0, 3), (0, 1)]
    answers = lockstep.play(stream, lambda: first_hit(5, 60000), 900)
    report.expect(answers["script on Redis"], [True, False, False])
    report.expect(answers["RL.TAKE"], [True, False, True])
    lockstep.figure("denied hits: 4 + 3 + 1 of 5 admits 4 by the script, 5 by RL.TAKE")


report.say("version own scripts")
lockstep.check_same("burst of 40", [(0, 1)] * 40, lambda: first_hit(10, 60000), 5000)
lockstep.check_same("windows from the first hit",
                    [(0, 1)] * 7 + [(800, 1), (1150, 1)] + [(1500, 1)] * 5 + [(2050, 1), (2300, 1)],
                    lambda: first_hit(5, 1000), 60)
report.check("slots", same_slots)
report.check("lost expiry", lost_expiry)
report.check("denied hits", denied_hits)
report.say("done")
