"""Bare systems that debootstrap makes, and systems to build in. The tree of a release lies at /srv/weir in them, wherever the
root is, so that the paths that a compiler writes down are the same in each build.
"""

import shutil
from pathlib import Path

from .steps import NotBuilt, run

TOOLS = Path(__file__).resolve().parents[1]
DEBIAN = {"bookworm": "12", "trixie": "13"}
NATIVE = "amd64"
ARCHITECTURES = (NATIVE, "arm64")
TREE = "/srv/weir"


class Roots:
    """The systems of a folder, each made when it is first asked for; whoever keeps the folder has them again."""

    def __init__(self, folder, checkout):
        self.folder = Path(folder)
        self.checkout = checkout
        self.folder.mkdir(parents=True, exist_ok=True)

    def base(self, system):
        """A bare system, which nobody changes."""
        if system not in DEBIAN:
            raise NotBuilt(f"no such system is known as {system}")
        base = self.folder / system
        if not base.exists():
            run(TOOLS / "prove-clean-root", "--system", system, "--base", base, self.checkout, "base")
        return base

    def copy(self, system, name):
        """A copy of a bare system, in place of what was there by that name."""
        root = self.folder / name
        shutil.rmtree(root, ignore_errors=True)
        run("cp", "-a", self.base(system), root)
        return root

    def builder(self, system, architecture, clone):
        """A system to build in for a processor, with a fresh clone. What it installs and the compiler's cache stay in it."""
        root = self.folder / f"{system}-{architecture}-build"
        if not root.exists():
            run("cp", "-a", self.base(system), root)
        tree = root / TREE.lstrip("/")
        shutil.rmtree(tree, ignore_errors=True)
        run("git", "clone", "--quiet", "--no-hardlinks", clone, tree)
        return root


def in_root(root, *words, directory="/", environment=None):
    """Runs a program inside a root, as root, and answers what it printed."""
    settings = [word for name, value in (environment or {}).items() for word in ("--env", f"{name}={value}")]
    return run(TOOLS / "prove/in-root", "--dir", directory, *settings, root, *words)
