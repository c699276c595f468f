"""What a file of the release was made of, as SPDX 2.3 in JSON: https://spdx.github.io/spdx-spec/v2.3/.

All is read from dpkg's status of the root that it was made in. A package of Debian tells its licences in a text,
which nobody here has judged: they are NOASSERTION.
"""

import hashlib
import json
import re
import uuid
from pathlib import Path
from urllib.parse import quote

from . import digests, oci

UNKNOWN = "NOASSERTION"
REQUIRED = {"spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo", "packages", "relationships"}
PACKAGE_REQUIRED = {"SPDXID", "name", "versionInfo", "downloadLocation", "filesAnalyzed", "licenseConcluded",
                    "licenseDeclared", "copyrightText"}
RELATIONS = {"DESCRIBES", "DEPENDS_ON", "STATIC_LINK", "CONTAINS", "BUILD_DEPENDENCY_OF"}
# Libraries that are headers, whose code is in the program.
COMPILED_IN = re.compile(r"libboost[\d.]+-dev|libspdlog-dev")
IDENTIFIER = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")


def paragraphs(text):
    """The fields of each paragraph of a control file, without their continued lines."""
    for paragraph in re.split(r"\n\n+", text.strip()):
        yield dict(re.findall(r"(?m)^([\w-]+): *(.*)$", paragraph))


def installed(root, architecture):
    """dpkg's fields of what is installed in a root, by name, or by name:processor for another one."""
    text = (Path(root) / "var/lib/dpkg/status").read_text(encoding="utf-8")
    found = [fields for fields in paragraphs(text) if fields.get("Status", "").endswith(" installed")]
    return {fields["Package"] + ("" if fields["Architecture"] in ("all", architecture) else f":{fields['Architecture']}"): fields
            for fields in found}


def names_in(depends):
    """The packages that a field like Depends names; of alternatives all, since only one of them is installed."""
    return [re.match(r"[a-z0-9.+-]+", word.strip())[0] for word in re.split(r"[,|]", depends) if word.strip()]


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", lambda match: f"-{ord(match[0]):x}-", name)


def package(name, version, licence=UNKNOWN, **more):
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": UNKNOWN, "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": UNKNOWN, **more}


def of_debian(name, fields, system):
    """Of one that is installed, by the name that installed() gives it."""
    version = fields["Version"]
    source = fields.get("Source", fields["Package"]).split()[0]
    locator = f"pkg:deb/debian/{fields['Package']}@{quote(version, safe='')}?arch={fields['Architecture']}&distro={system}"
    return package(name, version, sourceInfo=f"built from Debian's source package {source}", externalRefs=[
        {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}])


def document(name, epoch, product, groups):
    """A document on one product. `groups` has (the relation, packages), CONTAINS and the like being the product's to them,
    BUILD_DEPENDENCY_OF theirs to it; a package is told once, and may have several relations."""
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", product["SPDXID"])]
    packages = {product["SPDXID"]: product}
    for relation, members in groups:
        for member in members:
            packages.setdefault(member["SPDXID"], member)
            pair = (product["SPDXID"], relation, member["SPDXID"])
            relations.append(pair[::-1] if relation == "BUILD_DEPENDENCY_OF" else pair)
    content = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "creationInfo": {"created": oci.instant(epoch), "creators": ["Tool: weir-tools-release"]},
        "packages": list(packages.values()),
        "relationships": [{"spdxElementId": one, "relationshipType": relation, "relatedSpdxElement": other}
                          for one, relation, other in relations]}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return {**content, "documentNamespace": uuid.uuid5(uuid.NAMESPACE_OID, digest).urn}


def product(name, version, file=None):
    more = {"primaryPackagePurpose": "APPLICATION", "supplier": UNKNOWN}
    if file is not None:
        more |= {"packageFileName": Path(file).name,
                 "checksums": [{"algorithm": "SHA256", "checksumValue": digests.of_file(file)}]}
    return package(name, version, "Apache-2.0", **more)


def of_package(file, depends, version, root, system, architecture, epoch):
    """What a .deb depends on, what is compiled into it, and all that was installed where it was built."""
    there = installed(root, architecture)
    needed = [of_debian(name, there[name], system) for name in names_in(depends) if name in there]
    environment = [of_debian(name, fields, system) for name, fields in there.items()]
    inside = [one for one in environment if COMPILED_IN.fullmatch(one["name"])]
    return document(Path(file).name, epoch, product("weir", version, file),
                    [("DEPENDS_ON", needed), ("STATIC_LINK", inside), ("BUILD_DEPENDENCY_OF", environment)])


def of_image(name, version, root, system, architecture, epoch):
    held = [of_debian(package, fields, system) for package, fields in installed(root, architecture).items()]
    return document(name, epoch, product("weir", version), [("CONTAINS", held)])


def problems(document):
    """What is wrong with the shape of a document, as sentences."""
    found = [f"{name} is missing" for name in sorted(REQUIRED - set(document))]
    if found:
        return found
    known = {"SPDXRef-DOCUMENT"}
    for one in document["packages"]:
        name = one.get("name", "a package without a name")
        found += [f"{name}: {field} is missing" for field in sorted(PACKAGE_REQUIRED - set(one))]
        if not IDENTIFIER.fullmatch(one.get("SPDXID", "")) or one["SPDXID"] in known:
            found.append(f"{name}: its SPDXID is none, or another's")
        known.add(one.get("SPDXID"))
    for one in document["relationships"]:
        if one["relationshipType"] not in RELATIONS:
            found.append(f"no relation is called {one['relationshipType']}")
        found += [f"{end} is related and not told" for end in (one["spdxElementId"], one["relatedSpdxElement"]) if end not in known]
    if not re.fullmatch(r"[a-z]+:[^#\s]+", document["documentNamespace"]):
        found.append("documentNamespace is no URI")
    return found


def write(path, document):
    wrong = problems(document)
    assert not wrong, wrong
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
