"""Runs a program that can only be told of ports by its own source: those ports are the server's there.

    fixed_ports.py PORT[,PORT ...] SERVER_PORT PROGRAM [ARGUMENT ...]

The program gets a network of its own (a Linux network namespace) in which each of the ports on
127.0.0.1 leads to the server outside. It can reach nothing else, and nothing outside sees the ports.

Invariants:
1. No port is bound outside of the namespace: the listening sockets are made inside and handed out.
2. Every connection is passed on byte by byte; a side that closes closes the other.
"""

import contextlib
import ctypes
import fcntl
import os
import selectors
import socket
import struct
import subprocess
import sys
import threading

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def enter_network():
    """This process gets a network of its own, with nothing in it but a working loopback."""
    flags = CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWNET | CLONE_NEWUSER
    if ctypes.CDLL(None, use_errno=True).unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "no network namespace can be made here")
    with socket.socket() as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def listeners(ports):
    return [socket.create_server(("127.0.0.1", port), backlog=1024) for port in ports]


def inside(channel, ports, command, options):
    """The child: its network, its ports, then the program. Answers the program's exit status."""
    enter_network()
    sockets = listeners(ports)
    socket.send_fds(channel, [b"x"], [listener.fileno() for listener in sockets])
    for listener in sockets:
        listener.close()
    channel.close()
    return subprocess.call(command, **options)


def pass_on(pair):
    """Copies both ways until one side ends."""
    with contextlib.suppress(OSError), selectors.DefaultSelector() as ready:
        for index, side in enumerate(pair):
            ready.register(side, selectors.EVENT_READ, pair[1 - index])
        while True:
            for key, _ in ready.select():
                data = key.fileobj.recv(1 << 16)
                if not data:
                    return
                key.data.sendall(data)


def serve(connection, target):
    with connection, contextlib.suppress(OSError), socket.create_connection(target) as server:
        for side in (connection, server):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pass_on((connection, server))


def accept(listener, target):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, target), daemon=True).start()


def run(command, ports, target_port, **options):
    """The exit status of the command, which finds 127.0.0.1:target_port at each of the ports."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        status = 70
        try:
            ours.close()
            status = inside(theirs, ports, command, options)
        except OSError as error:
            print(error, flush=True)
        finally:
            os._exit(status if status >= 0 else 128 - status)
    theirs.close()
    data, handles, _, _ = socket.recv_fds(ours, 1, len(ports))
    if data:
        for handle in handles:
            threading.Thread(target=accept, args=(socket.socket(fileno=handle),
                                                  ("127.0.0.1", target_port)),
                             daemon=True).start()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def words_before(ports, target_port):
    """What stands before a program's own words, for who starts it otherwise than by run()."""
    return [sys.executable, __file__, ",".join(map(str, ports)), str(target_port)]


if __name__ == "__main__":
    sys.exit(run(sys.argv[3:], [int(port) for port in sys.argv[1].split(",")], int(sys.argv[2]),
                 close_fds=False))
