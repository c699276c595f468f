"""What the tests of tools/releasing share: its modules, a folder of a test's own, and small things to put in it."""

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

from releasing import versions  # noqa: E402
from releasing.steps import run  # noqa: E402

EPOCH = 1700000000
CHANGELOG = "# Changelog\n\n## 0.1.0, unreleased\n\n- A line.\n\n### More\n\n- Another.\n\n## 0.0.9, 2020-01-01\n\n- Old.\n"


def git(tree, *words):
    when = {f"GIT_{who}_DATE": f"{EPOCH} +0000" for who in ("AUTHOR", "COMMITTER")}
    return run("git", "-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-C", tree, *words,
               env={**os.environ, **when}).strip()


def tree(place, changelogs):
    """A repository with the places of a version, and with changelogs."""
    for path, _, _ in versions.places("0.2.0"):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOOLS.parent / path, place / path)
    for path in changelogs:
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(CHANGELOG, encoding="utf-8")
    run("git", "init", "--quiet", place)
    run("git", "-C", place, "add", "--all")
    git(place, "commit", "--quiet", "--no-gpg-sign", "-m", "all")
    return place


def package(folder, version):
    """A package weir of that version, with nothing in it."""
    control = folder / "deb/DEBIAN/control"
    control.parent.mkdir(parents=True, exist_ok=True)
    control.write_text(f"Package: weir\nVersion: {version}\nArchitecture: amd64\nMaintainer: weir <weir@example.org>\n"
                       "Description: tiny\n", encoding="utf-8")
    file = folder / f"weir_{version}_amd64.deb"
    run("dpkg-deb", "--root-owner-group", "-b", folder / "deb", file)
    return file


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
