"""Memory, room in a folder, files and descriptors that cannot be had.

Who asks for more than there is gets an error. Nobody is killed by a signal for
touching what was given to him, and what is there already stays intact.
"""

import faulthandler
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

import wire
from wire import oid

KIB, MIB = 1 << 10, 1 << 20

our_own = pytest.mark.deviation("exhaustion")


# Memory control groups.


@pytest.fixture
def group():
    """A group that may use 256 MiB; its list of processes."""
    first = "/sys/fs/cgroup/memory"
    limit = "memory.limit_in_bytes"
    if not os.path.exists(first):
        first, limit = "/sys/fs/cgroup", "memory.max"
    path = "%s/plasma-test-%d" % (first, os.getpid())
    try:
        os.mkdir(path)
        with open(os.path.join(path, limit), "w") as file:
            file.write(str(256 * MIB))
    except OSError as error:
        pytest.skip("no memory control group can be made here: %s" % error)

    yield os.path.join(path, "cgroup.procs")
    wire.wait_until(lambda: not removal_fails(path), "the group is empty")


def removal_fails(path):
    try:
        os.rmdir(path)
    except OSError as error:
        return error


@our_own
@pytest.mark.isolated
def test_memory_control_group_with_less_than_the_capacity(group, store):
    """Who asks for more than the group may use gets an error, and nobody is killed."""
    with open(group, "w") as processes:
        processes.write(str(os.getpid()))
    server = store(1024 * MIB)
    client = server.client()
    size = 8 * MIB
    made = []
    for number in range(100):
        reply = client.try_create(oid(number), size, evict=False)
        if reply.error != wire.OK:
            assert reply.error == wire.FULL
            break
        client.write(reply.spec, b"x" * size)
        client.seal(oid(number))
        made.append(oid(number))
    assert 20 <= len(made) <= 28
    assert client.try_create(oid(1000), 300 * MIB).error == wire.FULL
    for object_id in made:
        assert client.contents(object_id)[0] == b"x" * size
        client.release(object_id)
        client.release(object_id)
    # What was full goes on with eviction, as if that were the capacity.
    for number in range(100, 200):
        reply = client.try_create(oid(number), size)
        assert reply.error == wire.OK
        client.write(reply.spec, b"y" * size)
        client.seal(oid(number))
        client.release(oid(number))
    assert client.contents(oid(199))[0] == b"y" * size
    assert not client.contains(made[0])
    assert "memory control group" in server.log()


# Folders.


@pytest.fixture
def mounted():
    """Mounts a fresh tmpfs: mounted(options); its path."""
    folders = []

    def mount(options):
        folder = tempfile.mkdtemp(prefix="tmpfs-")
        folders.append(folder)
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert done.returncode == 0, (
            "this test has to mount a tmpfs, which only root can: " + done.stderr
        )
        return folder

    yield mount
    for folder in folders:
        # Lazily: a store that a failed test has left is still in it.
        subprocess.run(["umount", "-l", folder], stderr=subprocess.DEVNULL)
        os.rmdir(folder)


@pytest.fixture
def tight(mounted):
    """A folder with room for 32 MiB."""
    return mounted("size=32m")


