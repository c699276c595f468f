"""The real server, once started by a clock three hours ahead and then by the right one. FIXED_CLOCK
names the library that a process is given another wall clock with (tests/differential)."""

import mmap
import os
import struct
import threading
import time

import harness

HOURS_3_S = 3 * 3600


class Ahead:
    """A wall clock so much ahead of the machine's, for a server that is given the environment."""

    def __init__(self, path, ahead_s):
        with open(path, "wb") as file:
            file.write(bytes(4096))
        with open(path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 4096)
        self.ahead_s = ahead_s
        self.stopping = threading.Event()
        self.move()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        self.environment = {**os.environ, "CLOCK_FILE": path,
                            "LD_PRELOAD": os.environ["FIXED_CLOCK"]}

    def move(self):
        self.page[:8] = struct.pack("<q", time.time_ns() + self.ahead_s * 10**9)

    def run(self):
        while not self.stopping.wait(0.001):
            self.move()

    def stop(self):
        self.stopping.set()
        self.thread.join()


def lead_ms(server):
    text = server.call("INFO", "weir").decode()
    return int(text.split("clock_lead_ms:")[1].split("\r")[0])


class AheadOnce(harness.ServerTest):
    def setUp(self):
        super().setUp()
        ahead = Ahead(self.path("clock"), HOURS_3_S)
        first = self.server()
        first.how["env"] = ahead.environment
        first.start()
        self.assertAlmostEqual(int(first.call("TIME")[0]), time.time() + HOURS_3_S, delta=60)
        first.call("SET", "before", "1", "EX", "5000")
        first.call("RL.TAKE", "used", "FIXED", "5", "ALIGN", "HOUR", "COST", "5")
        self.assertEqual(first.stop(), 0)
        ahead.stop()
        self.server_now = self.server(port=first.port).start()

    def assert_right(self, server):
        now_s = time.time()
        self.assertAlmostEqual(int(server.call("TIME")[0]), now_s, delta=60)
        server.call("SET", "x", "1", "EXAT", int(now_s) + 3600)
        self.assertEqual(server.call("GET", "x"), b"1")
        self.assertAlmostEqual(server.call("TTL", "x"), 3600, delta=60)
        self.assertEqual(server.call("EXPIRETIME", "x"), int(now_s) + 3600)
        self.assertAlmostEqual(server.call("TTL", "before"), 5000, delta=60)
        reset_ms = server.call("RL.TAKE", f"day{now_s}", "FIXED", "5", "ALIGN", "DAY")[4]
        left_s = 86400 - now_s % 86400
        if 60 < left_s < 86340:
            self.assertAlmostEqual(reset_ms / 1000, left_s, delta=60)

    def test_people_see_the_wall_clock_whatever_it_said_before(self):
        server = self.server_now
        self.assert_right(server)
        self.assertIn("ahead of the wall clock", server.log())
        lead = lead_ms(server)
        self.assertAlmostEqual(lead / 1000, HOURS_3_S, delta=60)
        self.assertEqual(server.call("RL.TAKE", "used", "FIXED", "5", "ALIGN", "HOUR")[0], 0)
        self.assertEqual(server.call("WEIR", "CLOCK", "RESET")[1], lead)
        self.assertEqual(server.call("RL.TAKE", "used", "FIXED", "5", "ALIGN", "HOUR")[0], 1)
        self.assert_right(server)
        self.assertEqual(server.stop(), 0)
        server.start()
        self.assertEqual(lead_ms(server), 0)
        self.assertNotIn("ahead of the wall clock", server.log())
        self.assert_right(server)


if __name__ == "__main__":
    harness.main()
