#!/usr/bin/env python3
"""Tests of the harness itself: a client that did not pass must never look as if it had."""

import os
import socket
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent / "calls"))

from harness import (catalogue, clusters, installs, installs_debian, kept, main, page, servers,  # noqa: E402
                     session, table)
from lossy_proxy import CUT, SILENCE, LossyProxy  # noqa: E402

# Answers PING on the port it is told, until it is told to QUIT.
STUB = """
import socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])))
while True:
    connection = listener.accept()[0]
    if connection.recv(64).startswith(b"QUIT"):
        break
    connection.sendall(b"+PONG\\r\\n")
"""
QUIT = """
import os, socket
connection = socket.create_connection(("127.0.0.1", int(os.environ["CLIENTS_PORT"])))
connection.sendall(b"QUIT")
connection.recv(1)
print("ok a\\ndone")
"""


def stub_server(code=STUB):
    return servers.Server("weir", sys.executable, ["-c", code], durable=True)


def outcome_of(program, server=None, **options):
    server = server or stub_server()
    try:
        return session.run([sys.executable, "-c", program], server, 2, **options)
    finally:
        server.close()


class Session(unittest.TestCase):
    def failed(self, program):
        return [name for name, _ in outcome_of(program).failed]

    def test_counts_what_was_said(self):
        got = outcome_of("print('version 1.2\\nok a\\nnot ok b: x: y\\nskip c: z\\nfigure d 1 s\\nnoise\\ndone')")
        self.assertEqual(got.figures, {"d": "1 s"})
        self.assertEqual((got.version, got.passed, got.failed, got.skipped, got.noise),
                         ("1.2", ["a"], [("b", "x: y")], [("c", "z")], ["noise"]))
        self.assertEqual(got.summary(), "1/2")

    def test_a_program_that_stops_early_failed(self):
        self.assertEqual(self.failed("print('ok a')"), ["ends"])

    def test_a_program_that_exits_badly_failed(self):
        self.assertEqual(self.failed("print('ok a\\ndone'); raise SystemExit(3)"), ["ends"])

    def test_a_program_that_checked_nothing_failed(self):
        self.assertEqual(self.failed("print('skip a: b\\ndone')"), ["ends"])

    def test_a_program_that_hangs_failed(self):
        with mock.patch.object(session, "PROGRAM_SECONDS_MAX", 0.5):
            self.assertEqual(self.failed("print('ok a\\ndone', flush=True); input()"), ["ends"])

    def test_a_server_that_died_failed(self):
        self.assertEqual(self.failed(QUIT), ["server"])

    def test_restart_is_another_process_on_the_same_port(self):
        server, pids = stub_server(), []
        start = server.start
        server.start = lambda: (start(), pids.append(server.process.pid))
        with mock.patch.object(session, "AWAY_SECONDS", 0):
            got = outcome_of("print('restart', flush=True); print('ok', input()); print('done')",
                             server)
        self.assertEqual((got.passed, got.failed, len(set(pids))), (["up"], [], 2))

    def test_a_server_that_does_not_start_failed(self):
        with self.assertRaisesRegex(RuntimeError, "no disk"):
            outcome_of("", stub_server("raise SystemExit('no disk')"))


class Installs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        environment = mock.patch.dict(os.environ, {"XDG_CACHE_HOME": scratch.name})
        environment.start()
        self.addCleanup(environment.stop)
        self.lock = Path(scratch.name) / "lock-file"
        self.lock.write_text("a==1")

    def test_an_interrupted_install_is_made_again(self):
        def broken(folder):
            (folder / "half").touch()
            raise installs.Missing("network")

        with self.assertRaises(installs.Missing):
            installs.made_once("x", [self.lock], broken)
        folder = installs.made_once("x", [self.lock], lambda folder: (folder / "whole").touch())
        self.assertEqual([path.name for path in folder.iterdir()], ["whole"])

    def test_another_lock_file_is_another_folder(self):
        first = installs.made_once("x", [self.lock], lambda folder: None)
        self.assertEqual(installs.made_once("x", [self.lock], self.fail), first)
        self.lock.write_text("a==2")
        self.assertNotEqual(installs.made_once("x", [self.lock], lambda folder: None), first)

    def test_a_debian_package_that_is_not_there_is_named(self):
        with mock.patch.object(os, "geteuid", return_value=1000), \
                self.assertRaisesRegex(installs.Missing, "the packages no-such are not installed"):
            installs_debian.packages("dpkg", "no-such")

    def test_the_reason_names_no_host(self):
        with self.assertRaises(installs.Missing) as caught:
            installs.command(["sh", "-c", "echo 'error: GET https://host.example/x' >&2; exit 1"])
        self.assertEqual(str(caught.exception), "sh failed: error: GET a registry")


