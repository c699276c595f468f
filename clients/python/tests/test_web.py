"""The middleware as the examples of the README have it: right fields and a right 429, and answers in time while
weir is killed and while it hangs."""

import json
import signal
import unittest

from weir.web.keys import Caller, by_address, by_header, by_user, per_route

from .timing import SLACK_S, Stopwatch, patient
from .weirs import WeirServer, wait_until

IN_TIME_S = 0.15

try:
    import django
    import fastapi
    import flask
    from fastapi.testclient import TestClient
except ImportError as error:
    MISSING = f"a framework is not installed: {error.name}"
else:
    MISSING = ""


def caller(peer="192.0.2.1", user=None, path="/", **headers):
    found = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    return Caller(peer, lambda name: found.get(name.lower()), "GET", path, user, None)


class Keys(unittest.TestCase):
    def test_address(self):
        rows = [
            # trusted, peer, X-Forwarded-For, key
            ((), "192.0.2.1", "198.51.100.9", "192.0.2.1"),
            (("10.0.0.0/8",), "10.1.1.1", "198.51.100.9", "198.51.100.9"),
            (("10.0.0.0/8",), "10.1.1.1", "203.0.113.5, 198.51.100.9, 10.2.2.2", "198.51.100.9"),
            (("10.0.0.0/8",), "10.1.1.1", "10.3.3.3, 10.2.2.2", "10.3.3.3"),
            (("10.0.0.0/8",), "10.1.1.1", None, "10.1.1.1"),
            (("10.0.0.0/8",), "10.1.1.1", "198.51.100.9, nonsense", "10.1.1.1"),
            (("10.0.0.0/8",), "10.1.1.1", "198.51.100.9:4711", "198.51.100.9"),
            (("10.0.0.0/8",), "::ffff:10.1.1.1", "[2001:db8:1:2:3::4]:80", "2001:db8:1:2::/64"),
            ((), "2001:db8:1:2:ffff::1", None, "2001:db8:1:2::/64"),
            ((), "::ffff:192.0.2.1", None, "192.0.2.1"),
            ((), None, None, "unknown"),
        ]
        for trusted, peer, forwarded, key in rows:
            with self.subTest(peer=peer, forwarded=forwarded):
                headers = {"X_Forwarded_For": forwarded} if forwarded else {}
                self.assertEqual(by_address(trusted)(caller(peer, **headers)), f"address:{key}")

    def test_header_user_route(self):
        self.assertEqual(by_header("X-Api-Key")(caller(X_Api_Key="k")), "header:k")
        self.assertEqual(by_header("X-Api-Key")(caller()), "address:192.0.2.1")
        self.assertEqual(by_user()(caller(user="7")), "user:7")
        self.assertEqual(by_user(by_header("X-Api-Key"))(caller(X_Api_Key="k")), "header:k")
        self.assertEqual(per_route(by_user())(caller(user="7", path="/a")), "user:7:GET:/a")


@unittest.skipIf(MISSING, MISSING)
class Frameworks(unittest.TestCase):
    """`make(url, **options)` of each answers get(path, headers) -> (status, fields, body)."""

    def setUp(self):
        self.server = WeirServer().__enter__()
        self.addCleanup(self.server.__exit__)
        self.made = [fastapi_get, flask_get, django_get]

    def each(self, limits, **options):
        for make in self.made:
            with self.subTest(make.__name__):
                self.server.call("FLUSHALL")
                yield make(self.server.url, limits, **options)

    def test_fields_and_429(self):
        self.enterContext(patient())
        for get in self.each("FIXED 2/1h AS hourly", legacy=True):
            status, fields, _ = get("/")
            self.assertEqual((status, fields["ratelimit"], fields["ratelimit-policy"], fields["x-ratelimit-remaining"]),
                             (200, '"hourly";r=1;t=3600', '"hourly";q=2;w=3600', "1"))
            get("/")
            status, fields, body = get("/")
            self.assertEqual((status, fields["content-type"]), (429, "application/problem+json"))
            self.assertAlmostEqual(int(fields["retry-after"]), 3600, delta=60)
            problem = json.loads(body)
            self.assertEqual((problem["status"], problem["violated-policies"]), (429, ["hourly"]))

    def test_skip_cost_and_key(self):
        self.enterContext(patient())
        for get in self.each("FIXED 10/1h", skip=lambda caller: caller.path == "/health",
                             cost=lambda caller: int(caller.header("X-Cost") or 1), key=by_header("X-Api-Key")):
            self.assertNotIn("ratelimit", get("/health")[1])
            self.assertEqual(get("/", {"X-Api-Key": "a", "X-Cost": "7"})[1]["ratelimit"].split(";")[1], "r=3")
            self.assertEqual(get("/", {"X-Api-Key": "b"})[1]["ratelimit"].split(";")[1], "r=9")
            status, _, body = get("/", {"X-Api-Key": "a", "X-Cost": "7"})
            self.assertEqual((status, json.loads(body)["violated-policies"]), (429, ["default"]))

    def test_killed_and_hanging(self):
        gets = {make.__name__: make(self.server.url, "FIXED 1000/1h", processes=2) for make in self.made}
        for get in gets.values():
            wait_until(lambda get=get: get("/")[0] == 200, "weir answers")
        watch = Stopwatch()
        for begin, end in ((lambda: self.server.send_signal(signal.SIGSTOP), lambda: self.server.send_signal(
                signal.SIGCONT)), (self.server.kill, lambda: None)):
            begin()
            for name, get in gets.items():
                with self.subTest(name):
                    for _ in range(10):
                        with watch.timing():
                            status, fields, _ = get("/")
                        self.assertLess(watch.longest, IN_TIME_S + SLACK_S)
                        self.assertEqual((status, fields["ratelimit-policy"]), (200, '"default";q=1000;w=3600'))
            end()
        closed = [make(self.server.url, "FIXED 1000/1h", away="closed") for make in self.made]
        for get in closed:
            status, fields, _ = get("/")
            self.assertEqual((status, fields["retry-after"]), (429, "1"))


def fastapi_get(url, limits, **options):
    from weir.web.asgi import RateLimit
    app = fastapi.FastAPI()
    app.add_middleware(RateLimit, weir=url, limits=limits, **options)

    @app.get("/")
    @app.get("/health")
    async def hello():
        return "hello"
    client = TestClient(app).__enter__()  # one event loop for all requests

    def get(path, headers=None):
        response = client.get(path, headers=headers)
        return response.status_code, {k.lower(): v for k, v in response.headers.items()}, response.text
    return get


def flask_get(url, limits, **options):
    from weir.web.flask import RateLimit
    app = flask.Flask("shop")
    RateLimit(app, weir=url, limits=limits, **options)
    app.add_url_rule("/", view_func=lambda: "hello", endpoint="hello")
    app.add_url_rule("/health", view_func=lambda: "well", endpoint="health")
    client = app.test_client()

    def get(path, headers=None):
        response = client.get(path, headers=headers)
        return response.status_code, {k.lower(): v for k, v in response.headers.items()}, response.text
    return get


def django_get(url, limits, **options):
    from django.conf import settings
    from django.http import HttpResponse
    from django.test import RequestFactory
    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"])
        django.setup()
    settings.WEIR = {"weir": url, "limits": limits, **options}
    from weir.web.django import RateLimit
    middleware, factory = RateLimit(lambda request: HttpResponse("hello")), RequestFactory()

    def get(path, headers=None):
        response = middleware(factory.get(path, headers=headers))
        return response.status_code, {k.lower(): v for k, v in response.headers.items()}, response.content
    return get


if __name__ == "__main__":
    unittest.main()
