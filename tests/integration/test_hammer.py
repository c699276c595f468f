"""Many clients on one limiter, over real sockets: what is granted is the bound of the law, exactly.

Limits that do not refill while the test runs are counted to the permit; those that do are held
between what the clients' own clocks allow. Whoever waits is served in the order of arrival.
"""

import collections
import selectors
import threading
import time

import harness

CLIENTS = 64
ROUNDS = 5  # of each client
PIPELINE = 4
CAPACITY = 500  # below CLIENTS * ROUNDS * PIPELINE
TRIES = CLIENTS * ROUNDS * PIPELINE

# Nothing comes back within a test, nor is there a boundary of a window on the way.
STILL = {
    "GCRA": f"GCRA 1/1d BURST {CAPACITY - 1}",
    "TOKENBUCKET": f"TOKENBUCKET 1/1d CAPACITY {CAPACITY}",
    "TOKENBUCKET low": f"TOKENBUCKET 1/1d CAPACITY 1000 INITIAL {CAPACITY}",
    "TOKENBUCKET interval": f"TOKENBUCKET {CAPACITY}/1d REFILL INTERVAL",
    "LEAKY": f"LEAKY 1/1d CAPACITY {CAPACITY}",
    "FIXED": f"FIXED {CAPACITY}/1d",
    "FIXED epoch": f"FIXED {CAPACITY}/3650d ALIGN EPOCH",
    "SLIDINGLOG": f"SLIDINGLOG {CAPACITY}/1d",
    "SLIDINGWINDOW": f"SLIDINGWINDOW {CAPACITY}/3650d",
    "SLIDINGCOUNTER": f"SLIDINGCOUNTER {CAPACITY}/3650d",
    "CONCURRENCY": f"CONCURRENCY {CAPACITY} LEASE 1d",
}
# A request pays for the one before it, so one passes whatever is offered.
ONE_AHEAD = {"BURSTY": "BURSTY 1/1d MAXBURST 10d", "WARMUP": "WARMUP 1/1d OVER 10d"}


class Limiters(harness.ServerTest):
    def setUp(self):
        super().setUp()
        self.running = self.memory_server()
        self.clients = [self.running.connect() for _ in range(CLIENTS)]

    def tearDown(self):
        for client in self.clients:
            client.close()
        super().tearDown()

    def hammer(self, work):
        """work(client, number) in a thread for each client, all let go at once; what they answer."""
        answers, failures = [None] * CLIENTS, []
        gate = threading.Barrier(CLIENTS)

        def run(number):
            try:
                gate.wait()
                answers[number] = work(self.clients[number], number)
            except BaseException as failure:  # pylint: disable=broad-except
                failures.append(failure)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(harness.PATIENCE_S)
            self.assertFalse(thread.is_alive(), "a client hangs")
        if failures:
            raise failures[0]
        return answers

    def take(self, client, *words):
        """Pipelined; the replies of all rounds."""
        request = harness.encode(*words) * PIPELINE
        replies = []
        for _ in range(ROUNDS):
            client.send(request)
            replies += [client.read() for _ in range(PIPELINE)]
        return replies

    def hammer_take(self, key, limits, *options):
        """All replies to TRIES takes."""
        words = ["RL.TAKE", key, *limits.split(), *options]
        return sum(self.hammer(lambda client, _: self.take(client, *words)), [])

    def remaining(self, key, limits):
        with self.running.connect() as client:
            return client.call("RL.PEEK", key, *limits.split(), "COST", 0)[2]


