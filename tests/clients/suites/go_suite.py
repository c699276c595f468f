"""Runs the tests that a Go module carries, and says ok or not ok for each by the harness' protocol.

    go_suite.py FOLDER [--ports 6379,...] -- [TEST-ARGUMENT ...]

FOLDER is what harness/installs_go.py made: the module's files, and its tests as programs in bin/.
With --ports they run in a network of their own where these ports are the server; else they are told
the port by the environment, in which {port} stands for it.

Invariants:
1. A test with subtests is judged by them; it is named itself only if it failed without them.
2. A package whose program ends badly has a failed test: the one that ran, or one called `package`.
   Go ends the program when a test panics; the tests behind it are then run without that one.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import fixed_ports
from go_ginkgo import specs

NOISE = re.compile(r"^\s*(===|---|PASS|FAIL|ok\s|coverage|Error Trace:|Test:|Messages:|$)")
WHY_LENGTH_MAX = 300
PANICS_MAX = 5


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ports", default="")
    at = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:at])
    options.test = sys.argv[at + 1:]
    return options


def why(lines):
    text = " ".join(" ".join(line.split()) for line in lines if not NOISE.match(line))
    return text[:WHY_LENGTH_MAX] or "no reason given"


class Package:
    """What one package's program said."""

    def __init__(self, name):
        self.name = name
        self.said = {}
        self.ends = {}

    def read(self, event):
        test = event.get("Test", "")
        if event["Action"] == "output":
            self.said.setdefault(test, []).append(event["Output"])
        elif event["Action"] in ("pass", "fail", "skip"):
            self.ends[test] = event["Action"]

    def tests(self):
        """(name, end, why) of each test."""
        tests = {test: end for test, end in self.ends.items() if test}
        tests.update({test: "fail" for test in self.said if test and test not in tests})
        parents = {test.rpartition("/")[0] for test in tests if "/" in test}
        failed = {test for test, end in tests.items() if end == "fail"}
        for test, end in sorted(tests.items()):
            said = self.said.get(test, [])
            inner = list(specs("".join(said)))
            blamed = any(other.startswith(test + "/") for other in failed)
            if not inner and not (test in parents and (end != "fail" or blamed)):
                yield test, end, why(said)
            for name, inner_end, reason in inner:
                yield name, inner_end, why([reason])
        if self.ends.get("") not in ("pass", "skip") and not failed:
            yield "", "fail", why(self.said.get("", []))

    def tell(self):
        for test, end, reason in self.tests():
            name = f"{'' if self.name == '.' else self.name} {test}".strip().replace(": ", ":")
            line = {"pass": "ok {}", "skip": "skip {}: {}", "fail": "not ok {}: {}"}[end]
            print(line.format(name or "package", reason))


    def panicked(self):
        """The test that ended the program, nothing when none did."""
        for test, lines in self.said.items():
            if test and any(line.startswith("panic: ") for line in lines):
                return test.partition("/")[0]
        return None

    def take(self, other, test):
        """Of an earlier run what it said about one test."""
        for mine, its in ((self.said, other.said), (self.ends, other.ends)):
            mine.update({name: value for name, value in its.items()
                         if name.partition("/")[0] == test})


def run(command, package, **options):
    """One run of a package's tests."""
    told = Package(package)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace",
                          **options) as process:
        for line in process.stdout:
            try:
                told.read(json.loads(line))
            except (ValueError, KeyError):
                print(line, end="")
    return told


def run_all(command, package, **options):
    """A package's tests, each of them, whichever panic."""
    first = told = run(command, package, **options)
    panics = []
    while (test := told.panicked()) and len(panics) < PANICS_MAX:
        panics.append((test, told))
        skip = "|".join(name for name, _ in panics)
        told = run([*command, f"-test.skip=^({skip})$"], package, **options)
    if panics and not told.ends:
        return first
    for test, earlier in panics:
        told.take(earlier, test)
    return told


def main():
    options = arguments()
    port = os.environ["CLIENTS_PORT"]
    made = json.loads((options.folder / "suite.json").read_text())
    print(f"version {made['version']}")
    environment = {name: value.replace("{port}", port) for name, value in os.environ.items()}
    ports = [int(number) for number in options.ports.split(",") if number]
    before = fixed_ports.words_before(ports, port) if ports else []
    for package, program in made["packages"].items():
        command = [*before, "go", "tool", "test2json", str(options.folder / program),
                   "-test.v=test2json", *options.test]
        run_all(command, package, cwd=options.folder / "module" / package, env=environment).tell()
        sys.stdout.flush()
    print("done")


if __name__ == "__main__":
    main()
