"""A pytest plugin: stands where some suites start their servers with docker.

The services that are the server under test are running already; a test of any other is skipped.
"""

import pytest

HERE = {"redis", "redis-basic", "valkey-basic"}


class Services:
    def start(self, name):
        if name not in HERE:
            pytest.skip(f"there is no {name} here")

    def wait_for_service(self, *_):
        pass


@pytest.fixture(scope="session")
def docker_services():
    return Services()
