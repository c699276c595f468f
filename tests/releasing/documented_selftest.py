"""The commands of docs/releasing.md, on a small release that the modules of tools/releasing make: those that need nobody else.

What uploads is run towards a folder in place of a registry, or not at all.
"""

import os
import re
import shlex
import shutil
import subprocess
import unittest
from pathlib import Path

import made_up
from made_up import EPOCH, TOOLS, InFolder
from releasing import chart, checksums, oci, repository, signing, source, tools_needed

VERSION = "0.2.0-rc1"  # that of the page
PAGE = (TOOLS.parent / "docs/releasing.md").read_text(encoding="utf-8")


def section(heading):
    return re.search(rf"(?ms)^## {heading}$(.*?)(?=^## |\Z)", PAGE)[1]


def blocks(heading):
    """The indented blocks of a section, as lists of lines."""
    found = re.findall(r"(?m)(?:^    .*\n)+", section(heading))
    return [[line.strip() for line in block.splitlines()] for block in found]


def spans(heading):
    return re.findall(r"`([^`\n]+)`", section(heading))


@unittest.skipIf(shutil.which("gpg") is None or shutil.which("dpkg-scanpackages") is None, "gnupg or dpkg-dev is not installed")
class Page(InFolder):
    """One small release for all tests, which change nothing of it."""

    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"
        self.home = self.folder / "home"
        (self.home / ".gnupg").mkdir(parents=True, mode=0o700)
        self.addCleanup(subprocess.run, ["gpgconf", "--homedir", self.home / ".gnupg", "--kill", "all"], check=False)
        with signing.Signer(None) as signer:
            packages = {"bookworm": [made_up.package(self.folder, VERSION.replace("-", "~"))]}
            repository.build(self.out / "apt", packages, ["amd64"], EPOCH, signer)
            oci.write_image(self.out / "image/weir-oci", VERSION, self.small_root("root"), EPOCH, "amd64", {"User": "weir"})
            self.tree = made_up.tree(self.folder / "tree", source.CHANGELOGS)
            source.clone_release(self.tree, self.folder / "clone", VERSION)
            chart.build(self.folder / "clone/tools/helm/weir", self.out / "chart", EPOCH)
            source.write_sources(self.folder / "clone", self.out / "source", VERSION)
            sums = checksums.write(self.out)
            signer.sign("--detach-sign", sums, sums.with_name("SHA256SUMS.asc"))

    def run_line(self, line, **environment):
        """Runs a line of the page as it stands there, in the folder of the release."""
        done = subprocess.run(["bash", "-ec", line], cwd=self.out, text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**os.environ, "HOME": str(self.home), **environment})
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}")
        return done.stdout

    def test_a_release_can_be_looked_at(self):
        ran = []
        for line in blocks("Look at it")[0]:
            program = shlex.split(line)[0]
            if shutil.which(program):
                self.run_line(line)
                ran.append(program)
        self.assertEqual(ran[:3], ["sha256sum", "gpg", "gpg"])
        with open(self.out / "SHA256SUMS", "a", encoding="utf-8") as sums:
            sums.write(f"{'0' * 64}  apt/weir.gpg\n")
        for line in blocks("Look at it")[0]:
            if line.startswith(("sha256sum", "gpg --verify")):
                with self.assertRaises(AssertionError):
                    self.run_line(line)

    def test_apt_takes_weir_from_its_folder(self):
        state = self.folder / "state"
        for name in ("lists/partial", "cache/archives/partial", "apt.conf.d", "preferences.d", "sources.list.d"):
            (state / name).mkdir(parents=True)
        (state / "status").touch()
        options = {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": state / "sources.list.d", "Dir::State": state,
                   "Dir::State::status": state / "status", "Dir::Cache": state / "cache", "APT::Sandbox::User": "",
                   "APT::Architecture": "amd64", "APT::Architectures": "amd64", "APT::Get::Simulate": "true", "Debug::NoLocking": "true"}
        configuration = self.write("apt.conf", "".join(f'{name} "{value}";\n' for name, value in options.items()))
        said = ""
        for line in blocks("Look at it")[1]:
            line = line.replace("/srv/release", str(self.out)).replace("/etc/apt/keyrings", str(state)).replace("/etc/apt", str(state))
            said = self.run_line(line, APT_CONFIG=str(configuration))
        self.assertIn("Inst weir (0.2.0~rc1 ", said)

    def test_a_tag_is_taken_out_of_the_bundle(self):
        [line] = [span for span in spans("Publish it") if span.startswith("git fetch")]
        self.run_line(line.replace("git", f"git -C {self.tree}", 1).replace("source/", f"{self.out}/source/"))
        self.assertEqual(made_up.git(self.tree, "log", "-1", "--format=%s", f"v{VERSION}"), f"Release {VERSION}")

    @unittest.skipIf(shutil.which("skopeo") is None, "skopeo is not installed")
    def test_the_layouts_can_be_copied(self):
        lines = [span for span in spans("Publish it") if span.startswith("skopeo copy")]
        self.assertEqual(len(lines), 2)
        for number, line in enumerate(lines):
            local, count = re.subn(r"docker://\S+:", f"oci:{self.folder}/copied-{number}:", line)
            self.assertEqual(count, 1, line)
            self.run_line(local)
            self.assertTrue((self.folder / f"copied-{number}/index.json").exists())


class Said(unittest.TestCase):
    def test_what_is_to_be_installed_is_what_is_asked_for(self):
        [named] = re.findall(r"`apt-get install ([^`]*)`", section("Make it"))
        self.assertEqual(set(named.split()), set(tools_needed.PACKAGES.values()) - {"util-linux"})

    def test_the_options_are_those_of_the_program(self):
        usage = subprocess.run([TOOLS / "release", "--help"], text=True, check=True, capture_output=True).stdout
        named = set(re.findall(r"`[^`]*?(--[a-z][a-z-]+)", section("Make it")))
        self.assertIn("--key", named)
        self.assertLessEqual(named, set(re.findall(r"--[a-z-]+", usage)))

    def test_every_folder_of_a_release_is_told_of(self):
        written = set(re.findall(r'self\.out / f?"([a-z]+)', (TOOLS / "release").read_text(encoding="utf-8")))
        self.assertIn("sbom", written)
        self.assertEqual({name for name in written if f"`{name}/" not in section("Make it")}, set())


if __name__ == "__main__":
    unittest.main()
