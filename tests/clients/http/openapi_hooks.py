"""What schemathesis is told of weir: how limits are written, and that it has no minute to wait.

Loaded by schemathesis itself (SCHEMATHESIS_HOOKS).
"""

import schemathesis
from hypothesis import strategies

# Also words that are none: what they are answered is part of the test.
RATES = ["1/1s", "100/1m", "5 PER minute", "1000/1h", "0/1s", "1/0s", "1.5/s", "9"]
WORDS = ["GCRA", "FIXED", "TOKENBUCKET", "LEAKY", "SLIDINGLOG", "CONCURRENCY", "BURST 5", "CAPACITY 9", "LEASE 30s",
         "ALIGN DAY", "AS name", "BAN 15m AFTER 3 WITHIN 10m", "ADAPTIVE 1..500", "UNLIMITED", "BLOCKED", "POLICY api",
         "COST 1", "HEADERS", "é"]

schemathesis.openapi.format(
    "weir-limits",
    strategies.one_of(
        strategies.sampled_from(["10/1h", "GCRA 10/1s BURST 20", "FIXED 1000 ALIGN DAY", "FIXED 5/1h SLIDINGLOG 9/1d",
                                 "TOKENBUCKET 9/1m", "LEAKY 9/1s CAPACITY 5", "CONCURRENCY 3 LEASE 9s",
                                 "100/1m ADAPTIVE 10..500", "FIXED 3/1m BAN 15m AFTER 3 WITHIN 10m"]),
        strategies.lists(strategies.sampled_from(RATES + WORDS), min_size=1, max_size=5).map(" ".join)))


@schemathesis.hook
def before_call(context, case, kwargs):
    """Whoever may wait does so for a moment."""
    if case.path == "/v1/acquire" and isinstance(case.body, dict) and case.body.get("timeout"):
        timeout = case.body["timeout"]
        is_duration = isinstance(timeout, str) and timeout[-1:] in ("s", "m", "h", "d", "w")
        if is_duration or (isinstance(timeout, int) and timeout > 1):
            case.body["timeout"] = "1ms" if is_duration else 1