class Takes(Limiters):
    def test_every_algorithm_grants_its_capacity(self):
        for name, limits in STILL.items():
            with self.subTest(name):
                replies = self.hammer_take(name, limits)
                granted = [reply for reply in replies if reply[0] == 1]
                self.assertEqual((len(granted), len(replies)), (CAPACITY, TRIES))
                # Each grant saw another level: nobody was let in twice on the same permit.
                self.assertEqual(sorted(reply[2] for reply in granted), list(range(CAPACITY)))
                self.assertEqual(self.remaining(name, limits), 0)
        for name, limits in ONE_AHEAD.items():
            with self.subTest(name):
                self.assertEqual(sum(reply[0] for reply in self.hammer_take(name, limits)), 1)

    def test_costs_are_whole_or_not_at_all(self):
        for name, limits in STILL.items():
            with self.subTest(name):
                words = ["RL.TAKE", "c" + name, *limits.split(), "COST"]
                replies = self.hammer(lambda client, number: (
                    number % 7 + 1, self.take(client, *words, number % 7 + 1)))
                taken = sum(cost * sum(reply[0] for reply in part) for cost, part in replies)
                self.assertEqual(taken + self.remaining("c" + name, limits), CAPACITY)
                # Cost 1 was offered to the end, so nothing is left.
                self.assertEqual(taken, CAPACITY)

    def test_upto_takes_everything(self):
        for name, limits in STILL.items():
            with self.subTest(name):
                replies = self.hammer_take("u" + name, limits, "COST", 7, "UPTO")
                self.assertEqual(sum(reply[6] for reply in replies), CAPACITY)
                self.assertTrue(all((reply[6] > 0) == (reply[0] == 1) for reply in replies))

    def test_several_limits_are_charged_alike(self):
        limits = {"GCRA 1/1d BURST 699": 700, f"FIXED {CAPACITY}/3650d ALIGN EPOCH": CAPACITY,
                  "SLIDINGLOG 600/1d": 600, "CONCURRENCY 800 LEASE 1d": 800}
        replies = self.hammer_take("several", " ".join(limits))
        self.assertEqual(sum(reply[0] for reply in replies), CAPACITY)
        self.assertEqual({reply[5] for reply in replies}, {1})
        for limit, capacity in limits.items():
            self.assertEqual(self.remaining("several", limit), capacity - CAPACITY, limit)

    def test_mtake_charges_all_keys_or_none(self):
        limit = f"SLIDINGLOG {CAPACITY}/1d"
        pairs = [("m1", "m2"), ("m2", "m3"), ("m3", "m1")]

        def work(client, number):
            taken = collections.Counter()
            for i in range(ROUNDS * PIPELINE):
                pair = pairs[(number + i) % len(pairs)]
                reply = client.call("RL.MTAKE", 2, *pair, *limit.split(), *limit.split())
                taken.update(pair if reply[0] == 1 else ())
            return taken

        taken = sum(self.hammer(work), collections.Counter())
        left = {key: self.remaining(key, limit) for key in ("m1", "m2", "m3")}
        self.assertEqual(left, {key: CAPACITY - taken[key] for key in left})
        self.assertLessEqual(sum(count > 0 for count in left.values()), 1, left)

    def test_an_id_is_charged_once(self):
        replies = self.hammer_take("id", STILL["GCRA"], "ID", "token")
        self.assertEqual({tuple(reply) for reply in replies},
                         {(1, CAPACITY, CAPACITY - 1, 0, 86_400_000, 0)})
        self.assertEqual(self.remaining("id", STILL["GCRA"]), CAPACITY - 1)


class Refills(Limiters):
    """Granted and left: the capacity, and what came in between the first take and the last look.

    All is taken first, so that nothing that comes in is lost for want of room.
    """

    RATE, FULL, SECONDS = 1000, 1500, 1.0

    def between(self, limits, come_in):
        words = ["RL.TAKE", limits, *limits.split()]
        with self.running.connect() as client:
            begun_before = time.time()
            self.assertEqual(client.call(*words, "COST", self.FULL)[0], 1)
            begun_after = time.time()
            end = begun_after + self.SECONDS

            def work(client, _):
                granted = 0
                while time.time() < end:
                    granted += sum(reply[0] for reply in self.take(client, *words))
                return granted

            granted = self.FULL + sum(self.hammer(work))
            ended_before = time.time()
            left = client.call("RL.PEEK", limits, *limits.split(), "COST", 0)[2]
            ended_after = time.time()
        self.assertLess(left, self.FULL, "the machine was too slow to keep it busy")
        self.assertGreaterEqual(granted + left, self.FULL + come_in(ended_before - begun_after))
        self.assertLessEqual(granted + left, self.FULL + come_in(ended_after - begun_before + 0.001))

    def test_greedy_buckets(self):
        for limits in (f"GCRA {self.RATE}/1s BURST {self.FULL - 1}",
                       f"TOKENBUCKET {self.RATE}/1s CAPACITY {self.FULL}",
                       f"LEAKY {self.RATE}/1s CAPACITY {self.FULL}"):
            with self.subTest(limits):
                self.between(limits, lambda elapsed_s: int(elapsed_s * self.RATE))

    def test_interval_refill(self):
        self.between(f"TOKENBUCKET 100/100ms CAPACITY {self.FULL} REFILL INTERVAL",
                     lambda elapsed_s: 100 * int(elapsed_s * 10))

    def test_windows_never_grant_more(self):
        for limits in ("FIXED 50/100ms", "FIXED 50/100ms ALIGN EPOCH", "SLIDINGLOG 50/100ms",
                       "SLIDINGWINDOW 50/100ms BUCKETS 5"):
            with self.subTest(limits):
                words = ["RL.TAKE", limits, *limits.split()]
                begun = time.time()
                granted = 0
                while time.time() < begun + 0.5:
                    granted += sum(sum(reply[0] for reply in part) for part in
                                   self.hammer(lambda client, _: self.take(client, *words)))
                periods = int((time.time() - begun + 0.001) / 0.1) + 1
                at_boundaries = 1 if "EPOCH" in limits else 0
                self.assertLessEqual(granted, 50 * (periods + at_boundaries))
                self.assertGreaterEqual(granted, 50)


