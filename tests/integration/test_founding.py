"""Shards that one text founds: each has its slots in its directory and in its log, and keeps them."""

import hashlib
import os
import signal
import unittest

import harness
import postgres
from shard_fixture import OnPostgres, ShardTest

SHARES = {"a": "0-5460", "b": "5461-10921", "c": "10922-16383"}
KEYS = {"a": "b", "b": "k", "c": "a"}  # of each shard's slots: 3300, 7629, 15495


def cluster_id(text):
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Founding(ShardTest):
    def founding(self, *words):
        """The text, which is in its canonical form, and the path of its file."""
        code, text = self.tool("found", "limits", *words)
        self.assertEqual(code, 0, text)
        return text, self.write("founding", text)

    def address_of(self, name):
        return "file:" + self.path(f"log-{name}")

    def found(self, name, path, *options):
        os.makedirs(self.path(name), exist_ok=True)
        return self.command("--new-shard", self.address_of(name), name, "--founding", path, "--dir",
                            self.path(name) + "/data", *options)

    def member_of(self, name, folder=None, **named):
        return self.member(folder or name, log=self.address_of(name), shard=name,
                           **{"cluster_enabled": "yes", **named})

    def identity(self, folder):
        """The lines of its WEIR, by their first words."""
        with open(self.path(folder) + "/data/WEIR", encoding="ascii") as file:
            return dict(line.split(" ", 1) for line in file.read().splitlines())

    def test_each_has_its_slots_and_a_restart_keeps_them(self):
        text, path = self.founding("a", "b")
        shares = {line.split()[1]: line.split()[2] for line in text.splitlines()[1:]}
        self.assertEqual(shares, {"a": "0-8191", "b": "8192-16383"})
        for name, slots in shares.items():
            code, out = self.found(name, path)
            self.assertEqual(code, 0, out)
            self.assertIn(f"shard {name} of cluster {cluster_id(text)}, up to turn 0, with the slots {slots}\n", out)
            self.assertEqual(self.first_record(name)[:3], b"W\2\1")
        before = {name: self.identity(name) for name in shares}
        self.assertNotEqual(before["a"]["instance"], before["b"]["instance"])
        for name, lines in before.items():
            self.assertEqual([lines[word] for word in ("format", "cluster", "shard", "slots", "born")],
                             ["3", cluster_id(text), name, shares[name], "founded"])
        servers = {name: self.member_of(name).start() for name in shares}
        for name, server in servers.items():
            self.primary_of(server).call("SET", "{" + KEYS["a" if name == "a" else "c"] + "}", name)
        # A member that joins has it all from the log, whoever is killed.
        second = self.member_of("a", "a2").start()
        harness.wait_until(lambda: os.path.exists(self.path("a2") + "/data/WEIR"), "it has begun")
        self.agree(servers["a"], second)
        joined = self.identity("a2")
        self.assertEqual({**joined, "id": "", "checksum": ""}, {**before["a"], "id": "", "checksum": ""})
        servers["a"].send_signal(signal.SIGKILL)
        servers["a"].wait()
        self.assertEqual(self.primary_of(second).call("GET", "{" + KEYS["a"] + "}"), b"a")
        servers["a"].start()
        self.agree(servers["a"], second)
        self.assertEqual({name: self.identity(name) for name in shares}, before)
        self.assert_all_of_version_2()
        self.assertEqual(servers["b"].stop(), 0)
        code, out = self.command("--check", servers["b"].data)
        self.assertEqual(code, 0, out)
        self.assertIn(f"of format 3, id {before['b']['id']}, of shard b of cluster {cluster_id(text)}", out)

    def assert_all_of_version_2(self):
        """Where the test can tell one record from the next."""

    def first_record(self, name):
        with open(self.path(f"log-{name}"), "rb") as file:
            data = file.read()
        return data[data.index(b"W\2\1"):]

    def test_without_cluster_mode_no_member_starts(self):
        _, path = self.founding("a", "b")
        self.assertEqual(self.found("a", path)[0], 0)
        text = "shard a has a part of the slots (0-8191), and its members need cluster-enabled yes"
        for folder in ("a", "empty"):
            server = self.member_of("a", folder, cluster_enabled="no").spawn()
            self.assertEqual(server.wait()[0], 1)
            self.assertIn(text, server.log())
        server = harness.Server(self.path("a")).spawn()
        self.assertEqual(server.wait()[0], 1)
        self.assertIn("belongs to shard a of cluster", server.log())
        code, out = self.command("--leave-shard", "--dir", self.path("a") + "/data")
        self.assertEqual(code, 0, out)
        alone = harness.Server(self.path("a"))
        self.servers.append(alone)
        self.assertEqual(alone.start().call("PING"), "PONG")

    def test_an_edited_text_is_another_cluster(self):
        text, path = self.founding("a", "b")
        self.assertEqual(self.found("a", path)[0], 0)
        edited = text.replace("0-8191", "0-8190").replace("8192-", "8191-")
        code, out = self.found("b", self.write("edited", edited))
        self.assertEqual(code, 0, out)
        ids = {self.identity(name)["cluster"] for name in "ab"}
        self.assertEqual(ids, {cluster_id(text), cluster_id(edited)})
        self.assertEqual(len(ids), 2)
        code, out = self.command("--new-shard", self.address_of("a"), "a", "--founding", path, "--dir",
                                 self.path("a") + "/other")
        self.assertEqual(code, 1)
        self.assertIn("the shared log is that of shard a of cluster", out)

    def test_what_is_no_founding(self):
        text, path = self.founding("a", "b")
        for name, edited, says in (
                ("c", text, "the founding text of cluster 'limits' has the shards 'a', 'b', and none of the name 'c'"),
                ("a", text.replace("0-8191", "0-8192"), "bad:3: slot 8192 belongs to 'a' already"),
                ("a", text.replace("0-8191", "0-8190"), "bad: no shard has the slots 8191-8191"),
                ("a", "", "bad: there is no line 'cluster NAME 32-HEXADECIMAL-DIGITS'"),
                ("a", "#" * (1 << 18) + "#", "bad: it is longer than 256kb")):
            code, out = self.found(name, self.write("bad", edited))
            self.assertEqual((code, out.count("\n")), (1, 1), out)
            self.assertIn(says, out)
        code, out = self.found("a", self.path("nowhere"))
        self.assertEqual(code, 1)
        self.assertIn("cannot read " + self.path("nowhere"), out)
        code, out = self.command("--new-shard", self.address_of("a"), "a", "--founding", path)
        self.assertEqual(code, 1)
        self.assertIn("usage: weir-server --new-shard LOG NAME [--founding FILE]", out)
        self.assertFalse(os.path.exists(self.path("a") + "/data"))

    def test_the_tool_says_what_is_no_cluster(self):
        for words, says in ((["limits", "a", "b", "--shares", "1"], "for each of the 2 shards"),
                            (["limits", "a", "b", "--shares", "1,x"], "for each of the 2 shards"),
                            (["limits", "a", "b", "--shares", "1,16384"], "the share of 'a' is less than one slot"),
                            (["limits", "a", "a"], "there are two shards 'a'"),
                            (["limits", "a/b"], "got 'a/b'"),
                            (["li mits", "a"], "got 'li mits'"),
                            (["limits"], "a cluster has 1 to 64 shards, got 0"),
                            (["limits", "a", "--from", self.path("x")], "the topology file names the shards"),
                            (["limits", "--from", self.path("x")], "No such file")):
            code, out = self.tool("found", *words)
            self.assertEqual(code, 1, words)
            self.assertIn(says, out)
        text, path = self.founding("a", "b", "c", "--shares", "2,1,1")
        self.assertEqual([line.split()[2] for line in text.splitlines()[1:]],
                         ["0-8191", "8192-12287", "12288-16383"])
        self.assertEqual(self.found("c", path)[0], 0)
        self.assertEqual(self.identity("c")["cluster"], cluster_id(text))

    def test_owners_of_a_topology_file_become_shards(self):
        ports = {name: harness.free_port() for name in SHARES}
        lines = [f"{name} 127.0.0.1:{ports[name]} {slots}" for name, slots in SHARES.items()]
        topology = self.write("topology", "epoch 1\n" + "\n".join(lines) + "\n")
        for name in SHARES:
            os.makedirs(self.path(name), exist_ok=True)
            owner = harness.Server(self.path(name), port=ports[name], cluster_enabled="yes", cluster_topology=topology)
            self.servers.append(owner)
            owner.start()
            owner.call("SET", KEYS[name], name)
            owner.call("HSET", "{" + KEYS[name] + "}hash", "a", 1, "k", 2, "b", 3)
            owner.call("RL.TAKE", "{" + KEYS[name] + "}limit", "FIXED", "10/3650d", "ID", "one")
            self.assertEqual(owner.stop(), 0)
        text, path = self.founding("--from", topology)
        self.assertEqual(text.splitlines()[1:], [f"shard {name} {slots}" for name, slots in SHARES.items()])
        code, out = self.command("--new-shard", self.address_of("b"), "b", "--founding", path, "--dir",
                                 self.path("a") + "/data")
        self.assertEqual(code, 1)
        self.assertIn("holds 3 keys of slots that the founding text gives to other shards, as slot 3300 to 'a'", out)
        for name in SHARES:
            code, out = self.found(name, path)
            self.assertEqual(code, 0, out)
            member = self.member_of(name, port=ports[name]).start()
            primary = self.primary_of(member)
            self.assertEqual(primary.call("DBSIZE"), 3)
            self.assertEqual(primary.call("GET", KEYS[name]), name.encode())
            self.assertEqual(primary.call("HGET", "{" + KEYS[name] + "}hash", "k"), b"2")
            taken = primary.call("RL.TAKE", "{" + KEYS[name] + "}limit", "FIXED", "10/3650d", "ID", "one")
            self.assertEqual(taken[2], 9, "what was taken once is remembered")
            self.assertEqual(self.identity(name)["slots"], SHARES[name])


@unittest.skipUnless(postgres.programs() or os.environ.get("CI"), "PostgreSQL is not installed")
class FoundingOnPostgres(OnPostgres, Founding):
    """Shards of one database."""

    def address_of(self, name):
        return self.log_address()

    def first_record(self, name):
        return bytes.fromhex(self.database.ask(
            f"select encode(record, 'hex') from weir_log where shard = '{name}' and at = 1"))

    def assert_all_of_version_2(self):
        self.assertEqual(self.database.ask("select distinct get_byte(record, 1) from weir_log"), "2")
        self.assertEqual(self.database.ask("select count(distinct get_byte(record, 2)) > 2 from weir_log"), "t")


if __name__ == "__main__":
    harness.main()
