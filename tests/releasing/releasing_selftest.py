"""What the modules of tools/releasing write, from what is made up here: archives, layouts, SBOMs, notes, checksums."""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import unittest
import zipfile

from made_up import CHANGELOG, EPOCH, TOOLS, InFolder
from releasing import archives, changelog, chart, checksums, clients, image, oci, sbom, versions
from releasing.steps import LeftOut, NotBuilt, Refused, Steps, run, whole_folder

STATUS = """Package: libssl3
Status: install ok installed
Architecture: amd64
Source: openssl
Version: 3.0.17-1~deb12u2
Description: a library
 of several lines

Package: libspdlog-dev
Status: install ok installed
Architecture: amd64
Source: spdlog
Version: 1:1.10.0+ds-0.4

Package: libssl3
Status: install ok installed
Architecture: arm64
Source: openssl
Version: 3.0.17-1~deb12u3

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: libstdc++6
Status: install ok installed
Architecture: amd64
Source: gcc-12 (12.2.0)
Version: 12.2.0-14
"""


class Versions(InFolder):
    def test_each_kind_of_package_writes_a_candidate_its_own_way(self):
        self.assertEqual(versions.parse("0.2.0-rc1"), "0.2.0")
        self.assertEqual(versions.of_python("0.2.0-rc1"), "0.2.0rc1")
        self.assertEqual(versions.of_debian("0.2.0-rc1"), "0.2.0~rc1")
        for wrong in ("0.2", "v0.2.0", "0.2.0-beta", "0.2.0-rc1\n"):
            with self.assertRaises(Refused):
                versions.parse(wrong)

    def test_the_places_are_those_of_this_tree_and_can_be_written_again(self):
        for path, _, _ in versions.places("0.2.0"):
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOOLS.parent / path, self.folder / path)
        named = {path for path, _, _ in versions.places("0.2.0")}
        poms = {str(path.relative_to(TOOLS.parent)) for path in (TOOLS.parent / "clients/java").glob("*/pom.xml")}
        self.assertLessEqual(poms, named)
        versions.write(self.folder, "7.8.9-rc1")
        texts = {path: (self.folder / path).read_text(encoding="utf-8") for path, _, _ in versions.places("0.2.0")}
        self.assertIn("project(weir VERSION 7.8.9 LANG", texts["CMakeLists.txt"])
        self.assertIn('version: 7.8.9-rc1\nappVersion: "7.8.9-rc1"', texts["tools/helm/weir/Chart.yaml"])
        self.assertIn('version = "7.8.9rc1"', texts["clients/python/pyproject.toml"])
        versions.write(self.folder, "7.8.9")
        for path, text in texts.items():
            written = (self.folder / path).read_text(encoding="utf-8")
            self.assertEqual(written, text.replace("7.8.9-rc1", "7.8.9").replace("7.8.9rc1", "7.8.9"))

    def test_a_place_that_is_not_there_is_refused(self):
        self.write("CMakeLists.txt", "project(other VERSION 1.0.0)\n")
        with self.assertRaisesRegex(Refused, "CMakeLists.txt has 0 places"):
            versions.write(self.folder, "0.2.0")


class Changelog(unittest.TestCase):
    def test_the_first_section_alone_is_the_releases(self):
        self.assertEqual(changelog.section(CHANGELOG, "0.2.0"), "- A line.\n\n### More\n\n- Another.")
        dated = changelog.dated(CHANGELOG, "0.2.0", "2026-11-28")
        self.assertEqual(dated, CHANGELOG.replace("0.1.0, unreleased", "0.2.0, 2026-11-28"))
        self.assertEqual(changelog.section(dated, "0.2.0"), changelog.section(CHANGELOG, "0.2.0"))

    def test_what_is_released_already_or_empty_is_refused(self):
        for text in (changelog.dated(CHANGELOG, "0.2.0", "2026-11-28"), "# Changelog\n", "## 0.3.0, unreleased\n\n## 0.2.0, x\n\n- Old.\n"):
            with self.assertRaises(Refused):
                changelog.section(text, "0.3.0")

    def test_notes_name_what_is_missing(self):
        page = changelog.notes(CHANGELOG, "0.2.0", [("image", "no root")])
        self.assertTrue(page.startswith("# weir 0.2.0\n\n- A line."))
        self.assertIn("## Not in this release\n\n- image: no root\n", page)
        self.assertNotIn("Not in", changelog.notes(CHANGELOG, "0.2.0", []))


