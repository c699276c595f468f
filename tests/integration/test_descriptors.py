"""Open files: what storage needs is out of the reach of clients."""

import os
import socket

import harness

OWN = 160  # of weir and its databases, beside the files of the state and the clients
TABLES_MIN, TABLES_MAX = 32, 1024


class Descriptors(harness.ServerTest):
    def limited_server(self, soft, hard, *options, **named):
        server = self.server(*options, **named)
        server.command = ["prlimit", f"--nofile={soft}:{hard}", *server.command]
        return server

    def soft_limit(self, server):
        with open(f"/proc/{server.process.pid}/limits", encoding="ascii") as file:
            return next(int(line.split()[3]) for line in file if line.startswith("Max open files"))

    def test_the_limit_is_raised_as_far_as_needed(self):
        server = self.limited_server(256, 4096, maxclients=1000).start()
        self.assertEqual(server.call("CONFIG", "GET", "maxclients"), [b"maxclients", b"1000"])
        self.assertEqual(self.soft_limit(server), OWN + TABLES_MAX + 1000)
        self.assertNotIn("maxclients", server.log())

    def test_maxclients_is_lowered_to_what_is_left(self):
        server = self.limited_server(256, 1024).start()
        left = (1024 - OWN) * 3 // 4
        self.assertEqual(server.call("CONFIG", "GET", "maxclients"),
                         [b"maxclients", b"%d" % left])
        self.assertIn(f"maxclients:{left}\r\n".encode(), server.call("INFO", "clients"))
        self.assertEqual(self.soft_limit(server), 1024)
        self.assertIn(f" warning maxclients is lowered from 10000 to {left}: the process may open 1024"
                      " files (ulimit -n)", server.log())

    def test_config_set_knows_the_limit(self):
        server = self.limited_server(256, 2048, maxclients=100).start()
        possible = 2048 - OWN - TABLES_MAX
        with server.connect() as client:
            with self.assertRaises(harness.Refused) as caught:
                client.call("CONFIG", "SET", "timeout", 7, "maxclients", possible + 1)
            self.assertEqual(
                str(caught.exception),
                "ERR CONFIG SET failed (possibly related to argument 'maxclients') - The operating"
                f" system is not able to handle the specified number of clients, try with {possible}")
            self.assertEqual(client.call("CONFIG", "GET", "maxclients"),
                             [b"maxclients", b"100"])
            self.assertEqual(client.call("CONFIG", "GET", "timeout"), [b"timeout", b"0"])
            self.assertEqual(client.call("CONFIG", "SET", "maxclients", possible), "OK")
            self.assertEqual(self.soft_limit(server), 2048)
            self.assertEqual(client.call("CONFIG", "SET", "maxclients", 50), "OK")
            self.assertEqual(client.call("CONFIG", "GET", "maxclients")[1], b"50")

    def test_too_few_for_anything(self):
        least = OWN + TABLES_MIN + 1
        for limit in (16, least - 1):
            self.assert_start_fails(
                self.limited_server(limit, limit),
                f"the process may open {limit} files (ulimit -n) and needs at least {least}")
        self.limited_server(least, least).start()

    def test_without_files_few_are_enough(self):
        server = self.limited_server(40, 40, storage="memory").start()
        self.assertEqual(server.call("CONFIG", "GET", "maxclients"), [b"maxclients", b"8"])

    def test_clients_cannot_take_what_storage_needs(self):
        """Nobody needs a password to connect. Small files and often written, so that storage opens
        many of them while others hold all connections there are."""
        for limit in (256, 1024):
            server = self.limited_server(limit, limit, write_back_interval_ms=50,
                                         wal_bytes_max="1mb", requirepass="secret").start()
            with server.connect() as client:
                client.call("AUTH", "secret")
                strangers = self.connect_all(server, limit)
                self.write_often(server, client, 4000)
                # The last of them have been refused, and hold nothing.
                self.assertIn(b"max number of clients", strangers[-1].recv(100))
                for stranger in strangers:
                    stranger.close()
            self.assertNotIn("could not be accepted", server.log())
            server.stop()

    def connect_all(self, server, count):
        return [socket.create_connection(("127.0.0.1", server.port), timeout=20)
                for _ in range(count)]

    def write_often(self, server, client, count):
        """None is refused, and storage stays within its own."""
        held_max = 0
        maxclients = int(client.call("CONFIG", "GET", "maxclients")[1])
        value = os.urandom(3000)
        for i in range(count):
            self.assertEqual(client.call("SET", f"k{i}", b"%d" % i + value), "OK")
            if i % 20 == 0:
                held_max = max(held_max, len(os.listdir(f"/proc/{server.process.pid}/fd")))
        self.assertLessEqual(held_max, self.soft_limit(server))
        self.assertGreaterEqual(held_max, maxclients)


if __name__ == "__main__":
    harness.main()
