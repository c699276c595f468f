#!/usr/bin/env python3
"""A stored data directory of a shard: test_shard.py WEIR_SERVER [unittest options]."""

from pathlib import Path

import directory
from directory import harness


class OfAShard(harness.ServerTest):
    """It opens with its shard's log only, and is what it was once it has left the shard."""

    def test_it_is_refused_alone_and_leaves(self):
        directory.unpack(directory.STORED / "shard" / directory.ARCHIVE, self.folder)
        data = Path(self.folder, "data")
        lines = (data / "WEIR").read_text().splitlines()
        self.assertEqual((lines[1], lines[5], lines[6]), ("format 2", "shard main", "databases 16"))
        before = (data / "WEIR").read_bytes()
        done = directory.run("--dir", str(data), "--port", "0", "--unixsocket",
                             self.path("socket"), "--disk-reserve", "0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("belongs to shard main of cluster", done.stderr)
        self.assertIn("--leave-shard makes it a directory of no shard", done.stderr)
        self.assertEqual((data / "WEIR").read_bytes(), before)
        for code, text in ((0, "belongs to no shard any more\n"), (1, "belongs to no shard\n")):
            done = directory.run("--leave-shard", "--dir", str(data), "--disk-reserve", "0")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertTrue((done.stdout + done.stderr).endswith(text), done)
        left = (data / "WEIR").read_text().splitlines()
        self.assertEqual((len(left), left[1], left[2:4]), (5, "format 1", lines[2:4]))


class OfAPart(harness.ServerTest):
    """One of a shard with a part of the slots, and its log, as the first weir that knew such left them: after
    `--new-shard file:... b --founding ...`, then `SET k v`, `HSET {k}h a 1 b 2`, `RL.TAKE {k}l FIXED 10/3650d`
    at its primary, and kill -9."""

    WEIR = ("format 3", "cluster e807b39bde811aa39a71bca3f98d0905", "shard b", "databases 16",
            "slots 5461-10921", "born founded")

    def setUp(self):
        super().setUp()
        directory.unpack(directory.STORED / "part" / "part.tar.xz", self.folder)
        self.data = Path(self.folder, "data")

    def test_its_bytes_are_what_they_were(self):
        lines = (self.data / "WEIR").read_text().splitlines()
        self.assertEqual((lines[1], *lines[4:9]), self.WEIR)
        self.assertRegex(lines[9], "^instance [0-9a-f]{16} [0-9a-f]{16}$")
        log = Path(self.folder, "shared-log").read_bytes()
        begin = log.index(b"W\2\1")
        # nonce, shard, epoch; the cluster; its name; one range, 5461 to 10921; the seed
        self.assertEqual(log[begin + 35:begin + 51].hex(), lines[4].split()[1])
        self.assertEqual(log[begin + 51:begin + 58], b"\1b\1\xd5\x2a\xa9\x55")
        seed = "".join(bytes.fromhex(word)[::-1].hex() for word in lines[3].split()[1:])
        self.assertEqual(log[begin + 58:begin + 74].hex(), seed)
        self.assertNotIn(b"W\1\1", log)

    def test_it_opens_in_cluster_mode_and_goes_on(self):
        before = (self.data / "WEIR").read_bytes()
        named = {"log": "file:" + self.path("shared-log"), "shard": "b", "failover_after_ms": 1000}
        refused = self.server(**named).spawn()
        self.assertEqual(refused.wait()[0], 1)
        self.assertIn("its members need cluster-enabled yes", refused.log())
        server = self.server(**named, cluster_enabled="yes").start()
        harness.wait_until(lambda: server.call("ROLE")[0] == b"master", "it is the primary")
        self.assertEqual(server.call("GET", "k"), b"v")
        self.assertEqual(server.call("HGET", "{k}h", "b"), b"2")
        self.assertEqual(server.call("RL.TAKE", "{k}l", "FIXED", "10/3650d")[2], 8)
        self.assertEqual((self.data / "WEIR").read_bytes(), before)

    def test_it_leaves(self):
        done = directory.run("--leave-shard", "--dir", str(self.data), "--disk-reserve", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.data / "WEIR").read_text().splitlines()[1], "format 1")
        self.assertEqual(self.server().start().call("GET", "k"), b"v")


if __name__ == "__main__":
    harness.main()
