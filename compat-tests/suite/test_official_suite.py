"""The official client's own tests, unmodified, against the server under test.

They start the file `plasma-store-server` inside the pyarrow package, which is
replaced by a link for as long as they run.
"""

import contextlib
import fcntl
import os
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import pyarrow
import pytest

INSTALLED = Path(pyarrow.__file__).parent / "plasma-store-server"
ORIGINAL = INSTALLED.with_name("plasma-store-server.orig")
LOCK = Path(sys.prefix) / "official-suite.lock"
HUGE_PAGES = "/mnt/hugepages"


def put_right():
    """Undo the replacement, also one that an interrupted run left behind."""
    if ORIGINAL.exists():
        os.replace(ORIGINAL, INSTALLED)


@contextlib.contextmanager
def installed(server):
    """Have this server in the pyarrow package; one run at a time."""
    with open(LOCK, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        put_right()
        os.rename(INSTALLED, ORIGINAL)
        try:
            INSTALLED.symlink_to(server)
            yield
        finally:
            put_right()


def huge_pages_are_mounted():
    with open("/proc/mounts") as mounts:
        return any(line.split()[1:3] == [HUGE_PAGES, "hugetlbfs"] for line in mounts)


@pytest.mark.limit(300)
def test_official_suite(tmp_path):
    """33 tests pass; the one for huge pages is skipped unless they are mounted."""
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "--pyargs", "pyarrow.tests.test_plasma"]
    command += ["-q", "-p", "no:cacheprovider", "--junitxml", str(report)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    with installed(os.environ["PLASMA_STORE_SERVER"]):
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=270,
        )
    assert report.exists(), done.stdout
    suite = xml.etree.ElementTree.parse(report).getroot().find("testsuite")
    total, skipped, failed = (
        int(suite.get("tests")),
        int(suite.get("skipped")),
        int(suite.get("failures")) + int(suite.get("errors")),
    )
    expected = (34, 0, 0) if huge_pages_are_mounted() else (33, 1, 0)
    assert (total - skipped - failed, skipped, failed) == expected, done.stdout
