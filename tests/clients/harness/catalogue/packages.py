"""weir's own clients: the tests in clients/, with the versions underneath that they promise.

On Redis only what asks no server is run.
"""

import sys

from .. import installs
from .client import Client

SECONDS_MAX = 240  # on a machine that is busy with other things; it takes a third of that
LONG_SECONDS_MAX = 900


def python_package(requirements, tests):
    def prepare():
        packages = installs.python_packages(requirements)
        return [sys.executable, installs.CLIENTS / "python/weir_package.py"], {
            "PYTHONPATH": str(packages), "CLIENTS_PACKAGES": str(packages), "CLIENTS_TESTS": tests}
    return prepare


def package(name, title, requirements, tests="test", seconds_max=SECONDS_MAX, **options):
    return Client(f"{name}-package", title, "Python", (3,), python_package(requirements, tests), is_of_calls=True,
                  seconds_max=seconds_max, **options)


CLIENTS = [
    package("python", "weir for Python", "weir-package", via="redis-py 8", in_ci=True),
    package("python-oldest", "weir for Python", "redis-6", via="redis-py 6"),
    package("python-long", "weir for Python", "weir-package", "long", LONG_SECONDS_MAX, via="redis-py 8"),
]
