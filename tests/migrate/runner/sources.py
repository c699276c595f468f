"""Every source of docs/migrate.md: how it is run, or why it cannot be.

A source's `section` is its heading in the page; page_test.py holds the two against each other.
"""

from dataclasses import dataclass
from typing import Callable

from harness import installs

from . import builds


@dataclass(frozen=True)
class Source:
    """`prepare` answers (command, environment) or raises installs.Missing."""

    name: str
    section: str
    prepare: Callable
    redis_needs: Callable = lambda: ((), {})  # further arguments and environment of redis-server


def with_cell():
    module, libraries = builds.cell_module()
    return ("--loadmodule", str(module)), {"LD_LIBRARY_PATH": libraries}


ALL = [
    Source("redisson", "Redisson RRateLimiter", lambda: builds.java("RedissonDriver")),
    Source("funnel", "The funnel", lambda: builds.python("funnel.py")),
    Source("redis-cell", "redis-cell", lambda: builds.python("cell.py"), with_cell),
    Source("counters", "Counter and fixed-window scripts", lambda: builds.python("counters.py")),
    Source("redis_rate", "go-redis' redis_rate", lambda: builds.go("redis_rate")),
    Source("go-zero", "go-zero periodlimit and tokenlimit", lambda: builds.go("gozero")),
    Source("spring", "Spring Cloud Gateway", builds.spring),
    Source("guava", "Guava SmoothBursty and SmoothWarmingUp", lambda: builds.java("GuavaDriver")),
    Source("subwindows", "Sub-window sliding windows", lambda: builds.python("subwindows.py")),
    Source("logs", "Sorted-set sliding logs", lambda: builds.python("logs.py")),
    Source("levels", "Several levels", lambda: builds.python("levels.py")),
    Source("queue", "The leaky-bucket queue", lambda: builds.go("uber")),
    Source("bucket4j", "Bucket4j", lambda: builds.java("Bucket4jDriver")),
    Source("limits", "Python limits",
           lambda: builds.python_with("requirements.txt", "limits_package.py")),
]


def chosen(names):
    """The sources of these names, all without any; ValueError names one that is unknown."""
    known = [source.name for source in ALL]
    for name in names:
        if name not in known:
            raise ValueError(f"no source is called '{name}'; there are {', '.join(known)}")
    return [source for source in ALL if not names or source.name in names]


Missing = installs.Missing
