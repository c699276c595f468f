"""Connections over TLS, with redis-cli, redis-py and Python's own ssl at the other end."""

import contextlib
import http.client
import os
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import time
import unittest
from pathlib import Path

import harness
from support.certificates import Certificates
from support.resp import metrics

try:
    import redis
except ImportError:
    redis = None

CLI = shutil.which("redis-cli")
TIMEOUT_S = 10  # of a handshake


class TlsClient(harness.Client):
    """A connection over TLS that speaks RESP2."""

    def exchange(self, data, size):
        """Sends while it reads so many bytes. One thread: an SSL object serves one at a time."""
        self.socket.setblocking(False)
        came = bytearray()
        data = memoryview(data)
        while len(came) < size:
            moved = False
            with contextlib.suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError):
                if data:
                    data = data[self.socket.send(data[:16384]):]
                    moved = True
            with contextlib.suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError):
                piece = self.socket.recv(1 << 16)
                if not piece:
                    break
                came += piece
                moved = True
            if not moved:
                select.select([self.socket], [self.socket] if data else [], [], harness.PATIENCE_S)
        return bytes(came)


class Tls(harness.ServerTest):
    def setUp(self):
        super().setUp()
        self.certificates = Certificates(self.path("tls"))
        self.tls_port = harness.free_port()

    def tls_server(self, *options, **named):
        return self.server(*options, **{"tls_port": self.tls_port, "storage": "memory",
                                        **self.certificates.options(), **named})

    def context(self, name=None):
        context = ssl.create_default_context(cafile=self.certificates.path("ca.crt"))
        if name:
            context.load_cert_chain(self.certificates.path(name + ".crt"),
                                    self.certificates.path(name + ".key"))
        return context

    def connect(self, name=None):
        return TlsClient(self.tls_port, context=self.context(name))

    def metric(self, client, name):
        return int(metrics(client.call("INFO", "weir"))[name])

    def cli(self, *words, port=None):
        done = subprocess.run(
            [CLI, "--tls", "--cacert", self.certificates.path("ca.crt"), "-h", "localhost", "-p",
             str(port or self.tls_port), *words], capture_output=True, timeout=30, check=False)
        return (done.stdout + done.stderr).decode()


class Serving(Tls):
    def test_beside_the_plain_port(self):
        server = self.tls_server().start()
        self.assertIn(f"127.0.0.1:{server.port}, 127.0.0.1:{self.tls_port} (TLS)", server.log())
        self.assertIn("/server.crt has CN=weir, valid until ", server.log())
        with self.connect() as client:
            self.assertEqual(client.call("PING"), "PONG")
            self.assertEqual(client.call("SET", "a", "b" * 3_000_000), "OK")
            self.assertEqual(len(client.call("GET", "a")), 3_000_000)
            self.assertEqual(self.metric(client, "tls_handshakes"), 1)
            self.assertEqual(self.metric(client, "tls_handshakes_failed"), 0)
            self.assertEqual(client.call("CONFIG", "GET", "tls-port")[1].decode(),
                             str(self.tls_port))
        self.assertEqual(server.call("PING"), "PONG")
        self.assertEqual(server.stop(), 0)

    def test_in_place_of_the_plain_port(self):
        server = self.tls_server(port=0).start()
        self.assertIn(f"on 127.0.0.1:{self.tls_port} (TLS)\n", server.log())
        with self.connect() as client:
            self.assertIn(f"tcp_port:{self.tls_port}\r\n".encode(), client.call("INFO", "server"))

    def test_what_a_client_sends_with_its_last_word_of_the_handshake(self):
        """With TLS 1.3 it sends its first request at once; it may come inside OpenSSL already."""
        self.tls_server().start()
        for _ in range(50):
            with self.connect() as client:
                client.send(harness.encode("PING") * 3)
                self.assertEqual([client.read() for _ in range(3)], ["PONG"] * 3)

    def test_pipelines_larger_than_every_buffer(self):
        self.tls_server().start()
        with self.connect() as client:
            pipeline = b"".join(harness.encode("ECHO", f"{index:01000}") for index in range(20_000))
            replies = b"".join(b"$1000\r\n%01000d\r\n" % index for index in range(20_000))
            self.assertEqual(client.exchange(pipeline, len(replies)), replies)

    def test_quit_and_goodbye(self):
        server = self.tls_server().start()
        with self.connect() as client:
            self.assertEqual(client.call("QUIT"), "OK")
            self.assertEqual(client.rest(), b"")  # Python raises if there is no close_notify
        with self.connect() as client:
            client.call("PING")
            server.send_signal(signal.SIGTERM)
            self.assertEqual(client.rest(), b"")
        self.assertEqual(server.wait()[0], 0)

    def test_too_many_clients_are_told_so_over_tls(self):
        self.tls_server(maxclients=1, port=0).start()
        with self.connect() as first:
            first.call("PING")
            with self.assertRaises((ssl.SSLError, OSError)), self.connect() as second:
                second.call("PING")
            self.assertEqual(first.call("PING"), "PONG")

    @unittest.skipUnless(CLI, "needs redis-cli")
    def test_redis_cli(self):
        self.tls_server().start()
        self.assertEqual(self.cli("PING"), "PONG\n")
        self.assertEqual(self.cli("CL.THROTTLE", "user", "15", "30", "60").split("\n")[:3],
                         ["0", "16", "15"])


