"""weir as a program sees it, in asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

import redis.asyncio as redis
from redis import exceptions
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from ..connection import UNBOUNDED
from ..deadline import STEP_S, name_of_process
from ..effects import Beside, Effect, Send, Sleep, Wait
from ..policies import Policies
from ..steps import Options
from .batches import Batches

T = TypeVar("T")


class Weir:
    """As weir.Weir, whose arguments it has. With a url it makes its connections anew in another event loop, as
    those of tests are; a client that is given belongs to one."""

    def __init__(self, url: str | None = None, *, deadline: float = 0.1, retries: int = 1, connections: int = 50,
                 client: Any = None, waits: Any = None, batching: bool = False, **options: Any) -> None:
        if (url is None) == (client is None):
            raise ValueError("give either a url or a client")
        self.options = Options(deadline, retries)
        self._url, self._connect_options = url, options
        self._loop: asyncio.AbstractEventLoop | None = None
        self.client, self.waits = client, waits
        self.policies = Policies(self.run)
        self._connections = connections
        self._room = asyncio.Semaphore(connections)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._batches = Batches(self._send_batch, self._start) if batching else None

    async def run(self, steps: Generator[Effect, Any, T]) -> T:
        """Runs the steps of a call."""
        try:
            effect = next(steps)
            while True:
                try:
                    outcome = await self._perform(effect)
                except Exception as error:
                    effect = steps.throw(error)
                else:
                    effect = steps.send(outcome)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        finally:
            steps.close()

    async def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return await self._in_time(self._send(effect), effect.end)
        if isinstance(effect, Sleep):
            return await asyncio.sleep(effect.seconds)
        if isinstance(effect, Wait):
            return await _opened(effect)
        return self._beside(effect)

    async def _in_time(self, exchange: Coroutine[Any, Any, list[Any]], end: float) -> list[Any]:
        """What is late is cancelled, and not waited for: a client may take long to close a connection."""
        task = self._start(exchange, "weir-call")
        try:
            done, _ = await asyncio.wait({task}, timeout=max(STEP_S, end - time.monotonic()))
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not done:
            task.cancel()
            raise TimeoutError("it was not done in time")
        return task.result()

    def _start(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # of what nobody waits for any more; who does is told it all the same

    def _clients_of_loop(self) -> None:
        loop = asyncio.get_running_loop()
        if self._url is not None and self._loop is not loop:
            self.client, self.waits = (connect(self._url, self._connect_options) for _ in range(2))
            self._room = asyncio.Semaphore(self._connections)
            self._loop = loop

    async def _send(self, effect: Send) -> list[Any]:
        self._clients_of_loop()
        client = self.waits if effect.waits else self.client
        if client is None:
            raise ValueError("a call that waits needs a client of its own: Weir(client=..., waits=...)")
        if effect.waits:
            return await self._exchange(client, effect)
        if self._batches is not None:
            return await self._batches.send(effect)
        async with self._room:
            return await self._exchange(client, effect)

    async def _send_batch(self, send: Send) -> list[Any]:
        async def exchange() -> list[Any]:
            async with self._room:
                return await self._exchange(self.client, send)
        return await self._in_time(exchange(), send.end)

    async def _exchange(self, client: Any, effect: Send) -> list[Any]:
        if len(effect.commands) == 1:
            return [await client.execute_command(*effect.commands[0])]
        async with client.pipeline(transaction=False) as pipeline:
            for command in effect.commands:
                pipeline.execute_command(*command)
            return list(await pipeline.execute(raise_on_error=False))

    def _beside(self, effect: Beside) -> None:
        self._start(self.run(effect.steps), "weir-probe")

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for client in (self.client, self.waits):
            if client is not None:
                await client.aclose()

    async def __aenter__(self) -> Weir:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def _opened(effect: Wait) -> bool:
    loop, opened = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(opened.set)
    effect.gate.when_open(tell)
    try:
        await asyncio.wait_for(opened.wait(), max(STEP_S, effect.end - time.monotonic()))
    except (asyncio.TimeoutError, TimeoutError):
        return False
    return True


async def on_connect(connection: Any) -> None:
    await connection.on_connect()
    with contextlib.suppress(exceptions.ResponseError):
        await connection.send_command("CLIENT", "SETNAME", name_of_process())
        await connection.read_response()


def client_options() -> dict[str, Any]:
    """What a client of redis.asyncio is to be made with: its Weir ends what takes too long."""
    return {"retry": Retry(NoBackoff(), 0)}


def connect(url: str, options: dict[str, Any]) -> redis.Redis:
    """A client without time-outs of its own: run() ends what takes too long."""
    return redis.Redis.from_pool(redis.ConnectionPool.from_url(url, **{
        "retry": Retry(NoBackoff(), 0), "redis_connect_func": on_connect, "max_connections": UNBOUNDED,
        "socket_timeout": None, "socket_connect_timeout": None, **options}))
