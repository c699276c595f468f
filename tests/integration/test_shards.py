#!/usr/bin/python3 -B
"""tools/weir-cluster status and each, over members that answer WEIR FACTS as a test says: test_shards.py path/to/weir-server"""

import os
import socketserver
import subprocess
import sys
import threading
import unittest
from pathlib import Path




TOOL = Path(__file__).resolve().parents[2] / "tools" / "weir-cluster"


def reply(value):
    """A value as RESP2 has it."""
    if isinstance(value, dict):
        value = [part for pair in value.items() for part in pair]
    if isinstance(value, list):
        return b"*%d\r\n" % len(value) + b"".join(reply(part) for part in value)
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, Exception):
        return b"-%s\r\n" % str(value).encode()
    return b"$%d\r\n%s\r\n" % (len(value.encode()), value.encode())


class Member:
    """A server that answers requests by their first two words, and keeps what it was asked."""

    def __init__(self):
        self.answers = {}
        self.asked = []
        member = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                while (line := self.rfile.readline()).startswith(b"*"):
                    words = []
                    for _ in range(int(line[1:])):
                        size = int(self.rfile.readline()[1:])
                        words.append(self.rfile.read(size + 2)[:-2].decode())
                    member.asked.append(words)
                    self.wfile.write(reply(member.answers.get(words[0].upper(), Exception("ERR what?"))))

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def row(member, is_primary, options="a" * 64):
    return {"node": "0" * 40, "host": "127.0.0.1", "port": member.port, "tls_port": 0, "hostname": "",
            "state": "primary" if is_primary else "following", "primary": int(is_primary), "turn": 7,
            "lag_turns": 0 if is_primary else 3, "age_ms": 0, "configuration": options, "acl": ""}


def facts(shard, slots, members, serves, others):
    return {"cluster": "c" * 32, "shard": shard, "serves": int(serves), "slots": slots, "decisions_per_s": 120,
            "busy_permille": 35, "keys": 9, "members": members, "shards": others, "mood": ["later"]}


class Shards(unittest.TestCase):
    def setUp(self):
        self.a1, self.a2, self.b1, self.b2 = self.members = [Member() for _ in range(4)]
        for member in self.members:
            self.addCleanup(member.stop)
        self.tell()

    def tell(self, slots_of_b="8192-16383:1", options_of_b2="a" * 64, b_serves=True):
        a, b = [row(self.a1, True), row(self.a2, False)], [row(self.b1, True), row(self.b2, False, options_of_b2)]
        others = {"a": [["b", [self.address(self.b2), self.address(self.b1)]]],
                  "b": [["a", [self.address(self.a1)]]]}
        for member in self.members:
            name, rows, slots = ("a", a, "0-8191:1") if member in (self.a1, self.a2) else ("b", b, slots_of_b)
            serves = member is self.a1 or (member is self.b1 and b_serves)
            member.answers["WEIR"] = facts(name, slots, rows, serves, others[name])
            member.answers["CONFIG"] = "OK"

    @staticmethod
    def address(member):
        return f"127.0.0.1:{member.port}"

    def tool(self, *words):
        env = {name: value for name, value in os.environ.items() if not name.startswith("REDISCLI")}
        done = subprocess.run([sys.executable, "-B", TOOL, *words], capture_output=True, text=True, timeout=60, env=env)
        return done.returncode, done.stdout + done.stderr

    def test_status_is_a_line_a_shard(self):
        code, text = self.tool("status", self.address(self.a2))
        self.assertEqual(code, 0, text)
        lines = text.splitlines()
        self.assertEqual(lines[0], f"cluster {'c' * 32}: 2 shards, 16384 of 16384 slots")
        self.assertEqual(lines[2], f"b: slots 8192-16383 (8192); primary {self.address(self.b1)}; standbys "
                                   f"{self.address(self.b2)} (following, lacks 3 turns); 120 decisions/s, 3.5 % busy, 9 keys")
        self.assertEqual(len(lines), 3, text)

    def test_status_names_what_is_wrong(self):
        self.tell(options_of_b2="b" * 64, slots_of_b="8192-16000:1", b_serves=False)
        code, text = self.tool("status", self.address(self.a1))
        self.assertEqual(code, 1, text)
        self.assertIn("16001 of 16384 slots", text)
        self.assertIn("WHICH DOES NOT SERVE", text)
        self.tell(b_serves=False)
        self.assertEqual(self.tool("status", self.address(self.a1))[0], 1)
        self.assertIn(f"other options than most have: {self.address(self.b2)}\n", text)

    def test_a_shard_that_is_away(self):
        self.b1.stop()
        self.b2.answers["WEIR"] = Exception("NOPERM you may not")
        code, text = self.tool("status", self.address(self.a1))
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"\nb: CANNOT BE ASKED: \S+: NOPERM you may not; .*refused")
        self.assertRegex(text, r"\na: slots 0-8191 ")
        code, text = self.tool("status", self.address(self.b1))
        self.assertEqual(code, 1, text)
        self.assertEqual(text.count("\n"), 1, "one line: " + text)

    def test_the_primaries_alone_are_told(self):
        code, text = self.tool("each", "--primaries", self.address(self.b2), "CONFIG", "SET", "maxclients", "9")
        self.assertEqual(code, 0, text)
        told = [member for member in self.members if ["CONFIG", "SET", "maxclients", "9"] in member.asked]
        self.assertEqual(told, [self.a1, self.b1])
        self.tell(b_serves=False)
        code, text = self.tool("each", "--primaries", self.address(self.b2), "CONFIG", "SET", "maxclients", "8")
        self.assertEqual(code, 1, text)
        self.assertIn("b: NOT TOLD: nobody serves\n", text)
        self.assertIn("not done at 1: all of b\n", text)

    def test_all_are_told_by_default(self):
        code, text = self.tool("each", self.address(self.b2), "CONFIG", "SET", "maxclients", "9")
        self.assertEqual((code, text.count(": OK\n")), (0, len(self.members)), text)
        self.assertEqual(self.tool("each", "--others", self.address(self.b2), "PING")[0], 1)
        self.assertEqual(self.tool("each", "--primaries", self.address(self.b2))[0], 1)

    def test_each_member_is_told(self):
        code, text = self.tool("each", "--members", self.address(self.b2), "CONFIG", "SET", "maxclients", "9")
        self.assertEqual(code, 0, text)
        for member in self.members:
            self.assertIn(["CONFIG", "SET", "maxclients", "9"], member.asked)
            self.assertIn(f"{self.address(member)}: OK\n", text)
        self.a2.stop()
        self.b2.answers["CONFIG"] = Exception("ERR no")
        code, text = self.tool("each", "--members", self.address(self.b1), "CONFIG", "SET", "maxclients", "9")
        self.assertEqual(code, 1, text)
        self.assertRegex(text, rf"a {self.address(self.a2)}: NOT REACHED: .*\n")
        self.assertRegex(text, rf"b {self.address(self.b2)}: REFUSED: ERR no\n")
        self.assertIn(f"not done at 2: {self.address(self.a2)}, {self.address(self.b2)}\n", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
