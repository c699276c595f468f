"""The checks of a web application whose limits are kept by the package limits, a site per strategy.

Each site has the pages /ten (10/minute), /five (5/second), /crowd (50/minute), /kept (10/minute).
"""

import time

from limiters import (HOST, again, bare, expect, expect_between, expect_ttl, in_time, need_durable,
                      restart, scripts_kept, stored, wait_until)

STRATEGIES = ("fixed-window", "moving-window", "sliding-window-counter")


class Checks:
    """`sites`, `storages` by strategy; `is_fallback(strategy)` tells if it counts in its own memory;
    `page` is the name that the library gives /ten in its keys."""

    def __init__(self, sites, storages, is_fallback, page):
        self.sites = sites
        self.storages = storages
        self.is_fallback = is_fallback
        self.page = page

    def expect_no_fallback(self):
        for strategy in STRATEGIES:
            expect(self.is_fallback(strategy), False, f"{strategy} counts in its own memory")

    def burst(self, strategy):
        replies = [self.sites[strategy].get("/ten") for _ in range(13)]
        expect([status for status, _, _ in replies], [200] * 10 + [429] * 3)
        expect([int(headers["x-ratelimit-remaining"]) for _, headers, _ in replies],
               [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0], "X-RateLimit-Remaining")
        expect({headers["x-ratelimit-limit"] for _, headers, _ in replies}, {"10"})
        _, refused, _ = replies[-1]
        expect_between(50, int(refused["retry-after"]), 62, "Retry-After")
        expect_between(time.time() + 50, float(refused["x-ratelimit-reset"]), time.time() + 62,
                       "X-RateLimit-Reset")

    def stored(self):
        """What stands on the server after the bursts."""
        fixed, moving, sliding = (
            f"LIMITS:{before}LIMITER/{strategy}/{HOST}/{self.page}/10/1/minute{after}"
            for strategy, before, after in zip(STRATEGIES, ("", "", "{"), ("", "", "}")))
        expect(stored(), {fixed: "string", moving: "list", sliding: "string"})
        expect((bare.get(fixed), bare.llen(moving), bare.get(sliding)), ("13", 10, "10"))
        expect_ttl(fixed, 50_000, 60_000)
        expect_ttl(moving, 50_000, 60_000)
        expect_ttl(sliding, 110_000, 120_000)
        self.expect_no_fallback()

    def window(self, _):
        begin = time.time()
        first = {strategy: self.sites[strategy].statuses("/five", 6) for strategy in STRATEGIES}
        in_time(begin + 0.6)
        wait_until(begin + 2.7, 0.8)
        second = {strategy: self.sites[strategy].statuses("/five", 6) for strategy in STRATEGIES}
        in_time(begin + 3.5)
        wanted = {strategy: [200] * 5 + [429] for strategy in STRATEGIES}
        expect(first, wanted)
        expect(second, wanted, "after the window")

    def concurrent(self, strategy):
        statuses = self.sites[strategy].crowd("/crowd", 10)
        expect((statuses.count(200), statuses.count(429)), (50, 110))

    def restart(self):
        for strategy in STRATEGIES:
            expect(self.sites[strategy].statuses("/kept", 4), [200] * 4)
        restart()

    def scripts_kept(self):
        scripts_kept(str(self.storages["moving-window"].lua_acquire_moving_window.sha),
                     str(self.storages["sliding-window-counter"].lua_acquire_sliding_window.sha))()

    def kept(self):
        need_durable()
        for strategy in STRATEGIES:
            expect(self.sites[strategy].statuses("/kept", 7), [200] * 6 + [429], strategy)
        self.expect_no_fallback()

    def all(self, **own):
        """Every check in its order, for limiters.run; `own` are the library's, before the restart."""
        def each(name, body):
            return {f"{name}_{strategy}": lambda strategy=strategy: body(strategy)
                    for strategy in STRATEGIES}
        return {**each("burst", self.burst), "stored": self.stored, "window": again(self.window),
                **own, **each("concurrent", self.concurrent), "restart": self.restart,
                "scripts_kept": self.scripts_kept, "kept": self.kept}
