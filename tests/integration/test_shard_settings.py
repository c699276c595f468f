"""Settings of a cluster of three shards: told to any primary, policies, overrides, libraries and scripts are with all, in
use, whoever is killed; and members ask one another as a user that has only the rights that failover.md lists."""

import hashlib
import os
import re
import subprocess
import threading
import time
import unittest
from pathlib import Path

import harness
import postgres
from shard_fixture import CLI, SHARES, TAGS, ThreeShards
from support.resp import pairs

LOG_PAGE = Path(__file__).resolve().parents[2] / "docs/failover.md"
PATIENCE_S = 10  # of the two seconds that cluster.md has
SCRIPT = "return {'script', KEYS[1]}"
ACL = "user default on nopass ~* &* +@all\nuser peer on >of-peers -@all {rights}\n"


def rights():
    """Of the user of member-user, as the page lists them."""
    return re.search(r"needs `((?:\+weir\|\w+ ?)+)`", LOG_PAGE.read_text(encoding="utf-8"))[1]


def library(name, says):
    return (f"#!lua name={name}\nredis.register_function('{name}_says', function(keys) return {{'{says}', keys[1]}} end)")


class Changes(threading.Thread):
    """Tells each shard of policies of its own, at whoever serves there, and knows what was acknowledged."""

    def __init__(self, test):
        super().__init__(daemon=True)
        self.test = test
        self.acknowledged = {}
        self.unknown = {}  # later ones, whose outcome nobody knows
        self.refused = []
        self.count = 0
        self.ended = threading.Event()

    def run(self):
        number = 0
        while not self.ended.is_set():
            shard = "abc"[number % 3]
            policy, limit = f"{shard}{number % 12}", f"{number + 1}/1m"
            number += 1
            for member in self.test.members_in(shard):
                try:
                    member.call("RL.POLICY", "SET", policy, limit)
                    self.acknowledged[policy] = limit
                    self.unknown.pop(policy, None)
                    self.count += 1
                    break
                except harness.Refused as refused:
                    if not str(refused).startswith(("MOVED", "CLUSTERDOWN", "READONLY")):
                        self.refused.append(str(refused))
                except OSError:
                    self.unknown.setdefault(policy, set()).add(limit)

    def wait_for(self, count):
        before = self.count
        harness.wait_until(lambda: self.count >= before + count, "it goes on")

    def end(self):
        self.ended.set()
        self.join(harness.PATIENCE_S)


