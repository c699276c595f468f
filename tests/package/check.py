#!/usr/bin/python3 -B
"""Looks into the packages that tools/package has made: tests/package/check.py FOLDER

What docs promise of them, Debian's hardening, and lintian, where it is installed.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What the pages lead to that is for who has the source, or is in /etc/weir.
SOURCE = re.compile(r"(\.\./)*(ARCHITECTURE|CONTRIBUTING)\.md|(\.\./)*(clients|server|storage|tests|tools|base|algorithms|resp)/|weir\.conf$")

folder = None


def said(*words, **options):
    return subprocess.run(words, text=True, check=True, stdout=subprocess.PIPE, timeout=300, **options).stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        [cls.package] = sorted(Path(folder).glob("weir_*.deb"))
        cls.tree = Path(tempfile.mkdtemp(prefix="weir-package-"))
        said("dpkg-deb", "-x", cls.package, cls.tree)
        cls.program = cls.tree / "usr/bin/weir-server"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.tree)

    def field(self, name):
        return said("dpkg-deb", "-f", self.package, name).strip()

    def test_its_version_is_the_programs_and_has_the_commit(self):
        version = said(self.program, "--version").split()[1]
        self.assertEqual(self.field("Version"), version)
        if (ROOT / ".git").exists():
            self.assertRegex(version, r"^\d+\.\d+\.\d+([~+].*g[0-9a-f]{9}(\.dirty)?|~rc\d+)?$")

    def test_the_program_is_hardened_as_debian_asks(self):
        dynamic = said("readelf", "-dW", self.program)
        self.assertIn("BIND_NOW", dynamic)
        self.assertRegex(dynamic, r"FLAGS_1.*NOW.*PIE")
        self.assertIn("GNU_RELRO", said("readelf", "-lW", self.program))
        symbols = said("readelf", "--dyn-syms", "-W", self.program)
        self.assertIn("__stack_chk_fail", symbols)
        self.assertRegex(symbols, r"__(memcpy|snprintf|vsnprintf|read)_chk")

    def test_debug_symbols_are_those_of_the_program(self):
        [symbols] = Path(folder).glob("weir-dbgsym_*.deb")
        build = re.search(r"Build ID: ([0-9a-f]+)", said("readelf", "-nW", self.program)).group(1)
        self.assertIn(f"/.build-id/{build[:2]}/{build[2:]}.debug", said("dpkg-deb", "-c", symbols))

    def test_pages_are_plain_and_their_links_lead_somewhere(self):
        doc = self.tree / "usr/share/doc/weir"
        pages = sorted(doc.rglob("*.md"))
        self.assertGreater(len(pages), 40)
        self.assertTrue({"README.md", "SECURITY.md", "CHANGELOG.md"} <= {page.name for page in pages})
        self.assertTrue(list((doc / "docs/images").glob("*.svg")))
        dead = []
        for page in pages:
            for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
                if not re.match(r"[a-z]+:", link) and not SOURCE.match(link) and not (page.parent / link).exists():
                    dead.append(f"{page.relative_to(doc)}: {link}")
        self.assertEqual(dead, [])

    def test_monitoring_is_ready_to_be_used(self):
        place = self.tree / "usr/share/weir/monitoring"
        for name in ("alerts.yml", "grafana-board.json"):
            self.assertEqual((place / name).read_bytes(), (ROOT / "tools/monitoring" / name).read_bytes())

    def test_every_program_starts_and_has_a_manual(self):
        names = {path.name for path in (self.tree / "usr/bin").iterdir()}
        self.assertEqual(names, {"weir-server", "weir-export", "weir-import", "weir-backup", "weir-cluster", "weir-each", "weir-policies"})
        for name in names:
            self.assertTrue((self.tree / f"usr/share/man/man1/{name}.1.gz").exists(), name)
            done = subprocess.run([self.tree / "usr/bin" / name, "--help"], text=True, check=False, capture_output=True, cwd="/", timeout=60)
            self.assertIn(name, done.stdout + done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_units_of_all_kinds(self):
        units = {path.name for path in (self.tree / "lib/systemd/system").iterdir()}
        self.assertEqual(units, {"weir.service", "weir@.service", "weir-backup.service", "weir-backup.timer"})
        for name in ("weir.service", "weir@.service"):
            self.assertIn("\nStartLimitIntervalSec=0\n", (self.tree / "lib/systemd/system" / name).read_text(encoding="utf-8"))
        # It runs where somebody has enabled it: only what was installed before is enabled anew.
        script = said("dpkg-deb", "-I", self.package, "postinst")
        self.assertIn("if deb-systemd-helper debian-installed 'weir-backup.timer'", script)

    @unittest.skipIf(shutil.which("systemd-analyze") is None, "systemd is not installed")
    def test_systemd_takes_every_unit_and_instances_by_any_name(self):
        with tempfile.TemporaryDirectory(prefix="weir-units-") as root:
            shutil.copytree(self.tree, root, dirs_exist_ok=True, symlinks=True)
            place = Path(root, "lib/systemd/system")
            for target in ("basic", "multi-user", "network", "network-online", "shutdown", "sysinit", "timers"):
                (place / f"{target}.target").write_text("[Unit]\nDefaultDependencies=no\n", encoding="utf-8")
            Path(root, "bin").mkdir()
            shutil.copy("/bin/true", Path(root, "bin/kill"))
            for unit in ("weir.service", "weir@a.service", "weir@7001.service", "weir-backup.service", "weir-backup.timer"):
                done = subprocess.run(["systemd-analyze", "verify", "--man=no", f"--root={root}", unit], text=True, check=False,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (0, ""), unit)

    def test_an_instance_has_its_file_and_its_directory(self):
        """weir@a and weir@b of a cluster of shards: a file of three lines each, which begins with everybody's."""
        unit = (self.tree / "lib/systemd/system/weir@.service").read_text(encoding="utf-8")
        self.assertIn("\nStateDirectory=weir-%i\n", unit)
        self.assertRegex(unit, r"\nExecStart=/usr/bin/weir-server /etc/weir/%i\.conf --dir /var/lib/weir-%i ")
        self.assertIn("\nUser=weir\n", unit)
        script = said("dpkg-deb", "-I", self.package, "postinst")
        self.assertIn("adduser --system --group", script)
        with tempfile.TemporaryDirectory(prefix="weir-instance-") as folder:
            shutil.copy(self.tree / "etc/weir/weir.conf", folder)
            with open(folder + "/weir.conf", "a", encoding="utf-8") as file:
                file.write(f"dir {folder}\nlog file:{folder}/log\ncluster-enabled yes\ncluster-announce-ip 127.0.0.1\n")
            for name, port in (("a", 7001), ("b", 7002)):
                Path(folder, name + ".conf").write_text(f"include weir.conf\nport {port}\nshard {name}\n", encoding="utf-8")
                checked = subprocess.run([self.program, "--check-config", f"{folder}/{name}.conf"], text=True, check=False,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/", timeout=60)
                self.assertEqual(checked.returncode, 0, checked.stdout)

    @unittest.skipIf(shutil.which("lintian") is None, "lintian is not installed")
    def test_lintian_has_no_error_and_no_warning(self):
        packages = sorted(Path(folder).glob("*.deb"))
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", *packages], text=True,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER [unittest options]")
    folder = sys.argv.pop(1)
    unittest.main()
