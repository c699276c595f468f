"""Makes programs of modules that a plain build cannot use: the tests they carry, and Traefik.

Invariants:
1. A module comes from the module proxy, checked by its sum; its tests are compiled from a copy,
   unchanged, with the versions that the module itself requires.
2. Running what was made asks no registry.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import installs


def go(words, **options):
    program = installs.need("go", "Go, of the version go/go.mod names")
    environment = {**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0",
                   "GOFLAGS": "-buildvcs=false"}
    return installs.command([program, *words], env=environment, **options)


def module_folder(module, beside):
    """Where the module cache has it, in the version that go/BESIDE requires."""
    go(["mod", "download", module], cwd=beside)
    listed = subprocess.run(["go", "list", "-m", "-json", module], cwd=beside, capture_output=True,
                            text=True, check=True)
    found = json.loads(listed.stdout)
    return Path(found["Dir"]), found["Version"]


def suite(module, packages, beside="limiters"):
    """The folder for suites/go_suite.py: the tests of these packages of a module."""
    source, version = module_folder(module, installs.CLIENTS / "go" / beside)

    def make(folder):
        copy = folder / "module"
        shutil.copytree(source, copy, copy_function=shutil.copyfile)
        for path in [copy, *copy.rglob("*")]:
            path.chmod(0o755)
        made = {}
        for package in packages:
            program = "bin/" + (package.strip("./").replace("/", "-") or "module") + ".test"
            go(["test", "-c", "-o", str(folder / program), f"./{package}"], cwd=copy)
            made[package] = program
        (folder / "suite.json").write_text(
            json.dumps({"version": version.removeprefix("v"), "packages": made}))

    name = "go-suite-" + module.removeprefix("github.com/").replace("/", "-") + "-" + version
    return installs.made_once(name, [Path(__file__)], make)


def package(packages):
    """What go/weir_package.py reads: the tests of these packages of clients/go, compiled with the versions that it requires."""
    module = installs.CLIENTS.parents[1] / "clients/go"
    folder = installs.cache_root() / "go/weir-package"
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for name in packages:
        program = folder / ((name.strip("./").replace("/", "-") or "weir") + ".test")
        here = module / name if (module / name / "go.mod").exists() else None  # a module of its own
        go(["test", "-c", "-mod=readonly", "-o", str(program), "." if here else f"./{name}"], cwd=here or module)
        made[name] = str(program)
    _, version = module_folder("github.com/redis/go-redis/v9", module)
    described = folder / "suite.json"
    described.write_text(json.dumps({"version": version.removeprefix("v"), "packages": made}))
    return described


TRAEFIK = "github.com/traefik/traefik/v3"
# The type of Traefik's static configuration that its tracing needs.
TRACING = re.compile(r"^type Tracing struct {.*?^}$.*?^func \(t \*Tracing\) SetDefaults.*?^}$",
                     re.MULTILINE | re.DOTALL)


def cut_traefik(folder, version):
    """Traefik's packages without its static configuration but for one type: that package alone
    drags in every provider and some hundred clients of clouds, and the limiter uses none."""
    go(["mod", "download", f"{TRAEFIK}@{version}"], cwd=folder)
    where = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True)
    source = Path(where.stdout.strip()) / f"{TRAEFIK}@{version}"
    shutil.copytree(source / "pkg", folder / "pkg", copy_function=shutil.copyfile)
    shutil.copyfile(source / "go.mod", folder / "go.mod")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    static = folder / "pkg/config/static"
    tracing = TRACING.search((static / "static_config.go").read_text())[0]
    for path in static.glob("*.go"):
        path.unlink()
    types = f'import otypes "{TRAEFIK}/pkg/observability/types"'
    (static / "static_config.go").write_text(f"package static\n\n{types}\n\n{tracing}\n")


def traefik():
    """The program go/traefik, built with Traefik's packages as cut_traefik() leaves them."""
    ours = installs.CLIENTS / "go/traefik"
    module = (ours / "go.mod").read_text()
    version = re.search(TRAEFIK + r" (v\S+)", module)[1]
    source = installs.made_once("traefik", [Path(__file__), ours / "go.mod"],
                                lambda folder: cut_traefik(folder, version))
    build = installs.cache_root() / "go/traefik"
    build.mkdir(parents=True, exist_ok=True)
    (build / "go.mod").write_text(f"{module}\nreplace {TRAEFIK} => {source}\n")
    shutil.copyfile(ours / "go.sum", build / "go.sum")
    # The large ones first, each with an installer's time of its own.
    for package in ("k8s.io/client-go/kubernetes", "github.com/google/go-github/v90/github", "."):
        go(["build", "-mod=readonly", f"-modfile={build / 'go.mod'}", "-o",
            str(build / "traefik") if package == "." else os.devnull, package], cwd=ours)
    return build / "traefik"
