"""The Debian packages of a system, made by tools/package in a root of it."""

import shutil

from . import roots
from .steps import NotBuilt


def suffix(system):
    """Packages of two systems have two versions, and an upgraded machine gets that of its new system."""
    return f"+deb{roots.DEBIAN[system]}"


def build(all_roots, clone, system, architecture, out):
    """Answers the root that they were built in."""
    roots.need_system(system, architecture)
    root = all_roots.builder(system, clone)
    roots.in_root(root, "tools/install-deps", "packages", "git", directory=roots.TREE)
    # The compiler's cache is told of no other place of the tree: what it made for one has that one's paths inside.
    roots.in_root(root, "tools/package", directory=roots.TREE, environment={"WEIR_PACKAGE_SUFFIX": suffix(system)})
    made = sorted((root / roots.TREE.lstrip("/") / "build/package").glob("*.deb"))
    if not made:
        raise NotBuilt("tools/package made nothing")
    out.mkdir(parents=True)
    for package in made:
        shutil.copyfile(package, out / package.name)
    return root
