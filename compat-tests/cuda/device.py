#!/usr/bin/env python3
"""Everything about GPU objects that only a real GPU can show, beside the original.

    python compat-tests/cuda/prepare.py             # once, prints FOLDER
    python compat-tests/cuda/device.py SERVER FOLDER [WORD ...]

SERVER is this project's server. With words, only the parts that have one of
them in their name are run. Needs no package but Python's own. It starts both
servers on sockets of its own, runs the same program on the same unchanged
client library against each, and prints what came of it. Ends with 0 if all
scenarios went well on SERVER.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "suite"))

import wire  # noqa: E402

MIB = 1 << 20
GIB = 1 << 30

# What is run, with 4 GiB of the device.
SCENARIOS = [
    ["round-trip"],
    ["abort-and-delete"],
    ["repeated"],
    ["lifetime"],
    ["two-clients"],
    ["mixed"],
    ["notifications"],
    ["vovp"],
    ["kill-writer", str(256 * MIB)],
    ["kill-reader", str(256 * MIB)],
    ["devices", "1"],
    ["two-stores"],
]
# The original refuses what does not fit, and has no sandbox.
OURS_ONLY = [
    ["limit", "40", str(256 * MIB)],
    ["open-while-full", str(512 * MIB)],
    ["round-trip", "--sandbox"],
]
SIZES = [("1 KB", 1000, 300), ("1 MB", 10**6, 300), ("256 MB", 256 * 10**6, 15)]
LARGEST = ("4 GB", 4 * 10**9, 3)


class Server:
    def __init__(self, command, library=None):
        self.folder = tempfile.mkdtemp(prefix="plasma-device-")
        self.socket = os.path.join(self.folder, "s")
        self.log = os.path.join(self.folder, "log")
        environment = dict(os.environ)
        if library:
            environment["LD_LIBRARY_PATH"] = library
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [*command, "-s", self.socket, "-m", str(8 * 10**9)],
                stdout=log,
                stderr=log,
                env=environment,
            )
        for _ in range(600):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.connect(self.socket)
                return
            time.sleep(0.05)
        raise SystemExit("%s does not start:\n%s" % (command[0], Path(self.log).read_text()))

    def end(self):
        """How it ended: 0, unless it had died before."""
        early = self.process.poll()
        if early is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=60)
        words = Path(self.log).read_text().splitlines()
        shutil.rmtree(self.folder)
        return early, words


@contextlib.contextmanager
def running(command, library=None):
    server = Server(command, library)
    try:
        yield server
    finally:
        server.end()


def say(text):
    print(text, flush=True)


def client(folder, program, server, *words):
    """What a program on the official client prints, and how it ended."""
    command = [str(folder / program), server.socket, *words]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300
    )
    return done.returncode, done.stdout.strip().splitlines()


def scenarios(folder, servers, wants):
    well = True
    for words in SCENARIOS + OURS_ONLY:
        if not wants(words[0]):
            continue
        for name, command, library in servers:
            if name == "original" and words in OURS_ONLY:
                continue
            flags = []
            if name == "ours":
                # Nothing is kept for later where free memory is compared.
                flags = ["--cuda-cache", "0" if "kill" in words[0] else "1GiB"]
                flags += ["--cuda-memory", "0=4GiB"]
            flags += [word for word in words if word.startswith("--") and name == "ours"]
            server = Server([*command, *flags], library)
            more = []
            if words[0] == "two-stores":
                more = [Server([*command, *flags], library)]
            arguments = [word for word in words if not word.startswith("--")]
            arguments += [other.socket for other in more]
            code, lines = client(folder, "walkthrough", server, *arguments)
            for other in more:
                other.end()
            early, log = server.end()
            outcome = lines[-1] if lines else "nothing is printed"
            say("| %s | %s | %s |" % (" ".join(words), name, outcome))
            if early is not None:
                say("  the server has died (%s): %s" % (early, " / ".join(log[-12:])[:900]))
            if name == "ours":
                well = well and code == 0
    return well


# ---- requests and replies alone, without what the client library does ----


def receive_bytes(connection, count):
    parts = b""
    while len(parts) < count:
        part = connection.recv(count - len(parts))
        if not part:
            raise ConnectionError("the server has closed the connection")
        parts += part
    return parts


def receive(connection, kind):
    _, found, length = struct.unpack("<qqq", receive_bytes(connection, 24))
    assert found == kind, found
    return receive_bytes(connection, length)


def timed(connection, message, kind):
    start = time.perf_counter()
    connection.sendall(message)
    receive(connection, kind)
    return (time.perf_counter() - start) * 1e6


def replies(server, size, rounds):
    """Microseconds from a create, and from a get, to the reply."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(server.socket)
    object_id = wire.oid(1)
    create = wire.message(wire.CREATE, wire.create_body(object_id, size, 0, True, 1))
    seal = wire.message(wire.SEAL, wire.seal_body(object_id))
    get = wire.message(wire.GET, wire.get_body([object_id], -1))
    release = wire.message(wire.RELEASE, wire.id_body(object_id))
    delete = wire.message(wire.DELETE, wire.delete_body([object_id]))
    creates, gets = [], []
    for _ in range(rounds):
        creates.append(timed(connection, create, wire.CREATE_REPLY))
        timed(connection, seal, wire.SEAL_REPLY)
        connection.sendall(release)
        gets.append(timed(connection, get, wire.GET_REPLY))
        connection.sendall(release)
        timed(connection, delete, wire.DELETE_REPLY)
        # What is freed is cleared up behind the reply.
        time.sleep(0.0005)
    connection.close()
    return statistics.median(creates), statistics.median(gets)


