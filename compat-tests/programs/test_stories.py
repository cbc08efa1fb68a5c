"""What known programs do with the official client, in scenes of several steps.

Only what neither the compatibility suite nor a program that can be installed
shows: trainers with loaders, services that ask and wait, clusters that probe
how much fits. None of these programs is needed here.
"""

import hashlib
import multiprocessing
import os
import subprocess
import tempfile
import threading
import time
import warnings

import conftest
import numpy as np
import pytest

warnings.simplefilter("ignore")
from pyarrow import plasma  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
SERVER = os.environ["INSTALLED_SERVER"]
MEMORY = 10000000
PROCESSES = multiprocessing.get_context("fork")


def name(text):
    """The SHA-1 of a name, as an id."""
    return plasma.ObjectID(hashlib.sha1(text.encode()).digest())


def in_processes(function, arguments):
    """Run a function in so many forked processes at once, and return their results."""
    with PROCESSES.Pool(len(arguments)) as pool:
        return pool.starmap_async(function, arguments, chunksize=1).get(30)


def connect_again(path):
    """A client of the store that follows one that was killed.

    Those who connect while the old one dies are refused or cut off.
    """
    deadline = time.monotonic() + 20
    while True:
        try:
            return plasma.connect(path, num_retries=1)
        except OSError:
            assert time.monotonic() < deadline, "no store comes"


# How the store is started and ended.


def process_name(store):
    with open("/proc/%d/comm" % store.process.pid) as file:
        return file.read().strip()


@pytest.mark.parametrize("command", ["plasma_store", "plasma-store-server"])
def test_command_on_path(store, tmp_path, monkeypatch, command):
    """A link in a folder that comes first; `pkill plasma` and the like find the process."""
    os.symlink(os.environ["PLASMA_STORE_SERVER"], str(tmp_path / command))
    monkeypatch.setenv("LD_LIBRARY_PATH", os.path.dirname(SERVER))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    started = store(command, MEMORY)
    assert process_name(started) == command[:15]
    assert plasma.connect(started.path).store_capacity() == MEMORY


def test_shell_script_that_becomes_the_server(store, tmp_path):
    script = tmp_path / "plasma_store"
    script.write_text('#!/bin/sh\nexec "%s" "$@"\n' % SERVER)
    script.chmod(0o755)
    started = store(str(script), MEMORY)
    assert process_name(started) == "plasma-store-se"
    assert plasma.connect(started.path).list() == {}


def test_impatient_client():
    """Five attempts, 100 ms apart, right after the start; a busy machine may need another go."""
    for attempt in range(3):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plasma")
            server = subprocess.Popen(
                [SERVER, "-s", path, "-m", "1000000"], stderr=subprocess.DEVNULL
            )
            try:
                client = plasma.connect(path, num_retries=5)
                assert client.get(client.put(1)) == 1
                return
            except OSError:
                assert attempt < 2, "the server is not there after half a second"
            finally:
                server.kill()
                server.wait()


# A trainer and its loaders.


class Trainer:
    """Starts a store for one array, on the path of a file that it just made."""

    def __init__(self, array):
        self.file = tempfile.NamedTemporaryFile(prefix="store-")
        self.path = self.file.name
        self.start(int(1.05 * array.nbytes))

    def start(self, memory):
        command = [SERVER, "-m", str(memory), "-s", self.path]
        self.server = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kill(self):
        self.server.kill()
        self.server.wait()


@pytest.fixture
def trainer():
    trainers = []

    def start(array):
        trainers.append(Trainer(array))
        return trainers[-1]

    yield start
    for trainer in trainers:
        trainer.kill()
        # The path is a socket now, or a dead one; what closes the file wants to remove it.
        if not os.path.exists(trainer.path):
            open(trainer.path, "w").close()
        trainer.file.close()


def load(path, array):
    """All loaders want the array to be in the store, and one is the first to put it."""
    client = plasma.connect(path, num_retries=200)
    try:
        client.put(array, name("data/train.bin"))
        was_first = True
    except plasma.PlasmaObjectExists:
        was_first = False
    loaded = client.get(name("data/train.bin"))
    return was_first, np.array_equal(loaded, array), loaded.flags.writeable


def test_loaders_race_to_put_the_same_array(trainer):
    array = np.arange(1000000)
    path = trainer(array).path
    results = in_processes(load, [(path, array)] * 4)
    assert sorted(first for first, _, _ in results) == [False, False, False, True]
    assert all(equal and not writeable for _, equal, writeable in results)


