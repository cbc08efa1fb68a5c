"""Command line and process behaviour, seen from outside.

A test without a marker holds on the reference server too. `defect` names the
entry of its list of defects that makes it fail there, `deviation` names a
deliberate difference that is no defect.
"""

import os
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pyarrow.plasma as plasma
import pytest

import wire

SERVER = os.path.abspath(os.environ["PLASMA_STORE_SERVER"])
PROGRAM = os.path.basename(SERVER)
# Generous: nothing here measures speed.
READY_LIMIT = 5
END_LIMIT = 5
# A client that waits in native code is set free by the death of its server.
KILL_AFTER = 25
MILLION = 1_000_000

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


# The program under test, in a folder of its own.


class Result:
    """What a server that ended by itself left behind; status None: it did not end."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    @property
    def last_line(self):
        return (self.err.splitlines() or [""])[-1]


class Server:
    """A server process of one test; its output goes to files or to given ends."""

    def __init__(self, folder, flags, reference, argv0=None, executable=SERVER, **popen):
        self.folder = folder
        self.reference = reference
        # Unnamed files: the folder shows only what the server puts there.
        self.out_file = tempfile.TemporaryFile()
        self.err_file = tempfile.TemporaryFile()
        options = {
            "stdin": subprocess.DEVNULL,
            "stdout": self.out_file,
            "stderr": self.err_file,
            "cwd": folder,
            **popen,
        }
        command = [argv0 or executable, *map(str, flags)]
        self.process = subprocess.Popen(command, executable=executable, **options)
        self.pid = self.process.pid

    def out(self):
        return read_from_start(self.out_file)

    def err(self):
        return read_from_start(self.err_file)

    def alive(self):
        return self.process.poll() is None

    def wait_ready(self, path):
        """Wait until the socket accepts, seen from the server's folder."""

        def ready():
            assert self.alive(), "the server ended at its start: " + self.err()
            return accepts(self.folder / path)

        wait_until(ready, READY_LIMIT, "the server accepts at %s" % path)

    def end(self, number=signal.SIGTERM):
        """Send the signal; the exit status."""
        self.process.send_signal(number)
        if self.reference:
            # It may lose a signal that comes just before it goes to sleep.
            for _ in range(END_LIMIT - 1):
                try:
                    return self.process.wait(1)
                except subprocess.TimeoutExpired:
                    self.process.send_signal(number)
        return self.process.wait(END_LIMIT)

    def kill(self):
        if self.alive():
            self.process.kill()
        self.process.wait()


def read_from_start(file):
    return os.pread(file.fileno(), 1 << 20, 0).decode("utf-8", "replace")


def wait_until(condition, limit, what):
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline, "not within %d s: %s" % (limit, what)
        time.sleep(0.01)


