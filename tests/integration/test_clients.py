"""Many, idle, greedy and deaf clients: what one does costs the others nothing."""

import time

import harness


class Bounds(harness.ServerTest):
    def test_maxclients(self):
        server = self.memory_server(maxclients=3)
        clients = [server.connect() for _ in range(3)]
        for client in clients:
            self.assertEqual(client.call("PING"), "PONG")
        with server.connect() as one_too_many:
            self.assertEqual(one_too_many.rest(), b"-ERR max number of clients reached\r\n")
        clients.pop().close()
        harness.wait_until(lambda: clients[0].call("CLIENT", "LIST").count(b"\n") == 2, "room")
        with server.connect() as client:
            self.assertEqual(client.call("PING"), "PONG")
        for client in clients:
            client.close()

    def test_idle_clients_are_closed(self):
        server = self.memory_server(timeout=1)
        with server.connect() as idle, server.connect() as busy:
            self.assertEqual(idle.call("PING"), "PONG")
            began = time.monotonic()
            idle.socket.settimeout(0.1)
            while True:
                self.assertEqual(busy.call("PING"), "PONG")
                try:
                    self.assertEqual(idle.socket.recv(1), b"")
                    break
                except TimeoutError:
                    pass
            self.assertGreater(time.monotonic() - began, 0.9)
            self.assertEqual(busy.call("PING"), "PONG")

    def test_a_request_that_is_too_large(self):
        server = self.memory_server(client_query_buffer_limit="1mb")
        with server.connect() as client:
            client.send(b"*2\r\n$4\r\nECHO\r\n$20000000\r\n")
            try:
                for _ in range(40):
                    client.send(b"x" * 100_000)
            except (BrokenPipeError, ConnectionResetError):
                pass
            self.assert_closed(client)
        harness.wait_until(lambda: "client-query-buffer-limit" in server.log(), "a line about it")
        self.assertEqual(server.call("PING"), "PONG")

    def test_a_reader_that_does_not_read(self):
        server = self.memory_server("--client-output-buffer-limit", "normal", "3mb", "0", "0")
        with server.connect() as deaf, server.connect() as other:
            payload = b"x" * 200_000
            deaf.socket.settimeout(harness.PATIENCE_S)
            request = harness.encode("ECHO", payload) + b"".join(
                harness.encode("GET", "big") for _ in range(200))
            self.assertEqual(other.call("SET", "big", payload), "OK")
            try:
                for _ in range(100):
                    deaf.send(request)
            except (BrokenPipeError, ConnectionResetError):
                pass
            harness.wait_until(lambda: other.call("CLIENT", "LIST").count(b"\n") == 1,
                               "the deaf client is gone")
            self.assertIn("client-output-buffer-limit", server.log())

    def test_a_protocol_error_is_answered_before_the_end(self):
        server = self.memory_server()
        with server.connect() as client:
            client.send(b"PING\r\n*1\r\n$x\r\n")
            self.assertEqual(client.rest(),
                             b"+PONG\r\n-ERR Protocol error: invalid bulk length\r\n")

    def test_a_peer_that_has_said_everything_is_answered(self):
        server = self.memory_server()
        with server.connect() as client:
            client.send(b"PING\r\nECHO hello\r\n")
            client.socket.shutdown(1)
            self.assertEqual(client.rest(), b"+PONG\r\n$5\r\nhello\r\n")

    def test_a_pipeline_longer_than_any_buffer(self):
        server = self.memory_server()
        count = 20_000
        value = "v" * 100
        with server.connect() as client, server.connect() as other:
            client.socket.setblocking(False)
            left = memoryview(b"".join(harness.encode("ECHO", value) for _ in range(count)))
            got = 0
            while left or got < count * 108:
                try:
                    left = left[client.socket.send(left[:65536]):] if left else left
                except BlockingIOError:
                    pass
                try:
                    got += len(client.socket.recv(65536))
                except BlockingIOError:
                    pass
            self.assertEqual(got, count * 108)
            self.assertEqual(other.call("PING"), "PONG")

    def test_five_hundred_clients(self):
        server = self.memory_server()
        clients = [server.connect() for _ in range(500)]
        for index, client in enumerate(clients):
            client.send(harness.encode("INCR", "n") * 10 + harness.encode("ECHO", index))
        for index, client in enumerate(clients):
            self.assertTrue(all(isinstance(client.read(), int) for _ in range(10)))
            self.assertEqual(client.read(), b"%d" % index)
        self.assertEqual(clients[0].call("GET", "n"), b"5000")
        for client in clients:
            client.close()


