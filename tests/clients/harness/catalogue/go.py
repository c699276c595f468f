"""Clients and libraries of Go."""

from .. import installs
from .client import Client


def go_program(name):
    def prepare():
        return [installs.go_program(name)], {}
    return prepare


CLIENTS = [
    Client("go-redis-9", "go-redis", "Go", (2, 3), go_program("goredis"), in_ci=True),
]
