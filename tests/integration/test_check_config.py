"""--check-config says what is wrong with options that a start survives, or refuses, and each by itself is right."""

import os
import subprocess

import harness
from support.certificates import Certificates, openssl

GOOD = "the configuration is good\n"


class CheckConfig(harness.ServerTest):
    def check(self, *words, **named):
        options = [word for name, value in named.items() for word in ("--" + name.replace("_", "-"), str(value))]
        done = subprocess.run([harness.executable, "--check-config", *words, "--dir", self.path("data"), *options],
                              text=True, capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def assert_wrong(self, text, *words, **named):
        code, out, err = self.check(*words, **named)
        self.assertEqual((code, out), (1, ""), err)
        self.assertIn(text, err)

    def test_ports(self):
        self.assertEqual(self.check(), (0, GOOD, ""))
        self.assert_wrong("nothing to listen on", port=0)
        self.assertEqual(self.check(port=0, unixsocket=self.path("socket"))[0], 0)
        self.assert_wrong("port and metrics-port are both 7000", port=7000, metrics_port=7000)
        self.assertEqual(self.check(port=7000, metrics_port=7000, metrics_bind="127.0.0.2")[0], 0)

    def test_memory(self):
        self.assert_wrong("more than the", maxmemory="500000gb")

    def test_a_password_beside_a_user_who_needs_none(self):
        file = self.write("weir.conf", "user default on nopass allkeys allcommands\n")
        self.assertEqual(self.check(file)[0], 0)
        self.assert_wrong("the user default has nopass", file, requirepass="secret")

    def test_a_certificate_that_has_ended(self):
        certificates = Certificates(self.path("tls"))
        options = certificates.options(tls_port=7001)
        self.assertEqual(self.check(**options), (0, GOOD, ""))
        openssl("x509", "-req", "-in", certificates.path("server.csr"), "-CA", certificates.path("ca.crt"), "-CAkey",
                certificates.path("ca.key"), "-CAcreateserial", "-days", "-1", "-out", certificates.path("server.crt"))
        self.assert_wrong("NOT VALID since", **options)
        server = self.memory_server(**{**options, "tls_port": harness.free_port()})
        harness.wait_until(lambda: "put a new one in its place" in server.log(), "a start warns, and serves")
        self.assertEqual(server.call("PING"), "PONG")

    def test_a_folder_that_is_not_there(self):
        """A volume that is not mounted does not begin as an empty server."""
        place = self.path("volume/data")
        for dir_ in (place, place + "/", self.path("./volume/./data")):
            self.assert_wrong("volume' is not there", dir=dir_)
        for dir_ in (self.folder, self.path("new"), self.path("new/")):
            self.assertEqual(self.check(dir=dir_)[0], 0)
        self.assertEqual(self.check(dir=place, storage="memory")[0], 0)
        server = self.server(dir=place)
        self.assertEqual(server.spawn().wait()[0], 1)
        self.assertIn("volume' is not there", server.log())
        self.assertFalse(os.path.exists(self.path("volume")))
        self.server(dir=place, dir_make_parents="yes").start()
        self.assertTrue(os.path.isdir(place))

    def test_a_start_says_what_memory_it_took(self):
        log = self.memory_server().log()
        self.assertRegex(log, r"maxmemory \d+, half of what the store and the program leave: the process may have \d+ bytes \(")
        self.assertRegex(self.memory_server(maxmemory="500000gb", port=harness.free_port()).log(),
                         r"maxmemory is \d+ bytes, more than the \d+ that this process may have")


if __name__ == "__main__":
    harness.main()
