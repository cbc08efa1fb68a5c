"""Fixtures of the compatibility suite.

Held here: one server process per test, on a socket in a fresh folder, which
must still be alive at the end of the test and end with status 0 on SIGTERM;
a hard time limit for every test; and the rule for tests of defects, which
the reference server has to fail.
"""

import ctypes
import faulthandler
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import traceback

import pytest

pytest.register_assert_rewrite("wire")

import wire  # noqa: E402

LIBC = ctypes.CDLL(None)
DEFAULT_CAPACITY = 10_000_000
DEFAULT_LIMIT = 30
# Tests that the reference has to fail mostly end with a time-out there.
DEFECT_TIMEOUT = 1.5
# A store has to end this long after SIGTERM; the official tests ask the same.
END_LIMIT = 5


def pytest_addoption(parser):
    parser.addoption(
        "--reference",
        action="store_true",
        help="the server under test is the reference: tests of its defects have to fail",
    )


def pytest_configure(config):
    server = os.environ.get("PLASMA_STORE_SERVER")
    if not server:
        raise pytest.UsageError("set PLASMA_STORE_SERVER, or use compat-tests/run")
    # Room for the connections of the tests with very many clients.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8192 if hard == resource.RLIM_INFINITY else min(hard, 8192)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--reference"):
        return
    for item in items:
        reasons = expected_failures(item)
        if reasons:
            item.add_marker(pytest.mark.xfail(strict=True, reason=", ".join(reasons)))


def expected_failures(item):
    """Why the reference has to fail this test; empty if it has to pass."""
    marks = [*item.iter_markers("defect"), *item.iter_markers("deviation")]
    return [name for mark in marks for name in mark.args]


@pytest.fixture(autouse=True)
def short_time_outs(request, monkeypatch):
    """Where a failure is expected, do not wait for it longer than needed."""
    if request.config.getoption("--reference") and expected_failures(request.node):
        monkeypatch.setattr(wire, "TIMEOUT", DEFECT_TIMEOUT)


def die_with_parent():
    """For a new process: be killed when the one that started it ends."""
    PR_SET_PDEATHSIG = 1
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class TimeLimit(Exception):
    """A test ran past its hard time limit."""


class Stores:
    """The stores that one test started; calling it starts another one."""

    def __init__(self, reference):
        self.reference = reference
        # Short, because a socket's path has to be. Made here, so that the
        # folder is removed even if an isolated test is aborted.
        self.folder = tempfile.mkdtemp(prefix="plasma-")
        self.started = []

    def __call__(self, m=DEFAULT_CAPACITY, *flags, nofile=None):
        store = self.prepare(m, *flags, nofile=nofile)
        store.start()
        store.wait_ready()
        return store

    def prepare(self, m=DEFAULT_CAPACITY, *flags, nofile=None):
        """A store that is not started yet."""
        folder = os.path.join(self.folder, str(len(self.started)))
        os.mkdir(folder)
        store = Store(folder, m, flags, nofile, self.reference)
        self.started.append(store)
        return store

    def finish(self):
        """All stores must be alive and end properly."""
        for store in self.started:
            store.finish()

    def kill(self):
        for store in self.started:
            store.kill()

    def clean_up(self):
        for store in self.started:
            store.clean_up()
        shutil.rmtree(self.folder, ignore_errors=True)


