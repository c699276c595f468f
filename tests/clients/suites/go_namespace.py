"""Runs a program in a network of its own, where fixed ports of its loopback reach one real port.

Test suites have addresses like localhost:6379 written into them. In a fresh network namespace these
are free; a relay on each hands every connection through a Unix socket, which namespaces share, to a
second relay outside, and that to the server. The program sees no other network.

Invariants:
1. Nothing listens on a fixed port of the machine's own loopback.
2. A relay changes no byte; when one side ends a connection, the other's ends after what was sent.
"""

import asyncio
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass


def joined(connect):
    """What a relay does with a connection: it opens another and copies both ways until one ends."""
    async def serve(reader, writer):
        writers = [writer]
        try:
            far_reader, far_writer = await connect()
            writers.append(far_writer)
            ways = {asyncio.create_task(copy(reader, far_writer)),
                    asyncio.create_task(copy(far_reader, writer))}
            _, open_ways = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in open_ways:
                way.cancel()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for end in writers:
                end.close()
    return serve


class Relays:
    """The relays that start() opens, on a thread of their own; they listen when this is made."""

    def __init__(self, start):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.wait_for(start())

    def wait_for(self, what):
        asyncio.run_coroutine_threadsafe(what, self.loop).result(timeout=10)

    def close(self):
        async def end():
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        self.wait_for(end())
        self.loop.call_soon_threadsafe(self.loop.stop)


def bring_up_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP))


def inside(path, ports, command):
    """What this file does as a program, already within the namespace."""
    bring_up_loopback()

    async def start():
        for port in ports:
            await asyncio.start_server(joined(lambda: asyncio.open_unix_connection(path)),
                                       "127.0.0.1", port)

    relays = Relays(start)
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        relays.close()


class Namespace:
    """`command(words)` answers the words that run a program where `ports` reach `server_port`."""

    def __init__(self, ports, server_port):
        self.ports = ports
        self.folder = Path(tempfile.mkdtemp(prefix="weir-clients-relay-"))
        path = str(self.folder / "socket")

        async def start():
            await asyncio.start_unix_server(
                joined(lambda: asyncio.open_connection("127.0.0.1", server_port)), path)

        self.relays = Relays(start)
        self.path = path

    def command(self, words):
        return ["unshare", "--net", "--", sys.executable, __file__, self.path,
                ",".join(map(str, self.ports)), *words]

    def close(self):
        self.relays.close()
        shutil.rmtree(self.folder, ignore_errors=True)


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    sys.exit(inside(sys.argv[1], [int(port) for port in sys.argv[2].split(",")], sys.argv[3:]))
