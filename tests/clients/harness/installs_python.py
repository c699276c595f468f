"""Gets the tests that a Python library carries in its source distribution, and what they import."""

import re
import sys
import sys
import tarfile

from . import installs

LOCKS = installs.CLIENTS / "python/requirements"


def source(name):
    """The unpacked source distribution of requirements/suite-NAME-source.txt."""
    lock = LOCKS / f"suite-{name}-source.txt"

    def make(folder):
        installs.command([sys.executable, "-m", "pip", "download", "--quiet", "--no-input",
                          "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:",
                          "--require-hashes", "--dest", str(folder), "-r", str(lock)])
        archive, = folder.glob("*.tar.gz")
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        with tarfile.open(archive) as packed:
            packed.extractall(folder, **safely)
        archive.unlink()

    unpacked, = installs.made_once(f"python-source-{name}", [lock], make).iterdir()
    return unpacked


def version(name):
    return re.search(r"==(\S+)", (LOCKS / f"suite-{name}-source.txt").read_text())[1]


def suite(name):
    """A prepare() for suites/python_suite.py."""
    def prepare():
        installs.namespaces()
        packages = installs.python_packages(f"suite-{name}")
        return [sys.executable, installs.CLIENTS / "suites/python_suite.py"], {
            "CLIENTS_SUITE": name, "SUITE_SOURCE": str(source(name)),
            "SUITE_VERSION": version(name),
            "PYTHONPATH": f"{installs.CLIENTS / 'suites'}:{packages}"}
    return prepare