def raw_connection(path):
    """A connection, or None if nobody listens there."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # A server that hangs lets connections pile up until one has to wait. This
    # bounds the wait; Python's own time limit would not wait at all.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", READY_LIMIT, 0))
    try:
        connection.connect(str(path))
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    return connection


def accepts(path):
    connection = raw_connection(path)
    if connection:
        connection.close()
    return connection is not None


def capacity(path):
    client = plasma.connect(str(path), num_retries=3)
    try:
        return client.store_capacity()
    finally:
        client.disconnect()


def put(path, size):
    """Put an object and leave it there."""
    client = plasma.connect(str(path), num_retries=3)
    client.create_and_seal(plasma.ObjectID.from_random(), b"x" * size)
    client.disconnect()


@pytest.fixture
def folder():
    # Not pytest's: those are too deep for a socket.
    path = Path(tempfile.mkdtemp(prefix="p-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def launch(folder, request):
    """Starts servers: launch(*flags, **how); all are killed at the end."""
    servers = []
    reference = request.config.getoption("--reference", False)

    def start(*flags, **how):
        server = Server(folder, flags, reference, **how)
        servers.append(server)
        return server

    def kill_all():
        for server in list(servers):
            server.process.kill()

    watchdog = threading.Timer(KILL_AFTER, kill_all)
    watchdog.daemon = True
    watchdog.start()
    yield start
    watchdog.cancel()
    for server in servers:
        server.kill()


@pytest.fixture
def serve(launch):
    """Starts a server and waits until it accepts: serve(*flags, path="s", **how)."""

    def start(*flags, path="s", m=MILLION, **how):
        server = launch("-s", path, "-m", m, *flags, **how)
        server.wait_ready(path)
        return server

    return start


@pytest.fixture
def run(launch):
    """Runs a server that has to end by itself: run(*flags, **how)."""

    def start(*flags, **how):
        server = launch(*flags, **how)
        try:
            status = server.process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            status = None
            server.kill()
        return Result(status, server.out(), server.err())

    return start


def assert_refused(result, message, program=PROGRAM):
    """Exit status 1 and, to the letter, this message as the last word."""
    assert result.status == 1, result.err
    assert result.out == ""
    assert result.last_line == message.replace("PROGRAM", program)


def assert_plain_error(result):
    """Exit status 1 and a sentence that a person can use, not a crash report."""
    assert result.status == 1, "status %s: %s" % (result.status, result.err)
    assert result.out == ""
    assert result.last_line.startswith(PROGRAM + ": "), result.err
    assert len(result.last_line.split()) > 3
    for word in ("panicked", "Check failed", "RUST_BACKTRACE", "stack backtrace"):
        assert word not in result.err


# Flags and their values

NO_SOCKET = "PROGRAM: please specify socket for incoming connections with -s"
NO_MEMORY = "PROGRAM: please specify the amount of memory (in bytes) to use with -m"
NEITHER = NO_SOCKET + ", and the amount of memory (in bytes) to use with -m"
NOT_A_NUMBER = "PROGRAM: -m switch takes memory in bytes, with no letter suffix allowed"
NO_HUGE_FOLDER = (
    "PROGRAM: if you want to use hugepages, "
    "please specify path to huge pages filesystem with -d"
)
MISSING = "ERROR: flag '%s' is missing its argument; flag description: %s"
DESCRIPTIONS = {
    "s": "socket name where the Plasma store will listen for requests, required",
    "m": "amount of memory in bytes to use for Plasma store, required",
    "d": "directory where to create the memory-backed file",
    "e": "endpoint for external storage service, where objects evicted from "
    "Plasma store can be written to, optional",
}


@pytest.mark.parametrize("dashes", ["-", "--"])
@pytest.mark.parametrize("form", ["separate", "joined"])
def test_dash_and_value_forms(launch, folder, dashes, form):
    (folder / "data").mkdir()
    flags = []
    for name, value in {"s": "s", "m": "2000000", "d": "data", "e": "hashtable://x"}.items():
        separate = [dashes + name, value]
        flags += separate if form == "separate" else ["=".join(separate)]
    server = launch(*flags, dashes + "h=false")
    server.wait_ready("s")
    assert capacity(folder / "s") == 2_000_000


def test_last_occurrence_wins(launch, folder):
    server = launch("-s", "a", "-m", 10_000, "--m=20000", "-s=b", "-m", 30_000)
    server.wait_ready("b")
    assert capacity(folder / "b") == 30_000
    assert not (folder / "a").exists()


def test_last_occurrence_of_a_bool_wins(run):
    assert_refused(run("-m", 10_000, "-s", "s", "-d=", "-noh", "-h"), NO_HUGE_FOLDER)


def test_an_early_bad_number_is_forgotten(serve, folder):
    # Only the last value counts; serve gives another one before these flags.
    serve("-m", "nonsense", "-m", "50000")
    assert capacity(folder / "s") == 50_000


def test_positional_arguments_are_ignored(launch, folder):
    server = launch("these", "-s", "s", "are", "-m", 10_000, "ignored", "-")
    server.wait_ready("s")


def test_two_dashes_end_the_flags(run):
    assert_refused(run("-m", 10_000, "--", "-s", "s"), NO_SOCKET)


def test_flags_after_two_dashes_are_not_even_checked(serve):
    serve("--", "-unknown", "-m")


def test_a_flag_takes_the_next_argument_whatever_it_is(run, folder):
    # The socket is "-m", so the memory is missing.
    assert_refused(run("-s", "-m"), NO_MEMORY)
    assert_refused(run("-m", "--", "-s", "s"), NOT_A_NUMBER)


@pytest.mark.parametrize(
    "argument, name",
    [
        ("-x", "x"),
        ("--x", "x"),
        ("-x=1", "x"),
        ("-m1000", "m1000"),
        ("--m1000", "m1000"),
        ("-ss", "ss"),
        ("-M", "M"),
        ("---m", "-m"),
        ("-nox", "nox"),
        ("--bytes", "bytes"),
    ],
)
def test_unknown_flag(run, argument, name):
    result = run("-s", "s", "-m", 10_000, argument)
    assert_refused(result, "ERROR: unknown command line flag '%s'" % name)


@pytest.mark.parametrize("name", sorted(DESCRIPTIONS))
@pytest.mark.parametrize("dashes", ["-", "--"])
def test_flag_without_value(run, dashes, name):
    # Unlike the other messages, this one quotes the flag as it was typed.
    assert_refused(run(dashes + name), MISSING % (dashes + name, DESCRIPTIONS[name]))


@pytest.mark.parametrize(
    "argument",
    ["-h", "--h", "-h=true", "-h=t", "-h=yes", "-h=y", "-h=1", "--h=true", "-h=TRUE", "-h=Yes"],
)
def test_huge_pages_on(run, argument):
    assert_refused(run("-s", "s", "-m", 10_000, "-d=", argument), NO_HUGE_FOLDER)


@pytest.mark.parametrize(
    "argument",
    ["-h=false", "-h=f", "-h=no", "-h=n", "-h=0", "-noh", "--noh", "--h=false", "-h=FALSE"],
)
def test_huge_pages_off(serve, argument):
    serve(argument)


def test_a_bool_does_not_take_the_next_argument(run):
    assert_refused(run("-s", "s", "-m", 10_000, "-d=", "-h", "false"), NO_HUGE_FOLDER)


@pytest.mark.parametrize("value", ["maybe", "", "2", "truee", "on"])
def test_bad_bool(run, value):
    result = run("-s", "s", "-m", 10_000, "-h=" + value)
    assert_refused(result, "ERROR: illegal value '%s' specified for bool flag 'h'" % value)


@pytest.mark.parametrize("value", ["10000", " 10000", "   10000", "\t10000", "+10000", " +10000"])
def test_memory_is_accepted(launch, folder, value):
    server = launch("-s", "s", "-m", value)
    server.wait_ready("s")
    assert capacity(folder / "s") == 10_000


@pytest.mark.parametrize(
    "value",
    ["1g", "10000k", "1GiB", "1.5", "1e6", "0x10", "1000000 ", "1 000", "1_000", "abc", "-", " "]
    + ["+-5", "10000\n", "1000000B"],
)
def test_memory_is_no_number(run, value):
    assert_refused(run("-s", "s", "-m", value), NOT_A_NUMBER)


ECHO = "Allowing the Plasma store to use up to %sGB of memory."


@pytest.mark.parametrize("size, text", [(10_000, "1e-05"), (2**30, "1.07374"), (10**11, "100")])
def test_memory_is_echoed_at_the_start(serve, size, text):
    server = serve(m=size)
    wait_until(lambda: ECHO % text in server.err(), READY_LIMIT, "the memory is echoed")


@pytest.mark.parametrize(
    "value, text",
    [
        ("10000", "1e-05"),
        ("2048", "2.048e-06"),
        ("10000000", "0.01"),
        ("1073741824", "1.07374"),
        ("100000000000", "100"),
        ("123456789012345", "123457"),
        ("1234567890123456", "1.23457e+06"),
        ("-1", "-1e-09"),
    ],
)
def test_memory_is_echoed_before_the_socket_is_missed(run, value, text):
    assert ECHO % text in run("-m", value).err


# The order of the checks


@pytest.mark.parametrize(
    "flags, message",
    [
        ([], NEITHER),
        (["-m="], NEITHER),
        (["-s=", "-m", ""], NEITHER),
        (["-h", "-d=", "-e", "x"], NEITHER),
        (["-m", "10000"], NO_SOCKET),
        (["-m", "1000"], NO_SOCKET),
        (["-m", "10000", "-s", ""], NO_SOCKET),
        (["-m", "10000", "-h", "-d="], NO_SOCKET),
        (["-s", "s"], NO_MEMORY),
        (["-s", "s", "-m", ""], NO_MEMORY),
        (["-s", "s", "-m", "-1"], NO_MEMORY),
        (["-s", "s", "-h", "-d="], NO_MEMORY),
        (["-m", "1g"], NOT_A_NUMBER),
        (["-m", "1g", "-h", "-d="], NOT_A_NUMBER),
        (["-m", "10000", "-s", "s", "-h", "-d="], NO_HUGE_FOLDER),
        (["-m", "1000", "-s", "s", "-h", "-d="], NO_HUGE_FOLDER),
        (["-m", "10000", "-s", "s", "-h", "-d=", "-e", "x"], NO_HUGE_FOLDER),
        (["-m", "1g", "-x"], "ERROR: unknown command line flag 'x'"),
        (["-m", "1g", "-h=x"], "ERROR: illegal value 'x' specified for bool flag 'h'"),
        (["-m", "1g", "-s"], MISSING % ("-s", DESCRIPTIONS["s"])),
    ],
    ids=" ".join,
)
def test_order_of_the_checks(run, folder, flags, message):
    assert_refused(run(*flags), message)
    assert os.listdir(folder) == []


@pytest.mark.parametrize("endpoint", ["foo:bar", "foo://bar", "hashtables://x", "Hashtable:x"])
def test_unknown_external_store(run, folder, endpoint):
    name = endpoint.partition(":")[0]
    message = 'PROGRAM: no such external store "%s"' % name
    assert_refused(run("-s", "s", "-m", 10_000, "-e", endpoint), message)
    # It is found out before the memory and the folder are looked at.
    assert_refused(run("-s", "s", "-m", 1000, "-e", endpoint, "-d", "missing"), message)
    assert os.listdir(folder) == []


def test_external_store_without_a_name(run):
    message = 'PROGRAM: no such external store ""'
    assert_refused(run("-s", "s", "-m", 10_000, "-e", ":x"), message)


@pytest.mark.parametrize("endpoint", ["hashtable://test", "hashtable:", "hashtable:any thing"])
def test_known_external_store(serve, endpoint):
    serve("-e", endpoint)


@pytest.mark.deviation("plain errors")
@pytest.mark.parametrize("endpoint", ["nocolon", "hashtable"])
def test_malformed_external_store(run, endpoint):
    assert_plain_error(run("-s", "s", "-m", 10_000, "-e", endpoint))


# Help and version


@pytest.mark.parametrize("argument", ["--help", "-help"])
def test_help(run, argument):
    result = run(argument)
    assert result.status == 1
    assert result.err == ""
    for name in "smdhe":
        assert re.search(r"^\s+--?%s\b" % name, result.out, re.MULTILINE), name


@pytest.mark.parametrize("argument", ["--version", "-version"])
def test_version(run, argument):
    result = run(argument)
    assert result.status == 0
    assert result.err == ""
    assert re.fullmatch(r"plasma-store-server version \d+\.\d+\.\d+\S*\n", result.out)


def test_help_and_version_need_nothing_else(run):
    assert run("-s", "s", "--help", "-m", "1g").status == 1
    assert run("-m", "1g", "--version").status == 0


# Names


@pytest.mark.parametrize("name", ["plasma_store", "plasma_store_server", "plasma-store-server"])
def test_program_name_is_that_of_the_link(run, folder, name):
    link = folder / name
    link.symlink_to(SERVER)
    assert_refused(run(executable=str(link)), NEITHER, name)
    assert_refused(run("-m", "1g", executable=str(link)), NOT_A_NUMBER, name)


@pytest.mark.parametrize("argv0", ["plasma_store", "/some/where/plasma_store", "./plasma_store"])
def test_program_name_is_the_base_name_of_argv0(run, argv0):
    assert_refused(run(argv0=argv0), NEITHER, "plasma_store")


@pytest.mark.parametrize("name", [None, "plasma_store"])
def test_process_name_begins_with_plasma(serve, folder, name):
    executable = SERVER
    if name:
        executable = str(folder / name)
        os.symlink(SERVER, executable)
    server = serve(executable=executable)
    put(folder / "s", 100)
    comm = Path("/proc/%d/comm" % server.pid).read_text()
    assert comm.startswith("plasma")
    assert (folder / "s").exists()


# Memory


@pytest.mark.parametrize("size", [2048, 10_000, MILLION, 2**30])
def test_capacity_is_the_flag(serve, folder, size):
    serve(m=size)
    assert capacity(folder / "s") == size


@pytest.mark.parametrize("size", [100 * 10**9, 100 * 2**30])
def test_more_memory_than_there_is(serve, folder, size):
    serve(m=size)
    assert capacity(folder / "s") == size
    put(folder / "s", MILLION)


@pytest.mark.defect("D32")
@pytest.mark.parametrize("size", [1000, 2047, 1, 0, -2, -1000])
def test_too_little_memory(run, folder, size):
    assert_plain_error(run("-s", "s", "-m", size))
    assert os.listdir(folder) == []


@pytest.mark.deviation("plain errors")
def test_absurd_memory_is_no_crash(launch, folder):
    server = launch("-s", "s", "-m", "99999999999999999999")
    wait_until(lambda: not server.alive() or accepts(folder / "s"), READY_LIMIT, "a decision")
    assert server.process.returncode in (None, 1)


@pytest.mark.parametrize("absolute", [True, False])
def test_directory_holds_the_memory(serve, folder, absolute):
    data = folder / "data"
    data.mkdir()
    server = serve("-d", data if absolute else "data")
    put(folder / "s", 100_000)
    links = [os.readlink(link) for link in Path("/proc/%d/fd" % server.pid).iterdir()]
    assert any(link.startswith(str(data) + "/") for link in links), links
    # There is memory, but no name for it.
    assert os.listdir(data) == []


@pytest.mark.deviation("plain errors")
def test_missing_directory(run, folder):
    assert_plain_error(run("-s", "s", "-m", 10_000, "-d", folder / "missing"))
    assert os.listdir(folder) == []


@pytest.mark.deviation("plain errors")
def test_directory_is_a_file(run, folder):
    (folder / "file").write_text("kept")
    assert_plain_error(run("-s", "s", "-m", 10_000, "-d", folder / "file"))
    assert (folder / "file").read_text() == "kept"
    assert os.listdir(folder) == ["file"]


@pytest.mark.deviation("plain errors")
def test_empty_directory_name(run):
    assert_plain_error(run("-s", "s", "-m", 10_000, "-d", ""))


@pytest.mark.defect("D32")
@pytest.mark.parametrize("directory", [None, "/dev/shm", "."])
def test_huge_pages_without_hugetlbfs(run, folder, directory):
    flags = ["-d", directory] if directory else []
    assert_plain_error(run("-s", "s", "-m", 10**13, "-h", *flags))
    assert os.listdir(folder) == []


def memory_files():
    return {name for name in os.listdir("/dev/shm") if name.startswith("plasma")}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_stays_in_shared_memory(serve, folder, number):
    before = memory_files()
    server = serve()
    put(folder / "s", 100_000)
    server.end(number)
    # Servers of other tests may have a name there for a moment.
    wait_until(lambda: memory_files() <= before, 2, "nothing new in /dev/shm")


# The socket


def test_absolute_and_relative_path(serve, folder):
    serve(path="relative")
    serve(path=str(folder / "absolute"))
    (folder / "sub").mkdir()
    serve(path="sub/../sub/./s")
    assert stat.S_ISSOCK(os.stat(folder / "sub" / "s").st_mode)


def test_longest_path(serve, folder):
    path = str(folder) + "/"
    path += "x" * (107 - len(path))
    serve(path=path)
    assert capacity(path) == MILLION


def test_longest_relative_path(launch, folder):
    # The whole path is too long for this process to connect to.
    (folder / "link").symlink_to("y" * 107)
    server = launch("-s", "y" * 107, "-m", MILLION)
    server.wait_ready("link")


@pytest.mark.deviation("plain errors")
@pytest.mark.parametrize("length", [108, 109, 1000])
def test_too_long_path(run, folder, length):
    assert_plain_error(run("-s", "x" * length, "-m", MILLION))
    assert os.listdir(folder) == []


@pytest.mark.deviation("plain errors")
def test_path_in_a_missing_folder(run, folder):
    assert_plain_error(run("-s", "missing/s", "-m", MILLION))
    assert os.listdir(folder) == []


@pytest.mark.parametrize("umask, mode", [(0o022, 0o755), (0o077, 0o700), (0o007, 0o770)])
def test_mode_follows_the_umask(serve, folder, umask, mode):
    serve(umask=umask)
    assert stat.S_IMODE(os.stat(folder / "s").st_mode) == mode


def test_stale_socket_is_replaced(serve, folder):
    stale = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stale.bind(str(folder / "s"))
    stale.close()
    serve()
    assert capacity(folder / "s") == MILLION


def test_restart_after_kill(serve, folder):
    for size in (20_000, 30_000, 40_000):
        server = serve(m=size)
        assert capacity(folder / "s") == size
        server.end(signal.SIGKILL)


def test_empty_file_is_replaced(serve, folder):
    (folder / "s").touch()
    serve()
    assert capacity(folder / "s") == MILLION


@pytest.mark.defect("D24")
def test_file_with_contents_is_left_alone(run, folder):
    (folder / "s").write_text("precious")
    assert_plain_error(run("-s", "s", "-m", MILLION))
    assert (folder / "s").read_text() == "precious"


@pytest.mark.defect("D24")
def test_directory_at_the_path_is_left_alone(run, folder):
    (folder / "s").mkdir()
    assert_plain_error(run("-s", "s", "-m", MILLION))
    assert (folder / "s").is_dir()


@pytest.mark.defect("D24")
@pytest.mark.parametrize("contents", ["precious", ""])
def test_symlink_to_a_file_is_left_alone(run, folder, contents):
    (folder / "file").write_text(contents)
    (folder / "s").symlink_to("file")
    assert_plain_error(run("-s", "s", "-m", MILLION))
    assert os.readlink(folder / "s") == "file"
    assert (folder / "file").read_text() == contents


@pytest.mark.defect("D24")
def test_fifo_is_left_alone(run, folder):
    os.mkfifo(folder / "s")
    assert_plain_error(run("-s", "s", "-m", MILLION))
    assert stat.S_ISFIFO(os.stat(folder / "s").st_mode)


@pytest.mark.defect("D24")
def test_running_server_keeps_its_path(serve, run, folder):
    serve(m=20_000)
    before = os.stat(folder / "s")
    assert_plain_error(run("-s", "s", "-m", 30_000))
    assert os.path.samestat(before, os.stat(folder / "s"))
    assert capacity(folder / "s") == 20_000


@pytest.mark.defect("D24")
def test_running_server_keeps_its_path_behind_a_symlink(serve, run, folder):
    serve(m=20_000)
    (folder / "link").symlink_to("s")
    assert_plain_error(run("-s", "link", "-m", 30_000))
    assert capacity(folder / "link") == 20_000


@pytest.mark.deviation("socket removed")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_socket_is_removed_at_the_end(serve, folder, number):
    server = serve()
    assert server.end(number) == 0
    assert os.listdir(folder) == []


def test_only_the_own_socket_is_removed(serve, folder):
    first = serve(m=20_000)
    (folder / "s").unlink()
    serve(m=30_000)
    assert first.end() == 0
    assert capacity(folder / "s") == 30_000


# Output


def test_stdout_is_silent(serve, folder):
    server = serve()
    put(folder / "s", 500_000)
    put(folder / "s", 900_000)
    server.end()
    assert server.out() == ""


@pytest.mark.deviation("ready line")
def test_ready_line(serve):
    server = serve(path="my-socket")
    wait_until(
        lambda: re.search(r"(?i)\bready\b|\blistening\b", server.err()), READY_LIMIT, "a ready line"
    )
    line = next(line for line in server.err().splitlines() if "my-socket" in line)
    assert re.search(r"(?i)\bready\b|\blistening\b", line)


def fill(writer):
    """Fill a pipe to the last byte."""
    # A second opening of it, because the server shares the flags of the first.
    own = os.open("/proc/self/fd/%d" % writer, os.O_WRONLY | os.O_NONBLOCK)
    for size in (4096, 1):
        try:
            while True:
                os.write(own, b"x" * size)
        except BlockingIOError:
            pass
    os.close(own)


def connect_and_leave(path, times):
    for _ in range(times):
        connection = raw_connection(path)
        assert connection
        connection.close()


@pytest.mark.deviation("unread stderr")
@pytest.mark.parametrize("full_at_start", [True, False])
def test_unread_stderr_does_not_freeze(launch, folder, full_at_start):
    reader, writer = os.pipe()
    if full_at_start:
        fill(writer)
    server = launch("-s", "s", "-m", MILLION, stderr=writer)
    server.wait_ready("s")
    fill(writer)
    connect_and_leave(folder / "s", 3000)
    put(folder / "s", 500_000)
    put(folder / "s", 900_000)
    assert server.end() == 0
    os.close(reader)
    os.close(writer)


def test_stderr_reader_goes_away(launch, folder):
    reader, writer = os.pipe()
    server = launch("-s", "s", "-m", MILLION, stderr=writer)
    os.close(writer)
    server.wait_ready("s")
    os.close(reader)
    connect_and_leave(folder / "s", 100)
    assert capacity(folder / "s") == MILLION
    assert server.end() == 0


@pytest.mark.deviation("unread stderr")
def test_stderr_reader_is_gone_at_the_start(launch, folder):
    reader, writer = os.pipe()
    os.close(reader)
    server = launch("-s", "s", "-m", MILLION, stderr=writer)
    os.close(writer)
    server.wait_ready("s")
    connect_and_leave(folder / "s", 100)
    assert capacity(folder / "s") == MILLION
    assert server.end() == 0


@pytest.mark.parametrize("closed", [[2], [0, 1, 2]])
def test_closed_standard_streams(launch, folder, closed):
    def close_them():
        for fd in closed:
            os.close(fd)

    server = launch("-s", "s", "-m", MILLION, preexec_fn=close_them)
    server.wait_ready("s")
    connect_and_leave(folder / "s", 100)
    put(folder / "s", 500_000)
    put(folder / "s", 900_000)
    assert server.end() == 0


# Signals and the end


def test_sigterm(serve):
    assert serve().end() == 0


def test_sigterm_with_clients(serve, folder):
    server = serve()
    connections = [raw_connection(folder / "s") for _ in range(50)]
    client = plasma.connect(str(folder / "s"))
    held = client.create(plasma.ObjectID.from_random(), 100)
    assert server.end() == 0
    for connection in connections:
        connection.settimeout(END_LIMIT)
        assert connection.recv(1) == b""
        connection.close()
    with pytest.raises(OSError):
        client.list()
    del held


def test_sigterm_while_a_get_waits(serve, folder):
    server = serve()
    outcomes = []

    def wait():
        client = plasma.connect(str(folder / "s"))
        outcomes.append("waiting")
        try:
            client.get_buffers([plasma.ObjectID.from_random()], timeout_ms=-1)
        except OSError:
            outcomes.append("told")

    waiter = threading.Thread(target=wait, daemon=True)
    waiter.start()
    wait_until(lambda: outcomes, READY_LIMIT, "the client is connected")
    time.sleep(0.1)
    assert server.end() == 0
    waiter.join(END_LIMIT)
    assert outcomes == ["waiting", "told"]


@pytest.mark.deviation("SIGINT")
def test_sigint(serve):
    assert serve().end(signal.SIGINT) == 0


def test_sigpipe_is_ignored(serve, folder):
    server = serve()
    server.process.send_signal(signal.SIGPIPE)
    assert capacity(folder / "s") == MILLION
    assert server.alive()


def test_sealed_data_outlives_the_server(serve, folder):
    server = serve()
    client = plasma.connect(str(folder / "s"))
    name = client.put_raw_buffer(b"still here")
    [buffer] = client.get_buffers([name])
    server.end(signal.SIGKILL)
    assert buffer.to_pybytes() == b"still here"


def test_many_clients_race_the_start(launch, folder):
    stop = time.monotonic() + READY_LIMIT
    served = []

    def connect_soon():
        connection = raw_connection(folder / "s")
        while not connection and time.monotonic() < stop:
            time.sleep(0.001)
            connection = raw_connection(folder / "s")
        served.append(connection)

    threads = [threading.Thread(target=connect_soon) for _ in range(50)]
    for thread in threads:
        thread.start()
    server = launch("-s", "s", "-m", MILLION)
    for thread in threads:
        thread.join()
    assert all(served)
    assert capacity(folder / "s") == MILLION
    for connection in served:
        connection.close()
    assert server.end() == 0


# Long names, which the reference does not know

LONG_NAMES = pytest.mark.deviation("long names")

SIZES = {
    "10000": 10_000,
    "10000B": 10_000,
    "10KB": 10_000,
    "3MB": 3_000_000,
    "1GB": 10**9,
    "1TB": 10**12,
    "10KiB": 10_240,
    "3MiB": 3 * 2**20,
    "1GiB": 2**30,
    "1TiB": 2**40,
}


@LONG_NAMES
@pytest.mark.parametrize("text", SIZES)
@pytest.mark.parametrize("form", ["separate", "joined"])
def test_memory_with_units(launch, folder, text, form):
    flags = ["--memory", text] if form == "separate" else ["--memory=" + text]
    server = launch("--socket", "s", *flags)
    server.wait_ready("s")
    assert capacity(folder / "s") == SIZES[text]


@LONG_NAMES
@pytest.mark.parametrize(
    "text", ["1k", "1m", "1g", "1K", "1XB", "GiB", "-1GB", "1.5.2GB", "", "9999999TiB"]
)
def test_bad_memory_with_units(run, folder, text):
    result = run("--socket", "s", "--memory", text)
    assert result.status == 1
    assert "unknown command line flag" not in result.err
    assert os.listdir(folder) == []


@LONG_NAMES
def test_long_and_short_names_are_one_flag(launch, folder):
    server = launch("-m", 20_000, "--memory", "30KB", "--socket=a", "-s", "b")
    server.wait_ready("b")
    assert capacity(folder / "b") == 30_000
    assert not (folder / "a").exists()


@LONG_NAMES
@pytest.mark.parametrize("form", ["separate", "joined"])
def test_long_directory(launch, folder, form):
    (folder / "data").mkdir()
    flags = ["--directory", "data"] if form == "separate" else ["--directory=data"]
    server = launch("-s", "s", "-m", MILLION, *flags)
    server.wait_ready("s")
    put(folder / "s", 100_000)
    links = [os.readlink(link) for link in Path("/proc/%d/fd" % server.pid).iterdir()]
    assert any(link.startswith(str(folder / "data") + "/") for link in links), links


@LONG_NAMES
@pytest.mark.parametrize("argument", ["--hugepages", "--hugepages=true"])
def test_long_hugepages(run, argument):
    assert_refused(run("-s", "s", "-m", MILLION, "-d=", argument), NO_HUGE_FOLDER)


@LONG_NAMES
def test_long_external_store(run, serve):
    message = 'PROGRAM: no such external store "foo"'
    assert_refused(run("-s", "s", "-m", MILLION, "--external-store", "foo:bar"), message)
    serve("--external-store=hashtable://test")


@LONG_NAMES
@pytest.mark.parametrize("level", ["error", "warn", "info", "debug", "trace"])
@pytest.mark.parametrize("form", ["separate", "joined"])
def test_log_level(serve, level, form):
    flags = ["--log-level", level] if form == "separate" else ["--log-level=" + level]
    assert serve(*flags).end() == 0


@LONG_NAMES
def test_log_level_matters(serve, folder):
    lengths = {}
    for level in ("error", "trace"):
        server = serve("--log-level", level)
        put(folder / "s", 1000)
        server.end()
        lengths[level] = len(server.err())
    assert lengths["error"] < lengths["trace"]


@pytest.mark.deviation("quiet log")
def test_a_store_in_normal_use_logs_nothing(serve, folder):
    """Clients come, are refused for want of room, evict, and go or die."""
    server = serve(m=MILLION)
    put(folder / "s", 1000)
    for _ in range(3):
        put(folder / "s", 600_000)
        raw_connection(folder / "s").close()
    client = wire.Client(str(folder / "s"))
    assert client.try_create(wire.oid(1), 2 * MILLION).error == wire.FULL
    client.create(wire.oid(2), 100)
    client.send_get([wire.oid(3)], -1)
    client.close()
    put(folder / "s", 1000)
    assert server.end() == 0
    *_, start, end = server.err().splitlines()
    assert "ready: " in start and "Signal received" in end


@LONG_NAMES
@pytest.mark.parametrize("level", ["loud", "", "3"])
def test_bad_log_level(run, level):
    result = run("-s", "s", "-m", MILLION, "--log-level=" + level)
    assert result.status == 1
    assert "unknown command line flag" not in result.err
