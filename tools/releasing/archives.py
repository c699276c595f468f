"""Archives that are byte for byte the same whenever and wherever they are made of the same files.

Entries are in the order of their names, times are those that the caller gives, and owners are 0 unless the caller
keeps them. Invariant: nothing of the machine gets in, neither a clock nor a user's name.
"""

import gzip
import os
import tarfile
import zipfile
from pathlib import Path

from . import digests


def below(folder):
    """All paths below a folder, relative to it, folders before what is in them."""
    for path, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files + folders):
            yield Path(path, name).relative_to(folder)


def entry_of(archive, file, name, epoch, keep_owners):
    entry = archive.gettarinfo(file, name)
    if entry is None:  # a socket
        return None
    entry.mtime = epoch
    entry.uname = entry.gname = ""
    if not keep_owners:
        entry.uid = entry.gid = 0
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    elif entry.isfile() or entry.isdir():
        for attribute in os.listxattr(file, follow_symlinks=False):
            value = os.getxattr(file, attribute, follow_symlinks=False)
            entry.pax_headers[f"SCHILY.xattr.{attribute}"] = value.decode("utf-8", "surrogateescape")
    return entry


def write_tar(out, folder, epoch, prefix="", keep_owners=False, left_out=lambda path: False):
    """A tar of a folder into a file that is open. Paths that are left out are relative to the folder."""
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in below(folder):
            if left_out(path):
                continue
            file = Path(folder, path)
            entry = entry_of(archive, file, prefix + str(path), epoch, keep_owners)
            if entry is None:
                continue
            if entry.isfile():
                with open(file, "rb") as content:
                    archive.addfile(entry, content)
            else:
                archive.addfile(entry)


def tar_gz(path, folder, epoch, **options):
    """Writes a .tar.gz; answers the SHA-256 of the tar in it."""
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        write_tar(packed, folder, epoch, **options)
    return digests.of_unpacked(path)


def write_zip(path, folder, prefix=""):
    """Writes a .zip of the files of a folder. A zip's times have no zone, and begin in 1980: all are that."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in below(folder):
            file = Path(folder, name)
            if file.is_file() and not file.is_symlink():
                entry = zipfile.ZipInfo(prefix + str(name), (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o100644 << 16
                archive.writestr(entry, file.read_bytes())
