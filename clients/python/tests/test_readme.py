"""The blocks of the README, run as they stand; the port alone is another."""

import contextlib
import importlib.util
import re
import signal
import types
import unittest
from pathlib import Path

from weir import Limiter, Weir

from .test_web import IN_TIME_S, MISSING
from .timing import SLACK_S, Stopwatch, patient
from .weirs import WeirServer, wait_until

PAGE = Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def block(server, word, limits="FIXED 2/1h"):
    """What the block with this word has made; its limits are small, so that a 429 comes soon."""
    code, = (block for block in BLOCKS if word in block)
    code = code.replace("127.0.0.1:7000", f"127.0.0.1:{server.port}").replace('"100/1m"', f'"{limits}"')
    made = types.ModuleType("block")
    made.__dict__.update(Limiter=Limiter, Weir=Weir)
    exec(compile(code, str(PAGE), "exec"), made.__dict__)  # noqa: S102
    return made


def fastapi(app):
    """A function that gets a page of it, and answers the response."""
    from fastapi.testclient import TestClient
    app.get("/")(lambda: "hello")
    return TestClient(app)


def flask(app):
    app.route("/")(lambda: "hello")
    return app.test_client()


def django(made):
    import django
    from django.conf import settings
    from django.http import HttpResponse
    from django.test import Client
    from django.urls import path
    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"])
        django.setup()
    urls = types.ModuleType("urls")
    urls.urlpatterns = [path("", lambda request: HttpResponse("hello"))]
    settings.MIDDLEWARE, settings.WEIR, settings.ROOT_URLCONF = made.MIDDLEWARE, made.WEIR, urls
    return Client()


@unittest.skipIf(MISSING, MISSING)
class Readme(unittest.TestCase):
    def setUp(self):
        self.enterContext(patient())
        self.server = WeirServer().__enter__()
        self.addCleanup(self.server.__exit__)

    def block(self, word):
        return block(self.server, word)

    def test_limiter(self):
        verdict = self.block("verdict = limiter.take").verdict
        self.assertTrue(verdict)
        self.assertEqual(verdict.source, "weir")

    def test_weir(self):
        made = self.block("fallback=")
        made.weir.policies.set("users", "5/1s")
        self.assertTrue(made.users.take("user:42"))
        self.assertTrue(made.jobs.take("mail"))

    @unittest.skipIf(importlib.util.find_spec("opentelemetry") is None, "not installed: opentelemetry-api")
    def test_telemetry(self):
        self.assertEqual(self.block("Telemetry").observed.take("k").source, "weir")

    def statuses(self, client):
        self.assertEqual([client.get("/").status_code for _ in range(3)], [200, 200, 429])

    def test_fastapi(self):
        self.statuses(fastapi(self.block("FastAPI()").app))  # an event loop for each request

    def test_flask(self):
        self.statuses(flask(self.block("Flask(__name__)").app))

    def test_django(self):
        self.statuses(django(self.block("MIDDLEWARE = ")))

    def test_limits(self):
        self.assertTrue(self.block("storage_from_string").storage.check())


@unittest.skipIf(MISSING, MISSING)
class WhileAway(unittest.TestCase):
    """The lines of each framework, with the deadline that they have: weir hangs, or is killed."""

    FAULTS = {"hangs": lambda server: server.send_signal(signal.SIGSTOP), "is killed": lambda server: server.kill()}

    def each(self, word, client_of):
        """`client_of` makes a context of what the block has made."""
        for name, begin in self.FAULTS.items():
            with self.subTest(name), WeirServer() as server, \
                    client_of(block(server, word, "FIXED 1000/1h")) as client:
                self.in_time(client, lambda begin=begin, server=server: begin(server))

    def in_time(self, client, begin):
        def left():
            response = client.get("/")
            return int(re.search(r"r=(\d+)", response.headers["RateLimit"])[1])
        wait_until(lambda: left() > 250, "weir answers, of which a quarter is the share")
        begin()
        watch = Stopwatch()
        for _ in range(10):
            with watch.timing():
                status = client.get("/").status_code
            self.assertEqual(status, 200)
        self.assertLess(watch.longest, IN_TIME_S + SLACK_S)

    def test_fastapi(self):
        self.each("FastAPI()", lambda made: fastapi(made.app))  # an event loop for all requests

    def test_flask(self):
        self.each("Flask(__name__)", lambda made: contextlib.nullcontext(flask(made.app)))

    def test_django(self):
        self.each("MIDDLEWARE = ", lambda made: contextlib.nullcontext(django(made)))


if __name__ == "__main__":
    unittest.main()
