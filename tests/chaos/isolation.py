"""Puts the whole suite into namespaces of its own: network, mounts and processes.

What the suite makes (interfaces, file systems, servers) ends with it, however it ends: the kernel takes
the namespaces down with their first process, which is the suite itself.
"""

import os
import shutil
import subprocess
import sys

INSIDE = "WEIR_CHAOS_INSIDE"
FOLDER = "/run/chaos"  # on a file system of the suite's own
PROGRAMS = {"unshare": "util-linux", "nsenter": "util-linux", "setpriv": "util-linux", "ip": "iproute2",
            "nft": "nftables"}


def enter(programs):
    """Returns inside; outside it never returns. Programs are named with their packages."""
    if os.environ.get(INSIDE) == "yes":
        return
    if os.getuid() != 0:
        sys.exit("chaos: network namespaces and mounts need root, and this is not root: nothing was tested")
    for program, package in {**PROGRAMS, **programs}.items():
        if shutil.which(program) is None:
            sys.exit(f"chaos: {program} is missing: apt install {package}")
    os.execvpe("unshare", ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                           sys.executable, "-B", *sys.argv], {**os.environ, INSIDE: "yes"})


def run(*words, check=True, given=None):
    done = subprocess.run(list(map(str, words)), input=given, capture_output=True, text=True, timeout=60, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def make_folder():
    run("mount", "-t", "tmpfs", "-o", "mode=755", "none", "/run")
    os.makedirs(FOLDER)
    return FOLDER


def small_disk(path, megabytes):
    """A file system that can be full."""
    os.makedirs(path, exist_ok=True)
    run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", path)


def fill_disk(folder):
    """Not a byte more has room; what to remove afterwards."""
    ballast = os.path.join(folder, "ballast")
    with open(ballast, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError:
            return ballast