class Rows(unittest.TestCase):
    def row(self, prepare, **options):
        client = catalogue.Client("x", "X", "none", (2,), prepare)
        return main.try_client(client, 2, mock.Mock(**options), False)

    def test_a_missing_toolchain_is_not_run_in_words(self):
        with mock.patch("shutil.which", return_value=None):
            row = self.row(lambda: installs.go_program("./goredis"))
        self.assertRegex(table.text([row]), r"X +- +- +RESP2 +not run: go is not installed")
        self.assertNotRegex(table.text([row]), r"\d/\d")

    def test_what_goes_wrong_around_a_run_is_a_failure_of_its_row_alone(self):
        def broken():
            raise OSError("no disk")

        row = self.row(broken)
        self.assertEqual(row.failures(), [("neither", "prepare", row.not_run)])
        self.assertIn("no disk", table.text([row]))
        with mock.patch.object(servers.Server, "start", side_effect=RuntimeError("no port")):
            row = self.row(lambda: (["true"], {}), redis="true", weir="true", storage="memory")
        self.assertEqual([failure[:2] for failure in row.failures()],
                         [("redis", "server"), ("weir", "server")])

    def test_a_kept_row_is_the_row_that_was_run(self):
        row = self.row(lambda: (["true"], {}))
        row.outcomes["weir"].passed = ["a"]
        row.outcomes["weir"].failed = [("b", "why")]
        with tempfile.TemporaryDirectory() as folder:
            store, again = kept.Kept(Path(folder)), table.Row(row.client, 2)
            self.assertFalse(store.load(again))
            store.save(row)
            self.assertTrue(store.load(again))
        self.assertEqual((again.cells(), again.failures()), (row.cells(), row.failures()))

    def test_exit_status(self):
        def status(not_run, failed, strict):
            row = table.Row(catalogue.ALL[0], 2)
            row.not_run = not_run
            row.outcomes = {} if not_run else {"redis": session.Outcome(),
                                               "weir": session.Outcome()}
            for outcome in row.outcomes.values():
                outcome.failed = failed
            arguments = ["x", "redis-cli", *(["--strict"] if strict else [])]
            with mock.patch.object(main, "run", return_value=[row]), \
                    mock.patch.object(servers, "version", return_value="1.0.0"), \
                    mock.patch.object(sys, "argv", arguments), mock.patch("builtins.print"):
                return main.main()

        self.assertEqual(status("no go", [], False), 0)
        self.assertEqual(status("no go", [], True), 1)
        self.assertEqual(status("", [("a", "b")], False), 1)
        self.assertEqual(status("", [], True), 0)


class Suites(unittest.TestCase):
    BEYOND = ((r"unknown command", "commands of other types"),)

    def row(self, redis, weir, is_suite=True):
        """What a program that says these lines to the servers comes to."""
        client = catalogue.Client("x", "X", "none", (2,), None, is_suite=is_suite,
                                  beyond=self.BEYOND)
        row = table.row(client, 2)
        for server, said in (("redis", redis), ("weir", weir)):
            row.outcomes[server] = session.Outcome()
            for line in said.split("\n"):
                session.obey(line, row.outcomes[server], None, None)
        return row

    def figures(self, redis, weir):
        row = self.row(redis, weir)
        return row.figures(), [failure[1:] for failure in row.failures()]

    def test_what_fails_on_redis_too_is_not_weirs(self):
        self.assertEqual(self.figures("ok a\nnot ok b: x\nnot ok c: y",
                                      "ok a\nnot ok b: x\nok c"),
                         (["3", "1", "2", "1", "0", "0"], []))

    def test_what_fails_on_weir_alone_is_a_failure(self):
        self.assertEqual(self.figures("ok a\nok b", "ok a\nnot ok b: x"),
                         (["2", "2", "1", "0", "1", "0"], [("b", "x")]))

    def test_what_weir_skipped_or_did_not_reach_is_a_failure(self):
        self.assertEqual(self.figures("ok a\nok b\nok c", "ok a\nskip b: old"),
                         (["3", "3", "1", "0", "2", "0"],
                          [("b", "skipped: old"), ("c", "it was not reported")]))

    def test_a_name_that_failed_once_did_not_pass(self):
        self.assertEqual(self.figures("ok a\nok a", "ok a\nnot ok a: x"),
                         (["1", "1", "0", "0", "1", "0"], [("a", "x")]))

    def test_what_is_beyond_weir_is_told_and_counted_apart(self):
        row = self.row("ok a\nok b", "ok a\nnot ok b: unknown command 'XADD'")
        self.assertEqual((row.figures()[-2:], row.failures()), (["0", "1"], []))
        self.assertIn("1 for commands of other types", page.suites([row]))

    def test_a_suite_that_stopped_on_both_is_a_failure(self):
        row = self.row("ok a\nnot ok ends: late", "ok a\nnot ok ends: late")
        self.assertEqual([failure[:2] for failure in row.failures()],
                         [("redis", "ends"), ("weir", "ends")])

    def test_a_suite_has_a_time_limit_of_its_own(self):
        client = catalogue.Client("x", "X", "none", (2,), None, is_suite=True)
        self.assertEqual(client.limit_seconds(), 300)
        got = outcome_of("print('ok a\\ndone', flush=True); input()", seconds_max=0.5)
        self.assertEqual(got.failed, [("ends", "still running after 0.5 s")])
        self.assertLess(got.seconds, 30)

    def test_the_page_tells_what_failed_what_is_better_and_what_was_not_run(self):
        client = self.row("ok a\nskip kept: Redis forgets\nskip old: both",
                          "ok a\nok kept\nnot ok b: broken\nskip old: both", is_suite=False)
        missing = table.row(client.client, 2)
        missing.not_run = "no toolchain"
        text = page.page([client, missing], {"redis": "7.0.1", "weir": "1.0.0"}, "rocksdb")
        self.assertIn("**1 failed**", text)
        self.assertIn("- Redis forgets: kept (X)", text)
        self.assertIn("- X: no toolchain", text)
        self.assertIn("- old on redis and weir: both", text)
        self.assertNotIn("kept on redis", text)
        self.assertIn("1/1      | 2/3", text)


