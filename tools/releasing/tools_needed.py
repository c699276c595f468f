"""The programs that a release needs beyond those of tools/install-deps, and the package of Debian that has each."""

import os
import shutil

from .steps import Refused

PACKAGES = {"debootstrap": "debootstrap", "dpkg-scanpackages": "dpkg-dev", "git": "git", "gpg": "gnupg", "pgrep": "procps",
            "redis-cli": "redis-tools", "unshare": "util-linux"}


def check():
    """Refuses a machine without them, and says how to get them."""
    missing = sorted({package for program, package in PACKAGES.items() if shutil.which(program) is None})
    if missing:
        raise Refused(f"programs are missing; as root, run: apt-get install {' '.join(missing)}")
    if os.geteuid() != 0:
        raise Refused("debootstrap and chroot need root")
