"""Three members of a shard, found by redis-py's Sentinel: a takeover and a switchover raise nothing."""

import subprocess
import time
import unittest

from redis.sentinel import Sentinel
from weir import Limiter, Weir, client_options

from .timing import PATIENT_S
from .weirs import PROGRAM, WeirServer, wait_until

NAME = "main"
LIMIT = "FIXED 100000/1h"
DEADLINE_S = 2.0


class Shard(unittest.TestCase):
    def setUp(self):
        self.members = [WeirServer() for _ in range(3)]
        log = f"file:{self.members[0].directory}/shared-log"
        subprocess.run([PROGRAM, "--new-shard", log, NAME, "--dir", f"{self.members[0].directory}/data"], check=True,
                       capture_output=True)
        for member in self.members:
            member.command += ["--log", log, "--shard", NAME]
            self.addCleanup(member.__exit__)
            member.__enter__()
        wait_until(self.primary, "one serves")

    def primary(self):
        for member in self.members:
            if member.lives() and member.call("ROLE")[0] == b"master":
                return member
        return None

    def take_on(self, limiter, until):
        """Takes until the condition is met; how many weir has granted."""
        granted, end = 0, time.monotonic() + PATIENT_S
        while not until():
            self.assertLess(time.monotonic(), end, "weir is back")
            granted += limiter.take("k").source == "weir"
            time.sleep(0.01)
        return granted

    def test_takeover_and_switchover(self):
        options = client_options(DEADLINE_S)
        sentinels = Sentinel([("127.0.0.1", member.port) for member in self.members], sentinel_kwargs=options)
        client = sentinels.master_for(NAME, **options)
        changes = []
        with Weir(client=client, deadline=DEADLINE_S) as weir:
            limiter = Limiter(weir, LIMIT, processes=1, hooks=[changes.append])
            wait_until(lambda: limiter.take("warm").source == "weir", "weir answers")
            granted = 0
            for change in (lambda: self.primary().kill(), lambda: self.primary().call("SENTINEL", "FAILOVER", NAME)):
                before = self.primary()
                change()
                granted += self.take_on(limiter, lambda before=before: self.primary() not in (None, before))
                asked = limiter.state().asked
                granted += self.take_on(limiter, lambda asked=asked: limiter.state().asked > asked + 20)
            left = wait_until(lambda: (peeked := limiter.peek("k", 0)).source == "weir" and peeked, "weir answers")
            self.assertLessEqual(left.remaining, 100000 - granted)
            self.assertTrue(any(change.away for change in changes))


if __name__ == "__main__":
    unittest.main()
