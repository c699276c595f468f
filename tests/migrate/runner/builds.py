"""Gets the libraries of one language and builds the drivers here that call them.

What cannot be had raises installs.Missing with the reason in words: that source is then not run.
Nothing is written into the tree; versions are those of the lock file beside the drivers.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from harness import installs, installs_java

FOLDER = Path(__file__).resolve().parents[1]
TESTS = FOLDER.parent
SPRING_SCRIPT = "META-INF/scripts/request_rate_limiter.lua"


def jars():
    return installs_java.jars(FOLDER / "jvm/pom.xml", "migrate-jars")


def java(driver):
    """The command that runs a driver of jvm/; its report is that of tests/clients."""
    return installs_java.program(driver, FOLDER / "jvm", jars(), "migrate",
                                 installs.CLIENTS / "java/Report.java"), {}


def spring():
    """The driver of Spring's script, which is taken out of the published jar."""
    command, _ = java("SpringDriver")
    jar = next(jars().glob("spring-cloud-gateway-server-*.jar"))
    script = zipfile.ZipFile(jar).read(SPRING_SCRIPT).decode()
    version = jar.stem.rpartition("-")[2]
    return command, {"MIGRATE_SCRIPT": script, "MIGRATE_SCRIPT_VERSION": version}


def go(name):
    compiler = installs.need("go", "Go, of the version go/go.mod names")
    out = installs.cache_root() / "migrate-go" / name
    out.parent.mkdir(parents=True, exist_ok=True)
    installs.command([compiler, "build", "-mod=readonly", "-buildvcs=false", "-o", str(out),
                      f"./{name}"], cwd=FOLDER / "go",
                     env={**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"})
    return [str(out)], {"TZ": "UTC"}


def python(script, *packages):
    """A driver of python/; it shares its report with tests/clients, its client with all."""
    path = [FOLDER / "python", TESTS / "clients/python", TESTS, *packages]
    return [sys.executable, str(FOLDER / "python" / script)], {
        "PYTHONPATH": os.pathsep.join(map(str, path))}


def python_with(requirements, script):
    source = FOLDER / "python" / requirements

    def make(folder):
        installs.command([sys.executable, "-m", "pip", "install", "--quiet", "--no-input",
                          "--disable-pip-version-check", "--only-binary", ":all:",
                          "--require-hashes", "--target", str(folder), "-r", str(source)])

    return python(script, installs.made_once("migrate-python", [source], make))


def cell_module():
    """redis-cell as a module, and the folder of the Rust library it was linked with."""
    cargo = installs.need("cargo", "Rust")
    rustc = installs.need("rustc", "Rust")
    sources = [FOLDER / "cell/Cargo.toml"]

    def make(folder):
        shutil.copytree(FOLDER / "cell", folder / "source")
        installs.command([cargo, "build", "--release", "--quiet", "--manifest-path",
                          str(folder / "source/Cargo.toml"), "--target-dir",
                          str(folder / "target")])

    folder = installs.made_once("migrate-cell", sources, make)
    module = folder / "target/release/libredis_cell.so"
    if not module.exists():
        raise installs.Missing("the package redis-cell built no module")
    libraries = subprocess.check_output([rustc, "--print", "target-libdir"], text=True)
    return module, libraries.strip()
