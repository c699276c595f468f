"""Servers that speak Redis' protocol, as programs on ports of this machine."""

import os
import shutil
import sys

from .processes import Program, free_port
from .resp import Client, ask

REDIS = "redis-server"


def answers(port, timeout_s=1):
    """Whether a server there answers PING, if only that it wants a password, and not that it is loading."""
    try:
        return str(ask(port, "PING", timeout_s=timeout_s)).startswith(("PONG", "NOAUTH"))
    except OSError:
        return False


class Server(Program):
    """A server on 127.0.0.1:`port`, which has started when it answers PING; its log is in `folder`."""

    def __init__(self, name, command, folder, port, **how):
        super().__init__(name, command, os.path.join(folder, "log"), **how)
        self.folder = folder
        self.port = port

    def is_ready(self):
        return answers(self.port)

    def connect(self, **options):
        return Client(self.port, **options)

    def call(self, *words):
        with self.connect() as client:
            return client.call(*words)


def need_redis():
    """Ends the program where what weir is compared with is not installed."""
    if shutil.which(REDIS) is None:
        sys.exit(f"{REDIS} is missing, and it is what weir is compared with: install the Debian package {REDIS}")


class Redis(Server):
    """A redis-server of the system that keeps nothing on disk by itself. `folder` is made if need be."""

    def __init__(self, folder, *options):
        os.makedirs(folder, exist_ok=True)
        port = free_port()
        super().__init__(REDIS, [REDIS, "--port", port, "--bind", "127.0.0.1", "--dir", folder, "--save", "", *options],
                         folder, port)

    def url(self, user=""):
        return f"redis://{user}127.0.0.1:{self.port}"
