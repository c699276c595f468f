"""A repository for apt, as a folder that any web server serves: pool/SYSTEM has the packages, dists/SYSTEM the indexes.

The format is https://wiki.debian.org/DebianRepository/Format. dpkg-scanpackages reads the packages; all else is
written here, so that the same packages give the same repository.
"""

import gzip
import shutil
from datetime import datetime, timezone

from . import digests
from .steps import NotBuilt, run

COMPONENT = "main"


def release(system, architectures, epoch, place, index):
    """The text of a Release file; `index` has the paths of the indexes in `place`, which is dists/SYSTEM."""
    date = datetime.fromtimestamp(epoch, timezone.utc).strftime("%a, %d %b %Y %H:%M:%S UTC")
    lines = ["Origin: weir", "Label: weir", f"Suite: {system}", f"Codename: {system}", f"Date: {date}",
             f"Architectures: {' '.join(architectures)}", f"Components: {COMPONENT}", "Description: weir, a rate limiter", "SHA256:"]
    lines += [f" {digests.of_file(place / path)} {(place / path).stat().st_size} {path}" for path in sorted(index)]
    return "\n".join(lines) + "\n"


def write_system(folder, system, packages, architectures, epoch):
    """Puts the packages of one system in, and writes its indexes; answers the path of Release."""
    pool = folder / "pool" / system
    pool.mkdir(parents=True)
    for package in sorted(packages):
        shutil.copyfile(package, pool / package.name)
    index = {}
    for architecture in architectures:
        text = run("dpkg-scanpackages", "--multiversion", "--arch", architecture, f"pool/{system}", cwd=folder).encode()
        path = f"{COMPONENT}/binary-{architecture}/Packages"
        index |= {path: text, f"{path}.gz": gzip.compress(text, 9, mtime=0)}
    place = folder / "dists" / system
    for path, content in index.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
    (place / "Release").write_text(release(system, architectures, epoch, place, index), encoding="utf-8")
    return place / "Release"


def build(folder, packages_of, architectures, epoch, signer):
    """`packages_of` has the packages of each system. The key is the repository's weir.gpg."""
    if not packages_of:
        raise NotBuilt("there is no package to put in")
    folder.mkdir(parents=True)
    for system, packages in packages_of.items():
        written = write_system(folder, system, packages, architectures, epoch)
        signer.sign("--clearsign", written, written.with_name("InRelease"))
        signer.sign("--detach-sign", written, written.with_name("Release.gpg"))
    signer.public_key(folder / "weir.gpg")


def source_lines(place, systems):
    """What a machine of each system writes into its sources; `place` is where the folder is served."""
    return [f"deb [signed-by=/etc/apt/keyrings/weir.gpg] {place} {system} {COMPONENT}" for system in systems]