class Govern(harness.ServerTest):
    def test_kill_closes_the_socket(self):
        server = self.memory_server()
        with server.connect() as victim, server.connect() as killer:
            number = victim.call("CLIENT", "ID")
            self.assertEqual(killer.call("CLIENT", "KILL", "ID", number), 1)
            self.assert_closed(victim)
            self.assertEqual(killer.call("CLIENT", "KILL", "SKIPME", "no"), 1)
            self.assert_closed(killer)
        self.assertEqual(server.call("PING"), "PONG")

    def test_pause_holds_back_and_lets_go(self):
        server = self.memory_server()
        with server.connect() as one, server.connect() as other:
            began = time.monotonic()
            self.assertEqual(one.call("CLIENT", "PAUSE", "300"), "OK")
            other.send(harness.encode("SET", "a", "1") + harness.encode("GET", "a"))
            self.assertEqual([other.read(), other.read()], ["OK", b"1"])
            self.assertGreaterEqual(time.monotonic() - began, 0.29)

    def test_unpause(self):
        server = self.memory_server()
        with server.connect() as one, server.connect() as other:
            one.call("CLIENT", "PAUSE", "3600000", "WRITE")
            other.send(harness.encode("SET", "a", "1"))
            self.assertEqual(one.call("GET", "a"), None)
            self.assertEqual(one.call("CLIENT", "UNPAUSE"), "OK")
            self.assertEqual(other.read(), "OK")

    def test_debug_is_off_unless_asked_for(self):
        with self.memory_server().connect() as client:
            self.assert_refused("ERR DEBUG command not allowed", client, "DEBUG", "SLEEP", "0")

    def test_debug_for_this_machine(self):
        server = self.memory_server(enable_debug_command="local")
        began = time.monotonic()
        self.assertEqual(server.call("DEBUG", "SLEEP", "0.2"), "OK")
        self.assertGreaterEqual(time.monotonic() - began, 0.2)

    def test_info_tells_of_the_process(self):
        server = self.memory_server()
        lines = server.call("INFO", "everything").decode().split("\r\n")
        fields = dict(line.split(":", 1) for line in lines if ":" in line)
        self.assertEqual(int(fields["process_id"]), server.process.pid)
        self.assertEqual(int(fields["tcp_port"]), server.port)
        self.assertEqual(fields["executable"], harness.executable)
        self.assertGreater(int(fields["used_memory_rss"]), 1 << 20)
        self.assertGreater(float(fields["used_cpu_user"]) + float(fields["used_cpu_sys"]), 0)

    def test_info_names_the_parts_of_memory(self):
        parts = ("used_memory", "mem_clients_normal", "mem_tracking_table", "used_memory_vm_total",
                 "used_memory_scripts", "mem_store_memtables", "mem_store_log_queue",
                 "mem_store_block_cache", "mem_store_table_readers", "mem_unnamed",
                 "mem_free_resident", "mem_program")
        server = self.server(write_back_interval_ms=10).start()

        def memory():
            lines = server.call("INFO", "memory").decode().split("\r\n")
            return dict(line.split(":", 1) for line in lines if ":" in line)

        def check():
            fields = memory()
            resident = int(fields["used_memory_rss"])
            total = sum(int(fields[part]) for part in parts)
            self.assertLessEqual(total, resident)
            self.assertGreater(total, resident * 9 // 10)
            return fields

        before = check()
        with server.connect() as client:
            client.call("EVAL", "for i = 1, 20000 do redis.call('SET', 'key:' .. i, 'value') end", 0)
        harness.wait_until(lambda: int(memory()["mem_store_table_readers"])
                           > int(before["mem_store_table_readers"]) + 20000,
                           "files of the state have been opened")
        after = check()
        self.assertGreater(int(after["used_memory"]), int(before["used_memory"]) + 20000 * 54)


if __name__ == "__main__":
    harness.main()
