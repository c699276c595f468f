"""The tests of a release: .ci/run on its commit, whose output is shown as it comes."""

import subprocess

from .steps import LeftOut, Refused


def check(clone, is_left_out):
    if is_left_out:
        raise LeftOut("it was left out by --skip-ci, so nothing says that this release passes its tests")
    if subprocess.run(["bash", ".ci/run"], cwd=clone, stdin=subprocess.DEVNULL, check=False).returncode != 0:
        raise Refused(".ci/run fails")
