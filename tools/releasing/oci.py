"""OCI image layouts as folders: https://github.com/opencontainers/image-spec, image-layout.md and manifest.md.

Each blob is a file named by its SHA-256, so a layout of the same blobs is the same, byte for byte.
"""

import json
from datetime import datetime, timezone
from pathlib import Path

from . import archives, digests

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
HELM_CONFIG = "application/vnd.cncf.helm.config.v1+json"
HELM_CHART = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"


def instant(epoch):
    return datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Layout:
    """A layout with one image or artifact, in a folder that is not there yet."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.blobs = self.folder / "blobs/sha256"
        self.blobs.mkdir(parents=True)
        self.write(self.folder / "oci-layout", {"imageLayoutVersion": "1.0.0"})

    @staticmethod
    def write(path, value):
        path.write_bytes(json.dumps(value, sort_keys=True, separators=(",", ":")).encode())

    def add_json(self, media_type, value):
        path = self.blobs / "new"
        self.write(path, value)
        return self.add_file(media_type, path)

    def add_file(self, media_type, path):
        """Moves a file of the blobs' folder to its name; answers what a manifest says of it."""
        digest, size = digests.of_file(path), path.stat().st_size
        path.rename(self.blobs / digest)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": size}

    def finish(self, tag, config, layers, annotations):
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers, "annotations": annotations}
        described = self.add_json(MANIFEST, manifest)
        described["annotations"] = {"org.opencontainers.image.ref.name": tag}
        self.write(self.folder / "index.json", {"schemaVersion": 2, "manifests": [described]})


def write_image(folder, tag, root, epoch, architecture, settings):
    """An image of one layer: all of a root but what is mounted in a container. `settings` are the config's `config`."""
    layout = Layout(folder)
    packed = layout.blobs / "layer"
    difference = archives.tar_gz(packed, root, epoch, keep_owners=True,
                                 left_out=lambda path: len(path.parts) > 1 and path.parts[0] in ("dev", "proc", "sys"))
    layer = layout.add_file(LAYER, packed)
    config = layout.add_json(CONFIG, {
        "created": instant(epoch), "architecture": architecture, "os": "linux", "config": settings,
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{difference}"]},
        "history": [{"created": instant(epoch), "created_by": "tools/release"}]})
    layout.finish(tag, config, [layer], {"org.opencontainers.image.created": instant(epoch)})


def write_chart(folder, tag, chart, metadata):
    """A Helm chart as `helm push` makes it: its metadata, and the .tgz as it is."""
    layout = Layout(folder)
    config = layout.add_json(HELM_CONFIG, metadata)
    copied = layout.blobs / "chart"
    copied.write_bytes(Path(chart).read_bytes())
    layer = layout.add_file(HELM_CHART, copied)
    layout.finish(tag, config, [layer], {"org.opencontainers.image.title": metadata["name"],
                                         "org.opencontainers.image.version": metadata["version"]})