@unittest.skipUnless(redis, "needs redis-py")
class RedisPy(Tls):
    def url(self):
        return (f"rediss://localhost:{self.tls_port}/0?ssl_ca_certs="
                + self.certificates.path("ca.crt"))

    def test_pipelines_and_messages(self):
        self.tls_server().start()
        with redis.Redis.from_url(self.url()) as client:
            pipe = client.pipeline(transaction=False)
            for index in range(2000):
                pipe.set(f"key:{index}", "x" * index)
                pipe.strlen(f"key:{index}")
            self.assertEqual(pipe.execute()[1::2], list(range(2000)))
            with client.pubsub() as messages:
                messages.subscribe("news")
                self.assertEqual(messages.get_message(timeout=10)["type"], "subscribe")
                for index in range(100):
                    client.publish("news", index)
                came = [messages.get_message(timeout=10)["data"] for _ in range(100)]
                self.assertEqual(came, [b"%d" % index for index in range(100)])

    def test_it_goes_on_after_a_kill(self):
        server = self.tls_server(storage="rocksdb", durability="always").start()
        with redis.Redis.from_url(self.url(), retry_on_error=[redis.ConnectionError],
                                  retry=redis.retry.Retry(redis.backoff.ConstantBackoff(0.2), 100)
                                  ) as client:
            self.assertEqual([client.incr("count") for _ in range(10)], list(range(1, 11)))
            server.stop(signal.SIGKILL)
            server.start()
            self.assertEqual(client.incr("count"), 11)


