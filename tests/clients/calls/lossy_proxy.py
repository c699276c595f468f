"""A TCP proxy that loses replies on purpose, and counts how often a client sent a command.

Invariants:
1. What the client sends always reaches the server: only replies are lost, so the server has done
   what the client never hears of.
2. A command is known by its key, which no other command of the run has.
3. When one side of a connection ends, the proxy ends the other.
"""

import contextlib
import socket
import threading

CUT, SILENCE = "cut", "silence"


class LossyProxy:
    """Listens on `port` and forwards to the server's port until close()."""

    def __init__(self, server_port):
        self.server_port = server_port
        self.lock = threading.Lock()
        self.counts = {}  # key -> how often a client sent it
        self.clients = []  # every connection of a client that there was
        self.losses = {}  # key -> [how often a reply to it is still lost, CUT or SILENCE]
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def lose(self, key, times=1, how=CUT):
        """The next replies to the command with this key are lost: the connection is cut when the
        reply comes, or the reply is kept back and the connection stays (SILENCE)."""
        with self.lock:
            self.counts[key.encode()] = 0
            self.losses[key.encode()] = [times, how]

    def watch(self, key):
        self.lose(key, times=0)

    def sent(self, key):
        with self.lock:
            return self.counts[key.encode()]

    def cut(self):
        """Ends all connections there are, as a server or a network does."""
        with self.lock:
            clients, self.clients = self.clients, []
        for client in clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.server_port))
            except OSError:
                return
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.clients.append(client)
            asked = []  # the watched keys that were sent here, each until its reply
            for body in (self.forward_requests, self.forward_replies):
                threading.Thread(target=body, args=(client, server, asked), daemon=True).start()

    def forward_requests(self, client, server, asked):
        with ending(client, server):
            while data := client.recv(65536):
                with self.lock:
                    for key in self.counts:
                        found = data.count(key)
                        self.counts[key] += found
                        asked += [key] * found
                server.sendall(data)

    def forward_replies(self, client, server, asked):
        silent = False
        with ending(client, server):
            while data := server.recv(65536):
                how = self.loss(asked)
                if how == CUT:
                    return
                silent = silent or how == SILENCE
                if not silent:
                    client.sendall(data)

    def loss(self, asked):
        """How this reply is lost, if it is one to a watched command whose replies are lost."""
        with self.lock:
            if not asked:
                return None
            loss = self.losses[asked.pop(0)]
            if loss[0] == 0:
                return None
            loss[0] -= 1
            return loss[1]


@contextlib.contextmanager
def ending(*ends):
    """A side that goes away is the end of a connection, never an error of the proxy."""
    try:
        yield
    except OSError:
        pass
    finally:
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