def test_store_killed_under_its_readers(trainer):
    """What was read stays readable, and the next store takes the path over."""
    array = np.arange(1000000)
    training = trainer(array)
    client = plasma.connect(training.path, num_retries=200)
    client.put(array, name("data/train.bin"))
    loaded = client.get(name("data/train.bin"))
    training.kill()
    assert np.array_equal(loaded, array)
    training.start(2 * array.nbytes)
    client = connect_again(training.path)
    assert client.list() == {}
    client.put(array + 1, name("data/train.bin"))
    assert np.array_equal(loaded, array)
    assert client.get(name("data/train.bin"))[-1] == 1000000


# A service that asks and waits.


class Watched:
    """A store that is killed and started anew on the same path."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "plasma")
        self.start()

    def start(self):
        command = [SERVER, "-s", self.path, "-m", str(MEMORY)]
        self.server = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kill(self):
        self.server.kill()
        self.server.wait()

    def restart(self):
        self.kill()
        self.start()


@pytest.fixture
def watched():
    with tempfile.TemporaryDirectory() as folder:
        watched = Watched(folder)
        yield watched
        watched.kill()


def test_many_questions_at_once(store):
    """Each asker blocks on an id that is not there yet; both sides delete."""
    path = store(SERVER, MEMORY).path
    results = {}

    def ask(number):
        client = plasma.connect(path)
        client.put(np.full(1000, number), name("question-%d" % number))
        answer = client.get(name("answer-%d" % number), timeout_ms=20000)
        results[number] = int(answer[0])
        del answer
        client.delete([name("answer-%d" % number), name("question-%d" % number)])

    threads = [threading.Thread(target=ask, args=(number,), daemon=True) for number in range(40)]
    for thread in threads:
        thread.start()
    client = plasma.connect(path)
    for number in reversed(range(40)):
        question = client.get(name("question-%d" % number), timeout_ms=20000)
        client.put(question * 2, name("answer-%d" % number))
        del question
        client.delete([name("question-%d" % number)])
    for thread in threads:
        thread.join(20)
    assert results == {number: 2 * number for number in range(40)}
    assert client.list() == {}


def test_store_killed_under_those_who_wait(watched):
    """They get an exception, and connect to the store that a watchdog starts."""
    results = []
    connected = threading.Semaphore(0)

    def wait():
        client = connect_again(watched.path)
        connected.release()
        with pytest.raises(OSError):
            client.get(name("never"), timeout_ms=-1)
        results.append(connect_again(watched.path).get(name("value"), timeout_ms=20000))

    threads = [threading.Thread(target=wait, daemon=True) for _ in range(20)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert connected.acquire(timeout=20)
    # Most of them wait for the object by now; all will learn of the end.
    watched.restart()
    connect_again(watched.path).put(7, name("value"))
    for thread in threads:
        thread.join(20)
    assert results == [7] * 20


# The memory of a cluster's node.


def test_probe_then_fill_then_evict(store):
    """The size that worked is taken as the capacity, and accounted against."""
    client = plasma.connect(store(SERVER, MEMORY).path)
    size = client.store_capacity()
    while True:
        try:
            client.create(name("probe"), size)
            break
        except plasma.PlasmaStoreFull:
            size = int(size * 0.99)
    assert size >= 0.95 * MEMORY
    client.seal(name("probe"))
    client.delete([name("probe")])
    conftest.wait_until(lambda: client.list() == {}, "the probe is gone")
    chunk = size // 10
    for number in range(10):
        client.create_and_seal(name("chunk-%d" % number), bytes(chunk))
    used = sum(entry["data_size"] + entry["metadata_size"] for entry in client.list().values())
    assert used == 10 * chunk
    assert client.evict(3 * chunk) == 3 * chunk
    # The oldest go first.
    assert [client.contains(name("chunk-%d" % n)) for n in range(10)] == [False] * 3 + [True] * 7


def test_report_when_a_put_does_not_fit(store):
    """A client with a quota is refused, and shows the user the state of the store."""
    path = store(SERVER, MEMORY).path
    worker, other = plasma.connect(path), plasma.connect(path)
    worker.set_client_options("worker-17", 2000000)
    kept = worker.create(name("kept"), 1500000)
    with pytest.raises(plasma.PlasmaStoreFull):
        worker.create(name("more"), 2000001)
    report = worker.debug_string()
    assert "num clients with quota: 1\n" in report
    assert "allocated bytes: 1500000\n" in report
    assert "(worker-17) capacity: 2000000\n" in report
    other.create(name("more"), 5000000)
    assert len(kept) == 1500000
