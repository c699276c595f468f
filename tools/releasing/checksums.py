"""SHA256SUMS of all files of a folder, which `sha256sum -c SHA256SUMS` checks in it."""

from pathlib import Path

from . import archives, digests

NAME = "SHA256SUMS"


def lines(folder):
    for path in archives.below(folder):
        file = Path(folder, path)
        if file.is_file() and not str(path).startswith(NAME):
            yield f"{digests.of_file(file)}  {path}\n"


def write(folder):
    path = Path(folder) / NAME
    path.write_text("".join(sorted(lines(folder), key=lambda line: line[66:])), encoding="utf-8")
    return path
