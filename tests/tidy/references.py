"""What comments and documents name exists: rules of tidy.py.

A comment names a file by its path from the root, or from a folder that it lies in itself; a test
also from the folder that it mirrors. A document may leave out the first folders of a path. A link
leads to a file, and its anchor to a heading there.
"""

import os
import re
from pathlib import PurePosixPath

NAME = re.compile(r"(?<![\w./<*$}{~:%=-])((?:\.\./)*\w[\w.-]*(?:/[\w.-]+)*\.(?:h|cc|md))\b(?![\w/(*>])")
PLACEHOLDER = re.compile(r"\b(NAME|X)\b")
SECTION = re.compile(r'(\w[\w./-]*\.md)(?:, (?:section )?| section )"([^"]+)"')
LINK = re.compile(r"\]\(([^()\s]+)\)")


def comments(file):
    """(line, text) of each line of a comment, or of a document."""
    if file.suffix == ".md":
        yield from enumerate(file.lines, 1)
        return
    mark = r"(?:^|\s)//(.*)" if file.is_cpp else r"^\s*#(?!!)(.*)"
    for line, text in enumerate(file.lines, 1):
        if found := re.search(mark, text):
            yield line, found[1]


def folders_of(path):
    """The folders that a name in this file may be relative to."""
    yield from PurePosixPath(path).parents
    if path.startswith("tests/"):
        yield from PurePosixPath(path[len("tests/"):]).parents


def is_there(name, file, paths):
    if any(os.path.normpath(folder / name) in paths for folder in folders_of(file.path)):
        return True
    return file.suffix == ".md" and any(path.endswith("/" + name) for path in paths)


def check_references(root, files):
    paths = {file.path for file in files}
    for file in files:
        for line, text in comments(file):
            for match in NAME.finditer(LINK.sub("]", text)):
                if not PLACEHOLDER.search(match[1]) and not is_there(match[1], file, paths):
                    yield file.path, line, f"{match[1]}: there is no such file from here"


def anchors_of(text):
    """As GitHub makes them: of equal headings the later ones are numbered."""
    found = set()
    for heading in re.findall(r"(?m)^#{1,6} (.*)$", re.sub(r"(?ms)^```.*?^```", "", text)):
        heading = re.sub(r"\]\([^)]*\)", "", heading)
        anchor = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        number = 1
        while (numbered := anchor if number == 1 else f"{anchor}-{number - 1}") in found:
            number += 1
        found.add(numbered)
    return found


def check_links(root, files):
    anchors = {file.path: anchors_of(file.text) for file in files if file.suffix == ".md"}
    for file in files:
        if file.suffix != ".md":
            continue
        for line, text in enumerate(file.lines, 1):
            for match in LINK.finditer(text):
                target, _, anchor = match[1].partition("#")
                path = os.path.normpath(PurePosixPath(file.path).parent / target) if target else file.path
                if ":" in target:
                    continue
                if not (root / path).exists():
                    yield file.path, line, f"{target}: the link leads nowhere"
                elif anchor and anchor not in anchors.get(path, set()):
                    yield file.path, line, f"{match[1]}: there is no such heading"


def check_sections(root, files):
    """`X.md, "Y"` and `X.md, section "Y"`: the document has that heading."""
    documents = {file.path: file for file in files if file.suffix == ".md"}
    for file in files:
        for line, text in comments(file):
            for name, section in SECTION.findall(text):
                found = [path for path in documents if ("/" + path).endswith("/" + name)]
                if found and not any(re.search(rf"(?m)^#+ {re.escape(section)}$", documents[path].text)
                                     for path in found):
                    yield file.path, line, f'{name} has no section "{section}"'
