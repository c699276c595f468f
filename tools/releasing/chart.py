"""The Helm chart, packed, and as an OCI artifact: what `helm package` and `helm push` would make of it."""

import re
from pathlib import Path

from . import archives, oci
from .steps import NotBuilt

NAMES = {"kubeVersion", "name", "version", "description", "type", "apiVersion", "appVersion"}


def metadata(text):
    """The fields of a Chart.yaml that has one on each line, and nothing else."""
    fields = {}
    for line in text.splitlines():
        match = re.fullmatch(r'(\w+): *"?(.*?)"?', line)
        if match is None or match[1] not in NAMES:
            raise NotBuilt(f"Chart.yaml: {line}")
        fields[match[1]] = match[2]
    return fields


def build(chart, out, epoch):
    """Writes NAME-VERSION.tgz, and the layout chart-oci beside it."""
    fields = metadata((Path(chart) / "Chart.yaml").read_text(encoding="utf-8"))
    out.mkdir(parents=True)
    packed = out / f"{fields['name']}-{fields['version']}.tgz"
    archives.tar_gz(packed, chart, epoch, prefix=f"{fields['name']}/", left_out=lambda path: path.name == ".helmignore")
    oci.write_chart(out / "chart-oci", fields["version"], packed, fields)
