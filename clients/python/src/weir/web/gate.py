"""What the adapters share: whom a request is counted for, at what cost, and the answer of a denial."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from ..verdict import Verdict
from .keys import Caller, Key, by_address

STATUS = 429
PROBLEM = "https://iana.org/assignments/http-problem-types#quota-exceeded"
TITLE = "Request cannot be satisfied as assigned quota has been exceeded"


@dataclass(frozen=True)
class Gate:
    """The options of all adapters.

    key      whom a request is counted for
    skip     requests that are not counted
    cost     permits of a request, a number or a function of the caller
    prefix   before each key in weir
    legacy   X-RateLimit-* fields too
    """

    key: Key = field(default_factory=by_address)
    skip: Callable[[Caller], bool] | None = None
    cost: int | Callable[[Caller], int] = 1
    prefix: str = "http:"
    legacy: bool = False

    def of(self, caller: Caller) -> tuple[str, int] | None:
        """The key and the cost; None for what is not counted."""
        if self.skip is not None and self.skip(caller):
            return None
        cost = self.cost if isinstance(self.cost, int) else self.cost(caller)
        return self.prefix + self.key(caller), cost

    def headers(self, verdict: Verdict) -> dict[str, str]:
        return verdict.headers(self.legacy)

    def denial(self, verdict: Verdict, cost: int) -> tuple[dict[str, str], bytes]:
        """Fields and body of a 429, as application/problem+json."""
        body = {"type": PROBLEM, "title": TITLE, "status": STATUS,
                "violated-policies": [name for name, limit in zip(verdict.item_names(), verdict.limits)
                                      if limit.remaining < cost]}
        return ({**self.headers(verdict), "Content-Type": "application/problem+json"}, json.dumps(body).encode())
