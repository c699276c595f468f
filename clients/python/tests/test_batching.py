"""Calls that come at the same time go in one pipeline: each has its own reply, error and deadline."""

import asyncio
import contextlib
import socket
import threading
import time
import unittest

import redis
from weir import Limiter, Weir, aio

from .proxy import Listener
from .timing import PATIENT_S, SLACK_S, Stopwatch
from .weirs import WeirServer

DEADLINE_S = 0.1
LIMIT = "FIXED 1000/1h"


class Pipes(Listener):
    """A proxy that keeps what the client sends in one go, and waits a little before it passes it on."""

    def __init__(self, port):
        self._to = port
        self.sizes = []  # calls in each
        super().__init__()

    def serve(self, client):
        with socket.create_connection(("127.0.0.1", self._to)) as server:
            self._sockets.append(server)
            threading.Thread(target=self._replies, args=(server, client), daemon=True).start()
            while data := client.recv(1 << 20):
                if b"RL." in data:
                    self.sizes.append(data.count(b"RL."))
                    time.sleep(0.05)
                server.sendall(data)

    def _replies(self, server, client):
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)


class Batching(unittest.TestCase):
    def setUp(self):
        self.server = WeirServer().__enter__()
        self.addCleanup(self.server.__exit__)

    def together(self, *calls):
        """What each has answered or raised, of calls in threads."""
        found = [None] * len(calls)

        def one(number, call):
            try:
                answer = call()
                found[number] = "an error is answered" if isinstance(answer, Exception) else answer
            except Exception as error:
                found[number] = error
        threads = [threading.Thread(target=one, args=pair) for pair in enumerate(calls)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found

    def test_exact_and_in_few_pipelines(self):
        with Pipes(self.server.port) as pipes, Weir(pipes.url, deadline=PATIENT_S, batching=True) as weir:
            limiter = Limiter(weir, LIMIT)
            verdicts = self.together(*[lambda: limiter.take("k")] * 100)
            self.assertEqual(sorted(verdict.remaining for verdict in verdicts), list(range(900, 1000)))
            self.assertEqual(sum(pipes.sizes), 100)
            self.assertLess(len(pipes.sizes), 60)

    def test_exact_and_in_few_pipelines_in_asyncio(self):
        async def work(url):
            async with aio.Weir(url, deadline=PATIENT_S, batching=True) as weir:
                limiter = aio.Limiter(weir, LIMIT)
                return await asyncio.gather(*(limiter.take("k") for _ in range(150)))
        with Pipes(self.server.port) as pipes:
            verdicts = asyncio.run(work(pipes.url))
            self.assertEqual(sorted(verdict.remaining for verdict in verdicts), list(range(850, 1000)))
            self.assertEqual(sum(pipes.sizes), 150)
            self.assertLess(len(pipes.sizes), 10)

    def test_faults_are_raised_by_their_own_calls(self):
        self.server.call("SET", "text", "x")
        with Weir(self.server.url, deadline=PATIENT_S, batching=True) as weir:
            limiter = Limiter(weir, LIMIT)
            found = self.together(*[lambda: limiter.take("k"), lambda: limiter.take("text")] * 10)
            self.assertEqual([type(each) is redis.ResponseError for each in found], [False, True] * 10)

    def test_faults_of_policies(self):
        with Pipes(self.server.port) as pipes, Weir(pipes.url, deadline=PATIENT_S, batching=True) as weir:
            found = self.together(*[lambda: weir.policies.set("bad", "nonsense")] * 20)
            self.assertEqual({type(each) for each in found}, {redis.ResponseError})
            self.assertLess(len(pipes.sizes), 15)

    def test_faults_in_asyncio(self):
        async def work():
            async with aio.Weir(self.server.url, deadline=PATIENT_S, batching=True) as weir:
                limiter = aio.Limiter(weir, LIMIT)
                return await asyncio.gather(*(limiter.take(key) for key in ("k", "text") * 10), return_exceptions=True)
        self.server.call("SET", "text", "x")
        found = asyncio.run(work())
        self.assertEqual([isinstance(each, redis.ResponseError) for each in found], [False, True] * 10)

    def test_killed_and_back(self):
        with Weir(self.server.url, deadline=PATIENT_S, batching=True) as weir:
            limiter = Limiter(weir, LIMIT, processes=2)
            limiter.take("k")
            self.server.kill()
            found = self.together(*[lambda: limiter.take("k")] * 10)
            self.assertEqual({verdict.source for verdict in found}, {"local"})
            self.server.start()
            while limiter.state().away:
                limiter.peek("other")
            self.assertEqual(limiter.take("k").remaining, 1000 - 12)

    def test_nobody_waits_for_a_client_that_hangs(self):
        over = threading.Event()
        self.addCleanup(over.set)

        class Hanging:
            def execute_command(self, *_):
                over.wait()
        watch, limiter = Stopwatch(), Limiter(Weir(client=Hanging(), deadline=DEADLINE_S, batching=True), LIMIT,
                                              away="open")
        for _ in range(5):
            with watch.timing():
                self.assertEqual(limiter.take("k").source, "open")
        self.assertLess(watch.longest, DEADLINE_S + SLACK_S)

    def test_who_hangs_holds_up_only_what_it_sends(self):
        over, hangs = threading.Event(), [True]
        self.addCleanup(over.set)

        class Once(redis.Redis):
            def execute_command(self, *words):
                if hangs:
                    hangs.clear()
                    over.wait()
                return super().execute_command(*words)
        with Once(port=self.server.port) as client:
            self.assertEqual(Limiter(Weir(client=client, deadline=4, batching=True), LIMIT).take("k").source, "weir")


if __name__ == "__main__":
    unittest.main()
