"""redis-cell itself, loaded into redis-server, beside CL.THROTTLE and RL.TAKE ... GCRA."""

import lockstep
import report
from lockstep import REDIS, WEIR, ask, new_key


def throttle(client, key, tail):
    """(admitted, limit, remaining, reply) of one CL.THROTTLE."""
    def one(cost):
        limited, limit, remaining, _, _ = client.call("CL.THROTTLE", key, *tail.split(), cost)
        return limited == 0, limit, remaining
    return one


def native(key, limits):
    def one(cost):
        allowed, limit, remaining, _, _, _ = ask("RL.TAKE {key} {limits} COST {cost}", key=key,
                                                 limits=limits, cost=cost)
        return allowed == 1, limit, remaining
    return one


def limiters(tail, limits):
    key = new_key("cell")
    return {"redis-cell": throttle(REDIS, key, tail), "CL.THROTTLE": throttle(WEIR, key, tail),
            "RL.TAKE": native(key + ":rl", limits)}


def seconds():
    """What must be equal to the second: the replies of an hourly limiter, retry and reset too."""
    key = new_key("cell")
    for _ in range(8):
        for quantity in (1, 3):
            replies = [client.call("CL.THROTTLE", key, 9, 1, 3600, quantity)
                       for client in (REDIS, WEIR)]
            # redis-cell cuts seconds down once time has passed, weir rounds them up.
            report.expect([word[:3] for word in replies][1], replies[0][:3])
            for mine, theirs in zip(replies[1][3:], replies[0][3:]):
                report.expect_between(0, mine - theirs, 1, "seconds more than redis-cell's")


BURST = [(0, 1)] * 40
# One permit per 200 ms, asked in the middle between two.
STEADY = [(0, 1)] * 7 + [(300, 1), (300, 1), (500, 1), (900, 3), (1100, 1), (1900, 5), (2200, 1),
                         (2200, 1)]

report.say("version redis-cell 0.2.2")
lockstep.check_same("burst of 40", BURST, lambda: limiters("15 1 3600", "GCRA 1/1h BURST 15"))
lockstep.check_same("paced", STEADY, lambda: limiters("4 5 1", "GCRA 5/1s BURST 4"))
report.check("seconds", seconds)
report.say("done")
