"""Puts the same requests to several limiters at the same instants.

A stream is a list of (at_ms, cost). Its instants keep clear of those at which a limit changes by
more than `margin_ms`; a round in which a request came later than that proves nothing and is played
again on new keys, five times at most.
"""

import os
import time

import report
from support.resp import Client

REDIS = Client(int(os.environ["MIGRATE_REDIS_PORT"]))
WEIR = Client(report.PORT)
ROUNDS_MAX = 5
keys_made = 0


def new_key(name):
    global keys_made
    keys_made += 1
    return f"{name}:{keys_made}"


def figure(text):
    report.say(f"figure {text}")


def ask(line, **fields):
    """One RL.* line, as the page writes it; its reply."""
    return WEIR.call(*line.format(**fields).split())


def wait_until(instant):
    pause = instant - time.monotonic()
    if pause > 0:
        time.sleep(pause)


def round_of(stream, limiters, margin_ms):
    """The answers of each limiter, or None when the machine was too late."""
    begin = time.monotonic()
    answers = {name: [] for name in limiters}
    for at_ms, cost in stream:
        wait_until(begin + at_ms / 1000)
        for name, limiter in limiters.items():
            answers[name].append(limiter(cost))
        if time.monotonic() - begin > (at_ms + margin_ms) / 1000:
            return None
    return answers


def play(stream, make_limiters, margin_ms, start=lambda: None):
    """make_limiters() answers {name: limiter(cost)} on keys that are new."""
    for _ in range(ROUNDS_MAX):
        limiters = make_limiters()
        start()
        answers = round_of(stream, limiters, margin_ms)
        if answers:
            return answers
    raise AssertionError(f"the machine was late by {margin_ms} ms in each of {ROUNDS_MAX} rounds")


def same(stream, make_limiters, margin_ms=70, start=lambda: None):
    """All limiters answer the same; tells how many were admitted."""
    answers = play(stream, make_limiters, margin_ms, start)
    first, *others = answers
    for other in others:
        report.expect(answers[other], answers[first], f"{other} against {first}:")
    return admitted(answers[first])


def admitted(answers):
    granted = sum(bool(answer[0] if isinstance(answer, tuple) else answer) for answer in answers)
    return f"{granted} of {len(answers)} admitted"


def check_same(name, *arguments, **named):
    told = []
    report.check(name, lambda: told.append(same(*arguments, **named)))
    for text in told:
        figure(f"{name}: {text}, the same by all")


def at_fraction(fraction):
    """Waits for the next instant whose seconds have this fraction."""
    now = time.time()
    time.sleep((fraction - now) % 1)
