"""Which errors mean that weir is away, and which are the program's own."""

from __future__ import annotations

import asyncio

from redis import exceptions

from .core.breaker import Failure, failure_of_words

PROGRAM = (exceptions.AuthenticationError, exceptions.AuthorizationError, exceptions.MaxConnectionsError)
GONE = (exceptions.ConnectionError, exceptions.ReadOnlyError, exceptions.ClusterDownError, exceptions.TryAgainError,
        exceptions.SlotNotCoveredError, ConnectionError)
UNREACHABLE = "cannot be connected"  # what a RedisCluster says that reaches no owner
LATE = (exceptions.TimeoutError, asyncio.TimeoutError, TimeoutError)


def failure_of(error: BaseException) -> Failure | None:
    """redis-py takes the first word out of the errors that it has classes for, so classes come first."""
    if isinstance(error, PROGRAM):
        return None
    if isinstance(error, LATE):
        return Failure.LATE
    if isinstance(error, exceptions.OutOfMemoryError):
        return Failure.NO_WRITES
    if isinstance(error, GONE) or (isinstance(error, exceptions.RedisClusterException)
                                   and UNREACHABLE in str(error)):
        return Failure.GONE
    if not isinstance(error, exceptions.ResponseError) or getattr(error, "status_code", None) == "ERR":
        return None
    return failure_of_words(str(error))


def is_reply(error: BaseException) -> bool:
    """Whether weir has said it."""
    return isinstance(error, exceptions.ResponseError)
