"""Asks the limiter of docs/when-weir-is-away.md, which lies beside it as limiter.py.

    away_caller.py PORT KEY          takes every 20 ms, and writes `MS ADMITTED MS-TAKEN` each time
    away_caller.py PORT each KEY...  takes once of each key with a limiter of its own, and writes
                                     `KEY 1`, `KEY 0` or `KEY raised`
"""

import sys
import time

from limiter import Limiter


def new_limiter():
    return Limiter("127.0.0.1", int(sys.argv[1]), 10, 10, 2)


def take_each(keys):
    for key in keys:
        try:
            print(key, int(new_limiter().take(key)), flush=True)
        except Exception:
            print(key, "raised", flush=True)


def take_on(key):
    limiter = new_limiter()
    while True:
        at = time.time()
        allowed = limiter.take(key)
        took = time.time() - at
        print(int(at * 1000), int(allowed), int(took * 1000), flush=True)
        time.sleep(max(0, 0.02 - took))


if sys.argv[2] == "each":
    take_each(sys.argv[3:])
else:
    take_on(sys.argv[2])
