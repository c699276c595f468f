"""Between a client and weir: a proxy that is late, loses replies or cuts; and a server that answers what it is told."""

import contextlib
import socket
import threading
import time


class Listener:
    """Serves each connection in a thread of its own."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        self._sockets = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets.append(client)
                threading.Thread(target=self._quietly, args=(client,), daemon=True).start()

    def _quietly(self, client):
        with contextlib.suppress(OSError), client:
            self.serve(client)

    def serve(self, client):
        raise NotImplementedError

    def cut(self):
        """Ends all connections."""
        for sock in self._sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()


class Proxy(Listener):
    """`delay`: seconds before each reply. `trickle`: seconds between its bytes. `lose`: the replies to so many
    requests that name RL.TAKE are lost, with their connections."""

    def __init__(self, port):
        self._to = port
        self.delay = self.trickle = 0.0
        self.lose = 0
        super().__init__()

    def serve(self, client):
        with socket.create_connection(("127.0.0.1", self._to)) as server:
            self._sockets.append(server)
            lost = threading.Event()
            threading.Thread(target=self._replies, args=(server, client, lost), daemon=True).start()
            while data := client.recv(65536):
                if self.lose and b"RL.TAKE" in data:
                    self.lose -= 1
                    lost.set()
                server.sendall(data)

    def _replies(self, server, client, lost):
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                if lost.is_set():
                    client.shutdown(socket.SHUT_RDWR)
                    return
                time.sleep(self.delay)
                for piece in ([data[at:at + 1] for at in range(len(data))] if self.trickle else [data]):
                    time.sleep(self.trickle)
                    client.sendall(piece)


class Answering(Listener):
    """Answers each command by its name, in upper case, from `replies` (bytes of the protocol), else +OK.
    It speaks RESP3."""

    def __init__(self, **replies):
        self.replies = {"HELLO": b"%1\r\n+proto\r\n:3\r\n",
                        **{name.replace("_", "."): reply for name, reply in replies.items()}}
        self.seen = []
        super().__init__()

    def serve(self, client):
        with client.makefile("rb") as lines:
            while head := lines.readline():
                words = []
                for _ in range(int(head[1:])):
                    size = int(lines.readline()[1:])
                    words.append(lines.read(size + 2)[:-2].decode())
                self.seen.append(words)
                client.sendall(self.replies.get(words[0].upper(), b"+OK\r\n"))
