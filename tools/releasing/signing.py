"""Signatures by GnuPG, with a key of the caller's or one for this try.

A key is named as gpg names it (its fingerprint or address), or is a file with the secret key; both have to be usable
without asking for a passphrase, by an agent that knows it or since they have none.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .steps import NotBuilt

THROW_AWAY = "weir, a key for one try <nobody@invalid>"


class Signer:
    """Signs files. Used in a with statement, at whose end a key that was made or read from a file is thrown away."""

    def __init__(self, key):
        self.key = key
        self.home = None
        self.is_for_a_try = key is None

    def gpg(self, *words, **options):
        home = ["--homedir", self.home] if self.home else []
        try:
            done = subprocess.run(["gpg", "--batch", "--quiet", "--no-tty", *home, *map(str, words)], capture_output=True,
                                  stdin=subprocess.DEVNULL, check=False, **options)
        except FileNotFoundError as error:
            raise NotBuilt("gpg is not installed (the package gnupg)") from error
        if done.returncode != 0:
            raise NotBuilt(f"gpg: {done.stderr.decode(errors='replace').strip()[-300:]}")
        return done.stdout

    def __enter__(self):
        if self.key is None or Path(self.key).is_file():
            self.home = tempfile.mkdtemp(prefix="weir-key-")
            try:
                if self.key is None:
                    self.gpg("--passphrase", "", "--quick-generate-key", THROW_AWAY, "ed25519", "sign", "1y")
                else:
                    self.gpg("--import", self.key)
                self.key = self.fingerprint()
            except BaseException:
                self.__exit__()
                raise
        else:
            self.fingerprint(self.key)
        return self

    def fingerprint(self, *keys):
        """Of the secret key that gpg finds; NotBuilt where it finds none."""
        listed = self.gpg("--with-colons", "--list-secret-keys", *keys).decode()
        found = [line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr:")]
        if not found:
            raise NotBuilt(f"no secret key in {self.key}")
        return found[0]

    def __exit__(self, *_):
        if self.home:
            subprocess.run(["gpgconf", "--homedir", self.home, "--kill", "all"], check=False, capture_output=True)
            shutil.rmtree(self.home, ignore_errors=True)

    def sign(self, how, path, out):
        """`how` is --clearsign or --detach-sign."""
        Path(out).unlink(missing_ok=True)
        self.gpg("--local-user", self.key, "--armor", "--digest-algo", "SHA256", "--output", out, how, path)

    def public_key(self, out):
        """Writes the public key as apt takes it."""
        Path(out).write_bytes(self.gpg("--export", self.key))
        os.chmod(out, 0o644)
