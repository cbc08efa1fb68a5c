"""mosec: a model served in stages, in processes of their own.

Between two stages a request is one put, one get in another process, and one
delete. The store is small, so it must never leak.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import warnings
from concurrent.futures import ThreadPoolExecutor

import conftest
import pytest

warnings.simplefilter("ignore")
from pyarrow import plasma  # noqa: E402

SERVICE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mosec_service.py")


class Service:
    """The running service, on a free port of the loopback address."""

    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.log = open(os.path.join(folder, "log"), "w+b")
        store_file = os.path.join(folder, "store")
        command = [sys.executable, "-W", "ignore", SERVICE, "--address", "127.0.0.1"]
        command += ["--port", str(self.port), "--timeout", "20000"]
        command += ["--path", os.path.join(folder, "mosec")]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            env=dict(os.environ, STORE_FILE=store_file),
        )
        conftest.wait_until(lambda: os.path.exists(store_file), "the store is started", 20)
        with open(store_file) as file:
            store_pid, self.store_path = file.read().split(" ", 1)
        self.store_pid = int(store_pid)
        conftest.wait_until(
            lambda: conftest.is_under_test(self.store_pid), "the server under test runs"
        )
        conftest.wait_until(self.answers, "the service answers", 20)

    def answers(self):
        assert self.process.poll() is None, self.text()
        try:
            return self.ask(1, 1) == 2
        except (urllib.error.URLError, ConnectionError):
            return False

    def ask(self, size, value):
        """The sum of twice the value, so many times."""
        body = json.dumps({"size": size, "value": value}).encode()
        request = "http://127.0.0.1:%d/inference" % self.port
        with urllib.request.urlopen(request, body, timeout=20) as answer:
            return json.load(answer)["sum"]

    def text(self):
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")

    def clean_up(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            finally:
                self.process.kill()
                self.process.wait()
        self.log.close()


@pytest.fixture
def service():
    with tempfile.TemporaryDirectory(prefix="mosec-") as folder:
        service = Service(folder)
        yield service
        service.clean_up()


@pytest.fixture
def client(service):
    client = plasma.connect(service.store_path)
    yield client
    client.disconnect()


def test_requests(service, client):
    """Together they need many times the memory of the store."""
    requests = [(1 + 997 * n % 100000, n % 7) for n in range(200)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda request: service.ask(*request), requests))
    assert answers == [2 * size * value for size, value in requests]
    assert client.list() == {}
    assert "allocated bytes: 0\n" in client.debug_string()


def test_request_that_the_first_stage_refuses(service, client):
    with pytest.raises(urllib.error.HTTPError):
        service.ask(-1, 1)
    assert service.ask(10, 1) == 20
    assert client.list() == {}


def test_service_that_is_ended(service):
    service.process.terminate()
    assert service.process.wait(20) == 0
    assert not os.path.exists("/proc/%d" % service.store_pid)


def test_store_that_is_killed_ends_the_service(service):
    os.kill(service.store_pid, 9)
    service.process.wait(20)
    assert "daemon [plasma_server] exited" in service.text()