class Echo:
    """Answers what it is sent; `got` is all of it."""

    def __init__(self):
        self.got = b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection = self.listener.accept()[0]
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        while data := connection.recv(64):
            self.got += data
            connection.sendall(data)


class Calls(unittest.TestCase):
    """The proxy of the checks of time-outs and retries: what it loses has reached the server."""

    def setUp(self):
        self.server = Echo()
        self.proxy = LossyProxy(self.server.listener.getsockname()[1])

    def ask(self, text):
        with socket.create_connection(("127.0.0.1", self.proxy.port), timeout=0.5) as client:
            client.sendall(text)
            return client.recv(64)

    def test_a_reply_is_lost_once_with_its_connection(self):
        self.proxy.lose("key", how=CUT)
        self.assertEqual([self.ask(b"other"), self.ask(b"key 1"), self.ask(b"key 2")],
                         [b"other", b"", b"key 2"])
        self.assertEqual((self.server.got, self.proxy.sent("key")), (b"otherkey 1key 2", 2))

    def test_a_reply_is_kept_back_and_the_connection_stays(self):
        self.proxy.lose("key", how=SILENCE)
        with self.assertRaises(TimeoutError):
            self.ask(b"key 1")
        self.assertEqual((self.ask(b"key 2"), self.server.got), (b"key 2", b"key 1key 2"))

    def test_cut_ends_every_connection(self):
        with socket.create_connection(("127.0.0.1", self.proxy.port), timeout=5) as client:
            client.sendall(b"a")
            self.assertEqual(client.recv(64), b"a")
            self.proxy.cut()
            self.assertEqual(client.recv(64), b"")
        self.assertEqual(self.ask(b"b"), b"b")

    def test_a_cluster_has_a_key_of_each_slot(self):
        keys = clusters.key_of_each_slot()
        self.assertEqual([clusters.slot_of(key) for key in keys], list(range(16384)))
        self.assertEqual(clusters.slot_of("foo"), 12182)

    def test_a_part_is_all_its_clients(self):
        names = [client.name for client in catalogue.chosen(["language", "redis-py-8"])]
        self.assertLess({"redis-py-language", "ioredis-language", "go-redis-language",
                         "jedis-language", "redis-py-8"}, set(names))
        self.assertEqual({name.rpartition("-")[2] for name in names}, {"language", "8"})
        with self.assertRaisesRegex(ValueError, "no client is called 'languages'.*parts calls, language"):
            catalogue.chosen(["languages"])

    def test_the_page_of_libraries_leaves_them_out(self):
        def row(name, **options):
            return table.row(catalogue.Client(name, name, "Go", (2,), None, **options), 2)
        kept_row, calls = row("shown"), row("unlisted", is_of_calls=True)
        kept_row.outcomes = calls.outcomes = {name: session.Outcome() for name in table.BOTH}
        text = page.page([kept_row, calls], {"redis": "7.0.1", "weir": "1.0.0"}, "rocksdb")
        self.assertIn("| shown", text)
        self.assertNotIn("unlisted", text)


if __name__ == "__main__":
    unittest.main()
