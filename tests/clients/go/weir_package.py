"""Runs the tests of clients/go, which the harness has compiled, and says each one's outcome in the lines of harness/session.py.

CLIENTS_TESTS is test, or long for the one that needs minutes.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "suites"))

from go_suite import run  # noqa: E402

PACKAGE = Path(__file__).resolve().parents[3] / "clients/go"
IS_WEIR = os.environ["CLIENTS_SERVER"] == "weir"
WITHOUT_SERVER = {"internal/core": [], ".": ["-test.run=^(TestFields|TestFlatPairsAreAMap|TestExcess|TestReadme)$"]}
MODULES = [".", "weirotel"]
LEAKS = ["-test.run=^TestLeaks$", f"-leaks.seconds={os.environ.get('WEIR_LEAKS_SECONDS', '120')}", "-test.timeout=0"]
AT_ONCE = 6  # most of them wait for something


def say(name, done):
    told = " ".join((done.stdout + done.stderr).split())[:600]
    print(f"ok {name}" if done.returncode == 0 and not (name == "gofmt" and told) else f"not ok {name}: {told}", flush=True)


def command(*words, folder=PACKAGE):
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def main():
    made = json.loads(Path(os.environ["CLIENTS_PACKAGES"]).read_text())
    print(f"version {made['version']}", flush=True)
    os.environ["WEIR_SERVER"] = os.environ["CLIENTS_PROGRAM"]
    is_long = os.environ["CLIENTS_TESTS"] == "long"
    wanted = ({".": LEAKS} if is_long else dict.fromkeys(made["packages"], [])) if IS_WEIR else WITHOUT_SERVER
    for package, options in wanted.items():
        program = made["packages"][package]
        told = run(["go", "tool", "test2json", program, "-test.v=test2json", f"-test.parallel={AT_ONCE}", *options], package,
                   cwd=PACKAGE / package)
        told.tell()
        sys.stdout.flush()
    if IS_WEIR and not is_long:
        say("gofmt", command(shutil.which("gofmt") or "gofmt", "-l", "."))
        for module in MODULES:
            say(f"vet {module}", command("go", "vet", "./...", folder=PACKAGE / module))
    print("done")


if __name__ == "__main__":
    main()