class Waits(Limiters):
    def join_one_by_one(self, key, *words):
        """All clients stand in the queue of the key, in their order."""
        with self.running.connect() as watcher:
            for number, client in enumerate(self.clients):
                client.send(harness.encode("RL.ACQUIRE", key, *words))
                harness.wait_until(lambda: self.waiting(watcher, key) == number + 1,
                                   f"client {number} waits")

    @staticmethod
    def waiting(watcher, key):
        info = watcher.call("RL.INFO", key)
        return info[info.index(b"waiting") + 1]

    def test_each_is_granted_once_in_order_and_not_early(self):
        interval_s, hold_s = 0.01, 2.0
        words = ("GCRA", "100/1s", "BURST", "0")
        with self.running.connect() as client:
            begun = time.time()
            client.call("RL.TAKE", "g", "GCRA", "100/1s", "BURST", "0", "COST", int(hold_s * 100),
                        "FORCE")
        self.join_one_by_one("g", *words, "TIMEOUT", 0)
        selector = selectors.DefaultSelector()
        for number, client in enumerate(self.clients):
            selector.register(client.socket, selectors.EVENT_READ, number)
        served = 0
        while served < CLIENTS:
            ready = sorted(key.data for key, _ in selector.select(harness.PATIENCE_S))
            now = time.time()
            self.assertEqual(ready, list(range(served, served + len(ready))))
            for number in ready:
                self.assertEqual(self.clients[number].read()[:3], [1, 1, 0])
                selector.unregister(self.clients[number].socket)
            served += len(ready)
            self.assertGreaterEqual(now, begun + hold_s + (served - 1) * interval_s - 0.001)
        self.assertLess(time.time(), begun + hold_s + CLIENTS * interval_s + 10)
        selector.close()

    def test_leases_are_handed_on_in_order(self):
        words = ("CONCURRENCY", 1, "LEASE", "1h")
        with self.running.connect() as first:
            holder = first.call("RL.TAKE", "c", *words)[6]
            self.join_one_by_one("c", *words, "TIMEOUT", 0)
            ids = [holder]
            for client in self.clients:
                self.assertEqual(first.call("RL.RELEASE", "c", ids[-1]), 1)
                reply = client.read()
                self.assertEqual(reply[:3], [1, 1, 0])
                ids.append(reply[6])
            self.assertEqual(len(set(ids)), CLIENTS + 1)

    def test_never_more_holders_than_leases(self):
        leases, rounds = 4, 5
        lock, holders = threading.Lock(), [0, 0]  # now, and the most

        def work(client, _):
            for _ in range(rounds):
                reply = client.call("RL.ACQUIRE", "h", "CONCURRENCY", leases, "LEASE", "1h",
                                    "TIMEOUT", 0)
                self.assertEqual(reply[0], 1)
                with lock:
                    holders[0] += 1
                    holders[1] = max(holders)
                time.sleep(0.001)
                with lock:
                    holders[0] -= 1
                self.assertEqual(client.call("RL.RELEASE", "h", reply[6]), 1)
            return rounds

        self.assertEqual(sum(self.hammer(work)), CLIENTS * rounds)
        self.assertLessEqual(holders[1], leases)
        self.assertEqual(self.remaining("h", f"CONCURRENCY {leases} LEASE 1h"), leases)

    def test_the_funnel_lets_them_out_one_by_one(self):
        begun = time.time()
        for client in self.clients:
            client.send(harness.encode("RL.ACQUIRE", "l", "LEAKY", "20/1s", "CAPACITY", 100,
                                       "TIMEOUT", 0))
            with self.running.connect() as watcher:
                harness.wait_until(lambda: watcher.call("EXISTS", "l") == 1, "it is in the funnel")
        for number, client in enumerate(self.clients):
            self.assertEqual(client.read()[0], 1)
            self.assertGreaterEqual(time.time(), begun + (number + 1) * 0.05 - 0.001)

    def test_nothing_is_taken_for_those_who_leave(self):
        words = ("FIXED", "64/3650d")
        with self.running.connect() as client:
            client.call("RL.TAKE", "x", *words, "COST", 64)
            self.join_one_by_one("x", *words, "TIMEOUT", 0)
            for number in range(0, CLIENTS, 2):
                self.clients[number].close()
            harness.wait_until(lambda: self.waiting(client, "x") == CLIENTS // 2, "half have left")
            self.assertEqual(client.call("RL.RESET", "x"), 1)
            for number in range(1, CLIENTS, 2):
                self.assertEqual(self.clients[number].read()[0], 1)
            self.assertEqual(self.remaining("x", "FIXED 64/3650d"), CLIENTS // 2)


if __name__ == "__main__":
    harness.main()
