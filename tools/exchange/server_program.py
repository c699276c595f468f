"""Which weir-server the programs of this folder's neighbours run."""

import os
import shutil
from pathlib import Path


def program():
    """What WEIR_SERVER names, or the program of this tree, or else that of the system."""
    built = Path(__file__).resolve().parents[2] / "build/release/weir-server"
    found = os.environ.get("WEIR_SERVER") or (str(built) if built.exists() else shutil.which("weir-server"))
    if found is None:
        raise FileNotFoundError("there is no weir-server: build it, or name it by WEIR_SERVER")
    return found
