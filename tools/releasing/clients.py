"""The packages of clients/, each from a copy of its folder with the licence in it, by its language's own tools.

Python and Go need no registry, Node.js and Java fetch what they compile with from theirs.
"""

import os
import shutil
from pathlib import Path

from . import archives, oci, versions
from .steps import NotBuilt, run

PYTHON = "/usr/bin/python3"
BUILD_PYTHON = "import sys; from setuptools import build_meta as b; out = sys.argv[1]; b.build_wheel(out); b.build_sdist(out)"
NODE_LOCK = "tests/clients/node/weir_package"


def copied(clone, language, work):
    """A copy of clients/LANGUAGE to build in."""
    folder = Path(work) / language
    shutil.copytree(Path(clone) / "clients" / language, folder, symlinks=True)
    shutil.copy(Path(clone) / "LICENSE", folder)
    return folder


def need(program, package):
    if shutil.which(program) is None:
        raise NotBuilt(f"{program} is not installed ({package})")


def repack(path, work, epoch):
    """Makes a .tar.gz anew, since its tool writes clocks into it."""
    opened = Path(work) / "repacked"
    opened.mkdir()
    run("tar", "-xzf", path, "-C", opened)
    archives.tar_gz(path, opened, epoch)
    shutil.rmtree(opened)


def build_python(clone, work, out, version, epoch):
    """A wheel and an sdist, by setuptools of Debian."""
    folder = copied(clone, "python", work)
    out.mkdir(parents=True)
    run(PYTHON, "-c", BUILD_PYTHON, out, cwd=folder, env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)})
    name = f"weir_client-{versions.of_python(version)}"
    sdists = list(out.glob("*.tar.gz"))
    if len(sdists) != 1 or not (out / f"{name}-py3-none-any.whl").exists():
        raise NotBuilt(f"setuptools made {[path.name for path in out.iterdir()]}")
    repack(sdists[0], work, epoch)


def build_go(clone, work, out, version, epoch):
    """The module as the Go module proxy hands it out: the .zip, the .mod and the .info."""
    folder = copied(clone, "go", work)
    for nested in folder.glob("*/go.mod"):  # a module of its own, which no zip of another may hold
        shutil.rmtree(nested.parent)
    out.mkdir(parents=True)
    module = (folder / "go.mod").read_text(encoding="utf-8").split()[1]
    archives.write_zip(out / f"v{version}.zip", folder, prefix=f"{module}@v{version}/")
    shutil.copyfile(folder / "go.mod", out / f"v{version}.mod")
    (out / f"v{version}.info").write_text(f'{{"Version":"v{version}","Time":"{oci.instant(epoch)}"}}\n', encoding="utf-8")


def build_node(clone, work, out, version, epoch):
    """The tarball of npm, compiled with the locked packages that its tests use."""
    del version, epoch  # they are in package.json, and npm writes no clock
    need("npm", "Node.js 20 or later")
    folder = copied(clone, "node", work)
    locked = Path(work) / "node-locked"
    shutil.copytree(Path(clone) / NODE_LOCK, locked)
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=locked)
    (folder / "node_modules").symlink_to(locked / "node_modules")
    run("node", "build.js", cwd=folder)
    (folder / "node_modules").unlink()
    out.mkdir(parents=True)
    run("npm", "pack", "--ignore-scripts", "--pack-destination", out, cwd=folder)


def build_java(clone, work, out, version, epoch):
    """Jars, sources and documentation of all modules, in the layout of a Maven repository."""
    need("mvn", "the package maven")
    folder = copied(clone, "java", work)
    place = Path(work) / "maven"
    run("mvn", "-q", "-B", "-ntp", "-DskipTests", f"-Dproject.build.outputTimestamp={oci.instant(epoch)}", "package", cwd=folder)
    for pom in sorted([folder / "pom.xml", *folder.glob("*/pom.xml")]):
        jars = [path for path in sorted((pom.parent / "target").glob(f"*-{version}*.jar")) if not path.name.endswith("-tests.jar")]
        name = next((path.name.removesuffix(f"-{version}.jar") for path in jars if path.name.endswith(f"-{version}.jar")), "weir-parent")
        target = place / "weir" / name / version
        target.mkdir(parents=True)
        shutil.copyfile(pom, target / f"{name}-{version}.pom")
        for jar in jars:
            shutil.copyfile(jar, target / jar.name)
    shutil.copytree(place, out)


BUILDERS = {"python": build_python, "go": build_go, "node": build_node, "java": build_java}
