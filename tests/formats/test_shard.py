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


if __name__ == "__main__":
    harness.main()
