"""Fixtures for tests with other people's programs.

Works with any CPython from 3.6 on, since each program has its own.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

# A program that hangs in native code is ended by `run`, some time later.
LIMIT = 60
# The official tests ask that a store ends this long after SIGTERM.
END_LIMIT = 5


def wait_until(condition, what, limit=10):
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline, "waited in vain until " + what
        time.sleep(0.02)


def is_under_test(pid):
    """Whether this process runs the server that the tests are about."""
    wanted = os.path.realpath(os.environ["PLASMA_STORE_SERVER"])
    return os.path.realpath("/proc/%d/exe" % pid) == wanted


class Store:
    """A running store, started by the command that its users type."""

    def __init__(self, command, memory, *flags):
        self.folder = tempfile.mkdtemp(prefix="store-")
        self.path = os.path.join(self.folder, "plasma")
        self.log = open(os.path.join(self.folder, "log"), "w+b")
        self.process = subprocess.Popen(
            [command, "-m", str(memory), "-s", self.path, *flags],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )
        # The command that pip installs becomes the server after a while.
        wait_until(lambda: is_under_test(self.process.pid), "the server under test runs")
        wait_until(lambda: os.path.exists(self.path), "the server listens")

    def finish(self):
        """The server must be alive, and end as asked."""
        self.log.seek(0)
        assert self.process.poll() is None, "the server died: %r" % self.log.read()[-2000:]
        self.process.terminate()
        assert self.process.wait(END_LIMIT) == 0

    def clean_up(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder)


@pytest.fixture
def store():
    """Starts a store: store(command, memory, *flags)."""
    stores = []

    def start(*arguments):
        stores.append(Store(*arguments))
        return stores[-1]

    yield start
    try:
        for started in stores:
            started.finish()
    finally:
        for started in stores:
            started.clean_up()


@pytest.fixture(autouse=True)
def time_limit():
    def expire(signum, frame):
        raise TimeoutError("the test ran past its time limit")

    previous = signal.signal(signal.SIGALRM, expire)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)
