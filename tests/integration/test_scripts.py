"""Scripts that run long, seen from other connections; libraries over a restart."""

import os
import signal

import harness

BUSY = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
LOOP = "redis.call('SET', 'k', 'wet') while true do end"


class LongScripts(harness.ServerTest):
    def busy_server(self, **named):
        return self.server(busy_reply_threshold=20, script_time_limit_ms=0, **named).start()

    def start_loop(self, server, script=LOOP):
        """A client whose script runs, once others are told so."""
        client = server.connect()
        client.send(harness.encode("EVAL", script, 0))
        harness.wait_until(lambda: self.is_busy(server), "the script runs long")
        return client

    def is_busy(self, server):
        try:
            server.call("PING")
        except harness.Refused as refusal:
            return str(refusal) == BUSY
        return False

    def test_is_killed_and_undone(self):
        server = self.busy_server()
        server.call("SET", "k", "dry")
        with server.connect() as idle:
            looping = self.start_loop(server)
            self.assert_refused(BUSY, idle, "GET", "k")
            self.assertEqual(idle.call("MULTI"), "OK")
            self.assertEqual(idle.call("DISCARD"), "OK")
            self.assertEqual(idle.call("SCRIPT", "KILL"), "OK")
            with self.assertRaises(harness.Refused) as killed:
                looping.read()
            self.assertIn("Script killed by user with SCRIPT KILL", str(killed.exception))
            self.assertEqual(idle.call("GET", "k"), b"dry")
            self.assertEqual(looping.call("PING"), "PONG")
            self.assert_refused("NOTBUSY", idle, "SCRIPT", "KILL")
        looping.close()

    def test_clients_come_and_go_meanwhile(self):
        server = self.busy_server()
        clients = [server.connect() for _ in range(50)]
        looping = self.start_loop(server)
        for number, client in enumerate(clients):
            client.send(harness.encode("INCR", "n") * (number + 1))
        for client in clients[::2]:
            client.close()  # with its replies unread
        for number, client in enumerate(clients[1::2]):
            self.assert_all_refused(client, 2 * number + 2)
        looping.close()  # its script goes on
        self.assertTrue(self.is_busy(server))
        self.assertEqual(server.call("SCRIPT", "KILL"), "OK")
        harness.wait_until(lambda: not self.is_busy(server), "the script has ended")
        for client in clients[1::2]:
            self.assertEqual(client.call("PING"), "PONG")
            client.close()
        self.assertEqual(server.call("EXISTS", "k", "n"), 0)

    def assert_all_refused(self, client, count):
        for _ in range(count):
            with self.assertRaises(harness.Refused) as caught:
                client.read()
            self.assertEqual(str(caught.exception), BUSY)

    def test_pipelined_requests_wait_behind_the_script(self):
        server = self.busy_server()
        client = server.connect()
        client.send(harness.encode("SET", "a", 1) + harness.encode("EVAL", LOOP, 0)
                    + harness.encode("GET", "a") + harness.encode("EXISTS", "k"))
        harness.wait_until(lambda: self.is_busy(server), "the script runs long")
        client.send(harness.encode("GET", "a"))
        self.assertTrue(self.is_busy(server))  # whoever was heard would have been answered by now
        self.assertEqual(server.call("SCRIPT", "KILL"), "OK")
        self.assertEqual(client.read(), "OK")
        with self.assertRaises(harness.Refused) as killed:
            client.read()
        self.assertIn("Script killed by user", str(killed.exception))
        self.assertEqual([client.read(), client.read(), client.read()], [b"1", 0, b"1"])
        client.close()

    def test_sigterm_and_shutdown_end_it(self):
        for ends in ("signal", "command"):
            server = self.busy_server()
            server.call("SET", "before", "1")
            looping = self.start_loop(server)
            if ends == "signal":
                self.assertEqual(server.stop(), 0)
            else:
                with server.connect() as client:
                    self.assert_refused(BUSY, client, "SHUTDOWN")
                    client.send(harness.encode("SHUTDOWN", "NOSAVE"))
                    self.assertEqual(server.wait()[0], 0)
            looping.close()
            server.start()
            self.assertEqual(server.call("MGET", "before", "k"), [b"1", None])
            server.stop()

    def test_the_time_limit_ends_it_by_default(self):
        server = self.server(script_time_limit_ms=50).start()
        with server.connect() as client:
            self.assert_refused("ERR the script ran longer", client, "EVAL", LOOP, 0)
            self.assertEqual(client.call("EXISTS", "k"), 0)


class Libraries(harness.ServerTest):
    CODE = "#!lua name=a\nredis.register_function('f', function(k) return redis.call('INCR', k[1]) end)"

    def test_outlive_kill_and_flushall(self):
        server = self.server().start()
        self.assertEqual(server.call("FUNCTION", "LOAD", self.CODE), b"a")
        self.assertEqual(server.call("FCALL", "f", 1, "k"), 1)
        server.call("FLUSHALL")
        listed = server.call("FUNCTION", "LIST", "WITHCODE")
        server.stop(signal.SIGKILL)
        server.start()
        self.assertEqual(server.call("FUNCTION", "LIST", "WITHCODE"), listed)
        self.assertEqual(server.call("FCALL", "f", 1, "k"), 1)

    def test_are_in_checkpoints(self):
        server = self.server().start()
        server.call("FUNCTION", "LOAD", self.CODE)
        server.call("SAVE")
        server.stop()
        checkpoints = os.path.join(server.data, "checkpoints")
        copy = self.server(dir=os.path.join(checkpoints, sorted(os.listdir(checkpoints))[-1]))
        copy.start()
        self.assertEqual(copy.call("FCALL", "f", 1, "k"), 1)


if __name__ == "__main__":
    harness.main()
