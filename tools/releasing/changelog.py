"""The section of a release in a CHANGELOG.md, whose headings are `## 0.1.0, unreleased` and `## 0.1.0, 2026-11-28`."""

import re

from .steps import Refused

HEADING = re.compile(r"(?m)^## (\S+?)(?:, (.*))?$")
PENDING = {"unreleased", "not released"}


def first_section(text):
    """Of the first section: the match of its heading, and its text."""
    headings = list(HEADING.finditer(text))
    if not headings:
        raise Refused("CHANGELOG.md has no section `## VERSION, unreleased`")
    end = headings[1].start() if len(headings) > 1 else len(text)
    return headings[0], text[headings[0].end():end].strip()


def section(text, version):
    """The text of the first section, which is that of a version, or of whatever is not released yet."""
    heading, body = first_section(text)
    if heading[1] != version and heading[2] not in PENDING:
        raise Refused(f"CHANGELOG.md begins with {heading[1]}, and neither with {version} nor with what is unreleased")
    if not body:
        raise Refused(f"CHANGELOG.md has nothing in its section {heading[1]}")
    return body


def dated(text, version, date):
    """The text with the first section's heading made that of a release."""
    section(text, version)
    return HEADING.sub(f"## {version}, {date}", text, count=1)


def notes(text, version, missing):
    """What a page of the release says. `missing` has the name and the reason of what was not built."""
    page = f"# weir {version}\n\n{section(text, version)}\n"
    if missing:
        page += "\n## Not in this release\n\n" + "".join(f"- {name}: {reason}\n" for name, reason in missing)
    return page
