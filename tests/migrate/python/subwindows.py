"""A sliding window of sub-windows in a hash, in our own words, beside RL.TAKE ... SLIDINGWINDOW."""

import lockstep
import report
from lockstep import REDIS, WEIR, ask, new_key

# The counters of the last ARGV[3] sub-windows, the running one included, must stay within ARGV[1],
# each of them within ARGV[4].
ROOMS = """
local now = redis.call('TIME')
local width = ARGV[2] / ARGV[3]
local room = math.floor((now[1] * 1000 + now[2] / 1000) / width)
local used = 0
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  if tonumber(fields[i]) <= room - ARGV[3] then
    redis.call('HDEL', KEYS[1], fields[i])
  else
    used = used + fields[i + 1]
  end
end
local here = tonumber(redis.call('HGET', KEYS[1], room) or 0)
if used + ARGV[5] > tonumber(ARGV[1]) or here + ARGV[5] > tonumber(ARGV[4]) then
  return 0
end
redis.call('HINCRBY', KEYS[1], room, ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
"""


def rooms(client, key, count, buckets, cap):
    return lambda cost: client.call("EVAL", ROOMS, 1, key, count, 1000, buckets, cap, cost) == 1


def limiters(count, buckets, cap):
    key = new_key("rooms")
    line = "RL.TAKE {key} SLIDINGWINDOW {count}/1s BUCKETS {buckets} PERBUCKET {cap} COST {cost}"
    return {"script on Redis": rooms(REDIS, key, count, buckets, cap),
            "script on weir": rooms(WEIR, key, count, buckets, cap),
            "RL.TAKE": lambda cost: ask(line, key=key + ":rl", count=count, buckets=buckets,
                                        cap=cap, cost=cost)[0] == 1}


def boundary():
    """Taken at the end of a sub-window and again as soon as the script lets go of it."""
    # Five sub-windows of 200 ms, from the middle of a second's first: 190 is its end.
    stream = [(90, 10)] + [(at, 10) for at in (950, 1150)]
    answers = lockstep.play(stream, lambda: limiters(10, 5, 10), 50,
                            lambda: lockstep.at_fraction(0.06))
    report.expect(answers["script on Redis"], [True, True, False])
    report.expect(answers["script on weir"], [True, True, False])
    report.expect(answers["RL.TAKE"], [True, False, True])
    lockstep.figure("boundary: 10 at 150 ms of a second and 10 more 860 ms later: the script "
                    "admits 20 within a second, RL.TAKE waits for one sub-window more")


report.say("version own script")
lockstep.check_same("burst of 40", [(0, 1)] * 40, lambda: limiters(20, 5, 12), 100,
                    lambda: lockstep.at_fraction(0.03))
# Sub-windows begin each 200 ms; asked in their middles. The first leaves ours at 1200, at latest.
lockstep.check_same("cap per sub-window", [(0, 1)] * 5 + [(200, 4), (200, 3), (400, 3), (600, 1),
                                                         (800, 1), (1200, 3), (1200, 1)],
                    lambda: limiters(9, 5, 3), 70, lambda: lockstep.at_fraction(0.1))
report.check("boundary", boundary)
report.say("done")
