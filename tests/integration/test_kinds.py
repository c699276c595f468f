"""Each kind of connection, whatever it waits for: a stop ends it, CLIENT KILL ends it, and `timeout`
ends those that are silent by themselves, as in Redis."""

import socket
import time

import harness
from support.certificates import Certificates


class Kinds(harness.ServerTest):
    # Those whom `timeout` leaves alone, since they wait for weir.
    WAIT_FOR_WEIR = {"subscriber", "monitor", "blocked", "waiter"}
    # No session yet, so CLIENT LIST does not have it.
    UNAUTHENTICATED = {"tls handshake"}

    def start_all(self, **options):
        """A server, and a connection of each kind, by its name."""
        self.http, self.metrics, self.tls = (harness.free_port() for _ in range(3))
        files = Certificates(self.path("certificates"))
        server = self.memory_server(http_port=self.http, metrics_port=self.metrics, tls_port=self.tls,
                                    **files.options(), **options)
        with server.connect() as first:
            first.call("RL.TAKE", "taken", "1/1h")
        answered = b"HTTP/1.1"
        kinds = {
            "silent": (server.port, b"", None),
            "asked": (server.port, b"PING\r\n", b"+PONG"),
            "half a request": (server.port, b"*2\r\n$4\r\nEC", None),
            "subscriber": (server.port, b"SUBSCRIBE news\r\n", b"*3"),
            "monitor": (server.port, b"MONITOR\r\n", b"+OK"),
            "blocked": (server.port, b"BLPOP none 0\r\n", None),
            "waiter": (server.port, b"RL.ACQUIRE taken 1/1h TIMEOUT 0\r\n", None),
            "http silent": (self.http, b"", None),
            "http asked": (self.http, b"GET /v1/gate?limits=9/1h&key=k HTTP/1.1\r\nHost: weir\r\n\r\n", answered),
            "http half": (self.http, b"GET /v1/ga", None),
            "metrics asked": (self.metrics, b"GET /healthz HTTP/1.1\r\nHost: weir\r\n\r\n", answered),
            "tls handshake": (self.tls, b"", None),
        }
        sockets = {}
        for name, (port, words, begin) in kinds.items():
            connection = socket.create_connection(("127.0.0.1", port), timeout=harness.PATIENCE_S)
            self.addCleanup(connection.close)
            connection.sendall(words)
            if begin is not None:
                self.assertTrue(connection.recv(65536).startswith(begin), name)
            sockets[name] = connection
        harness.wait_until(lambda: server.call("INFO", "clients").count(b"blocked_clients:2") == 1, "two wait")
        return server, sockets

    def is_closed(self, connection, within_s):
        """What is still on its way is read before the end."""
        until = time.monotonic() + within_s
        connection.settimeout(0.05)
        while True:
            try:
                if connection.recv(65536) == b"":
                    return True
            except TimeoutError:
                if time.monotonic() > until:
                    return False
            except ConnectionResetError:
                return True

    def test_a_stop_ends_all(self):
        server, sockets = self.start_all()
        began = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - began, 5)
        for name, connection in sockets.items():
            self.assertTrue(self.is_closed(connection, 1), name)

    def test_client_kill_ends_each(self):
        server, sockets = self.start_all()
        with server.connect() as admin:
            for name, connection in sockets.items():
                if name in self.UNAUTHENTICATED:
                    continue
                address = "%s:%d" % connection.getsockname()
                self.assertEqual(admin.call("CLIENT", "KILL", "ADDR", address), 1, name)
                self.assertTrue(self.is_closed(connection, harness.PATIENCE_S), name)
            self.assertEqual(admin.call("INFO", "clients").count(b"blocked_clients:0"), 1)

    def test_timeout_ends_who_is_silent_by_himself(self):
        server, sockets = self.start_all(timeout=1)
        time.sleep(2.5)
        for name, connection in sockets.items():
            if name in self.UNAUTHENTICATED:
                continue
            self.assertEqual(self.is_closed(connection, 0.3), name not in self.WAIT_FOR_WEIR, name)


if __name__ == "__main__":
    harness.main()
