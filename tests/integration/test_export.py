"""weir-export and weir-import: policies and keys as lines of JSON, out of one weir and into another."""

import argparse
import contextlib
import io
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import harness
from redis_source import FakeSource

TOOLS = Path(__file__).resolve().parents[2] / "tools"
BINARY = bytes(range(256))
LIBRARY = "#!lua name=lib\nredis.register_function('f', function() return 7 end)\n"


class Exchange(harness.ServerTest):
    def second(self, **options):
        server = self.server(storage="memory", logfile=self.path("log2"), **options)
        server.log_path = self.path("log2")
        return server.start()

    def tool(self, name, server, *words, code=0, environment=None):
        done = subprocess.run(
            [sys.executable, "-B", str(TOOLS / name), "--port", str(server.port), *words], text=True,
            check=False, capture_output=True, timeout=harness.PATIENCE_S, stdin=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def fill(self, server):
        with server.connect() as client:
            for words in (
                    ("SET", "s", "grün"), ("SET", "empty", ""), ("SET", BINARY, BINARY),
                    ("SET", "ends", "v", "PX", 3_600_000), ("HSET", "h", "f", "v", BINARY, BINARY),
                    ("RPUSH", "l", *range(2500)), ("SADD", "set", "a", BINARY),
                    ("ZADD", "z", "0.1", "a", "-inf", "b", "1e300", "c", "3", BINARY),
                    ("RL.TAKE", "u", "SLIDINGLOG", "10/1h", "COST", 3),
                    ("RL.TAKE", "u", "SLIDINGLOG", "10/1h", "COST", 4),
                    ("CL.THROTTLE", "cell", 15, 30, 60, 2),
                    ("RL.POLICY", "SET", "api", "GCRA", "100/1m", "BURST", 20, "AS", "burst",
                     "FIXED", "1000", "ALIGN", "DAY", "ZONE", "Asia/Shanghai", "ONCHANGE", "RESET"),
                    ("RL.POLICY", "SET", "trial", "5/1m", "SHADOW"),
                    ("RL.POLICY", "SET", "off", "UNLIMITED"),
                    ("RL.POLICY", "OVERRIDE", "api", "KEY", "tenant:7", "5/1s"),
                    ("RL.POLICY", "OVERRIDE", "api", "PREFIX", "vip:", "UNLIMITED"),
                    ("FUNCTION", "LOAD", LIBRARY), ("SELECT", 3), ("SET", "other", "v"),
                    ("PEXPIRE", "other", 7_200_000)):
                client.call(*words)

    READS = [("GET", "s"), ("GET", "empty"), ("GET", BINARY), ("GET", "ends"), ("PEXPIRETIME", "ends"),
             ("PEXPIRETIME", "s"), ("LRANGE", "l", 0, -1), ("ZRANGE", "z", 0, -1, "WITHSCORES"),
             ("DUMP", "u"), ("DUMP", "cell"), ("PEXPIRETIME", "u"), ("PEXPIRETIME", "cell"),
             ("RL.POLICY", "LIST"), ("RL.POLICY", "OVERRIDES", "api"), ("DBSIZE",),
             ("FCALL", "f", 0)]

    def picture(self, server):
        with server.connect() as client:
            replies = [client.call(*words) for words in self.READS]
            replies += [sorted(client.call(*words)) for words in (("HGETALL", "h"), ("SMEMBERS", "set"))]
            for name in ("api", "trial", "off"):
                replies.append(client.call("RL.POLICY", "GET", name)[:4])  # but for the version
            client.call("SELECT", 3)
            return replies + [client.call("GET", "other"), client.call("PEXPIRETIME", "other")]

    def test_all_of_it_goes_there_and_back(self):
        one, other = self.server().start(), self.second()
        self.fill(one)
        path = self.path("file")
        self.assertEqual(self.tool("weir-export", one, path), "exported: 3 policies, 11 keys\n")
        self.assertEqual(self.tool("weir-import", other, path), "imported: 3 policies, 11 keys\n")
        self.assertEqual(self.picture(other), self.picture(one))

    def test_lines_are_for_people_too(self):
        one = self.memory_server()
        self.fill(one)
        path = self.path("file")
        self.tool("weir-export", one, path)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual((lines[0]["weir"], lines[0]["format"]), ("export", 1))
        self.assertEqual(lines[-1], {"end": True, "policies": 3, "keys": 11})
        keys = {line["key"]: line for line in lines if isinstance(line.get("key"), str)}
        self.assertEqual(keys["s"], {"database": 0, "key": "s", "type": "string", "value": "grün"})
        self.assertEqual(keys["z"]["value"][0], ["b", "-inf"])
        self.assertIn("SLIDINGLOG 10/1h", json.dumps(keys["u"]["limits"]))
        [policy] = [line for line in lines if line.get("policy") == "api"]
        self.assertEqual(policy["overrides"][0][:2], ["KEY", "tenant:7"])

    def test_what_is_there_is_left_or_replaced(self):
        one, other = self.memory_server(), self.second()
        self.fill(one)
        path = self.path("file")
        self.tool("weir-export", one, path)
        other.call("RPUSH", "s", "ours")
        other.call("RL.POLICY", "SET", "api", "1/1s")
        text = self.tool("weir-import", other, path)
        self.assertEqual(text, "imported: 2 policies, 10 keys\nleft alone, because weir has them: 2\n")
        self.assertEqual(other.call("LRANGE", "s", 0, -1), [b"ours"])
        text = self.tool("weir-import", other, "--replace", path)
        self.assertEqual(text, "imported: 3 policies, 11 keys\n")
        self.assertEqual(self.picture(other), self.picture(one))

    def test_a_key_that_somebody_makes_meanwhile_is_left_alone(self):
        """Whoever makes it comes between the question whether it is there and the answer to it."""
        one, other = self.memory_server(), self.second()
        self.fill(one)
        path = self.path("file")
        self.tool("weir-export", one, path)
        program = runpy.run_path(str(TOOLS / "weir-import"))
        options = argparse.Namespace(host="127.0.0.1", port=other.port, tls=False, user=None,
                                     password_file=None, database=None, no_keys=False,
                                     no_policies=True, replace=False, file=path)
        client = sys.modules["client"].Client(options)
        ask = client.ask

        def ask_after_others(requests):
            if requests and requests[0][0] not in ("SELECT", "EXISTS", "WATCH", "UNWATCH"):
                with other.connect() as rival:
                    for words in requests:
                        if words[0] in ("SET", "RESTORE", "HSET", "RPUSH", "SADD", "ZADD"):
                            rival.call("SELECT", 3 if words[1] == b"other" else 0)
                            rival.call("SET", words[1], "ours")
            return ask(requests)

        client.ask = ask_after_others
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(program["run_import"](options, client), 0)
        self.assertEqual(out.getvalue(), "imported: 0 policies, 0 keys\n"
                                         "left alone, because weir has them: 11\n")
        self.assertEqual(other.call("DBSIZE"), 10)
        self.assertEqual(other.call("GET", "z"), b"ours")

    def test_a_line_that_makes_no_value_takes_none_away(self):
        other = self.memory_server()
        lines = ['{"weir": "export", "format": 1}']
        for key, rest in (("a", '"type":"zset","value":[["m","notanumber"]]'),
                          ("b", '"type":"zset","value":[["m","nan"]]'),
                          ("c", '"type":"list","value":[]'),
                          ("d", '"type":"string","value":"v","expires_ms":1.9e15'),
                          ("e", '"type":"hash","value":["f"]'),
                          ("f", '"type":"stream","value":["f"]'),
                          ("g", f'"type":"zset","value":[["m",1{"0" * 400}]]'),
                          ("h", '"type":"string","value":["v"]'),
                          ("i", '"type":"string"'),
                          ("j", '"type":"hash","value":[["f",{"base64":"?"}]]')):
            other.call("SET", key, "ours")
            lines.append(f'{{"database":0,"key":"{key}",{rest}}}')
        lines.append('{"database":0,"key":"\\u001b[2J","type":"stream\\u009b","value":[]}')
        path = self.write("file", "\n".join(lines + ['{"end": true, "policies": 0, "keys": 6}\n']))
        text = self.tool("weir-import", other, "--replace", path, code=2)
        self.assertIn("imported: 0 policies, 0 keys\n", text)
        self.assertIn("not taken: key \\x1b[2J: its type is 'stream\\x9b'\n", text)
        for key in "abcdefghij":
            self.assertEqual((other.call("GET", key), other.call("TTL", key)), (b"ours", -1))
            self.assertIn(f"not taken: key {key}: ", text)
        other.call("FLUSHALL")
        text = self.tool("weir-import", other, path, code=2)
        self.assertEqual(text.count("not taken: key "), 11)
        path = self.write("file", lines[0] + '\n{"database":0,"key":7,"type":"string","value":"v"}\n')
        text = self.tool("weir-import", other, path, code=1)
        self.assertIn("line 2 makes no sense: ", text)

    def test_an_export_goes_on_where_it_was_cut_short(self):
        one, other = self.memory_server(), self.second()
        with one.connect() as client:
            for at in range(2000):
                client.call("SET", f"key:{at}", at)
            client.call("SELECT", 1)
            client.call("SET", "last", 1)
        path = self.path("file")
        self.tool("weir-export", one, path)
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            lines = file.readlines()
        second = [at for at, line in enumerate(lines) if b'"cursor"' in line][1]
        before_newline = sum(len(line) for line in lines[:second + 1]) - 1
        for kept in (size - 3, size * 2 // 3, size // 2, before_newline):
            os.truncate(path, kept)
            self.tool("weir-export", one, "--resume", path)
            other.call("FLUSHALL")
            self.assertEqual(self.tool("weir-import", other, path), "imported: 0 policies, 2001 keys\n")
            self.assertEqual(other.call("DBSIZE"), 2000)
        self.assertIn("is whole already", self.tool("weir-export", one, "--resume", path, code=1))

    def test_a_file_that_was_cut_short_is_told_of(self):
        one, other = self.memory_server(), self.second()
        one.call("SET", "a", "v")
        path = self.path("file")
        self.tool("weir-export", one, path)
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        for text, wrong in (("".join(lines[:-1]), "was cut short"), ("nonsense\n", "line 1 makes no"),
                            (lines[0].replace('"format": 1', '"format": 2'), "has format 2, and"),
                            ("{}\n", "no file of weir-export")):
            self.assertIn(wrong, self.tool("weir-import", other, self.write("cut", text), code=1))
        self.assertEqual(other.call("GET", "a"), b"v")

    def test_a_file_that_is_there_stays_until_the_export_has_ended(self):
        one = self.memory_server()
        one.call("SET", "a", "v")
        path = self.write("file", "precious")
        os.chmod(path, 0o644)
        with FakeSource({}, {b"SCAN": b"-ERR no\r\n"}) as source:
            self.assertIn("ERR no", self.tool("weir-export", source, "--no-policies", path, code=1))
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        link = self.path("link")
        os.symlink(path, link)
        self.tool("weir-export", one, link)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assertFalse(os.path.exists(path + ".new"))
        with open(path, encoding="utf-8") as file:
            self.assertEqual(json.loads(file.readlines()[-1]), {"end": True, "policies": 0, "keys": 1})

    def test_a_server_that_lies(self):
        """What it answers in place of what was asked is one line, and reaches no terminal raw."""
        page = b"*2\r\n%s*1\r\n%s"
        zero, name = b"$1\r\n0\r\n", b"$1\r\na\r\n"
        for replies, text in (
                ({b"SCAN": page % (b":0\r\n", name)}, "SCAN is answered as no weir does"),
                ({b"SCAN": page % (zero, b":1\r\n")}, "SCAN is answered as no weir does"),
                ({b"SCAN": b"-ERR \x1b]0;owned\x07\x1b[2J\r\n"}, "SCAN: ERR \\x1b]0;owned\\x07"),
                ({b"TYPE": b"*0\r\n"}, "TYPE is answered as no weir does"),
                ({b"TYPE": b"+stream\r\n"}, "key b'a' has type stream"),
                ({b"PEXPIRETIME": b"+soon\r\n"}, "PEXPIRETIME is answered as no weir does: soon"),
                ({b"PEXPIRETIME": b":-1\r\n", b"HGETALL": b"+x\r\n"}, "HGETALL is answered as no weir"),
                ({b"PEXPIRETIME": b":-1\r\n", b"HGETALL": b"*1\r\n:1\r\n"}, "HGETALL is answered as"),
                ({b"INFO": b"*0\r\n"}, "INFO is answered as no weir does"),
                ({b"INFO": b"$99999999999\r\n"}, "announces a text of 99999999999 bytes"),
                ({b"INFO": b":1_0\r\n"}, "answers what no weir does"),
                ({b"INFO": b"*1\r\n" * 2000}, "answers what no weir does")):
            with FakeSource({b"a": b""}, replies) as source:
                said = self.tool("weir-export", source, "--no-policies", self.path("file"), code=1)
            self.assertIn(text, said)
            self.assertNotRegex(said, "[^ -~\n]")
            self.assertEqual(said.count("\n"), 1, said)
            os.unlink(self.path("file"))

    def test_a_part_of_it(self):
        one, other = self.memory_server(), self.second()
        self.fill(one)
        path = self.path("file")
        self.tool("weir-export", one, "--match", "e*", "--no-policies", path)
        self.assertEqual(self.tool("weir-import", other, path), "imported: 0 policies, 2 keys\n")
        self.tool("weir-export", one, "--no-keys", path)
        self.assertEqual(self.tool("weir-import", other, path), "imported: 3 policies, 0 keys\n")
        self.assertEqual(other.call("DBSIZE"), 2)

    def test_a_password(self):
        one = self.memory_server(requirepass="own")
        path = self.path("file")
        self.assertIn("NOAUTH", self.tool("weir-export", one, path, code=1))
        self.tool("weir-export", one, path, environment={"REDISCLI_AUTH": "own"})
        self.tool("weir-export", one, "--password-file", self.write("password", "own\n"), path)


if __name__ == "__main__":
    harness.main()
