"""Limits for web frameworks: `asgi` (Starlette, FastAPI), `flask`, `django`. Keys of callers are here."""

from .keys import Caller, by_address, by_header, by_user, per_route

__all__ = ["Caller", "by_address", "by_header", "by_user", "per_route"]
