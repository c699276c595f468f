"""Which version is told where, and what of the commits is in it."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/built_version.cmake"


class Told(harness.ServerTest):
    def test_the_same_version_everywhere(self):
        shown = subprocess.run([harness.executable, "--version"], text=True, check=True, capture_output=True,
                               timeout=harness.PATIENCE_S).stdout
        version = shown.split()[1]
        http_port = harness.free_port()
        server = self.memory_server(metrics_port=http_port)
        self.assertIn(f"\r\nweir_version:{version}\r\n", server.call("INFO", "server").decode())
        metrics = subprocess.run(["curl", "-s", f"http://127.0.0.1:{http_port}/metrics"], text=True, check=True,
                                 capture_output=True, timeout=harness.PATIENCE_S).stdout
        self.assertIn(f'weir_build_info{{version="{version}"}} 1\n', metrics)
        self.assertRegex(server.log(), rf" info weir {re.escape(version)} starting: build [0-9a-f]{{40}}, pid ")


@unittest.skipIf(shutil.which("git") is None, "git is not installed")
class Commits(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="weir-version-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.tree = os.path.join(self.folder, "tree")
        os.mkdir(self.tree)
        self.target = os.path.join(self.folder, "built_version.cc")

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", self.tree, *words],
                       check=True, stdout=subprocess.DEVNULL, timeout=harness.PATIENCE_S)

    def commit(self, text):
        with open(os.path.join(self.tree, "file"), "w", encoding="utf-8") as file:
            file.write(text)
        self.git("add", "file")
        self.git("commit", "-q", "-m", text)

    def version(self, of="0.2.0", tree=None, **environment):
        subprocess.run(["cmake", "-D", f"SOURCE={tree or self.tree}", "-D", f"VERSION={of}", "-D",
                        f"TARGET={self.target}", "-P", SCRIPT], check=True, timeout=harness.PATIENCE_S,
                       env={**os.environ, **environment})
        with open(self.target, encoding="utf-8") as file:
            return re.search(r'return "(.*)";', file.read()).group(1)

    def test_without_git_it_is_the_plain_one(self):
        self.assertEqual(self.version(), "0.2.0")

    def test_somebody_elses_repository_says_nothing(self):
        self.git("init", "-q")
        self.commit("one")
        inside = os.path.join(self.tree, "unpacked")
        os.mkdir(inside)
        self.assertEqual(self.version(tree=inside), "0.2.0")

    def test_an_image_is_told_its_commit(self):
        revision = "0123456789abcdef0123456789abcdef01234567"
        self.assertEqual(self.version(WEIR_REVISION=revision), "0.2.0~0.g012345678")
        self.assertEqual(self.version(WEIR_REVISION="unknown"), "0.2.0")

    def test_each_commit_has_its_own_and_they_follow_one_another(self):
        self.git("init", "-q")
        seen = []

        def note(pattern, **how):
            seen.append(self.version(**how))
            self.assertRegex(seen[-1], f"^{pattern}$")

        self.commit("one")
        note(r"0\.2\.0~1\.g[0-9a-f]{9}")
        self.commit("two")
        note(r"0\.2\.0~2\.g[0-9a-f]{9}")
        self.git("tag", "v0.2.0-rc1")
        note("0.2.0~rc1")
        self.commit("three")
        note(r"0\.2\.0~rc1\+1\.g[0-9a-f]{9}")
        self.git("tag", "v0.2.0")
        note("0.2.0")
        self.commit("four")
        note(r"0\.2\.0\+1\.g[0-9a-f]{9}")
        note(r"0\.3\.0~1\.g[0-9a-f]{9}", of="0.3.0")
        self.commit("five")
        note(r"0\.3\.0~2\.g[0-9a-f]{9}", of="0.3.0")
        for older, newer in zip(seen, seen[1:]):
            done = subprocess.run(["dpkg", "--compare-versions", older, "lt", newer], check=False)
            self.assertEqual(done.returncode, 0, f"{older} is not before {newer}")

    def test_changes_that_are_in_no_commit_are_told(self):
        self.git("init", "-q")
        self.commit("one")
        self.git("tag", "v0.2.0")
        with open(os.path.join(self.tree, "file"), "w", encoding="utf-8") as file:
            file.write("other")
        self.assertRegex(self.version(), r"^0\.2\.0\+0\.g[0-9a-f]{9}\.dirty$")

    def test_the_file_stays_as_it_is_while_nothing_changes(self):
        self.git("init", "-q")
        self.commit("one")
        self.version()
        os.utime(self.target, (1, 1))
        self.version()
        self.assertEqual(os.stat(self.target).st_mtime, 1)
        self.commit("two")
        self.version()
        self.assertNotEqual(os.stat(self.target).st_mtime, 1)


if __name__ == "__main__":
    harness.main()
