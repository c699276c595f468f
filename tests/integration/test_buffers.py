"""What waits between a client and the server: replies that are not read, requests that cannot run
yet, and requests of unauthenticated clients that never end."""

import threading

import harness

MB = 1 << 20


class Buffers(harness.ServerTest):
    def test_slow_readers_get_every_byte_in_order(self):
        server = self.memory_server("--client-output-buffer-limit", "normal", "0", "0", "0")
        values = [bytes([65 + i]) * (MB + i) for i in range(8)]
        for i, value in enumerate(values):
            self.assertEqual(server.call("SET", f"k{i}", value), "OK")
        clients = [server.connect() for _ in range(4)]
        for client in clients:
            client.send(b"".join(harness.encode("GET", f"k{i % 8}") for i in range(40)))
        self.assertEqual(server.call("PING"), "PONG")
        for turn in range(40):
            for client in clients:
                self.assertEqual(client.read(), values[turn % 8])
        for client in clients:
            self.assertEqual(client.call("PING"), "PONG")
            client.close()

    def test_one_large_reply_leaves_room_for_others(self):
        server = self.memory_server("--client-output-buffer-limit", "normal", "0", "0", "0")
        self.assertEqual(server.call("SET", "k", b"x" * (64 * MB)), "OK")
        with server.connect() as client:
            client.send(harness.encode("GET", "k") + harness.encode("PING"))
            self.assertEqual(client.file.readline(), b"$%d\r\n" % (64 * MB))
            left = 64 * MB
            while left > 0:
                left -= len(client.file.read(min(left, MB)))
                self.assertEqual(server.call("PING"), "PONG")
            self.assertEqual(client.file.read(2), b"\r\n")
            self.assertEqual(client.read(), "PONG")

    def test_a_backlog_behind_a_wait_runs_in_order(self):
        server = self.memory_server()
        count = 200_000
        with server.connect() as client:
            client.send(harness.encode("BLPOP", "list", 0))
            pipeline = b"".join(b"ECHO %d\r\n" % i for i in range(count))
            writer = threading.Thread(target=client.send, args=(pipeline,))
            writer.start()
            harness.wait_until(
                lambda: f"qbuf={len(pipeline)} " in server.call("CLIENT", "LIST").decode(),
                "the backlog has arrived")
            writer.join()
            self.assertEqual(server.call("RPUSH", "list", "x"), 1)
            self.assertEqual(client.read(), [b"list", b"x"])
            for i in range(count):
                self.assertEqual(client.read(), b"%d" % i)

    def test_an_unauthenticated_client_does_not_stay(self):
        server = self.memory_server("--authentication-timeout", "1", requirepass="secret")
        with server.connect() as friend:
            self.assertEqual(friend.call("AUTH", "secret"), "OK")
            with server.connect() as half, server.connect() as silent:
                half.send(b"*2\r\n$4\r\nAUTH\r\n$100\r\nx")
                self.assert_closed(half)
                self.assert_closed(silent)
            self.assertEqual(friend.call("PING"), "PONG")

    def test_an_unauthenticated_clients_request_is_bounded(self):
        server = self.memory_server(requirepass="secret")
        with server.connect() as client:
            whole = b"$16000\r\n" + b"x" * 16000 + b"\r\n"
            client.send(b"*10\r\n" + whole * 2 + whole[:800])
            with self.assertRaises(harness.Refused) as caught:
                client.read()
            self.assertIn("unauthenticated request too large", str(caught.exception))
            self.assert_closed(client)


if __name__ == "__main__":
    harness.main()