@unittest.skipUnless(postgres.programs() or os.environ.get("CI"), "PostgreSQL is not installed")
class ShardSettings(ThreeShards):
    def options(self, name):
        return {"member_user": "peer", "member_password": "of-peers", "policies_file": self.path(name) + "/policies",
                "aclfile": self.write(name + "/users", ACL.format(rights=rights()))}

    def setUp(self):
        self.files = {}
        super().setUp()
        harness.wait_until(lambda: all(len(self.settings(shard)["shards"]) == 3 for shard in SHARES),
                           "all shards know one another")

    def begin(self, *names, **options):
        for name in names:
            os.makedirs(self.path(name), exist_ok=True)
            if not os.path.exists(self.path(name) + "/policies"):
                self.write(name + "/policies", "epoch 1\npolicy of-file 1/1m\npolicy of-old-file 1/1m\n")
        super().begin(*names, **options)

    def members_in(self, shard):
        return [self.living[name] for name in sorted(self.living) if name[0] == shard]

    def at(self, shard):
        return self.living[self.primary_in(shard)]

    def settings(self, shard):
        return pairs(self.at(shard).call("WEIR", "SETTINGS"))

    def digests(self):
        return {self.settings(shard)["digest"] for shard in SHARES}

    def all_agree(self, what):
        """All primaries have the same, know that the others have it, and say so in one digest."""
        begun = time.monotonic()

        def alike():
            told = [self.settings(shard) for shard in SHARES]
            return (len({one["digest"] for one in told}) == 1 and
                    all(pairs(shard)["has_all"] == 1 for one in told for shard in one["shards"]))
        harness.wait_until(alike, f"all have the same: {what}", PATIENCE_S, pause_s=0.05)
        print(f"{what}: all have the same after {time.monotonic() - begun:.1f} s", flush=True)

    def policy(self, shard, name):
        return self.at(shard).call("RL.POLICY", "GET", name)

    def audits(self, shard, what):
        """Whoever has told it: the shard that was, or one that had it from there."""
        self.assertRegex(self.at(shard).log(), rf"info audit: settings shard=[abc] {what}\n")

    def test_told_anywhere_they_are_in_use_everywhere(self):
        sha = hashlib.sha1(SCRIPT.encode()).hexdigest()
        self.at("a").call("RL.POLICY", "SET", "plan", "7/1h")
        self.at("a").call("RL.POLICY", "SET", "gone", "7/1h")
        self.all_agree("two policies")
        self.at("b").call("RL.POLICY", "OVERRIDE", "plan", "PREFIX", "big:", "9/1h")
        self.assertEqual(self.at("b").call("FUNCTION", "LOAD", library("lib", "one")), b"lib")
        self.assertEqual(self.at("c").call("SCRIPT", "LOAD", SCRIPT).decode(), sha)
        self.all_agree("an override, a library and a script")
        self.assertEqual(self.info(self.at("a"))["shard_settings_b"], "settings_behind=0")
        self.audits("b", "kind=policy name=plan")
        self.audits("c", "kind=library name=lib")
        self.audits("a", 'kind=override name="plan PREFIX big:"')
        self.audits("a", f"kind=script name={sha}")
        for shard, tag in TAGS.items():
            primary = self.at(shard)
            self.assertEqual(primary.call("RL.TAKE", "user:" + tag, "POLICY", "plan")[:3], [1, 7, 6])
            self.assertEqual(primary.call("RL.TAKE", "big:" + tag, "POLICY", "plan")[:3], [1, 9, 8])
            self.assertEqual(primary.call("EVALSHA", sha, 1, tag), [b"script", tag.encode()])
            self.assertEqual(primary.call("FCALL", "lib_says", 1, tag), [b"one", tag.encode()])
            for policy in ("gone", "plan"):
                self.assertIn(b"7/1h", str(self.policy(shard, policy)).encode())
        self.at("c").call("RL.POLICY", "DEL", "gone")
        self.at("c").call("RL.POLICY", "OVERRIDE", "plan", "PREFIX", "big:", "DEL")
        self.at("a").call("FUNCTION", "DELETE", "lib")
        self.at("b").call("SCRIPT", "FLUSH")
        self.all_agree("all of it is deleted but one")
        self.audits("a", "kind=policy name=gone deleted=1")
        for shard, tag in TAGS.items():
            with self.at(shard).connect() as client:
                self.assertIsNone(client.call("RL.POLICY", "GET", "gone"))
                self.assertEqual(client.call("RL.TAKE", "big:other" + tag, "POLICY", "plan")[:3], [1, 7, 6])
                self.assert_refused("NOSCRIPT", client, "EVALSHA", sha, 1, tag)
                self.assert_refused("ERR Function not found", client, "FCALL", "lib_says", 1, tag)

    def test_a_primary_is_killed_amid_changes(self):
        changes = Changes(self)
        changes.start()
        self.addCleanup(changes.end)
        changes.wait_for(50)
        dead = self.primary_in("b")
        self.kill(dead)
        changes.wait_for(50)
        self.at("b")
        changes.wait_for(50)
        self.begin(dead)
        changes.end()
        self.all_agree("after a takeover")
        self.assertEqual(changes.refused, [])
        self.assertEqual(len(changes.acknowledged), 12)
        for policy, limit in changes.acknowledged.items():
            for shard in SHARES:
                shown = str(self.policy(shard, policy))
                self.assertTrue(any(f"GCRA {one} " in shown for one in {limit} | changes.unknown.get(policy, set())),
                                f"{policy} at {shard}: {shown} instead of {limit}")

    @unittest.skipUnless(CLI, "needs redis-cli")
    def test_a_library_is_loaded_at_all_at_once(self):
        ports = [self.at(shard).port for shard in SHARES]
        for number in range(200):
            name = f"lib{number}"
            loads = [subprocess.Popen([CLI, "-e", "-p", str(port), "FUNCTION", "LOAD", library(name, number)], text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for port in ports]
            for load in loads:
                out = load.communicate(timeout=harness.PATIENCE_S)[0]
                self.assertEqual((load.returncode, out), (0, name + "\n"))
        self.all_agree("200 libraries")
        for shard, tag in TAGS.items():
            self.assertEqual(self.at(shard).call("FCALL", "lib199_says", 1, tag), [b"199", tag.encode()])

    def test_an_old_file_does_not_undo_the_new_one(self):
        self.all_agree("the first file")
        for name in ("a1", "a2"):
            self.write(name + "/policies", "epoch 2\npolicy of-file 2/1m\n")
        self.at("a").call("RL.POLICY", "RELOAD")
        self.all_agree("the second file")

        def all_have_the_new_one():
            for shard in SHARES:
                self.assertIn("2/1m", str(self.policy(shard, "of-file")))
                self.assertIsNone(self.policy(shard, "of-old-file"))
        all_have_the_new_one()
        with self.at("b").connect() as client:
            with self.assertRaises(harness.Refused) as caught:
                client.call("RL.POLICY", "RELOAD")
            self.assertIn("its epoch 1 is lower than 2, which the cluster has seen", str(caught.exception))
        dead = self.primary_in("b")
        self.kill(dead)
        heir = self.at("b")
        harness.wait_until(lambda: "is lower than 2" in heir.log(), "who takes over says that its file is old")
        self.begin(dead)
        self.all_agree("the old file at who took over")
        all_have_the_new_one()
        # What somebody makes anew by a name that the old file had is nothing to the new one.
        self.at("c").call("RL.POLICY", "SET", "of-old-file", "7/1m")
        self.all_agree("a policy of that name")
        for name in ("b1", "b2"):
            self.write(name + "/policies", "epoch 2\npolicy of-file 2/1m\n")
        self.assertEqual(self.at("b").call("RL.POLICY", "RELOAD"), [])
        self.all_agree("the second file elsewhere")
        self.assertIn("7/1m", str(self.policy("c", "of-old-file")))


if __name__ == "__main__":
    harness.main()