class Archives(InFolder):
    def test_equal_files_make_equal_archives(self):
        made = []
        for name in ("one", "two"):
            root = self.small_root(name)
            os.utime(root / "etc/passwd", (len(made), len(made)))
            difference = archives.tar_gz(self.folder / f"{name}.tar.gz", root, EPOCH, keep_owners=True)
            archives.write_zip(self.folder / f"{name}.zip", root, prefix="a@v1/")
            packed = (self.folder / f"{name}.tar.gz").read_bytes()
            self.assertEqual(hashlib.sha256(gzip.decompress(packed)).hexdigest(), difference)
            self.assertEqual(packed[4:8], bytes(4), "gzip's clock")
            made.append((packed, (self.folder / f"{name}.zip").read_bytes()))
        self.assertEqual(*made)

    def test_links_modes_and_times(self):
        archives.tar_gz(self.folder / "a.tar.gz", self.small_root("root"), EPOCH, prefix="p/")
        with tarfile.open(self.folder / "a.tar.gz") as archive:
            entries = {entry.name: entry for entry in archive}
        self.assertEqual(list(entries), ["p/bin", "p/dev", "p/etc", "p/usr", "p/dev/null", "p/etc/passwd", "p/usr/bin",
                                         "p/usr/bin/again", "p/usr/bin/weir"])
        self.assertTrue(entries["p/bin"].issym())
        self.assertTrue(entries["p/usr/bin/weir"].islnk())
        self.assertEqual({(entry.mtime, entry.uid, entry.uname) for entry in entries.values()}, {(EPOCH, 0, "")})
        self.assertEqual(entries["p/usr/bin/again"].mode, 0o755)
        self.assertEqual(entries["p/etc/passwd"].mode, 0o644)

    def test_a_zip_has_files_below_its_prefix(self):
        archives.write_zip(self.folder / "a.zip", self.small_root("root"), prefix="m@v1/")
        with zipfile.ZipFile(self.folder / "a.zip") as archive:
            self.assertEqual(archive.namelist(), ["m@v1/dev/null", "m@v1/etc/passwd", "m@v1/usr/bin/again", "m@v1/usr/bin/weir"])


class Layouts(InFolder):
    def blob(self, layout, described):
        content = (layout / "blobs/sha256" / described["digest"].removeprefix("sha256:")).read_bytes()
        self.assertEqual(described["digest"], f"sha256:{hashlib.sha256(content).hexdigest()}")
        self.assertEqual(described["size"], len(content))
        return content

    def manifest(self, layout):
        self.assertEqual(json.loads((layout / "oci-layout").read_text(encoding="utf-8")), {"imageLayoutVersion": "1.0.0"})
        [described] = json.loads((layout / "index.json").read_text(encoding="utf-8"))["manifests"]
        self.assertEqual(described["annotations"]["org.opencontainers.image.ref.name"], "0.2.0")
        manifest = json.loads(self.blob(layout, described))
        known = {described["digest"], manifest["config"]["digest"], *(layer["digest"] for layer in manifest["layers"])}
        self.assertEqual({f"sha256:{path.name}" for path in (layout / "blobs/sha256").iterdir()}, known)
        return manifest

    def test_an_image(self):
        layout = self.folder / "layout"
        oci.write_image(layout, "0.2.0", self.small_root("root"), EPOCH, "amd64", {"User": "weir"})
        manifest = self.manifest(layout)
        config = json.loads(self.blob(layout, manifest["config"]))
        self.assertEqual(config["config"], {"User": "weir"})
        self.assertEqual(config["created"], "2023-11-14T22:13:20Z")
        tar = gzip.decompress(self.blob(layout, manifest["layers"][0]))
        self.assertEqual(config["rootfs"]["diff_ids"], [f"sha256:{hashlib.sha256(tar).hexdigest()}"])
        self.write("layer.tar", "").write_bytes(tar)
        with tarfile.open(self.folder / "layer.tar") as archive:
            names = archive.getnames()
        self.assertIn("usr/bin/weir", names)
        self.assertIn("dev", names)
        self.assertNotIn("dev/null", names)

    def test_a_chart(self):
        chart.build(TOOLS / "helm/weir", self.folder / "chart", EPOCH)
        [packed] = (self.folder / "chart").glob("*.tgz")
        layout = self.folder / "chart/chart-oci"
        index = json.loads((layout / "index.json").read_text(encoding="utf-8"))
        manifest = json.loads(self.blob(layout, index["manifests"][0]))
        self.assertEqual(self.blob(layout, manifest["layers"][0]), packed.read_bytes())
        fields = json.loads(self.blob(layout, manifest["config"]))
        self.assertEqual((fields["name"], fields["apiVersion"]), ("weir", "v2"))
        with tarfile.open(packed) as archive:
            self.assertIn("weir/templates/statefulset.yaml", archive.getnames())


