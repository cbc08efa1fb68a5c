"""vovp: tensors by name, shared between processes without a copy.

It brings a client of its own, built from the library of Arrow 3.0, and a
server that nobody but the user starts. A name is an id, padded with zeros. A
tensor that was put stays when its last user in that process drops it; one
that was got is then released and deleted.
"""

import os
import subprocess
import sys
import time
from multiprocessing.reduction import ForkingPickler

import pytest
import torch
import vovp
from vovp.client import VovpClient

MEMORY = 50000000


@pytest.fixture(scope="module", autouse=True)
def libraries():
    """The server in the wheel looks for its libraries in the current folder."""
    folder = os.path.dirname(os.environ["INSTALLED_SERVER"])
    os.environ["LD_LIBRARY_PATH"] = folder
    yield
    del os.environ["LD_LIBRARY_PATH"]


@pytest.fixture
def server(store):
    return store(os.environ["INSTALLED_SERVER"], MEMORY)


@pytest.fixture
def client(server):
    return vovp.init_client(server.path)


class Other:
    """Another process with a client, which does what it is told line by line."""

    LOOP = (
        "import sys, torch, vovp\n"
        "client = vovp.init_client(sys.argv[1])\n"
        "for line in sys.stdin:\n"
        "    exec(line)\n"
        "    print('done', flush=True)\n"
    )

    def __init__(self, server):
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.LOOP, server.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            universal_newlines=True,
        )

    def do(self, line):
        """Run a line there, and return what it printed."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        printed = []
        for text in self.process.stdout:
            if text == "done\n":
                return "".join(printed).strip()
            printed.append(text)
        raise AssertionError("the other process ended")

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def other(server):
    other = Other(server)
    yield other
    other.end()


def test_put_and_get_by_name(client):
    kept = []
    for kind in (torch.uint8, torch.int64, torch.float16, torch.float32, torch.float64):
        tensor = torch.arange(60).reshape(3, 4, 5).to(kind)
        put = client.put_tensor("tensor-%s" % kind, tensor)
        got = client.get_tensor("tensor-%s" % kind)
        assert got.dtype == kind and got.shape == (3, 4, 5)
        assert torch.equal(put, tensor) and torch.equal(got, tensor)
        kept += [put, got]


def test_both_are_the_same_memory(client):
    put = client.put_tensor("weights", torch.zeros(1000))
    got = client.get_tensor("weights")
    got[17] = 5
    assert put[17] == 5


def test_name_that_is_taken(client):
    put = client.put_tensor("weights", torch.zeros(10))
    with pytest.raises(RuntimeError, match="exists"):
        client.put_tensor("weights", torch.ones(10))
    assert put.sum() == 0


def test_what_was_put_stays(client):
    client.put_tensor("weights", torch.ones(10))
    got = client.get_tensor("weights")
    assert got.sum() == 10
    del got
    put = client.put_tensor("weights", torch.zeros(10))
    assert put.sum() == 0


def test_across_processes(client, other):
    put = client.put_tensor("question", torch.arange(100000))
    assert other.do("got = client.get_tensor('question'); print(got.sum().item())") == "4999950000"
    other.do("put = client.put_tensor('answer', got * 2)")
    answer = client.get_tensor("answer")
    assert torch.equal(answer, put * 2)
    other.do("got[0] = 7")
    assert put[0] == 7


def test_get_waits_for_another_process(client, other):
    other.process.stdin.write("print(client.get_tensor('later').sum().item())\n")
    other.process.stdin.flush()
    time.sleep(0.3)
    put = client.put_tensor("later", torch.ones(10))
    assert other.process.stdout.readline() == "10.0\n"
    assert put.sum() == 10


def test_replaced_when_nobody_holds_it(client, other):
    """The reader's deletion is put off until the writer lets go."""
    for version in range(20):
        put = client.put_tensor("weights", torch.full((1000,), float(version)))
        got = other.do("got = client.get_tensor('weights'); print(got[-1].item()); del got")
        assert got == str(float(version))
        assert (put == version).all()
        del put


def test_reader_that_is_killed(client, other):
    put = client.put_tensor("weights", torch.ones(1000))
    other.do("got = client.get_tensor('weights')")
    other.end()
    assert (put == 1).all()
    del put
    got = client.get_tensor("weights")
    del got
    assert client.put_tensor("weights", torch.zeros(10)).sum() == 0


def test_tensors_between_processes_by_pickle(client, other, tmp_path):
    """What multiprocessing sends for a tensor is a name."""
    vovp.init_reduction()
    data = bytes(ForkingPickler.dumps(torch.arange(100000)))
    assert len(data) < 200
    (tmp_path / "tensor").write_bytes(data)
    line = "import pickle; print(pickle.load(open(%r, 'rb')).sum().item())"
    assert other.do(line % str(tmp_path / "tensor")) == "4999950000"


def test_many_times_the_memory(server, client):
    """What was put and dropped makes room."""
    for number in range(30):
        client.put_tensor("tensor-%d" % number, torch.full((2500000,), float(number)))
    last = VovpClient(server.path).get_tensor("tensor-29")
    assert (last == 29).all()
