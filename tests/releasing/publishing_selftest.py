"""What tools/releasing does with git, gpg and apt, each in a folder of its own."""

import shutil
import subprocess
import unittest
from pathlib import Path

import made_up
from made_up import EPOCH, InFolder
from releasing import ci, repository, signing, source
from releasing.steps import LeftOut, NotBuilt, Refused


@unittest.skipIf(shutil.which("gpg") is None, "gpg is not installed")
class Keys(InFolder):
    def test_a_key_of_a_file_signs_and_one_that_is_not_there_is_told_at_once(self):
        file, signed = self.folder / "key", self.write("text", "signed")
        with signing.Signer(None) as signer:
            file.write_bytes(signer.gpg("--export-secret-keys", signer.key))
            key = signer.key
        with signing.Signer(str(file)) as signer:
            self.assertEqual((signer.key, signer.is_for_a_try), (key, False))
            signer.sign("--detach-sign", signed, self.folder / "text.asc")
            signer.gpg("--verify", self.folder / "text.asc", signed)
            signed.write_text("changed", encoding="utf-8")
            with self.assertRaisesRegex(NotBuilt, "BAD signature"):
                signer.gpg("--verify", self.folder / "text.asc", signed)
        for nobody in ("nobody@weir.invalid", str(self.write("no-key", "no key"))):
            with self.assertRaises(NotBuilt), signing.Signer(nobody):
                self.fail("it has a key")


@unittest.skipIf(shutil.which("dpkg-scanpackages") is None, "dpkg-scanpackages is not installed (the package dpkg-dev)")
class Repository(InFolder):
    def package(self, version):
        return made_up.package(self.folder, version)

    def apt(self, *words):
        state = self.folder / "apt"
        for name in ("lists/partial", "cache/archives/partial", "etc/preferences.d", "etc/apt.conf.d"):
            (state / name).mkdir(parents=True, exist_ok=True)
        (state / "status").touch()
        line = repository.source_lines(f"file://{self.folder}/repository", ["bookworm"])[0]
        self.write("apt/sources.list", line.replace("/etc/apt/keyrings", f"{self.folder}/repository") + "\n")
        options = {"Dir::Etc": state / "etc", "Dir::Etc::sourcelist": state / "sources.list", "Dir::Etc::sourceparts": "-",
                   "Dir::State": state, "Dir::State::status": state / "status", "Dir::Cache": state / "cache",
                   "APT::Sandbox::User": "", "APT::Architecture": "amd64", "APT::Architectures": "amd64"}
        words = [words[0], *(word for name, value in options.items() for word in ("-o", f"{name}={value}")), *words[1:]]
        return subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @unittest.skipIf(shutil.which("gpg") is None, "gpg is not installed")
    def test_apt_takes_it_with_its_key_and_refuses_a_changed_index(self):
        packages = {"bookworm": [self.package("1.0~rc1"), self.package("1.0")]}
        with signing.Signer(None) as signer:
            home = Path(signer.home)
            repository.build(self.folder / "repository", packages, ["amd64"], EPOCH, signer)
        self.assertFalse(home.exists())
        done = self.apt("apt-get", "update")
        self.assertEqual((done.returncode, "W:" in done.stdout), (0, False), done.stdout)
        self.assertIn("Candidate: 1.0\n", self.apt("apt-cache", "policy", "weir").stdout)
        for name in ("Release", "InRelease"):
            release = self.folder / "repository/dists/bookworm" / name
            release.write_text(release.read_text(encoding="utf-8").replace("Label: weir", "Label: Weir"), encoding="utf-8")
        self.assertIn("BADSIG", self.apt("apt-get", "update").stdout)

    def test_the_same_packages_give_the_same_indexes(self):
        packages = [self.package("1.0")]
        made = [repository.write_system(self.folder / name, "bookworm", packages, ["amd64"], EPOCH) for name in ("one", "two")]
        self.assertEqual(*(path.read_bytes() for path in made))
        self.assertIn("Date: Tue, 14 Nov 2023 22:13:20 UTC\n", made[0].read_text(encoding="utf-8"))
        self.assertIn(" main/binary-amd64/Packages.gz\n", made[0].read_text(encoding="utf-8"))

    def test_without_packages_there_is_none(self):
        with self.assertRaises(NotBuilt):
            repository.build(self.folder / "none", {}, ["amd64"], EPOCH, None)


@unittest.skipIf(shutil.which("git") is None, "git is not installed")
class Sources(InFolder):
    def tree(self):
        return made_up.tree(self.folder / "tree", source.CHANGELOGS)

    def test_a_release_is_a_commit_and_a_tag_of_a_clone_and_the_same_again(self):
        tree = self.tree()
        source.check(tree, "0.2.0-rc1")
        made = []
        for name in ("one", "two"):
            epoch = source.clone_release(tree, self.folder / name, "0.2.0-rc1")
            self.assertEqual(epoch, EPOCH)
            self.assertEqual(made_up.git(self.folder / name, "log", "-1", "--format=%an %at %ct"), f"Somebody {EPOCH} {EPOCH}")
            source.write_sources(self.folder / name, self.folder / f"{name}-out", "0.2.0-rc1")
            made.append([path.read_bytes() for path in sorted((self.folder / f"{name}-out").iterdir())])
        self.assertEqual(*made)
        self.assertEqual(made_up.git(tree, "status", "--porcelain") + made_up.git(tree, "tag"), "")
        made_up.git(tree, "fetch", "--quiet", self.folder / "one-out/weir-0.2.0~rc1.bundle", "tag", "v0.2.0-rc1")
        self.assertEqual(made_up.git(tree, "log", "--format=%s", "v0.2.0-rc1"), "Release 0.2.0-rc1\nall")
        self.assertIn("## 0.2.0-rc1, 2", made_up.git(tree, "show", "v0.2.0-rc1:CHANGELOG.md"))
        with self.assertRaisesRegex(Refused, "there is a tag"):
            source.check(tree, "0.2.0-rc1")

    def test_a_tree_with_changes_is_refused(self):
        tree = self.tree()
        (tree / "stray").touch()
        with self.assertRaisesRegex(Refused, "not clean:\n.. stray"):
            source.check(tree, "0.2.0")


class Ci(InFolder):
    def test_a_release_whose_tests_fail_is_none(self):
        self.write(".ci/run", "exit 0")
        ci.check(self.folder, False)
        self.write(".ci/run", "exit 3")
        with self.assertRaises(Refused):
            ci.check(self.folder, False)
        with self.assertRaises(LeftOut):
            ci.check(self.folder, True)


if __name__ == "__main__":
    unittest.main()
