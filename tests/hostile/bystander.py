"""Somebody who only sends PING, in a process of its own: bystander.py PORT [PASSWORD]

It says "ready", goes on until its standard input ends, and then says the longest wait in
milliseconds, the number of PINGs, and 1 if it lost its connection. A PING that is still without an
answer counts with what it has waited so far.
"""

import select
import socket
import sys
import time

INTERVAL_S = 0.003
PING = b"*1\r\n$4\r\nPING\r\n"


class Bystander:
    def __init__(self, port, password):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if password:
            self.socket.sendall(b"*2\r\n$4\r\nAUTH\r\n$%d\r\n%s\r\n" % (len(password), password))
            self.socket.recv(100)
        self.worst_s = 0.0
        self.pings = 0
        self.lost = 0

    def wait(self, timeout_s, with_socket):
        """Whether the attack is over, and whether there is something to read."""
        watched = [sys.stdin, self.socket] if with_socket else [sys.stdin]
        ready = select.select(watched, [], [], timeout_s)[0]
        return sys.stdin in ready, self.socket in ready

    def ping(self):
        """False: the attack is over, or the connection is."""
        sent = time.perf_counter()
        try:
            self.socket.sendall(PING)
            over, answered = self.wait(None, with_socket=True)
            if answered and not self.socket.recv(100):
                raise ConnectionResetError
        except OSError:
            self.lost = 1
            return False
        self.worst_s = max(self.worst_s, time.perf_counter() - sent)
        self.pings += 1
        return not over

    def run(self):
        print("ready", flush=True)
        while self.ping() and not self.wait(INTERVAL_S, with_socket=False)[0]:
            pass
        if self.lost:
            sys.stdin.read()
        print(f"{self.worst_s * 1000:.1f} {self.pings} {self.lost}", flush=True)


if __name__ == "__main__":
    Bystander(int(sys.argv[1]), b"".join(word.encode() for word in sys.argv[2:])).run()
