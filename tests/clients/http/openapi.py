"""schemathesis against /v1/, by the document that weir serves.

It makes bodies that fit the document and bodies that do not, and demands that weir takes the former, refuses the
latter, answers what the document says, and has no error of its own.
"""

import importlib
import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLIENTS = HERE.parent
sys.path[:0] = [str(CLIENTS), str(CLIENTS / "python"), str(CLIENTS / "calls")]

from away_worlds import Alone  # noqa: E402
from report import IS_WEIR, Skip, check, expect, say  # noqa: E402
from support.processes import free_port  # noqa: E402

# It searches for longer, or elsewhere, with more bodies for each path, or another seed.
EXAMPLES = os.environ.get("CLIENTS_EXAMPLES", "20")
SEED = os.environ.get("CLIENTS_SEED", "1")
SECONDS_MAX = 1200
CHECKS = 25  # so many paths have to be tried at least


def fuzz(url, folder):
    """What schemathesis printed; an AssertionError has its failures."""
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml"), "run",
               f"{url}/v1/openapi.json", "--max-examples", EXAMPLES, "--no-color", "--warnings", "off",
               "--suppress-health-check", "all", "--continue-on-failure", "--seed", SEED]
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "openapi_hooks", "NO_COLOR": "1",
                   "PYTHONPATH": os.pathsep.join([str(HERE), os.environ["PYTHONPATH"]])}
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=SECONDS_MAX,
                          check=False)
    if done.returncode != 0:
        print(done.stdout.partition("= FAILURES =")[2].partition("= SUMMARY =")[0][:3000], done.stderr[-1000:],
              file=sys.stderr)
        failures = re.findall(r"(?m)^- (.*)$", done.stdout)
        raise AssertionError("; ".join(dict.fromkeys(failures)) or done.stderr[-300:] or done.stdout[-300:])
    return done.stdout


def counted(world, name):
    return int(re.search(rf"{name}:(\d+)", world.ask("INFO weir"))[1])


def run(world, url, folder):
    world.ask("RL.POLICY SET api 100/1m")
    said = fuzz(url, folder)
    tried = re.search(r"(?m)^.*?(\d+) generated.*$", said)
    say(f"figure bodies {tried[1] if tried else '?'}")
    if counted(world, "http_requests") < CHECKS * int(EXAMPLES):
        raise AssertionError(f"only {counted(world, 'http_requests')} requests have come")
    expect(counted(world, "http_requests_failed"), 0, "answers of 500 and above")


def serves(url):
    with urllib.request.urlopen(f"{url}/v1/openapi.json", timeout=10) as answer:
        expect(answer.headers["Content-Type"], "application/json", "its type")


def main():
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    world = Alone("--http-port", str(port))
    try:
        world.start()
        check("serves-the-document", lambda: serves(url))
        with tempfile.TemporaryDirectory() as folder:
            check("answers-by-the-document", lambda: run(world, url, folder))
    finally:
        world.close()


def absent():
    raise Skip("Redis has no HTTP")


def installed():
    importlib.import_module("schemathesis")


say(f"version {importlib.metadata.version('schemathesis')}")
check("installed", installed)
if IS_WEIR:
    main()
else:
    check("answers-by-the-document", absent)
say("done")
