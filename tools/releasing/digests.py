"""SHA-256 of files, as every part of a release writes it: in hexadecimal digits."""

import gzip
import hashlib


def of_file(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def of_unpacked(path):
    """Of what a .gz holds."""
    with gzip.open(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
