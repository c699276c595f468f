"""Puts the pinned packages of one language into a cache folder outside the tree.

Each function takes what to install and answers where it lies, or raises Missing with the reason in
words: that client is then reported as not run.

Invariants:
1. Nothing is written into the tree. A folder of the cache is named after a hash of the lock file it
   was made from, and appears by a rename when it is whole, so an interrupted install is made again.
2. What is in the cache is used without asking a registry.
3. Lock files name packages, versions and hashes, never a host.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

CLIENTS = Path(__file__).resolve().parents[1]
INSTALL_SECONDS_MAX = 300
_all_end = [float("inf")]  # when, by the monotonic clock, everything that is installed now ends


class Missing(Exception):
    """Why a client cannot be run here."""


def cache_root():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "weir-clients"


def need(program, package):
    path = shutil.which(program)
    if not path:
        raise Missing(f"{program} is not installed ({package})")
    return path


@contextlib.contextmanager
def at_most(seconds):
    """All that is installed inside takes so long at the most; 0: as long as it may anyway."""
    _all_end[0] = time.monotonic() + seconds if seconds else float("inf")
    try:
        yield
    finally:
        _all_end[0] = float("inf")


def command(arguments, **options):
    """Runs an installer; what it says of an error is the reason when it fails."""
    seconds_max = max(1, min(INSTALL_SECONDS_MAX, _all_end[0] - time.monotonic()))
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=seconds_max, check=False,
                              **options)
    except subprocess.TimeoutExpired as error:
        raise Missing(f"{arguments[0]} did not end within {seconds_max:.0f} s") from error
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).strip().splitlines() or ["no output"]
        errors = [line for line in lines if "error" in line.lower() and "WARN" not in line]
        reason = re.sub(r"https?://\S+", "a registry", (errors or lines[-1:])[0]).strip()
        raise Missing(f"{Path(arguments[0]).name} failed: {reason[:200]}")


def namespaces():
    """Raises Missing unless a program can have a network of its own."""
    try:
        command([sys.executable, str(CLIENTS / "suites/fixed_ports.py"), "1", "1", "true"])
    except Missing as error:
        raise Missing("a network namespace needs rights that are not here") from error


def made_once(name, sources, make):
    """The cache folder NAME-HASH; make(folder) fills it if it is not there yet."""
    digest = hashlib.sha256(sys.version.encode())
    for path in sources:
        digest.update(path.read_bytes())
    folder = cache_root() / f"{name}-{digest.hexdigest()[:12]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            partial = folder.with_name(folder.name + ".partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            make(partial)
            partial.rename(folder)
    return folder


def python_packages(requirements):
    """The packages of python/requirements/NAME.txt, for PYTHONPATH."""
    source = CLIENTS / "python/requirements" / f"{requirements}.txt"

    def make(folder):
        command([sys.executable, "-m", "pip", "install", "--quiet", "--no-input",
                 "--disable-pip-version-check", "--only-binary", ":all:", "--require-hashes",
                 "--target", str(folder), "-r", str(source)])

    return made_once(f"python-{requirements}", [source], make)


def node_packages(lock=""):
    """The packages of node/LOCK/package-lock.json, for NODE_PATH."""
    need("node", "Node.js 20 or newer")
    npm = need("npm", "it comes with Node.js")
    sources = [CLIENTS / "node" / lock / name for name in ("package.json", "package-lock.json")]

    def make(folder):
        for path in sources:
            shutil.copy(path, folder)
        command([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder)

    return made_once(f"node-{lock}" if lock else "node", sources, make) / "node_modules"


def go_program(package, module=""):
    """A program of the module go/MODULE, built; go keeps the modules and what it compiled in caches
    of its own. PACKAGE is ./NAME for one of ours, or an import path of what the module requires."""
    go = need("go", "Go, of the version go/go.mod names")
    out = cache_root() / "go" / module / (Path(package).name or "main")
    out.parent.mkdir(parents=True, exist_ok=True)
    command([go, "build", "-mod=readonly", "-buildvcs=false", "-o", str(out), package],
            cwd=CLIENTS / "go" / module,
            env={**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"})
    return out
