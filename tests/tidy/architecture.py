"""What tidy.py asks of ARCHITECTURE.md: that it is short, and that what it names is there."""

import re
from collections import Counter

PATH = "ARCHITECTURE.md"
WORDS_MAX = 3000
GLOSSARY_MAX = 40


def complaints(files, floors):
    page = next((file for file in files if file.path == PATH), None)
    if page is None:
        return
    words = len(page.text.split())
    if words > WORDS_MAX:
        yield PATH, 1, f"{words} words, {WORDS_MAX} are allowed"
    yield from about_glossary(page.text)
    yield from about_functions(page.text, files)
    yield from about_rooms(page.text, floors)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def about_glossary(text):
    """Each word of the glossary is explained once."""
    begin = text.find("## Glossary")
    if begin < 0:
        return
    end = text.find("\n## ", begin)
    rows = list(re.compile(r"(?m)^- \*\*(.+?)\*\*").finditer(text, begin, end if end >= 0 else len(text)))
    if len(rows) > GLOSSARY_MAX:
        yield PATH, line_of(text, begin), f"a glossary of {len(rows)} words, {GLOSSARY_MAX} are allowed"
    seen = Counter()
    for row in rows:
        seen[row[1]] += 1
        if seen[row[1]] == 2:
            yield PATH, line_of(text, row.start()), f"{row[1]} is explained twice"


def about_functions(text, files):
    """FILE:FUNCTION: the file, which may be named by the end of its path, has the function."""
    for match in re.finditer(r"`([\w/.]+\.(?:h|cc)):(\w+)`", text):
        named = [file for file in files if ("/" + file.path).endswith("/" + match[1])]
        if named and not any(re.search(rf"\b{match[2]}\(", file.code) for file in named):
            yield PATH, line_of(text, match.start()), f"{match[1]} has no {match[2]}()"


def about_rooms(text, floors):
    """Each room is in the table, with a row or in the row of its folder, in the order of the floors."""
    for folder, rows in floors.items():
        own = re.search(rf"(?m)^\| `{folder}/` \|.*$", text)
        last = -1
        for names in rows:
            places = {name: place_of(text, own, folder, name) for name in names}
            for name, place in places.items():
                if place is None:
                    yield PATH, 1, f"the table lacks {folder}/{name}/"
                elif place < last:
                    yield PATH, line_of(text, place), f"{folder}/{name}/ comes after a higher floor"
            last = max([last, *(place for place in places.values() if place is not None)])


def place_of(text, own, folder, name):
    row = re.search(rf"(?m)^\| `{folder}/{name}/` \|", text)
    if row:
        return row.start()
    inside = own[0].find(f"`{name}/`") if own else -1
    return own.start() + inside if inside >= 0 else None
