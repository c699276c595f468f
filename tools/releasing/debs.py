"""The Debian packages of a system, made by tools/package in a root of it."""

import shutil

from . import roots
from .steps import NotBuilt


def suffix(system):
    """Packages of two systems have two versions, and an upgraded machine gets that of its new system."""
    return f"+deb{roots.DEBIAN[system]}"


def build(all_roots, clone, system, architecture, out):
    """Answers the root that they were built in, which is of this machine's processor, whatever they are for."""
    root = all_roots.builder(system, architecture, clone)
    roots.in_root(root, "tools/install-deps", "packages", "git", directory=roots.TREE)
    settings = {"WEIR_PACKAGE_SUFFIX": suffix(system)}
    if architecture != roots.NATIVE:
        settings["WEIR_ARCHITECTURE"] = architecture
    # The compiler's cache is told of no other place of the tree: what it made for one has that one's paths inside.
    roots.in_root(root, "tools/package", directory=roots.TREE, environment=settings)
    made = sorted((root / roots.TREE.lstrip("/") / "build/package").glob("*.deb"))
    if not made:
        raise NotBuilt("tools/package made nothing")
    out.mkdir(parents=True, exist_ok=True)
    for package in made:
        shutil.copyfile(package, out / package.name)
    return root
