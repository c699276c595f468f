"""What the tests of tools/releasing share: its modules, a folder of a test's own, and small things to put in it."""

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

EPOCH = 1700000000
CHANGELOG = "# Changelog\n\n## 0.1.0, unreleased\n\n- A line.\n\n### More\n\n- Another.\n\n## 0.0.9, 2020-01-01\n\n- Old.\n"


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="weir-releasing-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def small_root(self, name):
        root = self.folder / name
        self.write(f"{name}/usr/bin/weir", "program").chmod(0o755)
        self.write(f"{name}/dev/null", "")
        self.write(f"{name}/etc/passwd", "weir")
        (root / "bin").symlink_to("usr/bin")
        os.link(root / "usr/bin/weir", root / "usr/bin/again")
        return root
