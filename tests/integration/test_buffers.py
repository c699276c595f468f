"""What waits between a client and the server: replies that are not read, and requests that cannot
run yet."""

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


if __name__ == "__main__":
    harness.main()
