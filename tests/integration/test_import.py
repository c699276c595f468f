"""--import: a real Redis, with keys of every type, is copied into a weir that serves."""

import os
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

import harness
from backup import on_terminal
from importing import Importing
from support.certificates import Certificates

YEAR_2100_MS = 4_102_444_800_000
BINARY = bytes(range(256))
PAGE = Path(__file__).resolve().parents[2] / "docs/migrate.md"


class Import(Importing):
    def fill(self, client):
        requests = [
            ("SET", "s", "text"), ("SET", "empty", ""), ("SET", "number", -42),
            ("SET", BINARY, BINARY), ("SET", "large", "x" * 3_000_000),
            ("SET", "ends", "v", "PXAT", YEAR_2100_MS), ("HSET", "h", "f", "v", BINARY, BINARY),
            ("RPUSH", "l", "a", "b", "", BINARY), ("SADD", "ints", 1, 2, 3), ("SADD", "set", "a", BINARY),
            ("ZADD", "z", "1.5", "a", "-inf", "b", "0.1", "c", "1e300", BINARY),
            ("SET", "key with blanks\r\nand lines", "v")]
        requests += [("HSET", "H", f"field {i}", f"value {i}") for i in range(2000)]
        requests += [("RPUSH", "L", f"element {i}") for i in range(2000)]
        requests += [("ZADD", "Z", i / 7, f"member {i}") for i in range(2000)]
        requests += [("SADD", "S", f"member {i}") for i in range(2000)]
        requests += [("PEXPIREAT", key, YEAR_2100_MS) for key in ("H", "l", "Z")]
        client.call_all(requests)

    READS = [("GET", "s"), ("GET", "empty"), ("GET", "number"), ("GET", BINARY), ("GET", "large"),
             ("GET", "ends"), ("HGETALL", "h"), ("LRANGE", "l", 0, -1), ("LRANGE", "L", 0, -1),
             ("ZRANGE", "z", 0, -1, "WITHSCORES"), ("ZRANGE", "Z", 0, -1, "WITHSCORES"),
             ("GET", "key with blanks\r\nand lines"), ("DBSIZE",), ("OBJECT", "ENCODING", "ints")]

    def assert_same(self, source, weir):
        with source.connect() as one, weir.connect() as other:
            self.assertEqual(one.call_all(self.READS), other.call_all(self.READS))
            for words in (("SMEMBERS", "S"), ("SMEMBERS", "set"), ("SMEMBERS", "ints")):
                self.assertEqual(sorted(one.call(*words)), sorted(other.call(*words)))
            pairs = [dict(zip(reply[::2], reply[1::2]))
                     for reply in (one.call("HGETALL", "H"), other.call("HGETALL", "H"))]
            self.assertEqual(*pairs)
            for key in ("ends", "H", "l", "Z"):
                self.assertLess(abs(other.call("PEXPIRETIME", key) - YEAR_2100_MS), 5000)
            for key in ("s", "h", "L"):
                self.assertEqual(other.call("PTTL", key), -1)

    def test_every_type_expiry_and_binary_key_of_all_databases(self):
        source, weir = self.redis(), self.server().start()
        with source.connect() as client:
            self.fill(client)
            client.call("SELECT", 5)
            client.call("SET", "of five", "v")
        code, out, err = self.run_import(weir, source.url())
        self.assertEqual((code, err), (0, ""), out)
        self.assertRegex(out, r"^copied: 17 keys, \d+\.\d kB\n$")
        self.assert_same(source, weir)
        with weir.connect() as client:
            client.call("SELECT", 5)
            self.assertEqual(client.call("GET", "of five"), b"v")

    def test_one_database_and_a_pattern(self):
        source, weir = self.redis(), self.memory_server()
        with source.connect() as client:
            for database in (0, 3):
                client.call("SELECT", database)
                client.call_all([("SET", f"{name}:{i}", database) for name in "ab" for i in range(9)])
        code, out, _ = self.run_import(weir, source.url() + "/3", "--match", "a:*")
        self.assertEqual((code, out), (0, "copied: 9 keys, " + out.split(", ")[1]))
        with weir.connect() as client:
            self.assertEqual(client.call("DBSIZE"), 0)
            client.call("SELECT", 3)
            self.assertEqual(client.call("DBSIZE"), 9)
            self.assertEqual(client.call("GET", "a:1"), b"3")

    def test_keys_that_weir_has_are_left_unless_told_otherwise(self):
        source, weir = self.redis(), self.memory_server()
        with source.connect() as client:
            client.call_all([("SET", "a", "theirs"), ("SET", "b", "theirs")])
        weir.call("RPUSH", "a", "ours")
        code, out, _ = self.run_import(weir, source.url())
        self.assertEqual(code, 0)
        self.assertIn("copied: 1 keys", out)
        self.assertIn("left alone, because weir has them: 1 keys", out)
        self.assertEqual(weir.call("LRANGE", "a", 0, -1), [b"ours"])
        code, out, _ = self.run_import(weir, source.url(), "--import-replace")
        self.assertEqual((code, out.splitlines()[0][:14]), (0, "copied: 2 keys"))
        self.assertEqual(weir.call("GET", "a"), b"theirs")

    def test_it_says_what_it_did_not_take_and_why(self):
        source, weir = self.redis(), self.memory_server()
        with source.connect() as client:
            client.call_all([("XADD", "events", "*", "f", "v"), ("XADD", "more events", "*", "f", "v"),
                             ("SET", "a", "v")])
        code, out, err = self.run_import(weir, source.url())
        self.assertEqual((code, err), (2, ""))
        self.assertIn("copied: 1 keys", out)
        self.assertRegex(out, r'not taken: 2 keys, such as "(more )?events": type stream, which weir')

    def test_many_keys_killed_half_way_and_resumed(self):
        source, weir = self.redis(), self.memory_server()
        with source.connect() as client:
            for begin in range(0, 100_000, 5000):
                client.call_all([("SET", f"key:{i}", i) for i in range(begin, begin + 5000)])
            client.call("XADD", "events", "*", "f", "v")
        progress = self.path("progress")
        process = self.spawn(weir, source.url(), "--import-progress", progress)
        try:
            harness.wait_until(lambda: weir.call("DBSIZE") > 20_000 and os.path.exists(progress),
                               "some of it is there")
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        had = weir.call("DBSIZE")
        self.assertLess(had, 100_000)
        with open(progress, encoding="utf-8") as file:
            kept = file.read()
        self.assertIn(f"of redis://127.0.0.1:{source.port} ", kept)
        kept = int(re.search(r"(?m)^copied (\d+) ", kept)[1])
        code, out, err = self.run_import(weir, source.url() + "/0", "--import-progress", progress)
        self.assertEqual(code, 1, "another import's file")
        self.assertIn("is of another import", err)
        code, out, err = self.run_import(weir, source.url(), "--import-progress", progress)
        self.assertEqual((code, err), (2, ""), out)
        self.assertIn("not taken: 1 keys, such as \"events\"", out)
        left = re.search(r"weir has them: (\d+) keys", out)
        self.assertLessEqual(int(left[1]) if left else 0, had - kept, "it went on at its place")
        self.assertEqual(weir.call("DBSIZE"), 100_000)
        self.assertFalse(os.path.exists(progress))
        with weir.connect() as client:
            replies = client.call_all([("GET", f"key:{i}") for i in range(0, 100_000, 7)])
        self.assertEqual(replies, [b"%d" % i for i in range(0, 100_000, 7)])

    def test_a_terminal_shows_how_far_it_is(self):
        source, weir = self.redis(), self.memory_server()
        with source.connect() as client:
            client.call_all([("SET", f"key:{i}", i) for i in range(20_000)])
        code, text = on_terminal(harness.executable, "--import", source.url(), "--import-into",
                                 f"redis://127.0.0.1:{weir.port}")
        self.assertEqual(code, 0)
        self.assertRegex(text, r"database 0 \[#*\.*\] +\d+ %  \d+ keys copied, \d+/s, left alone 0, not")

    def test_without_a_file_the_same_command_goes_on(self):
        source, weir = self.redis(), self.memory_server()
        with source.connect() as client:
            client.call_all([("SET", f"key:{i}", i) for i in range(30_000)])
        process = self.spawn(weir, source.url())
        try:
            harness.wait_until(lambda: weir.call("DBSIZE") > 500, "some of it is there")
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        code, out, _ = self.run_import(weir, source.url())
        self.assertEqual(code, 0)
        self.assertIn("left alone, because weir has them: ", out)
        self.assertEqual(weir.call("DBSIZE"), 30_000)

    def test_a_source_that_is_written_to(self):
        source, weir = self.redis(), self.memory_server()
        ends = threading.Event()

        def write():
            with source.connect() as client:
                at = 0
                while not ends.is_set():
                    at += 1
                    client.call_all([("RPUSH", f"l:{at % 50}", at), ("LTRIM", f"l:{at % 50}", -3, -1),
                                     ("SET", "t", "v", "PX", 1), ("SET", f"temporary:{at % 100}", "v", "PX", 5),
                                     ("INCR", "count")])
        with source.connect() as client:
            client.call_all([("SET", f"key:{i}", i) for i in range(20_000)])
        thread = threading.Thread(target=write)
        thread.start()
        try:
            code, out, err = self.run_import(weir, source.url())
        finally:
            ends.set()
            thread.join()
        self.assertEqual((code, err), (0, ""), out)
        with weir.connect() as client:
            replies = client.call_all([("GET", f"key:{i}") for i in range(20_000)])
            self.assertEqual(replies, [b"%d" % i for i in range(20_000)])
            self.assertEqual(len(client.call("LRANGE", "l:1", 0, -1)), 3)

    def test_users_and_passwords(self):
        source, weir = self.redis("--requirepass", "se:cr@t%"), self.memory_server(requirepass="own")
        with source.connect() as client:
            client.call("AUTH", "se:cr@t%")
            client.call("SET", "a", "v")
            client.call("ACL", "SETUSER", "mover", "on", ">pass", "~*", "+scan", "+dump", "+pttl",
                        "+type", "+memory|usage", "+multi", "+exec", "+select", "+info", "+ping")
        into = {"WEIR_IMPORT_INTO_PASSWORD": "own"}
        file = self.write("password", "se:cr@t%\n")
        for user, options, environment in (
                (":se:cr@t%25@", (), into), ("mover:pass@", ("--import-replace",), into),
                ("", ("--import-password-file", file), into),
                ("", (), {**into, "WEIR_IMPORT_PASSWORD": "se:cr@t%"})):
            code, out, err = self.run_import(weir, source.url(user), *options,
                                             environment=environment)
            self.assertEqual((code, err), (0, ""), out)
        with weir.connect() as client:
            client.call("AUTH", "own")
            client.call("ACL", "SETUSER", "filler", "on", ">f", "~*", "+restore", "+exists",
                        "+select", "+info", "+ping")
        code, out, err = self.run_import(weir, source.url("mover:pass@"), "--import-replace",
                                         "--import-into", f"redis://filler:f@127.0.0.1:{weir.port}")
        self.assertEqual((code, err), (0, ""), out)
        for user, environment, text in (("mover:wrong@", into, "WRONGPASS"), ("", into, "NOAUTH"),
                                        ("mover:pass@", {}, "NOAUTH")):
            code, out, err = self.run_import(weir, source.url(user), environment=environment)
            self.assertEqual(code, 1)
            self.assertIn(text, err)
            self.assertNotIn("wrong@", err)

    def test_no_password_is_seen_in_the_list_of_processes(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:  # the import waits for its answer
            port = silent.getsockname()[1]
            process = subprocess.Popen(
                [harness.executable, "--import", f"redis://mover:secret@127.0.0.1:{port}",
                 "--import-into", f"redis://:hidden@127.0.0.1:{port}"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            try:
                silent.settimeout(harness.PATIENCE_S)
                connection, _ = silent.accept()
                connection.recv(1)  # it has begun to speak, so it has read its words
                with open(f"/proc/{process.pid}/cmdline", "rb") as file:
                    words = file.read()
                connection.close()
            finally:
                process.kill()
                process.communicate()
        self.assertIn(b"redis://mover:******@127.0.0.1", words)
        self.assertNotIn(b"secret", words)
        self.assertNotIn(b"hidden", words)

    def test_tls(self):
        certificates = Certificates(self.path("certificates"))
        certificates.make("client", "the mover")
        port = harness.free_port()
        source = self.redis("--tls-port", port, "--tls-cert-file", certificates.path("server.crt"),
                            "--tls-key-file", certificates.path("server.key"), "--tls-ca-cert-file",
                            certificates.path("ca.crt"))
        weir = self.memory_server()
        with source.connect() as client:
            self.fill(client)
        trusted = ["--import-ca-cert-file", certificates.path("ca.crt")]
        shown = ["--import-cert-file", certificates.path("client.crt"), "--import-key-file",
                 certificates.path("client.key")]
        for host, options, code, text in (
                ("localhost", shown, 1, "its certificate is not accepted"),
                ("127.0.0.1", trusted, 1, "rediss://127.0.0.1"),
                ("127.0.0.1", trusted + shown, 0, ""), ("localhost", ["--import-insecure", *shown], 0, "")):
            done = self.run_import(weir, f"rediss://{host}:{port}", *options)
            self.assertEqual(done[0], code, done)
            self.assertIn(text, done[2])
        self.assert_same(source, weir)

    def test_words_that_make_no_sense(self):
        for words, text in ((["--import"], "usage: "), (["--import", "http://x"], "redis://"),
                            (["--import", "redis://:secret@h:99999"], "host and port make no sense"),
                            (["--import", "redis://h", "--prot", "1"], "unknown word '--prot'"),
                            (["--import", "redis://h", "redis://:secret@h"], "unknown word 'redis://:***"),
                            (["--import", "redis://h", "--match"], "--match needs a value"),
                            (["--import", "redis://127.0.0.1:1"], "cannot connect to redis://127.0.0.1:1")):
            done = subprocess.run([harness.executable, *words], text=True, capture_output=True,
                                  check=False, timeout=harness.PATIENCE_S)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(text, done.stderr)
            self.assertNotIn("secret", done.stderr)

    def test_a_weir_is_not_copied_onto_itself(self):
        weir = self.memory_server()
        code, _, err = self.run_import(weir, f"redis://localhost:{weir.port}")
        self.assertEqual(code, 1)
        self.assertIn("are the same server", err)

    def test_from_weir_to_weir_limiters_too(self):
        one, other = self.memory_server(), self.server(logfile=self.path("log2"), storage="memory")
        other.log_path = self.path("log2")
        other.start()
        for cost in (3, 4):
            one.call("RL.TAKE", "u", "SLIDINGLOG", "10/1h", "COST", cost)
        self.assertEqual(self.run_import(other, f"redis://127.0.0.1:{one.port}")[0], 0)
        self.assertEqual(other.call("RL.TAKE", "u", "SLIDINGLOG", "10/1h")[2], 2)

    def test_a_weir_that_ends_in_between(self):
        source, weir = self.redis(), self.memory_server()
        with source.connect() as client:
            client.call_all([("SET", f"key:{i}", i) for i in range(100_000)])
        process = self.spawn(weir, source.url())
        harness.wait_until(lambda: weir.call("DBSIZE") > 500, "some of it is there")
        weir.stop(signal.SIGKILL)
        out, err = process.communicate(timeout=harness.PATIENCE_S)
        self.assertEqual(process.returncode, 1, out)
        self.assertIn(f"the connection to redis://127.0.0.1:{weir.port} is lost", err)
        self.assertIn("the same command goes on", err)


class Page(Importing):
    def test_the_lines_of_the_page(self):
        lines = re.findall(r"(?m)^    (weir-server --import .*)$", PAGE.read_text(encoding="utf-8"))
        self.assertGreater(len(lines), 2)
        source, weir = self.redis("--requirepass", "secret"), self.memory_server()
        with source.connect() as client:
            client.call("AUTH", "secret")
            client.call("SET", "user:42", "v")
            client.call("ACL", "SETUSER", "mover", "on", ">secret", "~*", "+@all")
        self.write("redis-password", "secret\n")
        for line in lines:
            line = line.replace("redis-host:6379", f"127.0.0.1:{source.port}")
            line = line.replace("rediss://", "redis://").replace("redis-host", f"127.0.0.1:{source.port}")
            line = re.sub(r"  # .*", "", line).replace("weir-host:6379", f"127.0.0.1:{weir.port}")
            line = line.replace("weir-server", harness.executable)
            if "--import-into" not in line:
                line += f" --import-into redis://127.0.0.1:{weir.port}"
            weir.call("FLUSHALL")
            done = subprocess.run(["bash", "-c", line], cwd=self.folder, text=True, check=False,
                                  capture_output=True, timeout=harness.PATIENCE_S)
            self.assertEqual(done.returncode, 0, line + done.stdout + done.stderr)
            self.assertEqual(weir.call("GET", "user:42"), b"v", line)


if __name__ == "__main__":
    harness.main()
