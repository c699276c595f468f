"""Handshakes of TLS: many that are begun and never ended, and many that are begun at once."""

import socket
import ssl
import time

from arena import metrics, harness
from attacks import attack
from support.certificates import Certificates

HALF = 1000


def start(arena, algorithm):
    certificates = Certificates(f"{arena.folder}/tls")
    if algorithm == "rsa":
        certificates.make("server", "weir", names="DNS:localhost",
                          algorithm=("rsa", "rsa_keygen_bits:2048"))
    port = harness.free_port()
    arena.start(tls_port=port, **certificates.options())
    return port, ssl.create_default_context(cafile=certificates.path("ca.crt"))


def hello(context):
    """The first bytes of a client."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def metric(client, name):
    return int(metrics(client.call("INFO", "weir"))[name])


def half_handshakes(arena, algorithm, waits):
    port, context = start(arena, algorithm)
    first = hello(context)
    admin = arena.connect()
    sockets = []
    with arena.bystander():
        for _ in range(HALF):
            attacker = socket.create_connection(("127.0.0.1", port))
            sockets.append(attacker)
            if not waits:
                attacker.sendall(first)
        for attacker in sockets if waits else []:
            attacker.sendall(first)
        arena.watch(2)
        pending = metric(admin, "tls_handshakes_pending")
        arena.expect(pending == HALF, f"{pending} handshakes are pending, and not {HALF}")
        began = time.monotonic()
        with harness.Client(port, context=context) as client:
            arena.expect(client.call("PING") == "PONG", "nobody else gets in")
        arena.note(f"somebody else came in after {1000 * (time.monotonic() - began):.0f} ms")
    for attacker in sockets:
        attacker.close()
    arena.settle()


@attack
def tls_half_handshakes(arena):
    """A thousand clients send their first bytes one after another, and no more."""
    half_handshakes(arena, "ec", waits=False)


@attack
def tls_half_handshakes_rsa(arena):
    """A thousand clients send their first bytes at once; each costs a signature of RSA."""
    half_handshakes(arena, "rsa", waits=True)


@attack
def tls_silent(arena):
    """More connections than handshakes may be pending, which say nothing."""
    port, context = start(arena, "ec")
    admin = arena.connect()
    sockets = []
    with arena.bystander():
        for _ in range(2500):
            sockets.append(socket.create_connection(("127.0.0.1", port)))
        arena.watch(0.5)
        pending = metric(admin, "tls_handshakes_pending")
        arena.expect(pending <= 2048, f"{pending} handshakes are pending")
        with harness.Client(port, context=context) as client:
            arena.expect(client.call("PING") == "PONG", "nobody else gets in")
    for attacker in sockets:
        attacker.close()
    arena.settle()
