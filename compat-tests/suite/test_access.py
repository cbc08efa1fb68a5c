"""Who may connect, what is left in memory, and what the server gives up.

All of it is our server's own; the reference has none of the flags.
"""

import os
import stat

import pytest

import wire
from wire import oid

pytestmark = pytest.mark.deviation("access")

MB = 1_000_000


def run_as(uid, gid, action):
    """Run `action` in a child process of this user and group; whether it returned true."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            status = 0 if action() else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def is_served(path):
    client = wire.Client(path)
    try:
        client.sync()
        return True
    except (wire.Closed, OSError):
        return False
    finally:
        client.close()


@pytest.fixture
def as_root():
    assert os.geteuid() == 0, "this test takes on other users, which only root can"


needs_root = pytest.mark.usefixtures("as_root")


def open_folders(server):
    """Let other users reach the socket's folder."""
    folder = os.path.dirname(server.path)
    for path in (folder, os.path.dirname(folder)):
        os.chmod(path, 0o755)


def test_socket_mode(store):
    server = store(MB, "--socket-mode", "640")
    assert stat.S_IMODE(os.stat(server.path).st_mode) == 0o640


@needs_root
def test_socket_group(store):
    server = store(MB, "--socket-group", "12345", "--socket-mode=660")
    information = os.stat(server.path)
    assert (information.st_gid, stat.S_IMODE(information.st_mode)) == (12345, 0o660)
    open_folders(server)
    assert run_as(4711, 12345, lambda: is_served(server.path)) == 0
    assert run_as(4711, 4711, lambda: not os.access(server.path, os.W_OK)) == 0


def test_unknown_group(store):
    server = store.prepare(MB, "--socket-group", "no-such-group-anywhere")
    server.start()
    assert server.wait_end() == 1
    assert "there is no group no-such-group-anywhere" in server.log()


@needs_root
@pytest.mark.parametrize("flag", ["--allow-uid", "--allow-gid"])
def test_only_those_that_are_allowed(store, flag):
    server = store.prepare(MB, flag, "4711,4712", "--socket-mode", "666")
    server.start()
    wire.wait_until(lambda: "ready:" in server.log(), "the server is ready")
    open_folders(server)
    allowed = {"--allow-uid": (4712, 99), "--allow-gid": (99, 4712)}[flag]
    assert run_as(*allowed, lambda: is_served(server.path)) == 0
    assert run_as(99, 99, lambda: not is_served(server.path)) == 0
    assert not is_served(server.path)
    wire.wait_until(lambda: "they are not allowed" in server.log(), "the log tells of it")


@pytest.mark.parametrize("flags", [(), ("-d", "/tmp")], ids=["memfd", "directory"])
def test_zero_on_free(store, flags):
    """What is deleted is gone: no later object finds anything in its memory."""
    client = store(2 * MB, "--zero-on-free", *flags).client()
    for size in (1, 63, 100, 5000, 70_000, 200_000, 1_900_000):
        client.write(client.create(oid(1), size), b"\xaa" * size)
        client.abort(oid(1))
    # Wherever the next ones lie; what is given back in the background is soon done.
    for number in range(300):
        data, _ = client.read(client.create(oid(100 + number), 6000))
        assert bytes(data) == bytes(6000)


def process_status(server, name):
    with open("/proc/%d/status" % server.process.pid) as status:
        return next(line.split()[1] for line in status if line.startswith(name + ":"))


@pytest.mark.parametrize(
    "flags", [(), ("-d", "/tmp"), ("-e", "hashtable://x")], ids=["memfd", "directory", "external"]
)
def test_sandbox(store, flags):
    """The server works as ever, and has given up what it can be seen to give up."""
    server = store(MB, "--sandbox", *flags)
    # The socket is there before the rest is given up.
    wire.wait_until(lambda: "ready:" in server.log(), "the server is ready")
    assert "sandbox: privileges limited" in server.log()
    assert process_status(server, "NoNewPrivs") == "1"
    assert process_status(server, "Seccomp") == "2"
    client, other = server.client(), server.client()
    subscriber = other.subscribe()
    for number in range(30):
        client.create_and_seal(oid(number), bytes(100_000), b"metadata")
    assert other.get([oid(29)]).available == [True]
    assert subscriber.next() is not None
    assert server.terminate() == server.wait_end() == 0
    assert not os.path.exists(server.path)
