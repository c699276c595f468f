"""A sliding log in a sorted set, in our own words, beside RL.TAKE ... SLIDINGLOG."""

import lockstep
import report
from lockstep import REDIS, WEIR, ask, new_key

# One member for each permit; the score is its instant in microseconds.
LOG = """
local now = redis.call('TIME')
local us = now[1] * 1000000 + now[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', us - ARGV[2] * 1000)
local used = redis.call('ZCARD', KEYS[1])
if used + ARGV[3] > tonumber(ARGV[1]) then
  local at = used + ARGV[3] - ARGV[1] - 1
  local last = redis.call('ZRANGE', KEYS[1], at, at, 'WITHSCORES')
  return {0, math.ceil((last[2] + ARGV[2] * 1000 - us) / 1000)}
end
for permit = 1, ARGV[3] do
  redis.call('ZADD', KEYS[1], us, us .. '-' .. used + permit)
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {1, 0}
"""
MARGIN_MS = 60


def script(client, key, count, period_ms):
    return lambda cost: tuple(client.call("EVAL", LOG, 1, key, count, period_ms, cost))


def limiters(count, period_ms):
    key = new_key("log")

    def native(cost):
        allowed, _, _, retry, _, _ = ask("RL.TAKE {key} SLIDINGLOG {rate} COST {cost}",
                                         key=key + ":rl", rate=f"{count}/{period_ms}ms", cost=cost)
        return allowed, retry
    return {"script on Redis": script(REDIS, key, count, period_ms),
            "script on weir": script(WEIR, key, count, period_ms), "RL.TAKE": native}


def decisions(limiters_made):
    return {name: lambda cost, ask_one=ask_one: ask_one(cost)[0]
            for name, ask_one in limiters_made.items()}


def staggered():
    answers = lockstep.play(STAGGERED, lambda: limiters(5, 1000), MARGIN_MS)
    others, apart = list(answers)[1:], 0
    for index, first in enumerate(answers["script on Redis"]):
        for other in others:
            allowed, wait = answers[other][index]
            report.expect(allowed, first[0], f"request {index} of {other}")
            # A round in which two of them were asked further apart than this is played again.
            off = wait - first[1]
            report.expect_between(-MARGIN_MS, off, MARGIN_MS, f"wait {index} of {other}")
            apart = max(apart, abs(off))
    lockstep.figure(f"staggered: {lockstep.admitted(answers['RL.TAKE'])}, the same by all; waits "
                    f"at most {apart} ms apart")


BURST = [(0, 1)] * 40
STAGGERED = [(0, 2), (300, 2), (500, 2), (550, 1), (600, 1), (1150, 3), (1150, 2), (1470, 2),
             (1475, 1), (1700, 1), (1705, 1)]

report.say("version own script")
lockstep.check_same("burst of 40", BURST, lambda: decisions(limiters(20, 60000)), 5000)
report.check("staggered", staggered)
report.say("done")
