"""The blocks of the README, run as they stand; the port alone is another."""

import importlib.util
import re
import types
import unittest
from pathlib import Path

from weir import Limiter, Weir

from .test_web import MISSING
from .timing import patient
from .weirs import WeirServer

PAGE = Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@unittest.skipIf(MISSING, MISSING)
class Readme(unittest.TestCase):
    def setUp(self):
        self.enterContext(patient())
        self.server = WeirServer().__enter__()
        self.addCleanup(self.server.__exit__)

    def block(self, word):
        """What the block with this word has made; its limits are small, so that a 429 comes soon."""
        code, = (block for block in BLOCKS if word in block)
        code = code.replace("127.0.0.1:7000", f"127.0.0.1:{self.server.port}").replace('"100/1m"', '"FIXED 2/1h"')
        made = types.ModuleType("block")
        made.__dict__.update(Limiter=Limiter, Weir=Weir)
        exec(compile(code, str(PAGE), "exec"), made.__dict__)  # noqa: S102
        return made

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

    def statuses(self, get):
        self.assertEqual([get() for _ in range(3)], [200, 200, 429])

    def test_fastapi(self):
        from fastapi.testclient import TestClient
        app = self.block("FastAPI()").app
        app.get("/")(lambda: "hello")
        client = TestClient(app)  # an event loop for each request
        self.statuses(lambda: client.get("/").status_code)

    def test_flask(self):
        app = self.block("Flask(__name__)").app
        app.route("/")(lambda: "hello")
        self.statuses(lambda: app.test_client().get("/").status_code)

    def test_limits(self):
        self.assertTrue(self.block("storage_from_string").storage.check())

    def test_django(self):
        import django
        from django.conf import settings
        from django.http import HttpResponse
        from django.test import Client
        from django.urls import path
        made = self.block("MIDDLEWARE = ")
        if not settings.configured:
            settings.configure(ALLOWED_HOSTS=["*"])
            django.setup()
        urls = types.ModuleType("urls")
        urls.urlpatterns = [path("", lambda request: HttpResponse("hello"))]
        settings.MIDDLEWARE, settings.WEIR, settings.ROOT_URLCONF = made.MIDDLEWARE, made.WEIR, urls
        client = Client()
        self.statuses(lambda: client.get("/").status_code)


if __name__ == "__main__":
    unittest.main()
