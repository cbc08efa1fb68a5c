"""Share one array between two processes through a Plasma store, with the official client.

    python demo.py SERVER

SERVER is the server's program file. The Python that runs this needs pyarrow 11 and numpy;
`cargo xtask demo` provides all of it.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings

# The official client's last release announces its own end at every use.
warnings.simplefilter("ignore")

import numpy  # noqa: E402
import pyarrow.plasma as plasma  # noqa: E402

CAPACITY = 1_000_000_000
ELEMENTS = 10_000_000
OBJECT_ID = b"demo-array-" + bytes(9)
START_LIMIT = 10
END_LIMIT = 5


def say(text):
    print(text, flush=True)


def address_of(array):
    return array.__array_interface__["data"][0]


def file_behind(address):
    """Device and inode of the file that is mapped at an address of this process, and its name."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            fields = line.split(maxsplit=5)
            start, end = (int(part, 16) for part in fields[0].split("-"))
            if start <= address < end:
                name = fields[5].strip() if len(fields) > 5 else "anonymous memory"
                return fields[3] + ":" + fields[4], name
    raise SystemExit("demo: no mapping at %#x" % address)


def read(socket):
    """The second process: get the array, and tell what it looks like from here."""
    array = plasma.connect(socket).get(plasma.ObjectID(OBJECT_ID), timeout_ms=5000)
    assert isinstance(array, numpy.ndarray), "the object did not arrive"
    assert not array.flags.writeable, "the array should be read-only"
    assert not array.flags.owndata, "the array should not be a copy"
    try:
        array[0] = 1.0
    except ValueError:
        pass
    else:
        raise SystemExit("demo: writing to a shared array should be refused")
    print(file_behind(address_of(array))[0], array.shape[0], float(array.sum()))


def start(server, socket):
    process = subprocess.Popen([server, "-s", socket, "-m", str(CAPACITY)])
    deadline = time.monotonic() + START_LIMIT
    while not os.path.exists(socket):
        if process.poll() is not None:
            raise SystemExit("demo: the server ended with status %d" % process.returncode)
        if time.monotonic() > deadline:
            process.kill()
            raise SystemExit("demo: the server made no socket in %d s" % START_LIMIT)
        time.sleep(0.01)
    say("The store listens on %s, with room for %d bytes." % (socket, CAPACITY))
    return process


def share(socket):
    client = plasma.connect(socket)
    array = numpy.random.default_rng(1).random(ELEMENTS)
    client.put(array, plasma.ObjectID(OBJECT_ID))
    say("Process %d put an array of %d bytes." % (os.getpid(), array.nbytes))

    mine = client.get(plasma.ObjectID(OBJECT_ID))
    inode, name = file_behind(address_of(mine))
    reader = subprocess.Popen(
        [sys.executable, __file__, "--reader", socket], stdout=subprocess.PIPE, text=True
    )
    answer = reader.communicate(timeout=60)[0].split()
    if reader.returncode != 0:
        raise SystemExit("demo: the second process failed")
    theirs = (answer[0], int(answer[1]), float(answer[2]))
    if theirs != (inode, ELEMENTS, float(array.sum())):
        raise SystemExit("demo: the second process saw %s" % (theirs,))
    say("Process %d got all of it, read-only and without a copy:" % reader.pid)
    say("  both look at one file in memory, %s (inode %s)." % (name, inode))
    client.disconnect()


def main(server):
    with tempfile.TemporaryDirectory(prefix="plasma-demo-") as folder:
        process = start(server, os.path.join(folder, "plasma.sock"))
        try:
            share(os.path.join(folder, "plasma.sock"))
            process.send_signal(signal.SIGTERM)
            status = process.wait(timeout=END_LIMIT)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    if status != 0:
        raise SystemExit("demo: the server ended with status %d" % status)
    say("SIGTERM ended the store with status 0.")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--reader":
        read(sys.argv[2])
    elif len(sys.argv) == 2:
        main(os.path.abspath(sys.argv[1]))
    else:
        sys.exit(__doc__.strip())
