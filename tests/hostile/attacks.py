"""The list of attacks. A module of attacks decorates each function; its docstring says what it does."""

ATTACKS = {}


def attack(function):
    ATTACKS[function.__name__] = function
    return function


def filled(count, chunk, make):
    """Requests in pieces: make(begin, end) for each."""
    for begin in range(0, count, chunk):
        yield make(begin, min(begin + chunk, count))
