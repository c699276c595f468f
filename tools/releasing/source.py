"""The commit of a release, made in a clone, and the sources of it.

The clone has one commit more than the tree: the version at all its places, the day in the changelogs, and the tag. The tree is
not changed; whoever publishes takes commit and tag out of the bundle. Author and time are those of the commit
before, so that the same tree gives the same commit.
"""

import os
from datetime import datetime, timezone
from pathlib import Path

from . import changelog, versions
from .steps import Refused, run

CHANGELOGS = ["CHANGELOG.md", *(f"clients/{name}/CHANGELOG.md" for name in ("go", "java", "node", "python"))]


def git(folder, *words, **options):
    return run("git", "-c", "safe.directory=*", "-c", "advice.detachedHead=false", "-C", folder, *words, **options).strip()


def check(root, version):
    """Refuses a tree of which no release can be made."""
    versions.parse(version)
    changed = git(root, "status", "--porcelain")
    if changed:
        raise Refused(f"the tree is not clean:\n{changed}")
    if git(root, "tag", "--list", f"v{version}"):
        raise Refused(f"there is a tag v{version} already")
    changelog.section((Path(root) / "CHANGELOG.md").read_text(encoding="utf-8"), version)


def describe(root):
    """Of the commit that a tree is at: its time and its author."""
    epoch, name, mail = git(root, "log", "-1", "--format=%ct%n%an%n%ae").splitlines()
    return int(epoch), name, mail


def clone_release(root, folder, version):
    """Makes the release's commit and tag in a clone; answers the instant that everything of the release has."""
    run("git", "clone", "--quiet", "--no-hardlinks", "--no-checkout", root, folder)
    git(folder, "checkout", "--quiet", git(root, "rev-parse", "HEAD"))
    epoch, name, mail = describe(folder)
    versions.write(folder, version)
    day = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%d")
    for path in CHANGELOGS:
        file = Path(folder) / path
        file.write_text(changelog.dated(file.read_text(encoding="utf-8"), version, day), encoding="utf-8")
    by = {**os.environ}
    for who in ("AUTHOR", "COMMITTER"):
        by |= {f"GIT_{who}_NAME": name, f"GIT_{who}_EMAIL": mail, f"GIT_{who}_DATE": f"{epoch} +0000"}
    git(folder, "commit", "--quiet", "--all", "--no-verify", "--no-gpg-sign", "-m", f"Release {version}", env=by)
    git(folder, "tag", "--annotate", "--no-sign", "-m", f"weir {version}", f"v{version}", env=by)
    return epoch


def write_sources(clone, out, version):
    """The sources as an archive, and a bundle with the commit and the tag."""
    out.mkdir(parents=True)
    name = f"weir-{versions.of_debian(version)}"
    git(clone, "archive", "--format=tar.gz", f"--prefix={name}/", "-o", out / f"{name}.tar.gz", f"v{version}")
    git(clone, "-c", "pack.threads=1", "bundle", "create", "--quiet", out / f"{name}.bundle", f"v{version}", "^HEAD^")