class Refusing(Tls):
    def test_a_plain_client_is_told(self):
        server = self.tls_server().start()
        with harness.Client(self.tls_port) as client:
            with self.assertRaisesRegex(harness.Refused, "this port is for connections over TLS"):
                client.call("PING")
            self.assertEqual(client.rest(), b"")
        harness.wait_until(lambda: "it speaks no TLS; tls-port is for" in server.log(), "a line")
        with server.connect() as client:
            self.assertEqual(self.metric(client, "tls_handshakes_failed"), 1)

    def test_a_client_cannot_choose_what_is_dear(self):
        self.tls_server().start()
        for group, accepted in (("ffdhe8192", False), ("ffdhe2048", False), ("X25519", True),
                                ("P-256", True)):
            done = subprocess.run(
                ["openssl", "s_client", "-connect", f"127.0.0.1:{self.tls_port}", "-tls1_3",
                 "-groups", group, "-CAfile", self.certificates.path("ca.crt")],
                stdin=subprocess.DEVNULL, capture_output=True, timeout=harness.PATIENCE_S,
                check=False)
            self.assertEqual(b"New, TLSv1.3" in done.stdout, accepted, group)

    def test_garbage_ends_nothing_but_itself(self):
        server = self.tls_server().start()
        with self.connect() as bystander:
            for index in range(200):
                with socket.create_connection(("127.0.0.1", self.tls_port)) as client:
                    client.sendall(b"\x16\x03\x01\x01\x00" * (index % 2) + os.urandom(300))
            self.assertEqual(bystander.call("PING"), "PONG")
            harness.wait_until(lambda: self.metric(bystander, "tls_handshakes_failed") == 200,
                               "they have ended")
        self.assertLess(server.log().count("the handshake of"), 30)  # a line a second at most
        self.assertEqual(server.stop(), 0)

    def test_a_handshake_that_never_ends(self):
        server = self.tls_server().start()
        with socket.create_connection(("127.0.0.1", self.tls_port)) as client, \
                server.connect() as bystander:
            client.sendall(b"\x16\x03\x01")
            harness.wait_until(lambda: self.metric(bystander, "tls_handshakes_pending") == 1, "it")
            client.settimeout(TIMEOUT_S + 20)
            began = time.monotonic()
            self.assertEqual(client.recv(1), b"")
            self.assertGreater(time.monotonic() - began, TIMEOUT_S - 2)
            self.assertEqual(self.metric(bystander, "tls_handshakes_pending"), 0)
        self.assertIn("it was not over after 10 seconds", server.log())

    def test_who_shows_no_certificate(self):
        server = self.tls_server(tls_auth_clients="yes").start()
        self.certificates.make("shop", "shop")
        with self.connect("shop") as client:
            self.assertEqual(client.call("PING"), "PONG")
        with self.assertRaises((ssl.SSLError, OSError)), self.connect() as client:
            client.call("PING")
        harness.wait_until(lambda: "peer did not return a certificate" in server.log(), "a line")

    def test_a_start_without_what_is_needed(self):
        for wrong, why in (({"tls_cert_file": None}, "tls-cert-file is not set"),
                           ({"tls_key_file": "/missing"}, "tls-key-file '/missing': No such file"),
                           ({"tls_auth_clients": "yes", "tls_ca_cert_file": None},
                            "tls-ca-cert-file or tls-ca-cert-dir must be set")):
            server = self.tls_server(logfile="", **wrong)
            code, _, err = server.spawn().wait()
            self.assertEqual(code, 1)
            self.assertIn(why, err)


class Reloading(Tls):
    def serial(self):
        """Of the certificate that a new connection is shown."""
        with self.connect() as client:
            return client.socket.getpeercert()["serialNumber"]

    def test_by_config_set(self):
        server = self.tls_server().start()
        new, key = self.certificates.make("new", "weir", names="DNS:localhost")
        with self.connect() as old, server.connect() as admin:
            before = self.serial()
            admin.call("CONFIG", "SET", "tls-cert-file", new, "tls-key-file", key)
            self.assertNotEqual(self.serial(), before)
            self.assertEqual(old.call("PING"), "PONG")

    def test_by_config_set_of_the_same_name(self):
        server = self.tls_server().start()
        with self.connect() as old, server.connect() as admin:
            before = self.serial()
            certificate, _ = self.certificates.make("server", "weir", names="DNS:localhost")
            self.assertEqual(self.serial(), before)
            admin.call("CONFIG", "SET", "tls-cert-file", certificate)
            self.assertNotEqual(self.serial(), before)
            self.assertEqual(old.call("PING"), "PONG")

    def test_by_a_signal(self):
        server = self.tls_server().start()
        with self.connect() as old:
            before = self.serial()
            self.certificates.make("server", "weir", names="DNS:localhost")
            server.send_signal(signal.SIGHUP)
            harness.wait_until(lambda: "reload: tls: done" in server.log(), "it is read")
            self.assertNotEqual(self.serial(), before)
            self.assertEqual(old.call("PING"), "PONG")

    def test_what_cannot_be_used_changes_nothing(self):
        server = self.tls_server().start()
        _, key = self.certificates.make("other", "other")
        before = self.serial()
        with server.connect() as admin:
            for pairs, why in (
                    (("tls-key-file", key), "it is not the key of tls-cert-file"),
                    (("tls-cert-file", "/missing"), "tls-cert-file '/missing': No such file"),
                    (("maxclients", "77", "tls-ciphers", "NONE"), "no cipher match"),
                    (("tls-protocols", "SSLv3"), "Use a combination of TLSv1, TLSv1.1")):
                with self.assertRaisesRegex(harness.Refused, "ERR CONFIG SET failed.*" + why):
                    admin.call("CONFIG", "SET", *pairs)
            self.assertEqual(admin.call("CONFIG", "GET", "tls-key-file")[1].decode(),
                             self.certificates.path("server.key"))
            self.assertNotEqual(admin.call("CONFIG", "GET", "maxclients")[1], b"77")
        self.assertEqual(self.serial(), before)
        os.remove(self.certificates.path("server.crt"))
        server.send_signal(signal.SIGHUP)
        harness.wait_until(lambda: "reload: tls: failed, going on with what was there: tls-cert-file"
                           in server.log(), "it is tried")
        self.assertEqual(self.serial(), before)

    def test_whose_certificates_are_wanted(self):
        server = self.tls_server().start()
        with self.connect() as old, server.connect() as admin:
            old.call("PING")
            admin.call("CONFIG", "SET", "tls-auth-clients", "yes")
            with self.assertRaises((ssl.SSLError, OSError)), self.connect() as client:
                client.call("PING")
            self.assertEqual(old.call("PING"), "PONG")


