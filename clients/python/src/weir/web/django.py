"""Django.

    MIDDLEWARE = [..., "weir.web.django.RateLimit"]
    WEIR = {"weir": "redis://127.0.0.1:7000", "limits": "100/1m", "processes": 4}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from ..limiter import Limiter
from .gate import STATUS, Gate
from .keys import Caller

LIMITER_OPTIONS = ("away", "processes", "fallback")


def caller_of(request: HttpRequest) -> Caller:
    user = getattr(request, "user", None)
    who = str(user.pk) if user is not None and user.is_authenticated else None
    return Caller(request.META.get("REMOTE_ADDR") or None, request.headers.get, request.method or "GET", request.path,
                  who, request)


class RateLimit:
    """A middleware; place it after AuthenticationMiddleware for by_user. The setting WEIR has `weir` (a Weir or its
    url), `limits`, and options of weir.Limiter (away, processes, fallback) and of Gate."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        options: dict[str, Any] = dict(settings.WEIR)
        more = {name: options.pop(name) for name in LIMITER_OPTIONS if name in options}
        self.get_response = get_response
        self.limiter = Limiter(options.pop("weir"), options.pop("limits"), **more)
        self.gate = Gate(**options)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        counted = self.gate.of(caller_of(request))
        if counted is None:
            return self.get_response(request)
        verdict = self.limiter.take(*counted)
        if not verdict:
            headers, body = self.gate.denial(verdict, counted[1])
            return HttpResponse(body, status=STATUS, headers=headers)
        response = self.get_response(request)
        for name, value in self.gate.headers(verdict).items():
            response.headers[name] = value
        return response
