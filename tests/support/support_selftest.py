#!/usr/bin/env python3
"""What tests stand on, tested against redis-server and weir: support_selftest.py path/to/weir-server"""

import math
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.certificates import Certificates  # noqa: E402
from support.fields import Malformed, Token, rate_limits, read_list  # noqa: E402
from support.processes import CannotStart, Program, free_port  # noqa: E402
from support.resp import Client, Refused, ask, decode, encode, metrics, pairs  # noqa: E402
from support.servers import Redis, Server, answers, need_redis  # noqa: E402
from support.waiting import wait_until  # noqa: E402

weir_server = None  # the first argument
# What DEBUG PROTOCOL answers to a client of RESP2 and of RESP3.
FORMS = {"string": (b"Hello World",) * 2, "integer": (12345,) * 2, "double": (b"3.141", 3.141),
         "null": (None,) * 2, "array": ([0, 1, 2],) * 2, "set": ([0, 1, 2],) * 2, "true": (1, True), "false": (0, False),
         "bignum": (b"1234567999999999999999999999999999999", 1234567999999999999999999999999999999),
         "verbatim": (b"This is a verbatim\nstring", b"txt:This is a verbatim\nstring")}


PARENT = """
import sys, time
from support.processes import Program, end_with_parent
print(Program("child", ["sleep", "60"], sys.argv[1], preexec_fn=end_with_parent).start().process.pid, flush=True)
time.sleep(60)
"""


def sleeper(log):
    return Program("sleeper", ["sh", "-c", "echo half the way; exec sleep 60"], log)


