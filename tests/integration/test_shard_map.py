"""Three shards of two members over one PostgreSQL, founded by one text: every member shows all of them, whichever primary
dies, whichever shard is away, and from whatever a member begins."""

import os
import signal
import subprocess
import sys
import unittest

import harness
import postgres
from shard_fixture import CLI, MEMBERS, SHARES, TAGS, TOOL, ShardTest, Taker, ThreeShards


@unittest.skipUnless(postgres.programs() or os.environ.get("CI"), "PostgreSQL is not installed")
class ShardMap(ThreeShards):
    def setUp(self):
        super().setUp()
        self.all_show_all()

    def shown(self, name):
        """By the first slots of the ranges: the last one, the primary's port, and the ports of the standbys."""
        return {row[0]: (row[1], row[2][1], sorted(node[1] for node in row[3:]))
                for row in self.living[name].call("CLUSTER", "SLOTS")}

    def shows_every_slot(self, name):
        self.assertEqual({first: row[0] for first, row in self.shown(name).items()}, dict(SHARES.values()), name)

    def all_show(self, what, *shards):
        def is_shown(name):
            shown = self.shown(name)
            return all(shown.get(SHARES[shard][0]) == what[shard] for shard in shards)
        harness.wait_until(lambda: all(is_shown(name) for name in self.living), f"all show {what}",
                           pause_s=0.05)

    def all_show_all(self):
        """Every member shows for each shard the one that serves, and that both are there."""
        what = {}
        for shard, (_, last) in SHARES.items():
            primary = self.primary_in(shard)
            standby = shard + ("2" if primary.endswith("1") else "1")
            what[shard] = (last, self.ports[primary], [self.ports[standby]])
        self.all_show(what, *SHARES)
        digests = {self.figures(name)["cluster_map_digest"] for name in self.living}
        self.assertEqual(len(digests), 1, digests)

    def figures(self, name):
        lines = self.living[name].call("CLUSTER", "INFO").decode().splitlines()
        return dict(line.split(":", 1) for line in lines)

    def takers(self, *shards):
        takers = {shard: Taker([member.port for member in self.living.values()], TAGS[shard]) for shard in shards}
        for taker in takers.values():
            taker.start()
        for taker in takers.values():
            taker.goes_on()
        return takers

    def end(self, takers):
        for taker in takers.values():
            taker.end()
            self.assertIsNone(taker.failure)
            self.assertLessEqual(taker.most_hops, 5)
        for shard, taker in takers.items():
            primary = self.living[self.primary_in(shard)]
            for key, granted in enumerate(taker.granted):
                left = primary.call("RL.PEEK", f"{TAGS[shard]}l{key}", "FIXED", "1000000/3650d", "COST", 0)[2]
                self.assertIn(1_000_000 - left - granted, (0, 1))  # the last one may have been cut short

    def test_what_every_member_shows(self):
        nodes = set()
        for name, member in self.living.items():
            lines = [line.split() for line in member.call("CLUSTER", "NODES").decode().splitlines()]
            self.assertEqual(sorted(line[8] for line in lines if len(line) > 8), ["0-5460", "10922-16383", "5461-10921"])
            self.assertEqual([line[1].split("@")[0] for line in lines if "myself" in line[2]], [self.address(name)])
            nodes.add(frozenset((line[0], line[1], line[2].removeprefix("myself,"), line[3]) for line in lines))
            shards = [dict(zip(one[::2], one[1::2])) for one in member.call("CLUSTER", "SHARDS")]
            self.assertEqual(sorted(tuple(one[b"slots"]) for one in shards), sorted(SHARES.values()))
            self.assertEqual([len(one[b"nodes"]) for one in shards], [2, 2, 2])
            figures = self.figures(name)
            self.assertEqual([figures[what] for what in ("cluster_state", "cluster_slots_ok", "cluster_known_nodes",
                                                         "cluster_size")], ["ok", "16384", "6", "3"])
        self.assertEqual([len(one) for one in nodes], [6])
        harness.wait_until(lambda: self.tool("status", self.address("b2"))[1].count("(following, lacks 0 turns") == 3,
                           "all standbys follow")
        code, text = self.tool("status", self.address("c1"))
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"^cluster [0-9a-f]{32}: 3 shards, 16384 of 16384 slots\n")
        self.assertEqual(text.count("\n"), 4, "no line but one a shard: " + text)
        code, text = self.tool("each", "--members", self.address("a2"), "CONFIG", "SET", "maxclients", "5000")
        self.assertEqual((code, text.count(": OK\n")), (0, 6), text)
        self.living["c2"].call("CONFIG", "SET", "maxclients", "4000")
        harness.wait_until(lambda: f"other options than most have: {self.address('c2')}\n" in
                           self.tool("status", self.address("a1"))[1], "its options are others")

    @unittest.skipUnless(CLI, "needs redis-cli")
    def test_redis_cli_reaches_all_from_anywhere(self):
        for name in self.living:
            for tag in TAGS.values():
                self.assertIn("OK", self.cli(self.ports[name], "SET", tag, name))
                self.assertEqual(self.cli(self.ports["a1"], "GET", tag).strip(), name)
        done = subprocess.run([CLI, "--cluster", "check", self.address("b2")], capture_output=True, text=True,
                              timeout=harness.PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("[OK] All nodes agree about slots configuration.", done.stdout)
        self.assertIn("[OK] All 16384 slots covered.", done.stdout)
        self.assertEqual(done.stdout.count("1 additional replica(s)"), 3, done.stdout)

    def test_a_primary_dies_and_the_others_know_nothing_of_it(self):
        takers = self.takers(*SHARES)
        errors = {shard: takers[shard].errors for shard in "bc"}
        dead = self.primary_in("a")
        self.kill(dead)
        heir = "a2" if dead == "a1" else "a1"
        while not self.serves(self.living[heir]):
            for name in self.living:
                self.shows_every_slot(name)
        self.all_show({"a": (5460, self.ports[heir], [self.ports[dead]])}, "a")
        for taker in takers.values():
            taker.goes_on()
        self.assertEqual({shard: takers[shard].errors for shard in "bc"}, errors)
        self.begin(dead)
        self.all_show_all()
        self.switch_over(self.living[heir], self.living[dead])
        harness.wait_until(lambda: self.serves(self.living[dead]), "the first one serves again")
        self.all_show_all()
        for taker in takers.values():
            taker.goes_on()
        self.end(takers)
        self.assertEqual({shard: takers[shard].errors for shard in "bc"}, errors)

    def test_a_shard_is_away_and_comes_back_elsewhere(self):
        last = self.ports[self.primary_in("a")]
        for name in self.living:
            for more in ((), ("FORCE",)):
                if name[0] != "a" and more:
                    continue
                with self.living[name].connect() as client:
                    self.assert_refused("ERR", client, "WEIR", "SHARD", "FORGET", "a", *more)
        self.kill("a1", "a2")
        takers = self.takers("b", "c")
        harness.wait_until(lambda: all(self.figures(name)["cluster_slots_pfail"] == "5461" for name in self.living),
                           "all know that nobody has served its slots for two seconds", pause_s=0.05)
        harness.wait_until(lambda: all(self.figures(name)["cluster_slots_fail"] == "5461" for name in self.living),
                           "all know that nobody serves its slots")
        for name in self.living:
            self.shows_every_slot(name)
            self.assertEqual(self.shown(name)[0][1], last)
            with self.living[name].connect() as client:
                self.assert_refused(f"MOVED 3300 127.0.0.1:{last}", client, "GET", "b")
        code, text = self.tool("status", self.address("c1"))
        self.assertEqual(code, 1, text)
        self.assertIn("10923 of 16384 slots\na: CANNOT BE ASKED", text)
        self.end(takers)
        # Without seeds, each from its file alone; a shard that is away is known from there.
        self.kill(*list(self.living))
        self.begin("b1", "b2", "c1", "c2")
        for name in self.living:
            harness.wait_until(lambda name=name: len(self.shown(name)) == 3, "its file names all shards")
            self.shows_every_slot(name)
            self.assertEqual(self.shown(name)[0][1], last)
        # Its members come back at other ports, know the others from their files, and are heard.
        for name in ("a1", "a2"):
            self.ports[name] = harness.free_port()
        self.begin("a1", "a2")
        self.all_show_all()
        # Whoever is forgotten and lives is heard again.
        self.assertEqual(self.living["c1"].call("WEIR", "SHARD", "FORGET", "a", "FORCE"), "OK")
        harness.wait_until(lambda: "info audit: WEIR SHARD user=default" in self.living["c1"].log(), "it is audited")
        self.all_show_all()

    def test_a_member_without_its_file_is_told_again(self):
        harness.wait_until(lambda: all(os.path.exists(self.path(name) + "/data/CLUSTER") for name in MEMBERS),
                           "all keep what they know")
        self.kill("b1", "c1")
        os.remove(self.path("b1") + "/data/CLUSTER")
        self.write("c1/data/CLUSTER", "cluster \0 of nobody\n" * 100)
        self.begin("b1", "c1")
        self.assertIn("the file CLUSTER is not used, and written anew", self.living["c1"].log())
        self.all_show_all()


@unittest.skipUnless(postgres.programs() or os.environ.get("CI"), "PostgreSQL is not installed")
class ForATry(ShardTest):
    """tools/weir-cluster SHARDSxMEMBERS."""

    def started(self, counts, *words):
        process = subprocess.Popen([sys.executable, "-B", str(TOOL), counts, "--dir", self.path("try"), *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env={**os.environ, "WEIR_SERVER": harness.executable})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process

    def test_it_begins_and_ends_by_itself(self):
        port = harness.free_port() - 3  # three in a row above it are free as a rule
        tool = self.started("2x2", "--port", str(port))
        lines = [tool.stdout.readline() for _ in range(6)]
        self.assertEqual([line.split(",")[0] for line in lines[:4]],
                         [f"{name} 127.0.0.1:{port + at}" for at, name in enumerate(("a1", "a2", "b1", "b2"))], lines)
        self.assertIn(f"redis-cli -c -p {port} ", lines[5])
        code, text = self.tool("status", f"127.0.0.1:{port + 3}")
        self.assertEqual(code, 0, text)
        self.assertIn(": 2 shards, 16384 of 16384 slots\n", text)
        os.kill(int(lines[0].rsplit(" ", 1)[1]), signal.SIGKILL)
        self.assertEqual(tool.stdout.readline(), "a1 has ended; it is started again in 5 s\n")
        self.assertRegex(tool.stdout.readline(), "^a1 is there again, process [0-9]+\n$")
        tool.terminate()
        self.assertEqual(tool.wait(harness.PATIENCE_S), 0)
        for at in range(4):
            with self.assertRaises(ConnectionRefusedError):
                harness.Client(port + at)
        again = self.started("2x2", "--port", str(port))
        self.assertEqual(again.wait(harness.PATIENCE_S), 1)
        self.assertIn("is not empty", again.stdout.read())


if __name__ == "__main__":
    harness.main()
