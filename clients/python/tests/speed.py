"""How many decisions a second one process makes, against a weir-server on this machine.

    python -m tests.speed
"""

import asyncio
import threading
import time

from weir import Limiter, Weir, aio

from .weirs import WeirServer

LIMIT = "1000000000/1s"  # nothing is denied
SECONDS = 2.0


def in_threads(url, count, batching=False, lots=None):
    with Weir(url, deadline=5, batching=batching) as weir:
        limiter, made = Limiter(weir, LIMIT, lots=lots), []

        def work():
            number, end = 0, time.perf_counter() + SECONDS
            while time.perf_counter() < end:
                for _ in range(10):
                    limiter.take("k")
                number += 10
            made.append(number)
        limiter.take("k")
        threads = [threading.Thread(target=work) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        limiter.close()
    return sum(made) / SECONDS


async def in_tasks(url, count, batching=False, lots=None):
    async with aio.Weir(url, deadline=5, batching=batching) as weir:
        limiter, made = aio.Limiter(weir, LIMIT, lots=lots), []

        async def work():
            number, end = 0, time.perf_counter() + SECONDS
            while time.perf_counter() < end:
                for _ in range(10):
                    await limiter.take("k")
                number += 10
            made.append(number)
        await limiter.take("k")
        await asyncio.gather(*(work() for _ in range(count)))
        await limiter.close()
    return sum(made) / SECONDS


def main():
    with WeirServer() as server:
        for count in (1, 16):
            for options in ({}, {"batching": True}, {"lots": 0.1}):
                name = " ".join(options) or "plain"
                print(f"{count:3} threads, {name:9} {in_threads(server.url, count, **options):10.0f} a second")
                print(f"{count:3} tasks,   {name:9} {asyncio.run(in_tasks(server.url, count, **options)):10.0f} a second")


if __name__ == "__main__":
    main()
