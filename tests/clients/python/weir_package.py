"""Runs the tests of clients/python, and says each one's outcome in the lines of harness/session.py.

CLIENTS_TESTS is the beginning of their files' names: test, or long for those that need minutes.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import redis
from report import IS_WEIR, check, say

PACKAGE = Path(__file__).resolve().parents[3] / "clients/python"
WITHOUT_SERVER = ["tests.test_conformance"]


def short(test):
    return test.id().removeprefix("tests.").replace(": ", ":")


def words(error):
    return " ".join(f"{error[0].__name__}: {error[1]}".split())[:600]


class Report(unittest.TestResult):
    """A test has failed once, whichever of its parts has."""

    def __init__(self):
        super().__init__()
        self.bad = {}

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.bad.setdefault(short(test), f"{subtest._subDescription()} {words(error)}")

    def addFailure(self, test, error):
        self.bad.setdefault(short(test), words(error))

    addError = addFailure

    def addSkip(self, test, reason):
        say(f"skip {short(test)}: {reason}")

    def addSuccess(self, test):
        if short(test) not in self.bad:
            say(f"ok {short(test)}")

    def stopTest(self, test):
        super().stopTest(test)
        self.tell()

    def tell(self):
        """Also of what failed outside any test."""
        for name, why in self.bad.items():
            if why:
                say(f"not ok {name}: {why}")
                self.bad[name] = ""


def names():
    kind = os.environ.get("CLIENTS_TESTS", "test")
    if not IS_WEIR:
        return WITHOUT_SERVER
    return sorted(f"tests.{path.stem}" for path in (PACKAGE / "tests").glob(f"{kind}_*.py"))


class Types:
    """mypy, beside the tests, which wait for most of their time."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        self._program = subprocess.Popen(
            [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", self._folder.name],
            cwd=PACKAGE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def told(self):
        said, _ = self._program.communicate()
        self._folder.cleanup()
        if self._program.returncode != 0:
            raise AssertionError(said)


def main():
    say(f"version {redis.__version__}")
    os.environ["WEIR_SERVER"] = os.environ["CLIENTS_PROGRAM"]
    os.environ["PYTHONPATH"] = f"{PACKAGE / 'src'}:{os.environ['CLIENTS_PACKAGES']}"
    sys.path[:0] = [str(PACKAGE), str(PACKAGE / "src")]
    os.chdir(PACKAGE)
    types = Types() if IS_WEIR and importlib.util.find_spec("mypy") else None
    report = Report()
    unittest.defaultTestLoader.loadTestsFromNames(names()).run(report)
    report.tell()
    if types is not None:
        check("types", types.told)
    elif IS_WEIR:
        say("skip types: mypy is not installed with these versions")
    say("done")


if __name__ == "__main__":
    main()