class Store:
    """A running server under test."""

    def __init__(self, folder, m, flags, nofile, reference):
        self.reference = reference
        self.path = os.path.join(folder, "s")
        self.log_path = os.path.join(folder, "log")
        self.command = [os.environ["PLASMA_STORE_SERVER"], "-s", self.path, "-m", str(m), *flags]
        self.nofile = nofile
        self.clients = []
        self.finished = False
        self.process = None

    def start(self):
        def prepare():
            die_with_parent()
            if self.nofile:
                resource.setrlimit(resource.RLIMIT_NOFILE, (self.nofile, self.nofile))

        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=prepare,
            )
        self.pid = self.process.pid

    def restart(self):
        """Kill the server and start another one on the same path."""
        self.kill()
        self.process.wait()
        self.start()
        self.wait_ready()

    def wait_ready(self):
        """Wait until the socket accepts a connection."""

        def accepts():
            assert self.process.poll() is None, "the server ended at its start: " + self.log()
            try:
                wire.Client(self.path).close()
            except (FileNotFoundError, ConnectionRefusedError):
                return False
            return True

        wire.wait_until(accepts, "the server accepts", timeout=10)

    def client(self):
        """A new raw connection, closed at the end of the test at the latest."""
        client = wire.Client(self.path)
        self.clients.append(client)
        return client

    def hang_up(self, client):
        """Close this connection and wait until the server has noticed.

        The first request of a connection made after the hang-up is handled
        after it, so its reply is proof enough. For a request of an older
        connection that is not certain: the reference may still have that
        one in front of its list of ready descriptors.
        """
        client.close()
        probe = wire.Client(self.path)
        probe.sync()
        probe.close()

    def log(self):
        with open(self.log_path, "rb") as log:
            return log.read().decode("utf-8", "replace")

    def log_size(self):
        return os.path.getsize(self.log_path)

    def alive(self):
        return self.process.poll() is None

    def assert_serves(self):
        """The server is alive and serves a new connection."""
        assert self.alive(), "the server died: " + self.log()[-2000:]
        client = wire.Client(self.path)
        try:
            assert client.capacity() > 0
        finally:
            client.close()

    # What the operating system says about the process.

    def fd_count(self):
        return len(os.listdir("/proc/%d/fd" % self.pid))

    def status_kib(self, name):
        """A size from /proc/PID/status: VmRSS, RssAnon, RssShmem."""
        with open("/proc/%d/status" % self.pid) as status:
            for line in status:
                if line.startswith(name + ":"):
                    return int(line.split()[1])
        raise KeyError(name)

    def cpu_ticks(self):
        """User and system time used so far."""
        with open("/proc/%d/stat" % self.pid) as stat:
            fields = stat.read().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    # The end.

    def terminate(self):
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        if self.reference:
            # It may lose a signal that comes just before it goes to sleep.
            try:
                return self.process.wait(1)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGTERM)
        return self.process.wait(END_LIMIT)

    def wait_end(self):
        """The exit status of a server that is expected to end."""
        status = self.process.wait(END_LIMIT)
        self.finished = True
        return status

    def finish(self):
        if self.finished:
            return
        self.finished = True
        assert self.alive(), "the server died with status %d: %s" % (
            self.process.returncode,
            self.log()[-2000:],
        )
        for client in self.clients:
            client.close()
        assert self.terminate() == 0

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()

    def clean_up(self):
        for client in self.clients:
            client.close()
        self.kill()
        if self.process:
            self.process.wait()


@pytest.fixture
def store(request):
    """Starts stores: store(m, *flags, nofile=None)."""
    stores = Stores(request.config.getoption("--reference"))
    yield stores
    stores.clean_up()


def _expire(signum, frame):
    raise TimeLimit("the test ran past its time limit")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """The last resort: end the whole run rather than hang for ever."""
    faulthandler.dump_traceback_later(_limit(item) + 60, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _limit(item):
    mark = item.get_closest_marker("limit")
    return mark.args[0] if mark else DEFAULT_LIMIT


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Apply the time limit, and end the stores as a part of the test.

    A store that died or hangs so counts as a failure of the test itself,
    which the marker for defects may expect.
    """
    limit = _limit(pyfuncitem)
    stores = pyfuncitem.funcargs.get("store")
    # A client library that waits in native code wakes up when the store dies.
    watchdog = threading.Timer(limit + 1, stores.kill if stores else lambda: None)
    watchdog.daemon = True
    watchdog.start()
    previous = signal.signal(signal.SIGALRM, _expire)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        result = yield
        if isinstance(stores, Stores):
            stores.finish()
        return result
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        watchdog.cancel()


@pytest.hookimpl(specname="pytest_pyfunc_call")
def pytest_isolated_call(pyfuncitem):
    """Run an isolated test in a forked process; only its outcome comes back."""
    if not pyfuncitem.get_closest_marker("isolated"):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(pyfuncitem.obj, arguments, writing)
    os.close(writing)
    try:
        with open(reading, "rb") as outcome:
            text = outcome.read().decode("utf-8", "replace")
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        pytest.fail("the client process died from signal %d" % -status, pytrace=False)
    if status > 0:
        pytest.fail(text, pytrace=False)
    return True


def _child(function, arguments, writing):
    """The forked process: never returns."""
    status = 0
    try:
        die_with_parent()
        function(**arguments)
        arguments["store"].finish()
    except BaseException:
        status = 1
        os.write(writing, traceback.format_exc().encode()[-60_000:])
    finally:
        arguments["store"].kill()
        os._exit(status)
