"""grpc-port: calls by curl, over TLS too, the lines of docs/rls.md, hostile clients."""

import re
import shutil
import socket
import struct
import subprocess
import unittest
from pathlib import Path

import harness
from support.certificates import Certificates
from support.resp import Refused

PAGE = (Path(__file__).resolve().parents[2] / "docs/rls.md").read_text()
HEALTH = "/grpc.health.v1.Health/Check"
LIMIT = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
RULES = "policy user FIXED 2/1h\nrls site user POLICY user KEY u:{user}\n"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


def blocks(language=""):
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", PAGE)


def field(number, message):
    return bytes([number << 3 | 2, len(message)]) + message


def asked(domain, **entries):
    """A RateLimitRequest of a descriptor."""
    pairs = [field(1, field(1, name.encode()) + field(2, value.encode())) for name, value in entries.items()]
    return field(1, domain.encode()) + field(2, b"".join(pairs))


@unittest.skipIf(shutil.which("curl") is None, "curl is not installed")
class Calls(harness.ServerTest):
    def start(self, rules=RULES, *options, **named):
        self.grpc_port = harness.free_port()
        named.setdefault("policies_file", self.write("policies", rules))
        named.setdefault("storage", "memory")
        return self.server(*options, grpc_port=self.grpc_port, **named).start()

    def call(self, path, message=b"", *options, url=None):
        """The fields of what comes back, and the message."""
        body = self.path("body")
        Path(body).write_bytes(struct.pack(">BI", 0, len(message)) + message)
        url = url or f"http://127.0.0.1:{self.grpc_port}"
        done = subprocess.run(
            ["curl", "-s", "-S", "--http2-prior-knowledge", "-X", "POST", "-H", "content-type: application/grpc", "-H",
             "te: trailers", "--data-binary", f"@{body}", "-D", "-", "-o", self.path("answer"), "--max-time", "20",
             *options, url + path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        fields = dict(re.findall(r"(?m)^([\w-]+): (.*?)\r?$", done.stdout))
        answer = Path(self.path("answer"))
        return fields, answer.read_bytes()[5:] if answer.exists() else b""

    def verdict(self, user="ann", *options):
        fields, message = self.call(LIMIT, asked("site", user=user), *options)
        self.assertEqual(fields["grpc-status"], "0", fields)
        self.assertEqual(message[0], 8)
        return {1: "OK", 2: "OVER_LIMIT"}[message[1]]

    def test_there_is_none_by_default(self):
        self.assertNotIn("gRPC", self.memory_server().log())

    def test_it_may_be_the_only_port_and_is_of_this_machine(self):
        server = self.start(port=0)
        self.assertIn(f"ready to accept connections on 127.0.0.1:{self.grpc_port} (gRPC)", server.log())
        self.assertEqual(self.call(HEALTH), ({"content-type": "application/grpc", "grpc-status": "0"}, b"\x08\x01"))
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", self.grpc_port))

    def test_both_protocols_take_from_the_same_limits(self):
        server = self.start()
        self.assertEqual(self.verdict(), "OK")
        self.assertEqual(server.call("RL.TAKE", "u:ann", "POLICY", "user")[:3], [1, 2, 0])
        self.assertEqual(self.verdict(), "OVER_LIMIT")
        self.assertEqual(self.verdict("bob"), "OK")
        info = server.call("INFO", "weir").decode()
        for line in ("grpc_requests:3", "grpc_requests_failed:0", "rls_over_limit:1", "rls_descriptors_unruled:0"):
            self.assertIn(line + "\r\n", info)

    def test_rules_are_read_anew_and_watched(self):
        server = self.start(watch_files="yes")
        for _ in range(3):
            last = self.verdict()
        self.assertEqual(last, "OVER_LIMIT")
        self.write("policies", RULES.replace("rls site ", "rls other "))
        harness.wait_until(lambda: self.verdict() == "OK", "the rule is gone")
        self.write("policies", RULES + "rls site\n")
        with self.assertRaisesRegex(Refused, "policies:3: rls takes a domain, entries, POLICY with a name"):
            server.call("RL.POLICY", "RELOAD")
        self.assertEqual(self.verdict(), "OK")

    def test_users(self):
        self.start(requirepass="secret")
        self.assertEqual(self.call(LIMIT, asked("site", user="ann"))[0]["grpc-status"], "16")
        self.assertEqual(self.verdict("ann", "-u", ":secret"), "OK")
        self.assertEqual(self.call(HEALTH)[1], b"\x08\x01")

    def test_kuadrants_methods(self):
        server = self.start()
        service = "/kuadrant.service.ratelimit.v1.RateLimitService/"
        verdicts = []
        for method in ("CheckRateLimit", "Report", "Report", "CheckRateLimit", "Report"):
            fields, message = self.call(service + method, asked("site", user="ann"))
            self.assertEqual(fields["grpc-status"], "0", fields)
            verdicts.append(message[1])
        self.assertEqual(verdicts, [1, 1, 1, 2, 1])
        self.assertEqual(server.call("RL.PEEK", "u:ann", "POLICY", "user", "COST", "0")[:3], [1, 2, -1])
        name = field(1, b"kuadrant.service.ratelimit.v1.RateLimitService")
        self.assertEqual(self.call(HEALTH, name)[1], b"\x08\x01")

    def test_over_tls(self):
        certificates = Certificates(self.path("tls"))
        port = harness.free_port()
        server = self.start(RULES, grpc_tls_port=port, **certificates.options())
        url = f"https://localhost:{port}"
        trust = ("--cacert", certificates.path("ca.crt"))
        self.assertEqual(self.call(HEALTH, b"", *trust, "--http2", url=url)[1], b"\x08\x01")
        done = subprocess.run(["curl", "-s", "-S", *trust, "--http1.1", url + HEALTH], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 35, done.stderr)  # it wants another protocol: no handshake
        self.assertIn("tls_handshakes:1\r\n", server.call("INFO", "weir").decode())
        plain = self.call(HEALTH, url=f"http://127.0.0.1:{self.grpc_port}")
        self.assertEqual(plain[1], b"\x08\x01")

    def test_who_speaks_http_1_is_told(self):
        self.start()
        done = subprocess.run(["curl", "-s", "-i", f"http://127.0.0.1:{self.grpc_port}/"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.stdout.splitlines()[0], "HTTP/1.1 400 Bad Request")
        self.assertTrue(done.stdout.endswith("this port is for gRPC: HTTP/2 with prior knowledge\n"))

    def test_others_are_served_while_some_flood(self):
        """Pings and settings as fast as they are taken, by clients who read nothing."""
        server = self.start()
        ping = bytes([0, 0, 8, 6, 0, 0, 0, 0, 0]) + b"12345678"
        settings = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
        floods = []
        for frame in (ping, settings) * 10:
            client = socket.create_connection(("127.0.0.1", self.grpc_port))
            self.addCleanup(client.close)
            client.setblocking(False)
            floods.append((client, frame * 10_000))
            client.send(PREFACE)
        for _ in range(5):
            for client, bytes_ in floods:
                try:
                    client.send(bytes_)
                except OSError:
                    pass
            self.assertEqual(server.call("PING"), "PONG")
            self.assertEqual(self.call(HEALTH)[1], b"\x08\x01")

    def test_a_connection_more_ends_the_one_that_was_silent_longest(self):
        self.start(grpc_maxclients=2)
        silent = [socket.create_connection(("127.0.0.1", self.grpc_port)) for _ in range(2)]
        for client in silent:
            self.addCleanup(client.close)
            client.settimeout(harness.PATIENCE_S)
            client.sendall(PREFACE)
            self.assertTrue(client.recv(9))
        self.assertEqual(self.call(HEALTH)[1], b"\x08\x01")
        while silent[0].recv(4096):
            pass  # it ends


class Page(harness.ServerTest):
    def check(self, rules, *options):
        self.write("policies", rules)
        done = subprocess.run([harness.executable, "--check-config", "--dir", self.folder, "--policies-file", "policies",
                               *options], text=True, capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_its_rules_are_right(self):
        conf, rules, tokens = blocks()[:3]
        self.assertEqual(self.check(rules), (0, "the configuration is good\n"))
        self.assertEqual(self.check(tokens), (0, "the configuration is good\n"))
        options = dict(line.split() for line in conf.splitlines() if not line.startswith("#"))
        self.assertEqual(sorted(options), ["grpc-port", "policies-file"])
        self.assertEqual(self.check(rules, "--grpc-port", options["grpc-port"])[0], 0)
        self.assertIn(f"port_value: {options['grpc-port']}", blocks("yaml")[0])

    def test_what_is_wrong_is_told_by_line(self):
        code, text = self.check("policy pool CONCURRENCY 5 LEASE 30s\nrls d a POLICY pool\nrls d a=* POLICY none\n")
        self.assertEqual(code, 1)
        self.assertIn("policies:2: POLICY 'pool' has CONCURRENCY", text)
        self.assertIn("policies:3: POLICY 'none' is not in this file", text)

    def test_a_port_without_rules_is_told(self):
        done = subprocess.run([harness.executable, "--check-config", "--dir", self.folder, "--grpc-port", "7090"],
                              text=True, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("policies-file", done.stderr)


if __name__ == "__main__":
    harness.main()
