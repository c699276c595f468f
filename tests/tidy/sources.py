"""The text files of a tree, as tidy.py reads them."""

import fnmatch
import re
from pathlib import Path

CPP = {".h", ".cc"}


class File:
    """One text file: its path from the root, its lines, and for C++ its code without comments."""

    def __init__(self, path, text):
        self.path = path
        self.folder = path.split("/")[0]
        self.suffix = Path(path).suffix
        self.text = text
        self.lines = text.splitlines()
        self.is_cpp = self.suffix in CPP
        self.code = strip_cpp(text) if self.is_cpp else ""


def strip_cpp(text):
    """Blanks comments, strings and character literals, and keeps every line where it was."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9A-Fa-f])'(?:\\.[^'\n]*|[^'\\\n])'", re.DOTALL)
    return token.sub(lambda match: " " + "\n" * match[0].count("\n"), text)


def ignored_names(root):
    """The names in .gitignore; none of its patterns holds a slash between names."""
    path = root / ".gitignore"
    lines = path.read_text().split() if path.exists() else []
    return [line.strip("/") for line in lines] + [".git"]


def is_ignored(path, names):
    return any(fnmatch.fnmatch(path.name, name) for name in names)


def top_level_names(root):
    ignored = ignored_names(root)
    return {path.name for path in root.iterdir() if not is_ignored(path, ignored)}


def read_tree(root):
    """All text files under the permitted top level."""
    ignored = ignored_names(root)

    def walk(folder):
        for path in sorted(folder.iterdir()):
            if is_ignored(path, ignored) or path.is_symlink():
                continue
            if path.is_dir():
                yield from walk(path)
                continue
            data = path.read_bytes()
            if b"\0" not in data and "/corpus/" not in path.as_posix():
                yield File(path.relative_to(root).as_posix(), data.decode(errors="replace"))

    return list(walk(root))
