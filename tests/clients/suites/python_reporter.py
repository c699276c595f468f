"""A pytest plugin: says each test's outcome in the lines of harness/session.py.

A test has failed when its set-up, its body or its tear-down has. What pytest expects to fail is
skipped here. What the tests themselves print goes elsewhere: SUITE_REPORT is a file descriptor.
"""

import os

import pytest

out = os.fdopen(int(os.environ["SUITE_REPORT"]), "w", encoding="utf-8", errors="replace",
                buffering=1)
bad = {}
skipped = {}


def words(text, most=300):
    return " ".join(str(text).split())[:most]


def reason(result):
    crash = getattr(result.longrepr, "reprcrash", None)
    if crash:
        return words(crash.message)
    if isinstance(result.longrepr, tuple):
        return words(result.longrepr[2]).removeprefix("Skipped: ")
    return words((str(result.longrepr).strip().splitlines() or ["no reason"])[-1])


def pytest_runtest_logreport(report):
    if report.failed:
        bad.setdefault(report.nodeid, f"{report.when}: {reason(report)}")
    elif report.skipped:
        skipped[report.nodeid] = getattr(report, "wasxfail", "") or reason(report)


def pytest_runtest_logfinish(nodeid):
    name = words(nodeid, 200).replace(": ", ":")
    if nodeid in bad:
        print(f"not ok {name}: {bad[nodeid]}", file=out)
    elif nodeid in skipped:
        print(f"skip {name}: {skipped[nodeid]}", file=out)
    else:
        print(f"ok {name}", file=out)


@pytest.hookimpl(trylast=True)
def pytest_collectreport(report):
    if report.failed:
        say_uncollected(report)


def say_uncollected(result):
    print(f"not ok {words(result.nodeid, 200)} (collected): {reason(result)}", file=out)