class Image(InFolder):
    def test_the_last_stage_of_the_dockerfile_is_carried_out_and_told(self):
        root, program = self.folder / "root", self.write("program/usr/local/bin/weir-server", "of the package")
        stage = image.LastStage(root, TOOLS.parent, program.parents[3], "0123abc", EPOCH)
        ran = []
        stage.do_run = lambda rest: (ran.append(rest), (root / "data").mkdir(parents=True))
        stage.carry_out()
        self.assertEqual(len(ran), 1)
        self.assertIn("librocksdb7.8", ran[0])
        self.assertEqual((root / "usr/local/bin/weir-server").read_text(encoding="utf-8"), "of the package")
        self.assertTrue((root / "usr/local/share/weir/weir.conf").exists())
        settings = stage.settings("0.2.0")
        self.assertEqual((settings["User"], settings["WorkingDir"], settings["Volumes"]), ("weir", "/data", {"/data": {}}))
        self.assertEqual(settings["ExposedPorts"], {"6379/tcp": {}})
        self.assertEqual(settings["Entrypoint"][:3], ["weir-server", "--dir", "/data"])
        self.assertEqual(settings["Labels"]["org.opencontainers.image.revision"], "0123abc")
        self.assertEqual(settings["Labels"]["org.opencontainers.image.version"], "0.2.0")
        self.assertEqual(settings["Healthcheck"], {"Test": ["CMD", "weir-healthcheck"], "Interval": 10**10, "Timeout": 3 * 10**9,
                                                   "StartPeriod": 10**10, "Retries": 3})

    def test_what_is_of_the_machine_is_taken_out(self):
        for path in ("etc/apt/sources.list", "etc/resolv.conf", "var/log/apt/history.log", "etc/passwd-", "etc/passwd"):
            self.write(f"root/{path}", "")
        image.clean(self.folder / "root")
        left = [str(path) for path in archives.below(self.folder / "root") if (self.folder / "root" / path).is_file()]
        self.assertEqual(left, ["etc/passwd"])


class Sbom(InFolder):
    def setUp(self):
        super().setUp()
        self.write("root/var/lib/dpkg/status", STATUS)

    def made(self, architecture="amd64"):
        package = self.write("weir_1_amd64.deb", "package")
        depends = "adduser, libssl3 (>= 3.0.0), libstdc++6 (>= 12) | other"
        return sbom.of_package(package, depends, "0.2.0", self.folder / "root", "bookworm", architecture, EPOCH)

    def test_a_document_has_what_is_installed(self):
        document = self.made()
        self.assertEqual(sbom.problems(document), [])
        by_name = {package["name"]: package for package in document["packages"]}
        self.assertEqual(sorted(by_name), ["libspdlog-dev", "libssl3", "libssl3:arm64", "libstdc++6", "weir"])
        self.assertEqual(by_name["libssl3"]["externalRefs"][0]["referenceLocator"],
                         "pkg:deb/debian/libssl3@3.0.17-1~deb12u2?arch=amd64&distro=bookworm")
        self.assertEqual(by_name["libstdc++6"]["sourceInfo"], "built from Debian's source package gcc-12")
        self.assertEqual(by_name["weir"]["checksums"][0]["checksumValue"], hashlib.sha256(b"package").hexdigest())
        relations = [(one["relationshipType"], one["relatedSpdxElement"]) for one in document["relationships"]]
        self.assertIn(("DEPENDS_ON", "SPDXRef-libssl3"), relations)
        self.assertEqual([name for relation, name in relations if relation == "STATIC_LINK"], ["SPDXRef-libspdlog-dev"])
        self.assertIn(("BUILD_DEPENDENCY_OF", "SPDXRef-weir"), relations)
        self.assertEqual(self.made(), document)
        image = sbom.of_image("image", "0.2.0", self.folder / "root", "bookworm", "amd64", EPOCH)
        self.assertEqual(sbom.problems(image), [])

    def test_what_is_built_for_another_processor_depends_on_packages_of_that_one(self):
        document = self.made("arm64")
        self.assertEqual(sbom.problems(document), [])
        by_id = {package["SPDXID"]: package for package in document["packages"]}
        [needed] = [by_id[one["relatedSpdxElement"]] for one in document["relationships"] if one["relationshipType"] == "DEPENDS_ON"]
        self.assertEqual(needed["externalRefs"][0]["referenceLocator"],
                         "pkg:deb/debian/libssl3@3.0.17-1~deb12u3?arch=arm64&distro=bookworm")

    def test_what_is_wrong_is_told(self):
        document = self.made()
        del document["packages"][1]["versionInfo"]
        document["packages"].append(document["packages"][2])
        document["relationships"][0]["relatedSpdxElement"] = "SPDXRef-nobody"
        document["relationships"][1]["relationshipType"] = "LIKES"
        self.assertEqual(len(sbom.problems(document)), 4)
        del document["packages"]
        self.assertEqual(sbom.problems(document), ["packages is missing"])


