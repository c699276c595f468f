"""The steps of a release: told as they run, each with its time, and told again in the end."""

import contextlib
import shutil
import subprocess
import sys
import time


class Refused(Exception):
    """A release is not made, for the reason that this says."""


class NotBuilt(Exception):
    """A step cannot be done on this machine, for the reason that this says."""


class LeftOut(NotBuilt):
    """A step is not done since nobody asked for it, or since it never is."""


def run(*words, **options):
    """Runs a program and answers what it printed; what it said of a failure is the reason of NotBuilt."""
    words = [str(word) for word in words]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False, **options)
    except FileNotFoundError as error:
        raise NotBuilt(f"{words[0]} is not installed") from error
    if done.returncode != 0:
        sys.stderr.write(done.stdout[-4000:] + done.stderr[-4000:])
        raise NotBuilt(f"{' '.join(words)[:120]} ended with {done.returncode}")
    return done.stdout


@contextlib.contextmanager
def whole_folder(out):
    """A folder to fill, which comes to the name `out` when it is whole, and is gone when it is not to be. Whoever is killed
    leaves it by the name that this gives it."""
    unfinished = out.with_name(out.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        unfinished.rename(out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


class Steps:
    """What has been built, and what has not."""

    def __init__(self, write=sys.stderr.write):
        self.write = write
        self.begin = time.monotonic()
        self.built = []
        self.missing = []
        self.failed = False

    @contextlib.contextmanager
    def step(self, name):
        """A step that the release can do without: when it cannot be done, the rest goes on."""
        self.write(f"== {name}\n")
        begin = time.monotonic()
        try:
            yield
        except NotBuilt as reason:
            self.not_built(name, reason)
        else:
            took = time.monotonic() - begin
            self.built.append((name, took))
            self.write(f"   {took:.1f} s\n")

    def not_built(self, name, reason):
        self.failed = self.failed or not isinstance(reason, LeftOut)
        self.missing.append((name, str(reason)))
        self.write(f"   NOT BUILT: {reason}\n")

    def summary(self):
        lines = [f"{took:7.1f} s  {name}" for name, took in self.built]
        lines += [f"NOT BUILT  {name}: {reason}" for name, reason in self.missing]
        lines.append(f"{time.monotonic() - self.begin:7.1f} s  in all")
        return "\n".join(lines) + "\n"
