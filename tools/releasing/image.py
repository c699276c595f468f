"""The image of weir: the last stage of the Dockerfile, carried out on a bare Debian by tools/prove/image-root, with the
program of the package in place of what the first stage would compile.
"""

import importlib.machinery
import importlib.util
import re
import shlex
import shutil
from pathlib import Path

from . import oci, roots
from .steps import run

PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# What is of the machine or of the day, and nothing needs. Mirrors are for whoever builds on the image to name.
NOT_IN_AN_IMAGE = (
    "etc/apt/apt.conf.d/99mirror", "etc/apt/sources.list", "etc/hosts", "etc/resolv.conf", "etc/hostname", "etc/machine-id",
    "var/lib/dbus/machine-id", "var/cache/ldconfig/aux-cache", "var/cache/apt/*.bin", "var/cache/apt/archives/*.deb",
    "var/cache/debconf/*-old", "var/lib/dpkg/*-old", "var/lib/systemd/*", "var/log/*", "var/lib/apt/lists/*", "etc/*-",
    "etc/.pwd.lock", "tmp/*", "root/.bash_history", "**/__pycache__")


def image_root():
    """tools/prove/image-root as a module."""
    path = str(roots.TOOLS / "prove/image-root")
    loader = importlib.machinery.SourceFileLoader("image_root", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("image_root", loader))
    loader.exec_module(module)
    return module


IMAGE_ROOT = image_root()


class LastStage(IMAGE_ROOT.Builder):
    """The Dockerfile's last stage on a root that is there, and what the image says of itself."""

    def __init__(self, root, context, program, revision, epoch):
        super().__init__(None, Path(context), None)
        self.root = Path(root)
        self.stages = {"build": Path(program)}
        self.revision = revision
        self.environment = {"SOURCE_DATE_EPOCH": epoch, "DEBIAN_FRONTEND": "noninteractive"}
        self.labels, self.ports, self.volumes = {}, {}, {}

    def do_from(self, rest):
        self.user, self.workdir, self.healthcheck, self.entrypoint = "root", "/", [], []

    def do_run(self, rest):
        assert self.user == "root", self.user
        roots.in_root(self.root, "/bin/sh", "-c", rest, directory=self.workdir, environment=self.environment)

    def do_label(self, rest):
        for word in shlex.split(rest):
            name, _, value = word.partition("=")
            self.labels[name] = value.replace("$WEIR_REVISION", self.revision)

    def do_arg(self, rest):
        assert rest.startswith("WEIR_REVISION="), rest

    def do_expose(self, rest):
        self.ports[f"{int(rest)}/tcp"] = {}

    def do_volume(self, rest):
        super().do_volume(rest)
        self.volumes[rest] = {}

    def do_healthcheck(self, rest):
        super().do_healthcheck(rest)
        self.options = dict(re.findall(r"--([a-z-]+)=(\d+)s?", rest.partition(" CMD ")[0]))

    def carry_out(self):
        steps = list(IMAGE_ROOT.instructions((self.context / "Dockerfile").read_text(encoding="utf-8")))
        last = max(index for index, (name, _) in enumerate(steps) if name == "FROM")
        for name, rest in steps[last:]:
            getattr(self, f"do_{name.lower()}")(rest)

    def settings(self, version):
        """What the image's configuration says of how it is run."""
        nanoseconds = {"Interval": "interval", "Timeout": "timeout", "StartPeriod": "start-period"}
        check = {"Test": ["CMD", *self.healthcheck], "Retries": int(self.options["retries"])}
        check |= {name: int(self.options[option]) * 10**9 for name, option in nanoseconds.items()}
        return {"User": self.user, "WorkingDir": self.workdir, "Entrypoint": self.entrypoint, "ExposedPorts": self.ports,
                "Volumes": self.volumes, "Healthcheck": check, "Env": [PATH],
                "Labels": {**self.labels, "org.opencontainers.image.version": version}}


def clean(root):
    for pattern in NOT_IN_AN_IMAGE:
        for path in Path(root).glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def program_of(package, folder):
    """A folder with the program of a package where the Dockerfile looks for it."""
    place = folder / "usr/local/bin"
    place.mkdir(parents=True)
    run("dpkg-deb", "-x", package, folder / "package")
    shutil.copy(folder / "package/usr/bin/weir-server", place / "weir-server")
    return folder


def build(all_roots, clone, package, work, out, version, epoch):
    """Writes the image's layout; answers the root it was made of."""
    root = all_roots.copy("bookworm", "image")
    revision = run("git", "-C", clone, "rev-parse", "HEAD").strip()
    stage = LastStage(root, clone, program_of(package, work / "image"), revision, epoch)
    stage.carry_out()
    clean(root)
    oci.write_image(out, version, root, epoch, "amd64", stage.settings(version))
    return root
