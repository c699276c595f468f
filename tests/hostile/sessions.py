"""Connections: many of them, long pipelines, long names, and clients without a password."""

import resource
import socket
import threading
import time

from arena import GONE
from attacks import attack
from harness import encode

SECRET = "a-long-password"


def drain(client, arena):
    def read():
        try:
            client.swallow(1 << 40, arena.ends_at)
        except (*GONE, ValueError):
            pass
    threading.Thread(target=read, daemon=True).start()


@attack
def backlog_behind_wait(arena):
    """A long pipeline piles up while its client waits in RL.ACQUIRE, and then runs."""
    arena.start()
    client = arena.connect("limits")
    limits = ("FIXED", "1/1s")
    with arena.bystander():
        client.call("RL.ACQUIRE", "k", *limits, "TIMEOUT", 10_000)
        client.request("RL.ACQUIRE", "k", *limits, "TIMEOUT", 10_000)
        client.send(b"RL.TOP COUNT 1\r\n" * (arena.size(5, 100) * 1_000_000 // 16))
        drain(client, arena)
        arena.watch(arena.size(2, 25))
        arena.settle()


@attack
def multi_queue(arena):
    """One client queues commands without an end."""
    arena.start()
    client = arena.connect()
    with arena.bystander():
        client.send(b"MULTI\r\n")
        drain(client, arena)
        client.send(b"PING\r\n" * arena.size(50_000, 300_000))
        arena.watch(arena.size(1.5, 15))
        arena.settle()


@attack
def watch_multi(arena):
    """Very many keys are watched, and then commands are queued."""
    arena.start()
    client = arena.connect()
    client.call("WATCH", *[f"k{i}" for i in range(arena.size(20_000, 200_000))])
    client.call("MULTI")
    with arena.bystander():
        client.pipeline([("PING",)] * arena.size(500, 5000))


@attack
def acl_log(arena):
    """Denied requests with long keys: ACL LOG must not keep them whole."""
    arena.start()
    client = arena.connect("shop")
    size = arena.size(4, 50) << 20
    count = arena.size(100, 60)
    with arena.bystander():
        for i in range(count):
            client.ask("RL.INFO", b"%d" % i + b"x" * size)
    arena.memory_mb = arena.form.maxmemory_mb + 6 * (size >> 20) + 150


@attack
def long_names(arena):
    """Clients that want very long names, and one CLIENT LIST."""
    arena.start()
    client = arena.connect()
    size = arena.size(8, 50) << 20
    with arena.bystander():
        for _ in range(20):
            arena.connect("reader").ask("CLIENT", "SETNAME", b"x" * size)
        client.request("CLIENT", "LIST")
        arena.watch()


def locked(arena):
    arena.start(requirepass=SECRET)
    arena.memory_mb = arena.form.maxmemory_mb + 150


@attack
def auth_flood(arena):
    """Unauthenticated clients try passwords in pipelines."""
    locked(arena)
    clients = [arena.connect() for _ in range(arena.size(50, 200))]
    data = encode("AUTH", "default", "x" * 20) * 2000
    end = time.monotonic() + arena.size(1.5, 10)
    for client in clients:
        client.socket.setblocking(False)
    with arena.bystander(SECRET):
        while time.monotonic() < end:
            for client in clients:
                try:
                    client.socket.send(data)
                    client.socket.recv(1 << 16)
                except BlockingIOError:
                    pass


@attack
def half_requests(arena):
    """Unauthenticated clients with an unfinished request of 160 KB each."""
    locked(arena)
    half = b"*10\r\n" + (b"$16384\r\n" + b"x" * 16384 + b"\r\n") * 9 + b"$16384\r\n" + b"x" * 16000
    with arena.bystander(SECRET):
        before_mb = arena.memory()
        count = arena.size(300, 2000)
        for _ in range(count):
            arena.connect().send(half)
        arena.watch(0.5)
        arena.note(f"{(arena.memory() - before_mb) * 1024 // count} KB each")
    arena.memory_mb = arena.form.maxmemory_mb + arena.size(150, 500)


@attack
def many_arguments(arena):
    """A request that announces twenty million arguments and never ends."""
    arena.start()
    client = arena.connect()
    chunk = b"$0\r\n\r\n" * 100_000
    with arena.bystander():
        client.send(b"*20000000\r\n")
        for _ in range(arena.size(30, 199)):
            client.send(chunk)
        arena.watch(0.5)


@attack
def many_connections(arena):
    """As many clients as the machine allows, each with a small pipeline."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(arena.size(1500, 9900), hard - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(wanted + 200, 1024), hard))
    arena.start()
    with arena.bystander():
        clients = [socket.create_connection(("127.0.0.1", arena.server.port), timeout=30)
                   for _ in range(wanted)]
        for client in clients:
            client.sendall(b"CL.THROTTLE k 100 100 60\r\n" * 20)
        for client in clients:
            client.recv(100)
        for client in clients:
            client.close()
        arena.settle()
