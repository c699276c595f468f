"""Where weir listens, and whom it serves."""

import os
import socket
import stat

import harness


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


class Listening(harness.ServerTest):
    def test_this_machine_only_by_default(self):
        server = self.memory_server()
        self.assertEqual(server.call("PING"), "PONG")
        with self.assertRaises(ConnectionRefusedError):
            harness.Client(("127.0.0.2", server.port))
        self.assertIn(f"ready to accept connections on 127.0.0.1:{server.port}\n", server.log())

    def test_several_addresses(self):
        server = self.memory_server("--bind", "127.0.0.1", "127.0.0.2")
        for host in ("127.0.0.1", "127.0.0.2"):
            with server.connect(host) as client:
                self.assertEqual(client.call("PING"), "PONG")
                line = client.call("CLIENT", "INFO").decode()
                self.assertIn(f" laddr={host}:{server.port} ", line)

    def test_ipv6(self):
        if not has_ipv6():
            self.skipTest("this machine has no IPv6")
        server = self.memory_server("--bind", "127.0.0.1", "::1")
        with server.connect("::1") as client:
            self.assertEqual(client.call("PING"), "PONG")
            self.assertIn(f" laddr=[::1]:{server.port} ", client.call("CLIENT", "INFO").decode())
        with server.connect() as client:
            self.assertEqual(client.call("PING"), "PONG")

    def test_every_address(self):
        server = self.memory_server("--bind", "*")
        for host in ("127.0.0.1", "127.0.0.9"):
            with server.connect(host) as client:
                self.assertEqual(client.call("PING"), "PONG")

    def test_an_address_that_may_be_missing(self):
        server = self.memory_server("--bind", "127.0.0.1", "-192.0.2.1")
        self.assertEqual(server.call("PING"), "PONG")
        self.assertIn("cannot listen on 192.0.2.1", server.log())

    def test_an_address_that_must_be_there(self):
        server = self.server("--bind", "192.0.2.1", storage="memory", logfile="")
        code, _, err = server.spawn().wait()
        self.assertEqual(code, 1)
        self.assertIn("cannot listen on 192.0.2.1", err)

    def test_a_port_in_use(self):
        first = self.memory_server()
        second = self.server(port=first.port, storage="memory", logfile="")
        code, _, err = second.spawn().wait()
        self.assertEqual(code, 1)
        self.assertIn(f"cannot listen on 127.0.0.1:{first.port}: Address already in use", err)
        self.assertEqual(first.call("PING"), "PONG")

    def test_unix_socket(self):
        path = self.path("weir.sock")
        server = self.memory_server(unixsocket=path, unixsocketperm="770")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o770)
        with harness.Client(path) as client:
            self.assertEqual(client.call("PING"), "PONG")
            line = client.call("CLIENT", "INFO").decode()
            self.assertIn(f" addr={path}:0 laddr={path}:0 ", line)
            self.assertIn(" flags=U ", line)
        self.assertEqual(server.call("PING"), "PONG")
        self.assertEqual(server.stop(), 0)
        self.assertFalse(os.path.exists(path))

    def test_unix_socket_alone_and_over_a_dead_one(self):
        path = self.path("weir.sock")
        with socket.socket(socket.AF_UNIX) as left_behind:
            left_behind.bind(path)
        self.memory_server(unixsocket=path, port=0)
        with harness.Client(path) as client:
            self.assertEqual(client.call("PING"), "PONG")

    def test_a_unix_socket_does_not_replace_a_file(self):
        path = self.write("precious", "text")
        server = self.server(unixsocket=path, storage="memory", logfile="")
        code, _, err = server.spawn().wait()
        self.assertEqual(code, 1)
        self.assertIn("exists and is not a socket", err)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "text")

    def test_nothing_to_listen_on(self):
        server = self.server(port=0, storage="memory", logfile="")
        code, _, err = server.spawn().wait()
        self.assertEqual(code, 1)
        self.assertIn("nothing to listen on", err)

    def test_a_password(self):
        server = self.memory_server(requirepass="se cret")
        with server.connect() as client:
            self.assert_refused("NOAUTH ", client, "GET", "a")
            self.assert_refused("WRONGPASS ", client, "AUTH", "secret")
            self.assertEqual(client.call("AUTH", "se cret"), "OK")
            self.assertEqual(client.call("GET", "a"), None)
            self.assertEqual(client.call("CONFIG", "SET", "requirepass", "new"), "OK")
            self.assertEqual(client.call("GET", "a"), None)
        with server.connect() as client:
            self.assertEqual(client.call("AUTH", "new"), "OK")

    def test_a_web_page_gets_no_word(self):
        server = self.memory_server()
        with server.connect() as client:
            client.send(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nSET a 1\r\n")
            self.assert_closed(client)
        self.assertIn("SECURITY ATTACK", server.log())
        self.assertEqual(server.call("EXISTS", "a"), 0)


if __name__ == "__main__":
    harness.main()
