"""Threads in which work goes on that may take longer than who asked for it waits."""

from __future__ import annotations

import contextvars
import functools
import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotDone
from typing import Any, TypeVar

T = TypeVar("T")
IDLE_S = 10.0
Job = tuple["Future[Any]", Callable[[], Any]]


class Aside:
    """Starts work in a thread that is idle, else in a new one. A process that was forked begins with none."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._forget()

    def _forget(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Job]] = []

    def start(self, work: Callable[[], T]) -> Future[T]:
        """It goes on in the context of the caller, whose span it belongs to. RuntimeError if no thread is to be had."""
        if self._process != os.getpid():
            self._forget()
        future: Future[T] = Future()
        with self._lock:
            jobs = self._idle.pop() if self._idle else None
        if jobs is None:
            jobs = queue.SimpleQueue()
            threading.Thread(target=self._serve, args=(jobs,), name=self._name, daemon=True).start()
        jobs.put((future, functools.partial(contextvars.copy_context().run, work)))
        return future

    def _serve(self, jobs: queue.SimpleQueue[Job]) -> None:
        while True:
            try:
                future, work = jobs.get(timeout=IDLE_S)
            except queue.Empty:
                with self._lock:
                    if jobs not in self._idle:  # work is on its way
                        continue
                    self._idle.remove(jobs)
                    return
            try:
                outcome = work()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(outcome)
            del future, work
            with self._lock:
                self._idle.append(jobs)


def outcome_of(future: Future[T], end: float) -> T:
    """What the work answered or raised; TimeoutError if it has done neither by that instant of time.monotonic()."""
    try:
        return future.result(max(0.0, end - time.monotonic()))
    except NotDone:
        if future.done():
            raise
        raise TimeoutError("it was not done in time") from None
