"""Has Debian's own packages there, for languages whose registry is not reached.

Invariants:
1. tools/install-deps installs: what keeps services from starting is written once, there.
2. Nothing is asked of the network when every package is there.
"""

import os
import re
import subprocess

from . import installs

INSTALL_DEPS = installs.CLIENTS.parents[1] / "tools/install-deps"


def is_there(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev}", package],
                          capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout[1:2] == "i"


def packages(*names):
    """Every one of these packages is installed when this returns."""
    installs.need("dpkg-query", "these are Debian's packages")
    missing = [name for name in names if not is_there(name)]
    if not missing:
        return
    if os.geteuid() != 0:
        raise installs.Missing(f"the packages {', '.join(missing)} are not installed")
    installs.command([str(INSTALL_DEPS), "packages", *missing])
    if not all(is_there(name) for name in names):
        raise installs.Missing(f"the packages {', '.join(missing)} could not be installed")


def version(package):
    """The upstream part of an installed package's version."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True,
                          text=True, check=False)
    return re.match(r"(\d+:)?([\d.]*)", done.stdout)[2]


def c_program(source, flags):
    """The C program c/SOURCE, compiled against what Debian's packages brought."""
    compiler = installs.need("cc", "the package gcc")
    path = installs.CLIENTS / "c" / source

    def make(folder):
        installs.command([compiler, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o",
                          str(folder / "program"), str(path), *flags])

    return installs.made_once("c-" + path.stem, sorted(path.parent.iterdir()), make) / "program"
