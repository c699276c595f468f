"""No call exceeds its deadline, whatever it is that takes long: a name, an address, or a client that was given."""

import socket
import threading
import unittest
from unittest import mock

import redis
from redis.sentinel import Sentinel
from weir import Limiter, Weir
from weir.aside import Aside, outcome_of

from .timing import PATIENT_S, SLACK_S, Stopwatch
from .weirs import WeirServer, wait_until

DEADLINE_S = 0.1
LIMIT = "FIXED 1000/1h"
KINDS = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "")


class Deadline(unittest.TestCase):
    def setUp(self):
        self.watch = Stopwatch()
        # A name of its own: a look-up that an earlier test left hanging is shared by all who ask for that name.
        self.url = f"redis://{self._testMethodName.replace('_', '-')}.invalid:7000"
        self.over = threading.Event()
        self.addCleanup(self.over.set)

    def takes(self, weir, count=5):
        """The sources of some takes, each in time."""
        limiter, sources = Limiter(weir, LIMIT, away="open"), set()
        for _ in range(count):
            with self.watch.timing():
                sources.add(limiter.take("k").source)
        self.assertLess(self.watch.longest, weir.options.deadline + SLACK_S)
        return sources

    def test_a_name_that_is_looked_up_for_ever(self):
        asked = []

        def hang(host, *_):
            asked.append(host)
            self.over.wait()
            raise socket.gaierror("no such name")
        with mock.patch("socket.getaddrinfo", hang), Weir(self.url, deadline=DEADLINE_S) as weir:
            self.assertEqual(self.takes(weir), {"open"})
        self.assertEqual(len(asked), 1, "one look-up at a time, however many wait for it")

    def test_a_name_that_is_known(self):
        with WeirServer() as server, Weir(f"redis://localhost:{server.port}", deadline=PATIENT_S) as weir:
            self.assertEqual(Limiter(weir, LIMIT).take("k").source, "weir")
        with Weir(self.url, deadline=PATIENT_S) as weir:
            limiter = Limiter(weir, LIMIT, away="open")
            self.assertEqual((limiter.take("k").source, limiter.state().cause), ("open", "gone"))

    def test_addresses_share_the_time(self):
        parts = []

        def dial(_, sock, address, timeout):
            sock.close()
            parts.append(timeout)
            raise ConnectionRefusedError
        with mock.patch("socket.getaddrinfo", lambda *_: [(*KINDS, ("127.0.0.1", 1))] * 3), \
                mock.patch("weir.deadline._Dial._dial", dial), \
                Weir(self.url, deadline=30, retries=0) as weir:
            Limiter(weir, LIMIT).take("k")
        self.assertEqual(len(parts), 3)
        self.assertLess(parts[0], 10.1)

    def test_addresses_that_do_not_answer(self):
        with Silent() as silent, mock.patch("socket.getaddrinfo", lambda *_: [(*KINDS, silent)] * 3), \
                Weir(self.url, deadline=DEADLINE_S) as weir:
            self.assertEqual(self.takes(weir), {"open"})

    def test_a_client_without_time_outs(self):
        over = self.over

        class Hanging:
            def execute_command(self, *_):
                over.wait()
        self.assertEqual(self.takes(Weir(client=Hanging(), deadline=DEADLINE_S)), {"open"})

    def test_more_calls_than_connections_of_a_client_that_hangs(self):
        over = self.over

        class Hanging:
            def execute_command(self, *_):
                over.wait()
        weir = Weir(client=Hanging(), deadline=DEADLINE_S, connections=1)
        for _ in range(3):
            self.assertEqual(self.takes(weir, 3), {"open"})

    def test_sentinels_that_are_gone_and_tried_for_long(self):
        """As redis-py does by default: ten times, with pauses."""
        client = Sentinel([("127.0.0.1", 1), ("127.0.0.1", 2)]).master_for("main")
        self.assertEqual(self.takes(Weir(client=client, deadline=DEADLINE_S)), {"open"})

    def test_faults_of_a_given_client_are_raised(self):
        with WeirServer() as server, redis.Redis(port=server.port) as client:
            weir = Weir(client=client, deadline=PATIENT_S)
            with self.assertRaisesRegex(redis.ResponseError, "no policy"):
                Limiter(weir, "POLICY unknown").take("k")
            self.assertEqual(Limiter(weir, LIMIT).take("k").source, "weir")

    def test_no_time_out_of_redis_py_ends_a_wait(self):
        with WeirServer() as server, Weir(server.url, deadline=PATIENT_S) as weir:
            self.assertTrue(Limiter(weir, LIMIT).acquire("k", 0.2))
            connection, = weir.waits.connection_pool._available_connections
            self.assertEqual((connection.socket_timeout, connection._sock._timeout), (None, None))


class Silent:
    """An address of this machine where a connection is neither made nor refused."""

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self._fill = [socket.socket() for _ in range(4)]
        for sock in self._fill:
            sock.setblocking(False)
            sock.connect_ex(self._listener.getsockname())
        return self._listener.getsockname()

    def __exit__(self, *_):
        for sock in (*self._fill, self._listener):
            sock.close()


class Threads(unittest.TestCase):
    def test_one_that_is_idle_is_used_again(self):
        aside, names = Aside("aside-test"), set()
        for _ in range(20):
            aside.start(lambda: names.add(threading.get_ident())).result(PATIENT_S)
            wait_until(lambda: aside._idle, "it is idle")
        self.assertEqual(len(names), 1)

    def test_outcomes(self):
        aside, over = Aside("aside-test"), threading.Event()
        with self.assertRaises(KeyError):
            outcome_of(aside.start(lambda: {}["x"]), 10**9)
        with self.assertRaises(TimeoutError):
            outcome_of(aside.start(over.wait), 0)
        over.set()

    def test_they_end(self):
        aside = Aside("aside-ends")
        with mock.patch("weir.aside.IDLE_S", 0.01):
            aside.start(lambda: None).result(PATIENT_S)
            wait_until(lambda: all(thread.name != "aside-ends" for thread in threading.enumerate()), "it ends")
            self.assertEqual(aside.start(lambda: 7).result(PATIENT_S), 7)


if __name__ == "__main__":
    unittest.main()