@pytest.fixture
def disk():
    """A folder on whatever temporary files are on."""
    folder = tempfile.mkdtemp(prefix="plasma-disk-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


# Writing, by a process that may be killed for it.


def pattern(object_id, size):
    return (object_id * (size // len(object_id) + 1))[:size]


def write_all(client, objects):
    """Write all bytes of objects, by id, in a child process; no signal may end it."""
    child = os.fork()
    if child == 0:
        status = 1
        faulthandler.disable()
        try:
            for object_id, spec in objects.items():
                client.write(spec, pattern(object_id, spec.data_size))
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0, "a writer ended with status %d" % status


def assert_intact(client, objects):
    """What was written is still there."""
    for object_id, spec in objects.items():
        assert client.read(spec)[0] == pattern(object_id, spec.data_size), object_id


def create_until_full(client, size, first=0):
    """Create objects until there is no room, then write and seal all; their specs by id."""
    objects = {}
    while True:
        object_id = oid(first + len(objects))
        reply = client.try_create(object_id, size, evict=False)
        if reply.error == wire.FULL:
            break
        assert reply.error == wire.OK
        objects[object_id] = reply.spec
    write_all(client, objects)
    for object_id in objects:
        assert client.seal(object_id) == wire.OK
    return objects


def drop(client, objects, ids):
    """Release and delete some of the objects."""
    for object_id in ids:
        client.release(object_id)
        del objects[object_id]
    assert set(client.delete(ids)) == {wire.OK}


def assert_nearly(count, size, room):
    """So many objects of this size fill that much room, but for a few pages."""
    assert room - size - room // 16 <= count * size <= room


# A full folder.


@our_own
@pytest.mark.parametrize("size", [30_000, 300_000, MIB, 3 * MIB, 5 * MIB, 9 * MIB])
def test_full_folder(store, tight, size):
    """Objects fit until there is no room; after that error 3, until some are deleted."""
    server = store(100_000_000, "-d", tight)
    client = server.client()
    wire.wait_until(lambda: "exceeds memory available in" in server.log(), "the log tells of it")
    objects = create_until_full(client, size)
    assert_nearly(len(objects), size, 32 * MIB)
    other = server.client()
    assert other.try_create(oid(10**6), size, evict=False).error == wire.FULL
    assert other.try_create(oid(10**6), size, evict=True).error == wire.FULL
    assert other.create_and_seal(oid(10**6), bytes(size)) == wire.FULL
    assert other.batch([oid(10**6)], [bytes(size)]) == wire.FULL
    assert_intact(client, objects)
    dropped = list(objects)[::2]
    drop(client, objects, dropped)
    assert_intact(client, objects)
    again = create_until_full(client, size, 10**5)
    assert len(again) == len(dropped)
    assert_intact(client, objects | again)


@our_own
def test_small_objects_that_come_whole(store, tight):
    """The server is the writer."""
    server = store(100_000_000, "-d", tight)
    client = server.client()
    count = 0
    while client.create_and_seal(oid(count), pattern(oid(count), 7000), evict=False) == wire.OK:
        count += 1
    assert_nearly(count, 7040, 32 * MIB)
    for number in range(count):
        assert client.contents(oid(number))[0] == pattern(oid(number), 7000)
    names = [oid(10**6 + number) for number in range(100)]
    assert client.batch(names, [bytes(7000)] * 100, evict=False) == wire.FULL
    assert len(client.list()) == count
    # With eviction there is room again.
    assert client.batch(names, [bytes(7000)] * 100) == wire.OK


@our_own
@pytest.mark.parametrize("size", [100_000, MIB, 5 * MIB])
def test_eviction_in_a_full_folder(store, tight, size):
    """The count of bytes allows for more than the folder: others go for new ones."""
    client = store(100_000_000, "-d", tight).client()
    count = 3 * 32 * MIB // size
    for number in range(count):
        if number % 8:
            written = client.create_and_seal(oid(number), pattern(oid(number), size))
            assert written == wire.OK, "object %d of %d" % (number, count)
            continue
        spec = client.create(oid(number), size)
        write_all(client, {oid(number): spec})
        assert client.seal(oid(number)) == wire.OK
        client.release(oid(number))
    left = client.present([oid(number) for number in range(count)])
    assert left[-1] == oid(count - 1)
    for object_id in left:
        assert client.contents(object_id)[0] == pattern(object_id, size)
    # A fifth of -m goes at a time.
    assert len(left) * size >= 10 * MIB


@our_own
def test_spilling_from_a_full_folder(store, tight):
    """With an external store nothing is lost."""
    client = store(100_000_000, "-d", tight, "-e", "hashtable://x").client()
    for number in range(60):
        assert client.create_and_seal(oid(number), pattern(oid(number), MIB)) == wire.OK
    for number in range(60):
        assert client.contents(oid(number))[0] == pattern(oid(number), MIB)


@our_own
@pytest.mark.parametrize("size", [17 * MIB, 30 * MIB])
def test_object_of_more_than_half_of_the_room(store, tight, size):
    """Small ones come after it, are written before it, and all is there."""
    server = store(100_000_000, "-d", tight)
    client = server.client()
    large = {oid(10**6): client.create(oid(10**6), size)}
    assert client.try_create(oid(1), size, evict=False).error == wire.FULL
    small = create_until_full(client, 100_000)
    write_all(client, large)
    assert_intact(client, large | small)
    assert client.seal(oid(10**6)) == wire.OK
    # What can have no room at all is refused, and nothing goes for it.
    for object_id in small:
        client.release(object_id)
    assert client.try_create(oid(2 * 10**6), 33 * MIB).error == wire.FULL
    assert len(client.list()) == len(small) + 1


def test_large_objects_by_turns(store, tight):
    """The room of one that is gone is there for the next, at once."""
    client = store(100_000_000, "-d", tight).client()
    for number in range(6):
        size = (17 + 2 * number) * MIB
        objects = {oid(number): client.create(oid(number), size, evict=False)}
        write_all(client, objects)
        assert_intact(client, objects)
        if number % 2:
            client.abort(oid(number))
        else:
            client.seal(oid(number))
            drop(client, objects, [oid(number)])


@our_own
@pytest.mark.parametrize("evict", [False, True])
@pytest.mark.parametrize("capacity", [60, 64, 100])
def test_fragmented_room(store, mounted, capacity, evict):
    """What is free in two pieces is enough for one object of less than both."""
    client = store(capacity * MIB, "-d", mounted("size=64m")).client()
    objects = {oid(number): client.create(oid(number), 10 * MIB) for number in range(6)}
    write_all(client, objects)
    for object_id in objects:
        assert client.seal(object_id) == wire.OK
    drop(client, objects, [oid(1), oid(3)])
    # It could go for the new one, but need not.
    client.release(oid(0))
    objects[oid(9)] = client.create(oid(9), 15 * MIB, evict=evict)
    write_all(client, {oid(9): objects[oid(9)]})
    assert client.contains(oid(0))
    assert_intact(client, objects)


@our_own
@pytest.mark.parametrize("flags", [(), ("--zero-on-free",)], ids=["plain", "zeroed"])
@pytest.mark.parametrize("capacity", [24, 31])
def test_what_is_within_the_capacity_fits(store, tight, capacity, flags):
    """Objects of all sizes come and go; there is always room for -m in all."""
    client = store(capacity * MIB, "-d", tight, *flags).client()
    source = random.Random(capacity)
    objects = {}
    for number in range(120):
        size = source.randrange(1, source.choice([5000, 300_000, 5 * MIB, 16 * MIB]))
        # A little is left for what is lost at the ends of objects.
        while size + sum(spec.data_size for spec in objects.values()) > capacity * MIB - MIB // 2:
            object_id = source.choice(list(objects))
            client.abort(object_id)
            del objects[object_id]
        objects[oid(number)] = client.create(oid(number), size, evict=False)
        if number % 5 == 0:
            write_all(client, objects)
    write_all(client, objects)
    assert_intact(client, objects)


@our_own
def test_another_process_takes_the_room(store, tight):
    """What was given out before is there; new objects are refused until there is room."""
    server = store(100_000_000, "-d", tight)
    client = server.client()
    sizes = [10_000, 200_000, MIB, 4 * MIB, 6 * MIB]
    objects = {oid(n): client.create(oid(n), size) for n, size in enumerate(sizes)}
    path = os.path.join(tight, "other")
    fill(path)
    write_all(client, objects)
    assert_intact(client, objects)
    assert client.try_create(oid(10), MIB).error == wire.FULL
    assert client.create_and_seal(oid(10), bytes(MIB)) == wire.FULL
    client.abort(oid(4))
    # The room of the lost one is still the store's.
    for number in range(10, 15):
        spec = client.create(oid(number), MIB)
        objects[oid(number)] = spec
        write_all(client, {oid(number): spec})
    os.remove(path)
    objects[oid(20)] = client.create(oid(20), 10 * MIB)
    del objects[oid(4)]
    write_all(client, objects)
    assert_intact(client, objects)


def fill(path):
    """A file that takes all room that is left."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


@our_own
def test_restart_in_a_full_folder(store, tight):
    """A server that was killed leaves nothing behind."""
    server = store(100_000_000, "-d", tight)
    first = server.client()
    count = len(create_until_full(first, MIB))
    first.close()
    server.restart()
    assert os.listdir(tight) == []
    client = server.client()
    objects = create_until_full(client, MIB)
    assert len(objects) == count
    assert_intact(client, objects)


def test_folder_on_a_disk(store, disk):
    """Like any other, also after a restart."""
    server = store(20 * MIB, "-d", disk)
    for _ in range(2):
        client = server.client()
        sizes = [1, 5000, 300_000, MIB, 8 * MIB]
        objects = {oid(n): client.put(oid(n), size) for n, size in enumerate(sizes)}
        write_all(client, objects)
        assert client.create_and_seal(oid(10), b"whole" * 1000) == wire.OK
        assert client.contents(oid(10))[0] == b"whole" * 1000
        assert_intact(client, objects)
        assert client.try_create(oid(11), 19 * MIB).error == wire.FULL
        drop(client, objects, list(objects))
        client.leave(oid(12), 20 * MIB)
        assert os.listdir(disk) == []
        server.restart()
        assert server.client().list() == {}


# Starting where there is nothing to be had.


def prepared(server, code):
    """The server is started behind some Python code that changes its process."""
    run = "import os, resource, sys\n%s\nos.execv(sys.argv[1], sys.argv[1:])" % code
    server.command = [sys.executable, "-c", run, *server.command]
    return server


def assert_says_why(server, words):
    """It ends at once, with a sentence, and leaves no socket."""
    server.start()
    assert server.wait_end() == 1
    last = server.log().rstrip().splitlines()[-1]
    assert words in last, server.log()
    assert "panicked" not in server.log()
    assert not os.path.exists(server.path)


def file_limit(limit):
    return "resource.setrlimit(resource.RLIMIT_FSIZE, (%d, %d))" % (limit, limit)


@our_own
@pytest.mark.parametrize("place", ["memory", "folder", "disk"])
@pytest.mark.parametrize("limit", [4 * KIB, MIB, 9 * MIB])
def test_low_limit_on_the_size_of_files(store, mounted, disk, place, limit):
    flags = {"memory": [], "folder": ["-d", mounted("size=32m")], "disk": ["-d", disk]}[place]
    server = prepared(store.prepare(10 * MIB, *flags), file_limit(limit))
    assert_says_why(server, "of shared memory from")


@pytest.mark.parametrize("place", ["memory", "disk"])
@pytest.mark.parametrize("limit", [110, 400, 500, 600])
def test_higher_limit_on_the_size_of_files(store, disk, place, limit):
    """A smaller segment does as well."""
    flags = {"memory": [], "disk": ["-d", disk]}[place]
    server = prepared(store.prepare(100 * MIB, *flags), file_limit(limit * MIB))
    server.start()
    server.wait_ready()
    client = server.client()
    assert client.segments == {}
    objects = {oid(n): client.put(oid(n), 10 * MIB) for n in range(10)}
    assert client.segments[objects[oid(0)].segment].file_size <= limit * MIB
    write_all(client, objects)
    assert_intact(client, objects)
    drop(client, objects, list(objects))
    assert client.try_create(oid(20), 100 * MIB).error == wire.OK


AS_SOMEBODY = "os.setgroups([]); os.setgid(4711); os.setuid(4711)"


@our_own
def test_folder_of_somebody_else(store, disk):
    assert os.geteuid() == 0, "this test takes on another user, which only root can"
    server = prepared(store.prepare(MIB, "-d", disk), AS_SOMEBODY)
    os.chmod(store.folder, 0o755)
    os.chown(os.path.dirname(server.path), 4711, 4711)
    os.chmod(disk, 0o755)
    assert_says_why(server, "from %s: Permission denied" % disk)


@our_own
def test_folder_that_is_read_only(store, mounted):
    folder = mounted("size=32m,ro")
    assert_says_why(store.prepare(MIB, "-d", folder), "from %s: Read-only file system" % folder)


@our_own
def test_folder_that_takes_no_more_files(store, mounted):
    folder = mounted("size=32m,nr_inodes=2")
    with open(os.path.join(folder, "one"), "w"):
        pass
    assert_says_why(store.prepare(MIB, "-d", folder), "No space left on device")


@our_own
def test_file_instead_of_a_folder(store, disk):
    path = os.path.join(disk, "file")
    with open(path, "w"):
        pass
    assert_says_why(store.prepare(MIB, "-d", path), "from %s: Not a directory" % path)


# Descriptors.


def lines(server):
    return server.log().count("\n")


@our_own
def test_no_descriptors_for_long(store):
    """Accepting pauses: hardly any time, few lines in the log; it goes on with room for more."""
    server = store(MIB, nofile=200)
    first = server.client()
    first.sync()
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (40, 200))
    others = [server.client() for _ in range(80)]
    first.sync()
    ticks, before = server.cpu_ticks(), lines(server)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        assert first.create_and_seal(oid(1), b"x") in (wire.OK, wire.EXISTS)
        time.sleep(0.1)
    assert server.cpu_ticks() - ticks < os.sysconf("SC_CLK_TCK") // 4
    assert lines(server) - before < 10
    # Nothing of the server's own ends here, so only looking again can tell.
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (200, 200))
    for other in others:
        other.sync()
    assert lines(server) - before < 10


@our_own
def test_descriptors_of_subscriptions_run_out(store):
    """They come and go, and the newcomers are served in the end."""
    server = store(MIB, nofile=40)
    clients = [server.client() for _ in range(20)]
    subscriptions = []
    for client in clients:
        subscriptions.append(client.subscribe())
        client.sync()
    late = [server.client() for _ in range(40)]
    for client in clients:
        client.sync()
    for subscription in subscriptions:
        subscription.close()
    assert clients[0].create_and_seal(oid(1), b"x") == wire.OK
    for client in clients:
        client.close()
    for client in late[:20]:
        assert client.contains(oid(1))
    for client in late[:20]:
        client.close()
    for client in late[20:]:
        assert client.contains(oid(1))
    # Three of the start, eight of subscriptions that failed, and few more.
    assert lines(server) < 20


def test_descriptors_come_back(store):
    """After the limit was met again and again, as many are open as before."""
    server = store(MIB, nofile=40)
    first = server.client()
    first.sync()
    before = server.fd_count()
    for _ in range(5):
        others = [server.client() for _ in range(60)]
        first.sync()
        for other in others:
            other.close()
        first.sync()
    wire.wait_until(lambda: server.fd_count() <= before, "the descriptors are closed")
    server.client().sync()
