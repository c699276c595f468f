"""http-port: /v1/take and the gate, over TLS too, the lines of docs/http.md, hostile clients."""

import contextlib
import http.client
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

import harness
from http_fixture import Http, basic, example
from support.certificates import Certificates


class Requests(Http):
    def test_there_is_none_by_default(self):
        self.assertNotIn("HTTP", self.memory_server().log())

    def test_it_may_be_the_only_port(self):
        server = self.start(port=0)
        self.assertIn(f"ready to accept connections on 127.0.0.1:{self.http_port} (HTTP)",
                      server.log())
        self.assertEqual(self.get("/healthz")[2], "alive\n")

    def test_this_machine_only_by_default(self):
        self.start()
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", self.http_port))

    def test_the_pages_first_lines(self):
        """With the ports of this test in the place of the page's."""
        server = self.start(port=harness.free_port(), slowlog_log_slower_than=0)
        several, users = example("sh", 1), example("sh", 2)
        lines = example("sh").split("sleep 1\n")[1] + several + users
        lines = lines.replace("7080", str(self.http_port))
        lines = lines.replace("redis-cli", f"redis-cli -p {server.port}")
        if shutil.which("curl") is None or shutil.which("redis-cli") is None:
            self.skipTest("curl or redis-cli is not installed")
        done = subprocess.run(["bash", "-ec", lines], capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('{"allowed":true,', done.stdout)
        self.assertIn("HTTP/1.1 200 OK\n", done.stdout.replace("\r", ""))
        self.assertIn("RateLimit-Policy: ", done.stdout)
        self.assertIn('RateLimit: "address";r=9;t=1, "network";r=99;t=1, "tenant";r=999;t=1\n',
                      done.stdout.replace("\r", ""))
        asked = next(entry[3] for entry in server.call("SLOWLOG", "GET", "100") if entry[3][0] == b"RL.MTAKE")
        self.assertEqual(asked[1:5], [b"3", b"ip:2001:db8::/64", b"net:2001:db8::/48", b"tenant:acme"])
        self.assertEqual(self.get("/v1/gate?policy=api&key=other", X_Weir_Authorization=basic(
            "proxy", "a-long-phrase"))[0], 403)

    def test_both_protocols_take_from_the_same_limits(self):
        server = self.start()
        server.call("RL.POLICY", "SET", "api", "FIXED", "3/1h")
        self.assertTrue(self.take(key="k", policy="api", id="7f3a")[1]["allowed"])
        self.assertTrue(self.take(key="k", policy="api", id="7f3a")[1]["allowed"])  # a repetition
        self.assertEqual(server.call("RL.TAKE", "k", "POLICY", "api")[2], 1)
        self.assertEqual(self.get("/v1/gate?policy=api&key=k")[0], 200)
        status, headers, _ = self.get("/v1/gate?policy=api&key=k")
        self.assertEqual((status, headers["Retry-After"]), (429, "3600"))
        info = server.call("INFO", "weir").decode()
        self.assertIn("\r\nhttp_requests:4\r\n", info)
        self.assertIn(b"calls=5,", server.call("INFO", "commandstats"))

    def test_what_was_told_is_there_after_kill_9(self):
        server = self.start(storage="rocksdb", durability="always")
        for left in range(9, 4, -1):
            answer = self.take(key="k", limits="FIXED 10/1d")[1]
            self.assertEqual(answer["limits"][0]["remaining"], left)
        server.stop(signal.SIGKILL)
        server.start()
        self.assertEqual(self.take(key="k", limits="FIXED 10/1d")[1]["limits"][0]["remaining"], 4)

    def test_strangers_of_other_machines(self):
        address = next((found[4][0] for found in socket.getaddrinfo(
            socket.gethostname(), None, socket.AF_INET) if not found[4][0].startswith("127.")), None)
        if address is None:
            self.skipTest("this machine has no address but its loopback")
        self.start("--http-bind", address)
        connection = http.client.HTTPConnection(address, self.http_port, timeout=harness.PATIENCE_S)
        self.addCleanup(connection.close)
        status, _, body = self.ask(connection, "/v1/gate?limits=1/1s&key=k")
        self.assertEqual(status, 403)
        self.assertIn("protected mode", body)

    def test_metrics_may_ask_for_a_user(self):
        port = harness.free_port()
        self.start("--user", "prometheus", "on", ">p", "+info", metrics_port=port,
                   metrics_auth="yes")
        self.assertEqual(self.ask(self.connection(port), "/metrics")[0], 401)
        self.assertEqual(self.ask(self.connection(port), "/readyz")[0], 200)
        status, _, text = self.ask(self.connection(port), "/metrics",
                                   Authorization=basic("prometheus", "p"))
        self.assertEqual(status, 200)
        self.assertIn("\nweir_http_requests_total 0\n", text)

    def test_what_envoy_and_traefik_send(self):
        """Envoy's path is the caller's, and Traefik's query its own."""
        server = self.start()
        server.call("RL.POLICY", "SET", "api", "FIXED", "1/1h")
        envoy = {"X_Weir_Policy": "api", "X_Weir_Key": "ip:", "X_Weir_Key_Header": "x-forwarded-for",
                 "X_Forwarded_For": "192.0.2.1", "Authorization": "Bearer of.an.application"}
        path = "/v1/gate/orders?cost=0&key=other&policy=none"
        self.assertEqual(self.get(path, "POST", **envoy)[0], 200)
        self.assertEqual(self.get(path, "POST", **envoy)[0], 429)
        traefik = "/v1/gate?policy=api&key=ip:&key-header=X-Forwarded-For"
        self.assertEqual(self.get(traefik, X_Forwarded_For="192.0.2.1", X_Weir_Cost="0")[0], 429)
        self.assertEqual(self.get(traefik, X_Forwarded_For="192.0.2.2")[0], 200)


class Tls(Http):
    def test_the_same_over_tls(self):
        certificates = Certificates(self.path("tls"))
        port = harness.free_port()
        server = self.start(http_tls_port=port, **certificates.options())
        context = ssl.create_default_context(cafile=certificates.path("ca.crt"))
        connection = http.client.HTTPSConnection("localhost", port, context=context,
                                                 timeout=harness.PATIENCE_S)
        self.addCleanup(connection.close)
        for _ in range(3):
            status, _, _ = self.ask(connection, "/v1/gate?limits=5/1s&key=k")
            self.assertEqual(status, 200)
        self.assertIn("tls_handshakes:1\r\n", server.call("INFO", "weir").decode())
        status, _, body = self.ask(self.connection(port), "/healthz")  # without TLS
        self.assertEqual((status, body), (400, "this port is for HTTPS; "
                                               "begin with it\n"))


class Hostile(Http):
    def test_others_are_served_in_a_flood(self):
        """A bystander's PING, while as many as may be pipeline as fast as they can."""
        server = self.start(http_maxclients=200)
        request = b"GET /v1/gate?limits=5/1s&key=k HTTP/1.1\r\nHost: a\r\n\r\n" * 200
        flood = [self.raw() for _ in range(200)]
        stop = threading.Event()

        def send():
            left = {client: b"" for client in flood}
            for client in flood:
                client.setblocking(False)
            while not stop.is_set():
                for client in flood:
                    with contextlib.suppress(BlockingIOError):
                        left[client] = left[client] or request
                        left[client] = left[client][client.send(left[client]):]
                    with contextlib.suppress(BlockingIOError):
                        client.recv(1 << 16)

        thread = threading.Thread(target=send)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)
        with server.connect() as client:
            took = []
            for _ in range(200):
                begin = time.monotonic()
                self.assertEqual(client.call("PING"), "PONG")
                took.append(time.monotonic() - begin)
        took.sort()
        print(f"PING in a flood of HTTP: median {took[100] * 1000:.1f} ms, "
              f"most {took[-1] * 1000:.1f} ms")
        self.assertLess(took[100], 1)
        stop.set()

    def test_begun_requests_keep_nobody_out(self):
        server = self.start(http_maxclients=20)
        begun = [self.raw() for _ in range(20)]
        for client in begun:
            client.sendall(b"GET /v1/gate")
        harness.wait_until(lambda: server.call("CLIENT", "LIST").count(b"lib-name=http") == 20,
                           "all have come")
        self.assertEqual(self.get("/healthz")[0], 200)
        self.assertEqual(begun[0].recv(1), b"")  # the oldest has made room
        self.assertEqual(server.call("PING"), "PONG")
        self.assertEqual(begun[1].recv(1), b"")  # after ten seconds
        harness.wait_until(lambda: b"lib-name=http" not in server.call("CLIENT", "LIST"),
                           "those who do not finish go")

    def test_the_silent_make_room(self):
        self.start(http_maxclients=5)
        silent = [self.raw() for _ in range(5)]
        self.assertEqual(self.get("/healthz")[0], 200)
        self.assertEqual(silent[0].recv(1), b"")

    def test_no_descriptor_is_left(self):
        server = self.start()
        self.get("/healthz")
        descriptors = f"/proc/{server.process.pid}/fd"
        before = len(os.listdir(descriptors))
        for words in (b"", b"GET", b"PING\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n", b"\0" * 9000):
            for _ in range(20):
                client = self.raw()
                client.sendall(words)
                client.close()
        harness.wait_until(lambda: len(os.listdir(descriptors)) <= before, "all are closed")


if __name__ == "__main__":
    harness.main()