class Users(Tls):
    def who(self, name=None):
        with self.connect(name) as client:
            return client.call("ACL", "WHOAMI").decode()

    def test_a_certificate_names_a_user(self):
        server = self.tls_server(tls_auth_clients="optional", tls_auth_clients_user="CN").start()
        for name in ("shop", "sleeper", "nobody"):
            self.certificates.make(name, name)
        with server.connect() as admin:
            admin.call("ACL", "SETUSER", "shop", "on", "+@all", "~shop:*")
            admin.call("ACL", "SETUSER", "sleeper", "off", "+@all")
            self.assertEqual([self.who(name) for name in ("shop", "sleeper", "nobody", None)],
                             ["shop", "default", "default", "default"])
            admin.call("CONFIG", "SET", "requirepass", "secret")
            self.assertEqual(self.who("shop"), "shop")
            for name in ("sleeper", "nobody", None):
                with self.assertRaisesRegex(harness.Refused, "NOAUTH"):
                    self.who(name)
            admin.call("CONFIG", "SET", "tls-auth-clients-user", "off")
            with self.assertRaisesRegex(harness.Refused, "NOAUTH"):
                self.who("shop")

    def test_a_user_that_is_deleted_goes(self):
        server = self.tls_server(tls_auth_clients="yes", tls_auth_clients_user="CN").start()
        self.certificates.make("shop", "shop")
        with server.connect() as admin:
            admin.call("ACL", "SETUSER", "shop", "on", "+@all", "~*")
            with self.connect("shop") as client:
                self.assertEqual(client.call("ACL", "WHOAMI"), b"shop")
                admin.call("ACL", "DELUSER", "shop")
                with self.assertRaises((ConnectionError, harness.Refused)):
                    client.call("PING")


class Page(Tls):
    @unittest.skipUnless(CLI, "needs redis-cli")
    def test_the_ten_lines_of_the_page(self):
        page = Path(__file__).resolve().parents[2] / "docs/tls.md"
        lines = re.search(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)[1]
        lines = lines.replace("7443", str(self.tls_port)).replace("weir-server", harness.executable)
        done = subprocess.run(["bash", "-c", lines + "kill %1; wait"], cwd=self.folder, timeout=60,
                              capture_output=True, check=False)
        self.assertIn(b"PONG\n", done.stdout, done.stderr.decode())


class Probes(Tls):
    """Whoever has no certificate may probe, and no more."""

    def status(self, port, path="/healthz"):
        connection = http.client.HTTPSConnection("localhost", port, timeout=harness.PATIENCE_S, context=self.context())
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def test_the_metrics_port_may_ask_for_no_certificate(self):
        ports = {name: harness.free_port() for name in ("metrics_tls_port", "http_tls_port")}
        server = self.tls_server(tls_auth_clients="yes", metrics_tls_auth_clients="no", **ports).start()
        for path, status in (("/healthz", 200), ("/readyz", 200), ("/serves", 200), ("/metrics", 200)):
            self.assertEqual(self.status(ports["metrics_tls_port"], path), status, path)
        self.assertIsNone(self.status(ports["http_tls_port"]))
        with self.assertRaises((OSError, EOFError)), self.connect() as client:
            client.call("PING")
        self.assertEqual(server.call("CONFIG", "SET", "metrics-tls-auth-clients", "yes"), "OK")
        self.assertIsNone(self.status(ports["metrics_tls_port"]))


if __name__ == "__main__":
    harness.main()
