"""weir as a program sees it, in threads: two pools of connections, one of them for calls that wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from .aside import Aside, outcome_of
from .batches import Batches
from .deadline import CLASSES, on_connect, until
from .effects import Beside, Effect, Send, Sleep, Wait
from .policies import Policies
from .steps import Options

T = TypeVar("T")
UNBOUNDED = 2**31  # for redis-py, which raises where a connection more is asked for: Weir bounds them


class Weir:
    """A weir-server, a shard, or a cluster.

    url         redis://, rediss:// or unix://, as redis-py takes it
    deadline    seconds after which a call that does not wait has its verdict, whatever happens
    retries     how often it is sent again within that time, under the same ID
    client      in place of url: a client of redis-py (Redis with its sentinels, RedisCluster). It is called in
                threads of its own, so that the deadline holds whatever the client does
    waits       with client: another one for calls that wait, without a read time-out
    connections how many calls may be under way at once; more of them wait, within their deadline
    batching    sends calls that come at the same time in one pipeline
    """

    def __init__(self, url: str | None = None, *, deadline: float = 0.1, retries: int = 1, connections: int = 50,
                 client: Any = None, waits: Any = None, batching: bool = False, **options: Any) -> None:
        if (url is None) == (client is None):
            raise ValueError("give either a url or a client")
        self.options = Options(deadline, retries)
        self.client = client if url is None else connect(url, options)
        self.waits = waits if url is None else connect(url, options)
        self.policies = Policies(self.run)
        self._room = threading.BoundedSemaphore(connections)
        self._aside = None if client is None else Aside("weir-call")
        self._batches = Batches(lambda send: self._exchange(self.client, send)) if batching else None

    def run(self, steps: Generator[Effect, Any, T]) -> T:
        """Runs the steps of a call in this thread."""
        try:
            effect = next(steps)
            while True:
                try:
                    outcome = self._perform(effect)
                except Exception as error:
                    effect = steps.throw(error)
                else:
                    effect = steps.send(outcome)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]

    def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return self._send(effect)
        if isinstance(effect, Sleep):
            return time.sleep(effect.seconds)
        if isinstance(effect, Wait):
            opened = threading.Event()
            effect.gate.when_open(opened.set)
            return opened.wait(max(0.0, effect.end - time.monotonic()))
        return self._beside(effect)

    def _send(self, effect: Send) -> list[Any]:
        client = self.waits if effect.waits else self.client
        if client is None:
            raise ValueError("a call that waits needs a client of its own: Weir(client=..., waits=...)")
        if effect.waits:
            return self._in_time(client, effect, None)
        if self._batches is not None:
            return self._batches.send(effect)
        if not self._room.acquire(timeout=max(0.0, effect.end - time.monotonic())):
            raise TimeoutError("no connection was free in time")
        return self._in_time(client, effect, self._room)

    def _in_time(self, client: Any, effect: Send, room: threading.BoundedSemaphore | None) -> list[Any]:
        """The room is left when the exchange is over, also where its caller is told earlier that it is late."""
        def exchange() -> list[Any]:
            try:
                return self._exchange(client, effect)
            finally:
                if room is not None:
                    room.release()
        if self._aside is None:
            return exchange()
        try:
            under_way = self._aside.start(exchange)
        except RuntimeError as error:
            if room is not None:
                room.release()
            raise TimeoutError("no thread was free") from error
        return outcome_of(under_way, effect.end)

    def _exchange(self, client: Any, effect: Send) -> list[Any]:
        with until(effect.end):
            if len(effect.commands) == 1:
                return [client.execute_command(*effect.commands[0])]
            with client.pipeline(transaction=False) as pipeline:
                for command in effect.commands:
                    pipeline.execute_command(*command)
                return list(pipeline.execute(raise_on_error=False))

    def _beside(self, effect: Beside) -> None:
        thread = threading.Thread(target=self.run, args=(effect.steps,), name="weir-probe", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no thread is to be had: the next call tries again
            effect.steps.close()

    def close(self) -> None:
        for client in (self.client, self.waits):
            if client is not None:
                client.close()

    def __enter__(self) -> Weir:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def client_options(deadline: float = 0.1, retries: int = 1) -> dict[str, Any]:
    """What a client of redis-py, and what knows its sentinels, is made with so that its calls fit into the deadline
    of its Weir."""
    each = deadline / (retries + 1)
    return {"socket_timeout": each, "socket_connect_timeout": each, "retry": Retry(NoBackoff(), 0)}


def connect(url: str, options: dict[str, Any]) -> redis.Redis:
    """A client whose connections keep to the instant that until() names."""
    scheme = url.split("://", 1)[0]
    if scheme not in CLASSES:
        raise ValueError(f"a url begins with redis://, rediss:// or unix://, got '{url}'")
    pool = redis.ConnectionPool.from_url(url, **{
        "retry": Retry(NoBackoff(), 0), "redis_connect_func": on_connect, "max_connections": UNBOUNDED,
        "socket_timeout": None, "socket_connect_timeout": None, **options})
    pool.connection_class = CLASSES[scheme]
    return redis.Redis(connection_pool=pool)
