"""The version of a release, as each kind of package writes it, and the places of the tree where it stands.

0.2.0 and 0.2.0-rc1 are versions. npm, Maven, Helm and Go write them as they are.
"""

import re
from pathlib import Path

from .steps import Refused

PATTERN = re.compile(r"(\d+\.\d+\.\d+)(-rc(\d+))?")


def parse(version):
    """A version and the version that it is a candidate of."""
    match = PATTERN.fullmatch(version)
    if match is None:
        raise Refused(f"'{version}' is no version: 1.2.3 and 1.2.3-rc4 are")
    return match[1]


def of_python(version):
    return version.replace("-rc", "rc")


def of_debian(version):
    """The tilde sorts a candidate before what it is a candidate of."""
    return version.replace("-", "~")


def places(version):
    """Of each file with a version: its path, what precedes the version, what it becomes."""
    base = parse(version)
    yield "CMakeLists.txt", r"^project\(weir VERSION ", base
    yield "tools/helm/weir/Chart.yaml", r"^version: ", version
    yield "tools/helm/weir/Chart.yaml", r'^appVersion: "', version
    yield "clients/python/pyproject.toml", r'^version = "', of_python(version)
    yield "clients/node/package.json", r'^  "version": "', version
    yield "clients/java/pom.xml", r"<artifactId>weir-parent</artifactId>\s*<version>", version
    for module in ("core", "opentelemetry", "servlet", "spring-boot-starter", "spring-cloud-gateway"):
        yield f"clients/java/{module}/pom.xml", r"<artifactId>weir-parent</artifactId>\s*<version>", version


def write(root, version):
    """Writes the version at all its places."""
    for path, before, text in places(version):
        file = Path(root) / path
        changed, count = re.subn(rf"({before})\d+\.\d+\.\d+(-?rc\d+)?", rf"\g<1>{text}", file.read_text(encoding="utf-8"),
                                 flags=re.MULTILINE)
        if count != 1:
            raise Refused(f"{path} has {count} places of a version after /{before}/, and 1 is known")
        file.write_text(changed, encoding="utf-8")
