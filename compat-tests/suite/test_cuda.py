"""GPU objects, with an unchanged official client that was built with CUDA.

There need be no GPU: a library takes the place of the driver (cuda/driver),
and both the client and the servers are made to load it. What only a real
device can show is listed in docs/CUDA.md.

The original here is a build with CUDA, of the wheel that the client is from.
"""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

import wire
from wire import oid

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cuda"))

import prepare  # noqa: E402

MIB = 1 << 20
LIMIT = 120

pytestmark = pytest.mark.limit(LIMIT)
our_own = pytest.mark.deviation("GPU objects")


@pytest.fixture(scope="session")
def prepared():
    return prepare.prepare()


@pytest.fixture
def gpus(request, prepared, tmp_path, monkeypatch):
    """A machine with two GPUs, of 256 and 128 MiB; a folder to order faults in."""
    folder = tmp_path / "gpus"
    folder.mkdir()
    library = [str(prepared / "driver")]
    if request.config.getoption("--reference"):
        library.append(str(prepared / "vovp_lib"))
        monkeypatch.setenv(
            "PLASMA_STORE_SERVER", str(prepared / "vovp_lib" / "plasma-store-server")
        )
    monkeypatch.setenv("LD_LIBRARY_PATH", ":".join(library))
    monkeypatch.setenv("STAND_IN_CUDA_DIR", str(folder))
    monkeypatch.setenv("STAND_IN_CUDA_DEVICES", "256,128")
    return folder


def fault(folder, *lines):
    (folder / "faults").write_text("\n".join(lines))


def walk(prepared, server, *words):
    """Let the official client go through a scenario."""
    done = subprocess.run(
        [str(prepared / "walkthrough"), server.path, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT - 20,
    )
    assert (done.returncode, done.stdout) == (0, "ok\n")


def create(client, number, size, device=1, metadata_size=0, evict=True):
    """Create on a device; the error."""
    body = wire.create_body(oid(number), size, metadata_size, evict, device)
    return wire.CreateReply.parse(client.request(wire.CREATE, body)).error


def put(client, number, size, device=1):
    assert create(client, number, size, device) == wire.OK
    assert client.seal(oid(number)) == wire.OK
    client.release(oid(number))


def get(client, number, timeout_ms=0):
    """The bytes by which an object is opened; None if it cannot be had."""
    table = client.request(wire.GET, wire.get_body([oid(number)], timeout_ms))
    handles = table.tables(4)
    assert len(handles) == (1 if table.specs(1)[0].available else 0)
    return bytes(handles[0].scalars(0, "B")) if handles else None


# The official client.


@pytest.mark.parametrize(
    "words",
    [
        ["round-trip"],
        ["abort-and-delete"],
        ["repeated"],
        ["lifetime"],
        ["two-clients"],
        ["mixed"],
        ["notifications"],
        ["vovp"],
        ["kill-writer", 8 * MIB],
        ["kill-reader", 8 * MIB],
        ["devices", 2],
    ],
    ids=lambda words: words[0],
)
def test_official_client(gpus, prepared, store, request, words):
    flags = []
    if "kill" in words[0] and not request.config.getoption("--reference"):
        # Nothing is kept for objects to come, since free memory is compared.
        flags = ["--cuda-cache", "0"]
    walk(prepared, store(200 * MIB, *flags), *words)


def test_two_stores_of_one_process(gpus, prepared, store):
    walk(prepared, store(200 * MIB), "two-stores", store(200 * MIB).path)


def test_more_than_the_device_has(gpus, prepared, store, request):
    """The original refuses it; here the oldest make room, and come back."""
    refuses = ["refuses"] if request.config.getoption("--reference") else []
    walk(prepared, store(500 * MIB), "limit", 80, 5_000_000, *refuses)


@our_own
@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--cuda-cache", "0"],
        ["--zero-on-free"],
        ["--cuda-pack-small"],
        ["--cuda-host-memory", "0", "-e", "hashtable://objects"],
        ["--cuda-host-memory", "16MiB", "-e", "hashtable://objects"],
        ["--sandbox"],
    ],
    ids=lambda flags: " ".join(flags) or "plain",
)
def test_limits_and_evictions(gpus, prepared, store, flags):
    server = store(200 * MIB, "--cuda-memory", "0=64MiB", *flags)
    walk(prepared, server, "limit", 30, 5_000_000)
    walk(prepared, server, "open-while-full", 10_000_000)
    walk(prepared, server, "round-trip")


