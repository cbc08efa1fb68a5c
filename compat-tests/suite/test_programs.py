"""The official Python client, used the way that known programs use it."""

import multiprocessing
import os
import signal
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

warnings.filterwarnings("ignore", category=DeprecationWarning)
warnings.filterwarnings("ignore", category=FutureWarning)

from pyarrow import plasma  # noqa: E402

pytestmark = [
    # The client library aborts its process on what it does not understand.
    pytest.mark.isolated,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

MB = 1_000_000
PROCESSES = multiprocessing.get_context("spawn")


def name(text):
    """An id that carries a meaning: text, padded."""
    return plasma.ObjectID(text.encode().ljust(20, b"\0"))


@pytest.fixture
def connect():
    """Connects official clients, and disconnects them at the end."""
    clients = []

    def connect(server):
        client = plasma.connect(server.path)
        clients.append(client)
        return client

    yield connect
    for client in clients:
        client.disconnect()


class Process:
    """A function in a process of its own, with a client as first argument."""

    def __init__(self, function, server, *arguments):
        self.results, sender = PROCESSES.Pipe(duplex=False)
        self.process = PROCESSES.Process(
            target=_in_process, args=(sender, function, server.path, arguments), daemon=True
        )
        self.process.start()
        sender.close()

    def result(self):
        """What the function returned."""
        assert self.results.poll(20), "the other process does not answer"
        return self.results.recv()

    def end(self, how=signal.SIGKILL):
        os.kill(self.process.pid, how)
        self.process.join()


def _in_process(sender, function, path, arguments):
    warnings.simplefilter("ignore")
    sender.send(function(plasma.connect(path), *arguments))
    # Until it is killed or the parent ends.
    time.sleep(60)


def get_sum(client, object_id, timeout_ms=-1):
    array = client.get(object_id, timeout_ms=timeout_ms)
    return float(array.sum()), array.flags.writeable


def hold(client, object_id):
    global held
    held = client.get_buffers([object_id], timeout_ms=-1)
    return True


def leave_unsealed(client, object_id):
    global held
    held = client.create(object_id, 1000)
    return True


def echo(client, requests, answers):
    for request, answer in zip(requests, answers):
        client.put(client.get(request) * 2, answer)
        client.delete([request])
    return True


# Sharing.


def test_put_in_one_process_get_in_another(store, connect):
    server = store(100 * MB)
    client = connect(server)
    array = np.arange(1_000_000, dtype=np.float64)
    object_id = client.put(array)
    result = Process(get_sum, server, object_id).result()
    # Programs rely on what they get being read-only.
    assert result == (array.sum(), False)


def test_wait_in_one_process_for_what_another_puts(store, connect):
    server = store(100 * MB)
    client = connect(server)
    object_id = name("model/layer-1")
    waiting = Process(get_sum, server, object_id)
    time.sleep(0.5)
    client.put(np.ones(1000), object_id)
    assert waiting.result() == (1000.0, False)


def test_requests_and_answers_between_processes(store, connect):
    """Put, get in another process, delete: a small store that never leaks."""
    server = store(5 * MB)
    client = connect(server)
    requests = [name("request-%d" % n) for n in range(100)]
    answers = [name("answer-%d" % n) for n in range(100)]
    worker = Process(echo, server, requests, answers)
    for number in range(100):
        client.put(np.full(50_000, number, dtype=np.float64), requests[number])
        assert client.get(answers[number], timeout_ms=10_000)[-1] == 2 * number
        client.delete([answers[number]])
    assert worker.result()
    assert client.list() == {}


def test_values_of_all_kinds(store, connect):
    client = connect(store())
    for value in (None, 1, 2.5, "text", b"bytes", [1, [2, 3]], {"a": (1, 2)}, np.eye(3)):
        found = client.get(client.put(value))
        assert np.array_equal(found, value) if isinstance(value, np.ndarray) else found == value


def test_data_frames(store, connect):
    server = store(100 * MB)
    writer, reader = connect(server), connect(server)
    frame = pd.DataFrame(
        {"number": np.arange(10_000), "half": np.arange(10_000) / 2, "text": ["a", "bc"] * 5000}
    )
    batch = pa.RecordBatch.from_pandas(frame)
    size = pa.ipc.get_record_batch_size(batch) + batch.schema.serialize().size + 1024
    object_id = name("frame")
    with pa.RecordBatchStreamWriter(
        pa.FixedSizeBufferWriter(writer.create(object_id, size)), batch.schema
    ) as stream:
        stream.write_batch(batch)
    writer.seal(object_id)
    [buffer] = reader.get_buffers([object_id])
    found = pa.RecordBatchStreamReader(pa.BufferReader(buffer)).read_pandas()
    pd.testing.assert_frame_equal(found, frame)
    serialized = reader.get(writer.put({"frame": frame["half"].values, "rows": len(frame)}))
    assert np.array_equal(serialized["frame"], frame["half"].values)


# Capacity.


def test_store_of_1_05_times_the_array(store, connect):
    array = np.random.default_rng(1).integers(0, 2**31, 2_000_000)
    server = store(int(1.05 * array.nbytes))
    client = connect(server)
    for number in range(3):
        object_id = name("array-%d" % number)
        client.put(array, object_id)
        assert np.array_equal(client.get(object_id), array)
        client.delete([object_id])


def test_probing_the_capacity(store, connect):
    """One object of the whole capacity, shrunk by 1 % if refused: it is not."""
    client = connect(store(20 * MB))
    capacity = client.store_capacity()
    assert capacity == 20 * MB
    for number in range(3):
        object_id = name("probe-%d" % number)
        buffer = client.create(object_id, capacity)
        client.seal(object_id)
        del buffer
        assert client.evict(capacity) == capacity
        assert not client.contains(object_id)


def test_far_more_memory_than_the_machine_has(store, connect):
    """A warning at most; the capacity stays what was asked for."""
    server = store(100 << 30)
    client = connect(server)
    assert client.store_capacity() == 100 << 30
    assert client.get(client.put("value")) == "value"


def test_full_store(store, connect):
    client = connect(store(MB))
    buffer = client.create(name("half"), MB // 2)
    with pytest.raises(plasma.PlasmaStoreFull):
        client.create(name("more"), MB // 2 + 1)
    with pytest.raises(plasma.PlasmaStoreFull):
        client.create_and_seal(name("more"), bytes(2 * MB))
    assert list(client.list()) == [name("half")]
    del buffer


def test_listing_adds_up(store, connect):
    client = connect(store(10 * MB))
    sizes = {name("object-%d" % n): (1000 * n, n) for n in range(1, 40)}
    for object_id, (data, metadata) in sizes.items():
        client.create(object_id, data, b"m" * metadata)
        client.seal(object_id)
    listed = client.list()
    assert {i: (o["data_size"], o["metadata_size"]) for i, o in listed.items()} == sizes
    used = sum(o["data_size"] + o["metadata_size"] for o in listed.values())
    assert "allocated bytes: %d\n" % used in client.debug_string()
    left = client.store_capacity() - used
    buffer = client.create(name("rest"), left)
    assert len(client.list()) == 40
    del buffer


def test_names_with_a_common_prefix(store, connect):
    client = connect(store(10 * MB))
    for number in range(3000):
        client.create_and_seal(name("namespace/%07d" % number), b"x")
    found = [i for i in client.list() if i.binary().startswith(b"namespace/")]
    assert len(found) == 3000
    client.delete(found)
    assert client.list() == {}


# Replacing.


def test_replace_under_the_same_name(store, connect):
    server = store()
    writer, reader = connect(server), connect(server)
    object_id = name("parameters")
    for version in range(100):
        writer.put(np.full(100, version), object_id)
        assert reader.get(object_id)[0] == version
        writer.delete([object_id])
    assert writer.list() == {}


def test_replace_while_somebody_reads(store, connect):
    """The deletion is put off, and the name is taken until then."""
    server = store()
    writer, reader = connect(server), connect(server)
    object_id = name("parameters")
    writer.put(np.zeros(100), object_id)
    view = reader.get(object_id)
    writer.delete([object_id])
    with pytest.raises(plasma.PlasmaObjectExists):
        writer.put(np.ones(100), object_id)
    assert view.sum() == 0
    del view
    writer.put(np.ones(100), object_id)
    assert reader.get(object_id).sum() == 100


def test_data_stays_while_somebody_reads(store, connect):
    """Pressure from others does not touch what is held."""
    server = store(MB)
    reader, writer = connect(server), connect(server)
    reader.put(np.full(50_000, 7.0), name("held"))
    view = reader.get(name("held"))
    for number in range(50):
        writer.put(np.zeros(20_000), name("pressure-%d" % number))
    assert (view == 7.0).all()


# Notifications and metadata.


def test_metadata_as_a_message(store, connect):
    """Empty objects whose metadata says something; a manager watches them."""
    server = store()
    manager, worker = connect(server), connect(server)
    manager.subscribe()
    for number in range(20):
        object_id = name("message-%d" % number)
        text = b"step %d is done" % number
        worker.create(object_id, 0, text)
        worker.seal(object_id)
        assert manager.get_next_notification() == (object_id, 0, len(text))
        [metadata] = manager.get_metadata([object_id])
        assert metadata.to_pybytes() == text
        del metadata
        manager.delete([object_id])
        assert manager.get_next_notification() == (object_id, -1, -1)
    assert manager.list() == {}


def test_hash_of_equal_contents(store, connect):
    client = connect(store(10 * MB))
    for number, size in enumerate([0, 100, 2**20 - 1, 2**20, 3_333_333]):
        first, second = name("first-%d" % number), name("second-%d" % number)
        client.create_and_seal(first, bytes(size))
        client.create_and_seal(second, bytes(size))
        assert client.hash(first) == client.hash(second)


# Beginnings and ends.


def test_clients_that_start_before_the_server(store):
    """Many connect at once, some of them too early."""
    server = store.prepare()
    results = []

    def begin():
        client = plasma.connect(server.path, num_retries=50)
        results.append(client.get(client.put(1)))
        client.disconnect()

    threads = [threading.Thread(target=begin, daemon=True) for _ in range(16)]
    for thread in threads[:12]:
        thread.start()
    time.sleep(0.15)
    server.start()
    for thread in threads[12:]:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert results == [1] * 16


def test_server_killed_and_started_again(store, connect):
    """Clients get an exception, and can connect to the next one on the same path."""
    server = store()
    client = connect(server)
    client.put(1, name("value"))
    server.restart()
    with pytest.raises(OSError):
        client.contains(name("value"))
    client = connect(server)
    assert client.list() == {}
    client.put(2, name("value"))
    assert client.get(name("value")) == 2


def test_reader_that_is_killed(store, connect):
    server = store()
    client = connect(server)
    client.put(np.zeros(10), name("value"))
    reader = Process(hold, server, name("value"))
    assert reader.result()
    assert client.list()[name("value")]["ref_count"] == 1
    client.delete([name("value")])
    assert client.contains(name("value"))
    reader.end()
    deadline = time.monotonic() + 5
    while client.contains(name("value")):
        assert time.monotonic() < deadline
    assert client.list() == {}


def test_writer_that_is_killed(store, connect):
    """What it had not sealed is gone, and may be created anew."""
    server = store(MB)
    client = connect(server)
    writer = Process(leave_unsealed, server, name("value"))
    assert writer.result()
    with pytest.raises(plasma.PlasmaObjectExists):
        client.put(1, name("value"))
    writer.end()
    deadline = time.monotonic() + 5
    while client.list():
        assert time.monotonic() < deadline
    client.put(1, name("value"))
    assert client.get(name("value")) == 1


def test_spilling_store(store, connect):
    """More than fits, kept by the external store."""
    server = store(MB, "-e", "hashtable://test")
    client = connect(server)
    for number in range(40):
        client.create_and_seal(name("frame-%d" % number), bytes([number]) * 100_000)
    for number in range(40):
        [buffer] = client.get_buffers([name("frame-%d" % number)], timeout_ms=-1)
        assert buffer.to_pybytes() == bytes([number]) * 100_000
        del buffer


@pytest.mark.defect("D22")
def test_spilling_store_with_values(store, connect):
    """Values put by Python, whose raw buffers carry metadata."""
    client = connect(store(MB, "-e", "hashtable://test"))
    for number in range(20):
        client.put_raw_buffer(bytes([number]) * 100_000, name("raw-%d" % number), b"RAW")
    for number in range(20):
        [(metadata, buffer)] = client.get_buffers([name("raw-%d" % number)], with_meta=True)
        assert (metadata, buffer.to_pybytes()) == (b"RAW", bytes([number]) * 100_000)
        del metadata, buffer


@pytest.mark.defect("D14")
@pytest.mark.limit(5)
def test_subscribe_twice(store, connect):
    server = store()
    client, other = connect(server), connect(server)
    client.subscribe()
    client.subscribe()
    other.put(1, name("value"))
    assert client.get(name("value"), timeout_ms=1000) == 1


@pytest.mark.defect("D11")
@pytest.mark.limit(5)
def test_get_the_same_object_twice(store, connect):
    server = store()
    connect(server).put(1, name("value"))
    assert connect(server).get([name("value")] * 2, timeout_ms=-1) == [1, 1]