class Checksums(InFolder):
    def test_sha256sum_agrees_and_finds_a_change(self):
        self.small_root("out")
        out = self.folder / "out"
        sums = checksums.write(out)
        self.assertEqual(sums.read_text(encoding="utf-8"), checksums.write(out).read_text(encoding="utf-8"))
        check = ("sha256sum", "--strict", "--quiet", "-c", "SHA256SUMS")
        subprocess.run(check, cwd=out, check=True)
        (out / "etc/passwd").write_text("other", encoding="utf-8")
        self.assertNotEqual(subprocess.run(check, cwd=out, check=False, capture_output=True).returncode, 0)


class Clients(InFolder):
    def test_the_module_of_go(self):
        for name in ("clients/go/go.mod", "clients/go/weir.go", "LICENSE"):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOOLS.parent / name, self.folder / name)
        clients.build_go(self.folder, self.folder / "work", self.folder / "out", "0.2.0-rc1", EPOCH)
        with zipfile.ZipFile(self.folder / "out/v0.2.0-rc1.zip") as archive:
            self.assertEqual(archive.namelist(), [f"weir/clients/go@v0.2.0-rc1/{name}" for name in ("LICENSE", "go.mod", "weir.go")])


class WholeFolders(InFolder):
    def test_a_folder_has_its_name_when_it_is_whole_and_is_gone_when_it_will_not_be(self):
        out = self.folder / "release"
        with self.assertRaises(Refused), whole_folder(out) as unfinished:
            (unfinished / "source").mkdir()
            raise Refused(".ci/run fails")
        self.assertEqual(list(self.folder.iterdir()), [])
        (self.folder / "release.unfinished").mkdir()  # of one that was killed
        self.write("release.unfinished/of-before", "")
        with whole_folder(out) as unfinished:
            (unfinished / "source").mkdir()
            self.assertFalse(out.exists())
        self.assertEqual([path.name for path in self.folder.iterdir()], ["release"])
        self.assertEqual([path.name for path in out.iterdir()], ["source"])


class Told(unittest.TestCase):
    def test_what_cannot_be_built_is_named_at_the_end(self):
        told = []
        steps = Steps(told.append)
        with steps.step("one"):
            pass
        with steps.step("zero"):
            raise LeftOut("nobody asked")
        self.assertFalse(steps.failed)
        with steps.step("two"):
            raise NotBuilt("no tool")
        self.assertTrue(steps.failed)
        self.assertIn("NOT BUILT  zero: nobody asked\n", steps.summary())
        with self.assertRaises(ValueError), steps.step("three"):
            raise ValueError("a bug is none of these")
        self.assertIn("NOT BUILT  two: no tool\n", steps.summary())
        self.assertEqual([name for name, _ in steps.built], ["one"])
        with self.assertRaisesRegex(NotBuilt, "ended with 1"):
            run("false")
        with self.assertRaisesRegex(NotBuilt, "not installed"):
            run("weir-no-such-program")


if __name__ == "__main__":
    unittest.main()
