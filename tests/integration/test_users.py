"""Users over restarts and kill -9: in an aclfile, and in the configuration file."""

import random
import signal
import threading
import time

import harness


class Users(harness.ServerTest):
    def test_an_aclfile_over_kill_and_restart(self):
        path = self.write("users.acl", "user default on nopass ~* &* +@all\n"
                                       "user shop on >secret +@ratelimit ~shop:*\n")
        server = self.server(aclfile=path).start()
        self.assertEqual(server.call("ACL", "SETUSER", "clerk", "on", ">pw", "+get", "(~a +set)"),
                         "OK")
        users = server.call("ACL", "LIST")
        self.assertEqual(server.call("ACL", "SAVE"), "OK")
        server.call("ACL", "SETUSER", "unsaved")
        server.stop(signal.SIGKILL)
        server.start()
        self.assertEqual(server.call("ACL", "LIST"), users)
        with server.connect() as shop:
            self.assertEqual(shop.call("AUTH", "shop", "secret"), "OK")
            self.assertEqual(shop.call("CL.THROTTLE", "shop:1", 1, 1, 1)[0], 0)
            self.assert_refused("NOPERM", shop, "CL.THROTTLE", "other", 1, 1, 1)
            self.assert_refused("NOPERM", shop, "GET", "shop:1")
        self.assertEqual(server.stop(), 0)

    def test_saving_is_whole_or_not_at_all(self):
        path = self.write("users.acl", "")
        rng = random.Random(1)
        for _ in range(5):
            server = self.server(aclfile=path, storage="memory").start()
            saving = threading.Thread(target=self.save_until_killed, args=(server,))
            saving.start()
            time.sleep(rng.uniform(0.05, 0.2))
            server.stop(signal.SIGKILL)
            saving.join()
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            self.assertTrue(all(line.endswith(("+@all", "-@all")) for line in lines), lines[-1:])
        server = self.server(aclfile=path, storage="memory").start()
        self.assertEqual(server.call("ACL", "WHOAMI"), b"default")

    @staticmethod
    def save_until_killed(server):
        try:
            with server.connect() as client:
                for number in range(100_000):
                    client.call("ACL", "SETUSER", f"user{number}", "on", ">pw")
                    client.call("ACL", "SAVE")
        except OSError:
            pass

    def test_config_rewrite_keeps_users(self):
        path = self.write("weir.conf", "storage memory\nuser ann on >x ~* +get\n")
        server = self.server(config_file=path).start()
        server.call("ACL", "SETUSER", "bob", "on", "nopass", "+@all", "~b")
        users = server.call("ACL", "LIST")
        self.assertEqual(server.call("CONFIG", "REWRITE"), "OK")
        server.stop(signal.SIGKILL)
        server.start()
        self.assertEqual(server.call("ACL", "LIST"), users)
        with open(path, encoding="utf-8") as file:
            self.assertNotIn(">x", file.read())

    def test_what_is_wrong_stops_the_start(self):
        cases = ((self.write("users.acl", "user a +nosuch\n"), "users.acl:1: Error in applying"),
                 (self.path("missing.acl"), "No such file"))
        for path, words in cases:
            server = self.server(aclfile=path, storage="memory").spawn()
            self.assertEqual(server.wait()[0], 1)
            self.assertIn(words, server.log())

    def test_nobody_but_default_gets_in_unasked(self):
        server = self.server(storage="memory", requirepass="secret").start()
        with server.connect() as client:
            self.assert_refused("NOAUTH", client, "ACL", "WHOAMI")
            self.assert_refused("WRONGPASS", client, "AUTH", "nobody", "secret")
            self.assertEqual(client.call("AUTH", "default", "secret"), "OK")
            self.assertEqual(client.call("ACL", "DELUSER", "nobody"), 0)


if __name__ == "__main__":
    harness.main()
