"""Flask-Limiter in a real Flask application, asked over HTTP: each strategy, headers, two limits."""

import importlib.metadata
import logging
import threading
import time

import flask
import flask_limiter
from flask_limiter.util import get_remote_address
from limiters import HOST, URL, Site, again, expect, in_time, run, wait_until
from limits_site import STRATEGIES, Checks
from werkzeug.serving import make_server

logging.getLogger("werkzeug").setLevel(logging.ERROR)


def application(strategy):
    app = flask.Flask(strategy)
    limiter = flask_limiter.Limiter(
        get_remote_address, app=app, storage_uri=URL, strategy=strategy, headers_enabled=True,
        key_prefix=strategy, in_memory_fallback_enabled=True)

    def page(path, *limits):
        def body():
            return path
        body.__name__ = path
        for limit in limits:
            body = limiter.limit(limit)(body)
        app.add_url_rule(f"/{path}", view_func=body)

    page("ten", "10/minute")
    page("five", "5/second")
    page("both", "3/second", "5/minute")
    page("crowd", "50/minute")
    page("kept", "10/minute")
    return app, limiter


def serve(app):
    server = make_server(HOST, 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return Site(server.server_port)


applications = {strategy: application(strategy) for strategy in STRATEGIES}
sites = {strategy: serve(app) for strategy, (app, _) in applications.items()}


def two_limits(attempt):
    """3 a second and 5 a minute on one page: what one of them refuses, the other does not grant."""
    limiter = applications["moving-window"][1]
    if attempt:
        limiter.reset()
    begin = time.time()
    first = sites["moving-window"].statuses("/both", 3)
    in_time(begin + 0.9)
    wait_until(begin + 1.9, 0.8)
    second = sites["moving-window"].statuses("/both", 3)
    expect(first + second, [200] * 5 + [429])


checks = Checks(sites, {strategy: limiter.storage for strategy, (_, limiter) in
                        applications.items()},
                lambda strategy: applications[strategy][1]._storage_dead, "ten")
run(importlib.metadata.version("Flask-Limiter"), **checks.all(two_limits=again(two_limits)))
