"""django-ratelimit with django-redis in a small real Django application, asked over HTTP."""

import hashlib
import importlib.metadata
import json
import sys
import threading
import time
import zlib
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from django.conf import settings
from limiters import (HOST, URL, Site, again, bare, expect, expect_ttl, in_time, need_durable,
                      restart, run, stored, wait_until)

settings.configure(
    ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, USE_TZ=True, SECRET_KEY="of these tests",
    MIDDLEWARE=["django_ratelimit.middleware.RatelimitMiddleware"],
    RATELIMIT_VIEW=f"{__name__}.refused", RATELIMIT_FAIL_OPEN=False,
    CACHES={"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": URL}})
sys.modules.setdefault("django_ratelimit_app", sys.modules["__main__"])
django.setup()

from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django_ratelimit.core import get_usage  # noqa: E402
from django_ratelimit.decorators import ratelimit  # noqa: E402


def refused(request, exception):
    return HttpResponse("slow down", status=429)


def page(name, rate):
    @ratelimit(group=name, key="ip", rate=rate)
    def body(request):
        return HttpResponse(name)
    return path(name, body)


def usage(request):
    found = get_usage(request, group="ten", key="ip", rate="10/m")
    return JsonResponse(found)


urlpatterns = [page("ten", "10/m"), page("five", "5/2s"), page("crowd", "50/m"),
               page("kept", "10/m"), path("usage", usage)]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 128


def serve():
    from django.core.wsgi import get_wsgi_application
    server = make_server(HOST, 0, get_wsgi_application(), Server, Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return Site(server.server_port)


site = serve()


def window_end(seconds):
    """When this library's windows end for this caller: it shifts them by a hash of the address."""
    now = int(time.time())
    end = now - now % seconds + zlib.crc32(HOST.encode()) % seconds
    return end + seconds if end < now else end


def away_from_edge(seconds, need_s):
    left = window_end(seconds) + 1 - time.time()
    if left < need_s:
        time.sleep(left + 0.05)


def burst():
    away_from_edge(60, 5)
    replies = [site.get("/ten") for _ in range(13)]
    expect([status for status, _, _ in replies], [200] * 10 + [429] * 3)
    expect(replies[-1][2], b"slow down")
    found = json.loads(site.get("/usage")[2])
    expect((found["count"], found["limit"], found["should_limit"]), (13, 10, True))
    expect(abs(found["time_left"] - (window_end(60) - int(time.time()))) <= 1, True, "time_left")


def keys():
    """SET NX PX made it, an EVAL counted: one key, which lives 5 s longer than the window."""
    name = f"ten10/60s{HOST}{window_end(60)}"
    key = ":1:rl:" + hashlib.sha256(name.encode()).hexdigest()
    expect(stored(), {key: "string"})
    expect(bare.get(key), "13")
    expect_ttl(key, 58_000, 65_000)


def window(attempt):
    """5 in two seconds."""
    end = window_end(2) + 1
    wait_until(end + 0.05, 0.5)
    expect(site.statuses("/five", 6), [200] * 5 + [429])
    in_time(end + 1.8)
    wait_until(end + 2.05, 0.8)
    expect(site.statuses("/five", 6), [200] * 5 + [429], "in the next window")


def concurrent():
    away_from_edge(60, 10)
    statuses = site.crowd("/crowd", 10)
    expect((statuses.count(200), statuses.count(429)), (50, 110))


def restarted():
    away_from_edge(60, 10)
    expect(site.statuses("/kept", 4), [200] * 4)
    restart()


def kept():
    """Without its store this library would refuse everything, or with FAIL_OPEN grant everything."""
    need_durable()
    expect(site.statuses("/kept", 7), [200] * 6 + [429])


run(importlib.metadata.version("django-ratelimit"), burst=burst, stored=keys, window=again(window),
    concurrent=concurrent, restart=restarted, kept=kept)