# What there is.


@our_own
@pytest.mark.parametrize(
    "name, value, words",
    [
        ("LD_LIBRARY_PATH", "", "libcuda.so.1 is missing"),
        ("STAND_IN_CUDA_DEVICES", "", "finds no device"),
        ("STAND_IN_CUDA_VERSION", "11030", "too old: it is for CUDA 11.3"),
        ("STAND_IN_CUDA_INIT", "999", "cuInit says CUDA_ERROR_UNKNOWN (999)"),
    ],
)
def test_no_gpu(gpus, monkeypatch, store, name, value, words):
    """One line says why; host objects are served, others get an error."""
    if name == "LD_LIBRARY_PATH" and has_driver():
        pytest.skip("this machine has a driver of its own")
    monkeypatch.setenv(name, value)
    server = store(MIB)
    client = server.client()
    assert create(client, 1, 100) == wire.FULL
    assert client.create_and_seal(oid(1), b"host") == wire.OK
    lines = [line for line in server.log().splitlines() if "GPU" in line]
    assert len(lines) == 1 and words in lines[0]


def has_driver():
    code = "import ctypes; ctypes.CDLL('libcuda.so.1')"
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL)
    return done.returncode == 0


@our_own
def test_some_devices_only(gpus, store):
    """Their numbers for clients stay those of all devices."""
    server = store(MIB, "--cuda-devices", "GPU-01010101-0101-0101-0101-010101010101")
    client = server.client()
    put(client, 1, 100, device=2)
    assert get(client, 1) is not None
    assert create(client, 2, 100, device=1) == wire.FULL
    assert create(client, 3, 100, device=3) == wire.FULL
    assert create(client, 4, 100, device=-1) == wire.FULL


@our_own
@pytest.mark.parametrize("flag", ["0=50%", "0=128MiB", "50%"])
def test_limit_of_a_device(gpus, store, flag):
    client = store(MIB, "--cuda-memory", flag).client()
    assert create(client, 1, 128 * MIB + 1) == wire.FULL
    assert create(client, 2, 127 * MIB) == wire.OK
    assert create(client, 3, MIB) == wire.FULL, "what is unsealed is not evicted"
    client.abort(oid(2))
    assert create(client, 4, 128 * MIB) == wire.OK


@our_own
@pytest.mark.parametrize("words", [["7"], ["GPU-unknown"], ["0", "--cuda-memory", "5=1GiB"]])
def test_a_device_that_is_not_there(gpus, store, words):
    server = store.prepare(MIB, "--cuda-devices", *words)
    server.start()
    assert server.process.wait(timeout=10) == 1
    assert "plasma-store-server: there is no GPU " in server.log().splitlines()[-1]
    server.finished = True


@our_own
def test_small_objects_share_if_that_is_wanted(gpus, store):
    """Without the flag each takes up 2 MiB."""
    flags = ["--cuda-memory", "0=4MiB", "--cuda-evict", "delete"]
    alone, shared = store(MIB, *flags).client(), store(MIB, *flags, "--cuda-pack-small").client()
    for number in range(10):
        put(alone, number, 100_000)
        put(shared, number, 100_000)
    assert len(alone.list()) == 2
    assert len(shared.list()) == 10


