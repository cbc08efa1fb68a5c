"""Clients of Arrow 0.7 to 0.16, which speak older dialects of the protocol.

They are not served, and an original server of another dialect is crashed by
them. Whatever they do and however they end, the server must live, serve
others, and keep nothing of theirs.
"""

import os
import resource
import socket
import struct
import subprocess
import sys

import conftest
import pyarrow
import pytest

SERVER = os.environ["PLASMA_STORE_SERVER"]
MEMORY = 10000000
# An old client that waits for an answer is ended after so many seconds.
CLIENT_LIMIT = 3
START = """
import pyarrow.plasma as plasma
print("imported", flush=True)
object_id = plasma.ObjectID(b"a" * 20)
try:
    client = plasma.connect(%r, "", 0)
except TypeError:
    client = plasma.connect(%r)
"""
# The last part of each is not reached if an earlier one fails; that is as good.
CALLS = {
    "connect": "",
    "contains": "client.contains(object_id)",
    "list": "client.list()",
    "evict": "client.evict(1000)",
    "create": "client.create(object_id, 100, b'meta'); client.seal(object_id)",
    "create without metadata": "client.create(object_id, 100); client.seal(object_id)",
    "create of more than fits": "client.create(object_id, 10 ** 9)",
    "create and seal": "client.create_and_seal(object_id, b'data', b'meta')",
    "put": "client.get(client.put(1))",
    "get": "client.get(object_id, timeout_ms=100)",
    "get for ever": "client.get_buffers([object_id])",
    "delete": "client.delete([object_id])",
    "hash": "client.hash(object_id)",
    "seal": "client.seal(object_id)",
    "subscribe": "client.subscribe(); client.get_next_notification()",
    "options": "client.set_client_options('name', 1000); client.debug_string()",
}
# The dialect of Arrow 0.17 to 11.
CONNECT, CONNECTED, GET_DEBUG_STRING, DEBUG_STRING = 19, 20, 30, 31
EMPTY_TABLE = bytes([8, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0, 0])
EMPTY_STORE = (b"allocated bytes: 0\n", b"num objects: 0\n", b"num clients with quota: 0\n")
HEADER = struct.Struct("<qqq")


class Current:
    """A connection that speaks the dialect that is served."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10)
        self.socket.connect(path)
        self.ask(CONNECT, CONNECTED)

    def ask(self, request, reply):
        """Send a request without fields, and return the body of the reply."""
        self.socket.sendall(HEADER.pack(0, request, len(EMPTY_TABLE)) + EMPTY_TABLE)
        version, kind, length = HEADER.unpack(self.receive(HEADER.size))
        assert (version, kind) == (0, reply)
        return self.receive(length)

    def receive(self, length):
        data = b""
        while len(data) < length:
            part = self.socket.recv(length - len(data))
            assert part, "the server hung up"
            data += part
        return data

    def store_is_empty(self):
        text = self.ask(GET_DEBUG_STRING, DEBUG_STRING)
        return all(line in text for line in EMPTY_STORE)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """One store for all calls, since it has to live through them."""
    store = conftest.Store(SERVER, MEMORY)
    yield store
    try:
        store.finish()
    finally:
        store.clean_up()


def run_client(path, call):
    """Run a call in an old client; how that ends is its own affair, but it must begin."""
    client = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", START % (path, path) + call],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # These clients abort on answers that they do not understand.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    )
    try:
        output, _ = client.communicate(timeout=CLIENT_LIMIT)
    except subprocess.TimeoutExpired:
        client.kill()
        output, _ = client.communicate()
    assert output.startswith(b"imported\n")


@pytest.mark.parametrize("name", list(CALLS))
def test_server_lives(shared_store, name):
    bystander = Current(shared_store.path)
    run_client(shared_store.path, CALLS[name])
    assert shared_store.process.poll() is None, "%s killed the server" % pyarrow.__version__
    for connection in (bystander, Current(shared_store.path)):
        conftest.wait_until(connection.store_is_empty, "nothing of the old client is left")
        connection.socket.close()