def exported(server, size):
    """What opens an object of a server."""
    client = wire.Client(server.socket)
    client.request(wire.CREATE, wire.create_body(wire.oid(1), size, 0, True, 1))
    client.seal(wire.oid(1))
    reply = client.request(wire.GET, wire.get_body([wire.oid(1)], -1))
    return bytes(reply.tables(4)[0].scalars(0, "B"))[8:]

# ---- the driver alone ----


class Driver:
    def __init__(self):
        self.functions = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        code = getattr(self.functions, name)(*arguments)
        if code != 0:
            raise SystemExit("%s fails with error %d" % (name, code))

    def open_and_close(self, handle, rounds):
        """Microseconds to open memory of another process, and to close it."""

        class Handle(ctypes.Structure):
            _fields_ = [("bytes", ctypes.c_char * 64)]

        by_value = Handle.from_buffer_copy(handle)
        address, opens, closes = ctypes.c_uint64(), [], []
        for _ in range(rounds):
            start = time.perf_counter()
            self("cuIpcOpenMemHandle_v2", ctypes.byref(address), by_value, 1)
            middle = time.perf_counter()
            self("cuIpcCloseMemHandle", address)
            opens.append((middle - start) * 1e6)
            closes.append((time.perf_counter() - middle) * 1e6)
        return statistics.median(opens), statistics.median(closes)

    def allocate_and_export(self, size, rounds):
        times = []
        for _ in range(rounds):
            address, handle = ctypes.c_uint64(), ctypes.create_string_buffer(64)
            start = time.perf_counter()
            self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
            self("cuIpcGetMemHandle", handle, address)
            times.append((time.perf_counter() - start) * 1e6)
            self("cuMemFree_v2", address)
        return statistics.median(times)


def figures(folder, servers, wants):
    flags = ["--cuda-memory", "0=40GiB", "--cuda-cache", "10GiB"]
    both = {name: (command, library) for name, command, library in servers}

    def of_both(measure):
        """Medians of three interleaved rounds."""
        rounds = []
        for _ in range(3):
            results = []
            for name in ("ours", "original"):
                command, library = both[name]
                with running(command + (flags if name == "ours" else []), library) as server:
                    try:
                        results.append(measure(server))
                    except (OSError, subprocess.TimeoutExpired) as error:
                        say("  %s: %s" % (name, error))
                        results.append(float("nan"))
            rounds.append(results)
        return [statistics.median(values) for values in zip(*rounds)]

    if wants("replies"):
        for title, size in (("64 KB", 64000), ("2 MiB", 2 * MIB), ("64 MiB", 64 * MIB)):
            for place, what in ((0, "create"), (1, "get")):
                ours, original = of_both(lambda server, s=size, p=place: replies(server, s, 300)[p])
                say(
                    "| %s of %s, request to reply | %.0f us | %.0f us | %.2f |"
                    % (what, title, ours, original, ours / original)
                )
    if wants("driver"):
        driver = Driver()
        for title, size in (("2 MiB", 2 * MIB), ("256 MiB", 256 * MIB)):
            microseconds = driver.allocate_and_export(size, 50)
            say("| allocate and export %s | %.0f us | | |" % (title, microseconds))

            def open_one(server, size=size):
                return driver.open_and_close(exported(server, size), 50)[0]

            ours, original = of_both(open_one)
            say(
                "| open %s in the client | %.0f us | %.0f us | %.2f |"
                % (title, ours, original, ours / original)
            )
    if wants("bandwidth"):
        for title, size, rounds in [*SIZES, LARGEST]:
            for mode in ("put", "get"):

                def measure(server, mode=mode, size=size, rounds=rounds):
                    code, lines = client(folder, "bench", server, mode, str(size), str(rounds))
                    if code != 0:
                        say("  bench %s %d: %s" % (mode, size, lines))
                        return float("nan")
                    return float(lines[-1])

                ours, original = of_both(measure)
                say(
                    "| %s of %s | %.0f us, %.1f GB/s | %.0f us, %.1f GB/s | %.2f |"
                    % (
                        *(mode, title, ours, size / ours / 1e3),
                        *(original, size / original / 1e3, ours / original),
                    )
                )
    if wants("evict"):
        command, library = both["ours"]
        size, count = 512 * MIB, 16
        limits = ["--cuda-memory", "0=4GiB", "--cuda-host-memory", "16GiB"]
        with running([*command, *limits], library) as server:
            code, lines = client(folder, "bench", server, "evict", str(size), str(count))
            if code != 0:
                say("  bench evict: %s" % lines)
            else:
                create, get = map(float, lines[-1].split())
                for what, time_us, copied in (
                    ("a create of 512 MiB that evicts one", create, size),
                    ("a get that evicts one and restores one", get, 2 * size),
                ):
                    speed = (what, time_us / 1e3, copied / time_us / 1e3)
                    say("| %s | %.1f ms, %.1f GB/s | | |" % speed)


def main(arguments):
    if len(arguments) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    server, folder, words = arguments[0], Path(arguments[1]).resolve(), arguments[2:]
    library = str(folder / "vovp_lib")
    outside = os.environ.get("LD_LIBRARY_PATH")
    if outside:
        library += ":" + outside
    servers = [
        ("ours", [server], None),
        ("original", [str(folder / "vovp_lib" / "plasma-store-server")], library),
    ]

    def wants(name):
        return not words or any(word in name for word in words)

    well = True
    if wants("doctor"):
        well = subprocess.run([server, "--cuda-doctor"]).returncode == 0
    if any(wants(scenario[0]) for scenario in SCENARIOS + OURS_ONLY):
        say("| scenario | server | outcome |\n| --- | --- | --- |")
        well = scenarios(folder, servers, wants) and well
    say("| what | ours | original | ratio |\n| --- | --- | --- | --- |")
    figures(folder, servers, wants)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