@our_own
def test_evicted_objects_are_deleted_if_that_is_wanted(gpus, store):
    server = store(MIB, "--cuda-memory", "0=8MiB", "--cuda-evict", "delete")
    client = server.client()
    subscription = client.subscribe()
    for number in range(6):
        put(client, number, 2 * MIB)
    assert set(client.list()) == {oid(number) for number in range(2, 6)}
    assert subscription.events(8) == [
        (oid(0), False),
        (oid(1), False),
        (oid(2), False),
        (oid(3), False),
        (oid(0), True),
        (oid(4), False),
        (oid(1), True),
        (oid(5), False),
    ]


@our_own
def test_devices_and_host_do_not_push_each_other_out(gpus, store):
    client = store(8 * MIB, "--cuda-memory", "4MiB", "--cuda-evict", "delete").client()
    put(client, 1, 2 * MIB, device=1)
    put(client, 2, 2 * MIB, device=2)
    client.leave(oid(3), MIB)
    for number in range(10, 20):
        put(client, number, 4 * MIB, device=1)
    assert client.contains(oid(2)) and client.contains(oid(3)) and not client.contains(oid(1))
    for number in range(20, 40):
        client.leave(oid(number), 2 * MIB)
    assert client.contains(oid(2)) and client.contains(oid(19))
    assert client.evict(100 * MIB) > 0
    assert client.contains(oid(2)) and client.contains(oid(19))


# What goes wrong.


def test_memory_that_cannot_be_had(gpus, store):
    server = store(MIB)
    client = server.client()
    fault(gpus, "cuMemAlloc_v2 2")
    assert create(client, 1, 100) == wire.FULL
    fault(gpus, "cuIpcGetMemHandle 801")
    assert create(client, 1, 100) == wire.FULL
    fault(gpus)
    assert create(client, 1, 100) == wire.OK


def test_memory_that_others_use_up(gpus, store):
    """Two stores have one device: what the first has taken the second cannot get."""
    one, two = store(MIB).client(), store(MIB).client()
    assert create(one, 1, 180 * MIB) == wire.OK
    assert create(two, 1, 180 * MIB) == wire.FULL
    assert create(two, 2, 30 * MIB) == wire.OK


@our_own
def test_a_copy_that_fails(gpus, store):
    """The object stays where it is."""
    client = store(MIB * 100, "--cuda-memory", "0=4MiB").client()
    put(client, 1, 2 * MIB)
    put(client, 2, 2 * MIB)
    fault(gpus, "cuMemcpyDtoHAsync_v2 1")
    assert create(client, 3, 2 * MIB) == wire.FULL
    assert get(client, 1) is not None and get(client, 2) is not None
    fault(gpus)
    client.release(oid(1))
    put(client, 3, 2 * MIB)
    fault(gpus, "cuMemcpyHtoDAsync_v2 1")
    # Either that, or the one that went for the last; one of the two is out.
    client.release(oid(2))
    assert get(client, 1) is None
    assert client.contains(oid(1))
    fault(gpus)
    assert get(client, 1, 5000) is not None


@our_own
@pytest.mark.parametrize("call", ["cuMemcpyDtoHAsync_v2", "cuMemAlloc_v2", "cuStreamSynchronize"])
def test_a_device_that_is_lost(gpus, store, call):
    """Its objects are gone, and everybody is told; nothing else is."""
    server = store(100 * MIB, "--cuda-memory", "4MiB")
    client, other = server.client(), server.client()
    put(client, 1, 2 * MIB)
    put(client, 2, 2 * MIB, device=2)
    assert client.create_and_seal(oid(3), b"host") == wire.OK
    assert get(other, 1) is not None
    subscription = other.subscribe()
    known = {subscription.next_one().object_id for _ in range(3)}
    assert known == {oid(1), oid(2), oid(3)}
    put(client, 4, 2 * MIB)
    assert subscription.events(1) == [(oid(4), False)]
    fault(gpus, call + " 719")
    assert create(client, 5, 2 * MIB) == wire.FULL
    gone = {subscription.next_one().object_id for _ in range(2)}
    assert gone == {oid(1), oid(4)}
    fault(gpus)
    assert create(client, 6, 100) == wire.FULL
    assert get(client, 1) is None
    assert get(client, 2) is not None
    put(client, 7, 2 * MIB, device=2)
    assert client.contents(oid(3)) == (b"host", b"")
    assert "device 0 is lost" in server.log()


