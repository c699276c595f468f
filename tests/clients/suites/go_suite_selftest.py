#!/usr/bin/env python3
"""Tests of what reads the Go suites: a test that did not pass must never look as if it had."""

import os
import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import fixed_ports  # noqa: E402
from go_ginkgo import specs  # noqa: E402
from go_suite import Package  # noqa: E402

RULER = "-" * 30 + "\n"
GINKGO = "Running Suite: some\n" + RULER.join([
    "", "[BeforeSuite] \n/a_test.go:1\n[BeforeSuite] PASSED [0.000 seconds]\n",
    "Commands should pass [Label]\n/a_test.go:2\n• [0.001 seconds]\n",
    "Commands should fail\n/a_test.go:3\n  [FAILED] in [It] - /a_test.go:4 @ 11/21/26 11:35:59\n"
    "• [FAILED] [0.022 seconds]\nCommands [It] should fail\n/a_test.go:3\n"
    "  [FAILED] Expected\n      1\n  to equal\n      2\n  In [It] at: /a_test.go:4\n",
    "Commands should skip\n/a_test.go:5\nS [SKIPPED] [0.001 seconds]\nCommands [It] should skip\n"
    "  [SKIPPED] too old\n  In [It] at: /a_test.go:6\n",
    "Commands should panic\n/a_test.go:7\n• [PANICKED] [0.001 seconds]\n  [PANICKED] Panicked\n"])


def told(*events):
    package = Package(".")
    for event in events:
        action, test, output = (*event, "", "")[:3]
        package.read({"Action": action, "Test": test, "Output": output})
    return {name: (end, why) for name, end, why in package.tests()}


class Ginkgo(unittest.TestCase):
    def test_each_spec_is_read(self):
        ends = {name: end for name, end, _ in specs(GINKGO)}
        self.assertEqual(ends, {"Commands should pass": "pass", "Commands should fail": "fail",
                                "Commands should skip": "skip", "Commands should panic": "fail"})

    def test_the_reason_is_that_of_the_failure(self):
        why = {name: " ".join(why.split()) for name, _, why in specs(GINKGO)}
        self.assertEqual(why["Commands should fail"], "Expected 1 to equal 2")
        self.assertEqual(why["Commands should skip"], "too old")

    def test_other_output_has_none(self):
        self.assertEqual(list(specs("--- PASS: TestX (0.00s)\n")), [])


class Packages(unittest.TestCase):
    def test_ends_are_kept(self):
        self.assertEqual(told(("output", "TestA", "a_test.go:1: bad\n"), ("fail", "TestA"),
                              ("pass", "TestB"), ("fail", "")),
                         {"TestA": ("fail", "a_test.go:1: bad"),
                          "TestB": ("pass", "no reason given")})

    def test_a_test_is_judged_by_its_subtests(self):
        got = told(("pass", "TestA/one"), ("fail", "TestA/two"), ("fail", "TestA"), ("fail", ""))
        self.assertEqual({name: end for name, (end, _) in got.items()},
                         {"TestA/one": "pass", "TestA/two": "fail"})

    def test_a_test_that_fails_beside_its_subtests_is_named(self):
        got = told(("pass", "TestA/one"), ("fail", "TestA"), ("fail", ""))
        self.assertEqual(got["TestA"][0], "fail")

    def test_a_test_that_never_ended_failed(self):
        self.assertEqual(told(("output", "TestA", "panic: no\n"))["TestA"][0], "fail")

    def test_a_program_that_says_nothing_failed(self):
        self.assertEqual(told()[""][0], "fail")


@unittest.skipUnless(os.geteuid() == 0, "a network namespace needs root")
class Relay(unittest.TestCase):
    def test_a_fixed_port_reaches_the_server_and_nothing_else_does(self):
        server = socket.create_server(("127.0.0.1", 0))

        def echo():
            connection = server.accept()[0]
            connection.sendall(connection.recv(64)[::-1])
            connection.close()

        threading.Thread(target=echo, daemon=True).start()
        before = fixed_ports.words_before([6379], server.getsockname()[1])
        program = ("import socket\nc = socket.create_connection(('localhost', 6379))\n"
                   "c.sendall(b'abc')\nprint(c.recv(64), c.recv(64))\n"
                   f"print(socket.socket().connect_ex(('127.0.0.1', {server.getsockname()[1]})))")
        done = subprocess.run([*before, sys.executable, "-c", program], capture_output=True,
                              text=True, check=False)
        server.close()
        self.assertEqual(done.stdout, "b'cba' b''\n111\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
