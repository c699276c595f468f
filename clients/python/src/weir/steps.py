"""The calls of a limiter as steps, the same for threads and for asyncio."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Generator, Sequence
from typing import Any

from . import verdict as verdicts
from .core.breaker import Failure
from .core.core import Away, Core, Cost, HandBack
from .core.mirror import Decision, cost_of
from .core.specs import parse, words_of
from .effects import Beside, Command, Effect, Send
from .errors import failure_of, is_reply
from .observing import Observer
from .state import Change, Hook, State
from .verdict import Verdict

Steps = Generator[Effect, Any, Any]
PROBE_S = 1.0


def new_id() -> str:
    return os.urandom(12).hex()


def cost_word(cost: Cost) -> str:
    return str(cost) if isinstance(cost, int) else ",".join(map(str, cost))


class Options:
    """How long a call may take, and how often it is tried meanwhile. Seconds."""

    def __init__(self, deadline: float, retries: int) -> None:
        if deadline <= 0 or retries < 0:
            raise ValueError("deadline must be above 0, retries not below")
        self.deadline, self.attempts = deadline, retries + 1


class Engine:
    """One limiter's limits, its core, and what is counted of it. Safe for threads."""

    def __init__(self, limits: str | Sequence[str], options: Options, away: Away | str,
                 processes: float | None, keys_max: int, hooks: Sequence[Hook], fallback: str | None) -> None:
        self.words = tuple(words_of(limits))
        self.options = options
        self.specs = parse(self.words)
        self.policy = None if self.specs is not None else self._policy_name()
        self.core = Core(self.specs, Away(away), processes, keys_max, random.random)
        if fallback is not None and self.specs is None:
            self.core.assume(parse(words_of(fallback)))
        self.hooks = list(hooks)
        self.lock = threading.Lock()
        self._made = self._changed = time.monotonic()
        self._away_seconds = 0.0
        self._asked = self._here = self._probes = 0
        self._last_key = "weir:probe"
        self.observer: Observer | None = None

    def observe(self, observer: Observer | None) -> None:
        """It is told of the calls from now on."""
        self.observer = observer
        if observer is not None:
            observer.limiter(self.state)

    def _policy_name(self) -> str | None:
        upper = [word.upper() for word in self.words]
        return self.words[upper.index("POLICY") + 1] if "POLICY" in upper[:-1] else None

    def state(self) -> State:
        with self.lock:
            breaker, age = self.core.breaker, time.monotonic() - self._changed
            return State(breaker.away, breaker.cause.value if breaker.cause else None, age,
                         self._away_seconds + (age if breaker.away else 0.0), breaker.absences, self._asked, self._here,
                         self._probes, self.core.share, len(self.core.mirror.entries))

    # Away and back.

    def _change(self, away: bool, cause: Failure | None) -> None:
        """Outside the lock: a hook may ask for state()."""
        now = time.monotonic()
        lasted, self._changed = now - self._changed, now
        self._away_seconds += 0.0 if away else lasted
        for hook in self.hooks:
            hook(Change(away, cause.value if cause else None, lasted))

    def replied(self) -> None:
        """weir has replied to a request in time, whatever it was asked."""
        with self.lock:
            self.core.replied()

    def failed(self, failure: Failure) -> None:
        with self.lock:
            broke = self.core.failed(time.monotonic() * 1e3, failure)
        if broke:
            self._change(True, failure)

    def probing(self) -> Generator[Effect, Any, None]:
        """Where weir is away and the time has come: a probe beside the call."""
        with self.lock:
            begins = self.core.breaker.begin_probe(time.monotonic() * 1e3)
            self._probes += begins
        if begins:
            yield Beside(self._probe())

    def _probe(self) -> Generator[Effect, Any, None]:
        """RL.PEEK of the limiter's kind; where what writes was refused, a take of nothing, which writes as well."""
        cause, answered = self.core.breaker.cause, False
        command: Command = ("RL.PEEK", self._last_key, *self.words)
        if cause is Failure.NO_WRITES:
            command = ("RL.TAKE", self._last_key, *self.words, "COST", 0)
        try:
            reply, = yield Send((command,), time.monotonic() + min(PROBE_S, 2 * self.options.deadline))
            answered = not isinstance(reply, Exception) or failure_of(reply) is None
        except Exception as error:  # a fault of the program is told to its next call
            answered = failure_of(error) is None
        finally:
            with self.lock:
                back = self.core.breaker.probed(time.monotonic() * 1e3, answered)
            if back:
                self._change(False, cause)

    # Asking weir.

    def end(self) -> float:
        """By when a call that begins now has its verdict, of all that it asks: an instant of time.monotonic()."""
        return time.monotonic() + self.options.deadline

    def ask(self, commands: tuple[Command, ...], end: float,
            waits: bool = False) -> Generator[Effect, Any, list[Any] | None]:
        """The replies, or None if weir does not answer by that instant; the last one's error is raised if it is the
        program's. `waits`: it waits in weir. Where there is no time any more nothing is asked, which says nothing of weir.
        """
        failure = None
        for left in range(self.options.attempts, 0, -1):
            now = time.monotonic()
            if now >= end:
                break
            try:
                replies: list[Any] = yield Send(commands, end if waits else now + (end - now) / left, waits)
                if isinstance(replies[-1], Exception):
                    raise replies[-1]
                self.replied()
                return replies
            except Exception as error:
                found = failure_of(error)
                if found is None:
                    if is_reply(error):
                        self.replied()
                    raise
                failure = found
                if found is Failure.NO_WRITES:
                    break
        if failure is not None:
            self.failed(failure)
        return None

    def plan(self, key: str) -> tuple[bool, HandBack | None]:
        """Whether weir is asked, and what is handed back before."""
        with self.lock:
            self._last_key = key
            asked = self.core.plan(key, time.monotonic() * 1e3, new_id)
        return (False, None) if asked is None else (True, asked.hand_back)

    def hand_back_words(self, key: str, back: HandBack) -> Command:
        """With SHADOW it charges what is there, and is never counted as a denial, which could ban the key."""
        if len(back.costs) == 1:
            return ("RL.TAKE", key, *self.words, "COST", back.costs[0], "UPTO", "SHADOW", "ID", back.id)
        return ("RL.TAKE", key, *self.words, "COST", cost_word(back.costs), "SHADOW", "ID", back.id)

    def learn(self, key: str, reply: Any, cost: Cost) -> Verdict:
        """The verdict of a reply with FULL, and the mirror charged with what it grants."""
        answer = verdicts.of_reply(reply, self.specs, cost)
        granted: Cost = answer.verdict.granted if isinstance(cost, int) else cost
        with self.lock:
            self._asked += 1
            self.core.answered(key, time.monotonic() * 1e3, granted if answer.verdict.allowed else 0,
                               specs=answer.verdict.specs, resets_ms=answer.resets_ms, blocked=answer.blocked,
                               banned_ms=answer.banned_ms, callers=answer.callers)
        return answer.verdict

    def decide(self, key: str, cost: Cost, upto: bool = False, charge: bool = True) -> Verdict:
        """A verdict without weir."""
        now = time.monotonic() * 1e3
        with self.lock:
            self._here += charge
            decision = self.core.decide(key, cost, now, charge=charge)
            if upto and not decision.allowed and decision.deciding and decision.deciding.remaining > 0:
                cost = min(cost_of(cost, 0), decision.deciding.remaining)
                decision = self.core.decide(key, cost, now, charge=charge)
        return self._here_verdict(decision, cost)

    def _here_verdict(self, decision: Decision, cost: Cost) -> Verdict:
        mode = self.core.away_mode
        source = "local" if mode is Away.STRICT else mode.value
        return verdicts.of_decision(decision, source, cost if isinstance(cost, int) else max(cost), self.policy)

    def book(self, key: str, cost: int, wait_max: float | None) -> tuple[bool, Verdict]:
        """A booking without weir, of at most so many seconds: whether there is one, and what a take would have been told."""
        with self.lock:
            self._here += 1
            booked, decision = self.core.book(key, cost, None if wait_max is None else wait_max * 1e3,
                                              time.monotonic() * 1e3)
        return booked, self._here_verdict(decision, cost)

    def note(self, key: str, cost: int) -> None:
        """weir has granted so much in an answer without FULL."""
        with self.lock:
            self._asked += 1
            self.core.answered(key, time.monotonic() * 1e3, cost)

    def charge(self, key: str, cost: int) -> None:
        with self.lock:
            self.core.charge(key, cost, time.monotonic() * 1e3)

    def give_back(self, key: str, cost: int) -> None:
        with self.lock:
            self.core.give_back(key, cost, time.monotonic() * 1e3)

    def handed_back(self, key: str, back: HandBack) -> None:
        with self.lock:
            self.core.handed_back(key, back)
