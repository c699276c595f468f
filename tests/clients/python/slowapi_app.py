"""slowapi in a real FastAPI application under uvicorn, asked over HTTP: each strategy, headers."""

import importlib.metadata

import fastapi
import slowapi
import slowapi.errors
import uvicorn_site
from limiters import URL, expect, run
from limits_site import STRATEGIES, Checks
from slowapi.util import get_remote_address


def application(strategy):
    limiter = slowapi.Limiter(get_remote_address, storage_uri=URL, strategy=strategy,
                              headers_enabled=True, key_prefix=strategy,
                              in_memory_fallback_enabled=True)
    app = fastapi.FastAPI()
    app.state.limiter = limiter
    app.add_exception_handler(slowapi.errors.RateLimitExceeded,
                              slowapi._rate_limit_exceeded_handler)

    def page(path, limit):
        async def body(request: fastapi.Request, response: fastapi.Response):
            return path
        body.__name__ = path
        app.get(f"/{path}")(limiter.limit(limit)(body))

    page("ten", "10/minute")
    page("five", "5/second")
    page("crowd", "50/minute")
    page("kept", "10/minute")
    return app, limiter


applications = {strategy: application(strategy) for strategy in STRATEGIES}
sites = {strategy: uvicorn_site.serve(app) for strategy, (app, _) in applications.items()}


def error_text():
    expect(sites["fixed-window"].get("/ten")[2],
           b'{"error":"Rate limit exceeded: 10 per 1 minute"}')


checks = Checks(sites, {strategy: limiter._storage for strategy, (_, limiter) in
                        applications.items()},
                lambda strategy: applications[strategy][1]._storage_dead, "/ten")
run(importlib.metadata.version("slowapi"), **checks.all(error_text=error_text))