@our_own
@pytest.mark.parametrize("call", ["cuMemAlloc_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2"])
def test_nobody_else_waits_for_a_device(gpus, store, call):
    """A slow call holds up who needs it, and the first reply comes after others'."""
    server = store(100 * MIB, "--cuda-memory", "0=4MiB", "--cuda-cache", "0")
    client, other = server.client(), server.client()
    for number in range(1, 4):
        put(client, number, 2 * MIB)
    fault(gpus, call + " sleep 700")
    if call == "cuMemcpyHtoDAsync_v2":
        client.send_get([oid(1)], -1)
    else:
        client.send(wire.CREATE, wire.create_body(oid(9), 2 * MIB, 0, True, 1))
    for _ in range(20):
        other.sync()
    assert client.quiet()
    client.expect(wire.GET_REPLY if call == "cuMemcpyHtoDAsync_v2" else wire.CREATE_REPLY)


@our_own
@pytest.mark.isolated
@pytest.mark.parametrize("flags, expected", [([], b"secret"), (["--zero-on-free"], b"\0" * 6)])
def test_memory_is_cleared_if_that_is_wanted(gpus, prepared, store, flags, expected):
    """Of the next object in the same memory."""
    server = store(MIB, "--cuda-memory", "0=2MiB", "--cuda-cache", "2MiB", *flags)
    client = server.client()
    driver = ctypes.CDLL(str(prepared / "driver" / "libcuda.so.1"))
    context = ctypes.c_void_p()
    assert driver.cuInit(0) == 0
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert driver.cuCtxSetCurrent(context) == 0

    class Handle(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_char * 64)]

    driver.cuIpcOpenMemHandle_v2.argtypes = [ctypes.c_void_p, Handle, ctypes.c_uint]

    def open_object(number):
        assert create(client, number, 1000) == wire.OK
        assert client.seal(oid(number)) == wire.OK
        opened = get(client, number)
        assert int.from_bytes(opened[:8], "little") == 1000
        address = ctypes.c_uint64()
        handle = Handle.from_buffer_copy(opened[8:])
        assert driver.cuIpcOpenMemHandle_v2(ctypes.byref(address), handle, 1) == 0
        return address

    first = open_object(1)
    assert driver.cuMemcpyHtoD_v2(first, b"secret", 6) == 0
    assert driver.cuIpcCloseMemHandle(first) == 0
    client.release(oid(1))
    client.delete([oid(1)])
    second = open_object(2)
    found = ctypes.create_string_buffer(6)
    assert driver.cuMemcpyDtoH_v2(found, second, 6) == 0
    assert found.raw == expected


# The doctor.


def doctor():
    done = subprocess.run(
        [os.environ["PLASMA_STORE_SERVER"], "--cuda-doctor"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout


@our_own
def test_doctor_finds_everything_well(gpus):
    code, text = doctor()
    assert code == 0 and "FAILED" not in text
    assert text.count("0 bytes of neighbours exposed, closed") == 2


@our_own
@pytest.mark.parametrize(
    "call, step",
    [
        ("cuDevicePrimaryCtxRetain", "context"),
        ("cuIpcGetMemHandle", "export"),
        ("cuMemcpyHtoDAsync_v2", "write"),
        ("cuIpcOpenMemHandle_v2", "open in another process"),
        ("cuMemFree_v2", "free"),
    ],
)
def test_doctor_finds_what_is_wrong(gpus, call, step):
    fault(gpus, call + " 999")
    code, text = doctor()
    assert code == 1
    assert "FAILED device 0, %s: " % step in text and call in text