def is_gone(pid):
    """No such process, or one that nobody has waited for yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


class Bytes(unittest.TestCase):
    """Replies that no server is asked for."""

    def test_requests(self):
        self.assertEqual(encode("SET", "ü", b"\0", 7), b"*4\r\n$3\r\nSET\r\n$2\r\n\xc3\xbc\r\n$1\r\n\0\r\n$1\r\n7\r\n")

    def test_each_kind(self):
        for data, value in {
                b"+OK\r\n": "OK", b":-7\r\n": -7, b"$0\r\n\r\n": b"", b"$4\r\na\r\nb\r\n": b"a\r\nb", b"$-1\r\n": None,
                b"*-1\r\n": None, b"_\r\n": None, b"*0\r\n": [], b",inf\r\n": math.inf, b"(-99\r\n": -99, b"#t\r\n": True,
                b"=5\r\ntxt:a\r\n": b"txt:a", b"%2\r\n+a\r\n:1\r\n+b\r\n*0\r\n": ["a", 1, "b", []],
                b"~1\r\n%0\r\n": [[]], b">2\r\n+a\r\n+b\r\n": ["a", "b"], b"*2\r\n$-1\r\n*-1\r\n": [None, None],
                b"|1\r\n+ttl\r\n:9\r\n*2\r\n|0\r\n:1\r\n:2\r\n": [1, 2]}.items():
            self.assertEqual(decode(data), value, data)
        for data in (b"-ERR x y\r\n", b"!7\r\nERR x y\r\n"):
            self.assertEqual((type(decode(data)), str(decode(data))), (Refused, "ERR x y"))
        self.assertTrue(math.isnan(decode(b",nan\r\n")))

    def test_what_ends_within_a_reply_is_no_reply(self):
        whole = b"*3\r\n%1\r\n+a\r\n:1\r\n,1.5\r\n$3\r\nabc\r\n"
        self.assertEqual(decode(whole + b"+more\r\n"), [["a", 1], 1.5, b"abc"])
        for size in range(len(whole)):
            with self.assertRaises(ConnectionError, msg=whole[:size]):
                decode(whole[:size])
        with self.assertRaises(AssertionError):
            decode(b"HTTP/1.1 400 Bad Request\r\n")

    def test_a_reply_of_any_depth(self):
        value, depth = decode(b"*1\r\n" * 100_000 + b":1\r\n"), 0
        while isinstance(value, list):
            value, depth = value[0], depth + 1
        self.assertEqual((value, depth), (1, 100_000))

    def test_names_and_values(self):
        self.assertEqual(pairs([b"a", 1, "b", [b"c"]]), {"a": 1, "b": [b"c"]})
        self.assertEqual(metrics(b"# Section\r\na:1\r\nb:x:y\r\n\r\n"), {"a": "1", "b": "x:y"})


class Fields(unittest.TestCase):
    """Structured fields, and the two of rate limits."""

    def test_each_kind(self):
        text = ' "a\\"b\\\\";q=1;w=-2;x, tok/en;f=?1;g ,\t:AAE=:, 1.5, @7, %"%c3%a9"  '
        self.assertEqual(read_list(text), [
            ('a"b\\', {"q": 1, "w": -2, "x": True}), (Token("tok/en"), {"f": True, "g": True}), (b"\0\1", {}),
            (1.5, {}), (("date", 7), {}), (("display", "\u00e9"), {})])
        self.assertIs(type(read_list("a")[0][0]), Token)
        self.assertEqual(read_list(""), [])

    def test_what_is_refused(self):
        for text in ('"a', '"\\a"', '"\xe4"', '"a",', ',"a"', '"a" "b"', '"a";', '"a";Q=1', '"a";q=', "1234567890123456",
                     "1.2345", "1.", "?2", ":a:", ":AA:", "@1.5", "(a b)", '"a"\n', "-", '"a" ;q=1'):
            with self.subTest(text=text), self.assertRaises(Malformed):
                read_list(text)

    def test_rate_limits(self):
        fields = {"RateLimit-Policy": '"api";q=100;w=60;pk=:azE=:, "pool";q=5;qu="concurrent-requests"',
                  "RateLimit": '"api";r=0;t=1;pk=:azE=:', "Retry-After": "1"}
        self.assertEqual(rate_limits(fields)["RateLimit"], {"api": {"r": 0, "t": 1, "pk": b"k1"}})
        self.assertEqual(rate_limits({}), {})
        for name, text in (("RateLimit", '"other";r=0'), ("RateLimit", '"api";t=1'), ("RateLimit", '"api";r=-1'),
                           ("RateLimit", "api;r=1"), ("RateLimit", '"api";r=1, "api";r=2'), ("RateLimit", '"api";r="1"'),
                           ("RateLimit", '"api";r=1;a=2'), ("RateLimit", ""), ("RateLimit-Policy", '"api";q=1;w=0'),
                           ("RateLimit-Policy", '"api";w=1'), ("RateLimit-Policy", '"api";q=1;qu="permits"'),
                           ("RateLimit-Policy", '"api";q=?1'), ("Retry-After", "-1")):
            with self.subTest(text=text), self.assertRaises(Malformed):
                rate_limits({**fields, name: text})


class InFolder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weir-support-")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def started(self, server):
        self.addCleanup(server.kill)
        return server.start()

    def weir(self, *options, port=None):
        port = port or free_port()
        return self.started(Server("weir-server", [weir_server, "--port", port, "--storage", "memory", "--dir",
                                                   self.folder + "/data", *options], self.folder, port))

    def redis(self, *options):
        need_redis()
        return self.started(Redis(self.folder + "/redis", *options))


class Servers(InFolder):
    def test_forms_of_redis(self):
        redis = self.redis("--enable-debug-command", "yes")
        for protocol in (2, 3):
            with redis.connect() as client:
                self.assertIn(b"redis", client.call("HELLO", protocol))
                for name, values in FORMS.items():
                    self.assertEqual(client.call("DEBUG", "PROTOCOL", name), values[protocol - 2], (protocol, name))
                flat = [0, False, 1, True, 2, False] if protocol == 3 else [0, 0, 1, 1, 2, 0]
                self.assertEqual(client.call("DEBUG", "PROTOCOL", "map"), flat)
                self.assertTrue(str(client.call("DEBUG", "PROTOCOL", "attrib")).startswith("b'Some real reply"))
                self.assertEqual(client.call("PING"), "PONG", "nothing is left over")

    def test_both_answer_alike(self):
        requests = [("SET", "k", b"a\r\n\0"), ("GET", "k"), ("GET", "none"), ("HSET", "h", "a", 1, "b", 2),
                    ("HGETALL", "h"), ("SADD", "s", "m"), ("SMEMBERS", "s"), ("ZADD", "z", 1.5, "m"), ("ZSCORE", "z", "m"),
                    ("EVAL", "return {1, {redis.status_reply('x'), false}, 'y'}", 0)]
        servers = self.weir(), self.redis()
        for protocol in (2, 3):
            replies = []
            for server in servers:
                with server.connect() as client:
                    client.call("HELLO", protocol)
                    client.call("FLUSHALL")
                    replies.append(client.call_all(requests * 40))  # more than are sent together
            self.assertEqual(*replies)
            self.assertEqual(len(replies[0]), 40 * len(requests))
            self.assertEqual(replies[0][4], [b"a", b"1", b"b", b"2"])
        for server in servers:
            self.assertEqual(server.call("ECHO", b"x" * 3_000_000), b"x" * 3_000_000)

    def test_errors(self):
        server = self.weir()
        with server.connect() as client:
            with self.assertRaisesRegex(Refused, "^ERR unknown command"):
                client.call("NONSENSE")
            self.assertIsInstance(client.ask("NONSENSE"), Refused)
            for words in (("MULTI",), ("SET", "a", "x"), ("INCR", "a"), ("GET", "a")):
                client.call(*words)
            done, refused, value = client.ask("EXEC")
            self.assertEqual((done, type(refused), value), ("OK", Refused, b"x"))
            client.send_all([("MULTI",), ("INCR", "a"), ("EXEC",)])
            self.assertEqual([client.read(), client.read()], ["OK", "QUEUED"])
            with self.assertRaisesRegex(Refused, "not an integer"):
                client.read()
            self.assertEqual(client.call("PING"), "PONG", "the whole reply was read")
            client.send(encode("PING") + encode("QUIT"))
            self.assertEqual(client.rest(), b"+PONG\r\n+OK\r\n")

    def test_passwords_and_sockets(self):
        server = self.weir("--requirepass", "secret", "--unixsocket", self.folder + "/socket")
        self.assertTrue(answers(server.port))
        self.assertTrue(str(ask(server.port, "GET", "k")).startswith("NOAUTH"))
        for address in (server.port, ("127.0.0.1", server.port), self.folder + "/socket"):
            self.assertEqual(ask(address, "AUTH", "secret"), "OK")
        with self.assertRaises(OSError):
            Client(self.folder + "/no-socket")

    def test_tls(self):
        certificates, port = Certificates(self.folder + "/tls"), free_port()
        options = certificates.options(tls_port=port).items()
        self.weir(*[word for name, value in options for word in ("--" + name.replace("_", "-"), value)])
        context = ssl.create_default_context(cafile=certificates.path("ca.crt"))
        with Client(port, context=context) as client:
            self.assertEqual(client.call("PING"), "PONG")
        with self.assertRaises(ssl.SSLCertVerificationError):
            Client(port, context=ssl.create_default_context())

    def test_ends_and_begins_again(self):
        server = self.weir()
        self.assertEqual((server.stop(), server.lives(), answers(server.port)), (0, False, False))
        server.start()
        server.kill()
        self.assertIn("SIGKILL", server.how_it_ended())


class Programs(InFolder):
    def log(self):
        return self.folder + "/log"

    def test_one_that_ends_at_once(self):
        program = Program("refuser", [sys.executable, "-c", "raise SystemExit('no disk')"], self.log())
        program.is_ready = lambda: False
        with self.assertRaisesRegex(CannotStart, "refuser ended by exit code 1; (.|\n)*no disk"):
            program.start()

    def test_one_that_is_never_ready(self):
        program = sleeper(self.log())
        program.start_s, program.is_ready = 2, lambda: False
        with self.assertRaisesRegex(CannotStart, "waited 2 s in vain: sleeper is ready\nhalf the way"):
            program.start()
        self.assertFalse(program.lives())

    def test_kill_is_of_that_process_alone(self):
        one, other = sleeper(self.log()).start(), sleeper(self.log()).start()
        self.addCleanup(other.kill)
        one.kill()
        one.kill()
        self.assertEqual((one.lives(), other.lives()), (False, True))

    def test_a_child_ends_with_its_parent(self):
        parent = subprocess.Popen([sys.executable, "-B", "-c", PARENT, self.log()], stdout=subprocess.PIPE,
                                  cwd=Path(__file__).resolve().parents[1])
        child = int(parent.stdout.readline())
        self.assertFalse(is_gone(child))
        parent.kill()
        parent.communicate()
        wait_until(lambda: is_gone(child), "the child is gone")

    def test_free_ports(self):
        for count in (1, 3):
            first = free_port(count)
            self.assertTrue(10_000 <= first < first + count <= 32_000)

    def test_waiting(self):
        begin, values = time.monotonic(), iter([None, 0, 7])
        self.assertEqual(wait_until(lambda: next(values), "seven"), 7)
        with self.assertRaisesRegex(AssertionError, "waited 0.05 s in vain: what never is"):
            wait_until(lambda: False, "what never is", 0.05)
        self.assertLess(time.monotonic() - begin, 30)


class Alone(InFolder):
    """What is installed, and what people run by themselves, needs nothing of tests/."""

    def test_programs_without_a_tree(self):
        tools = Path(self.folder, "tools")
        shutil.copytree(Path(__file__).resolve().parents[2] / "tools", tools)
        for name in ("weir-export", "weir-import", "weir-backup", "weir-each", "weir-cluster", "weir-failover-demo", "weir-policies"):
            done = subprocess.run([sys.executable, "-B", tools / name, "--help"], capture_output=True, text=True,
                                  check=False, cwd="/")
            self.assertIn(name, done.stdout + done.stderr)
            self.assertNotIn("Traceback", done.stderr, name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} path/to/weir-server [unittest options]")
    weir_server = os.path.abspath(sys.argv.pop(1))
    unittest.main()
