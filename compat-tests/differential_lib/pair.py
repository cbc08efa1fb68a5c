"""Two servers side by side, and connections that go to both at once.

Side 0 is the reference, side 1 the server under test.
"""

import ctypes
import functools
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

import wire

SIDES = (0, 1)
NAMES = ("reference", "tested")
LIBC = ctypes.CDLL(None)
START_LIMIT = 20


class Died(Exception):
    """A server process has ended by itself."""

    def __init__(self, side, log):
        super().__init__(side, log)
        self.side = side
        self.log = log

    def __str__(self):
        return "the %s server died" % NAMES[self.side]


class Broken(Exception):
    """A server did not keep to the protocol, or did not answer in time."""


def die_with_parent():
    """For a new process: be killed when the one that started it ends."""
    PR_SET_PDEATHSIG = 1
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@functools.lru_cache(maxsize=1024)
def parse_frame(frame):
    """The entries of a notification; every subscriber gets the same bytes."""
    return tuple(wire.ObjectInfo.parse(table) for table in wire.Table(frame).tables(0))


class Pair:
    """Both servers, started with the same capacity and flags."""

    def __init__(self, binaries, capacity, external):
        self.capacity = capacity
        self.external = external
        self.folder = tempfile.mkdtemp(prefix="plasma-")
        self.processes = []
        self.paths = []
        # What the pinned bytes of the reference were too high at the last look.
        self.drift = 0
        # By side: the size of each segment, which never changes.
        self.segment_sizes = ({}, {})
        flags = ["-e", "hashtable://differential"] if external else []
        for side in SIDES:
            path = os.path.join(self.folder, NAMES[side])
            self.paths.append(path)
            command = [str(binaries[side]), "-s", path, "-m", str(capacity), *flags]
            with open(path + ".log", "wb") as log:
                self.processes.append(
                    subprocess.Popen(
                        command,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        preexec_fn=die_with_parent,
                    )
                )
        try:
            self._wait_ready()
        except BaseException:
            self.close()
            raise

    def _wait_ready(self):
        end = time.monotonic() + START_LIMIT
        for side in SIDES:
            while True:
                self.check_alive()
                try:
                    wire.Client(self.paths[side]).close()
                    break
                except (FileNotFoundError, ConnectionRefusedError):
                    if time.monotonic() > end:
                        raise Broken("the %s server did not start" % NAMES[side]) from None
                    time.sleep(0.002)

    def check_alive(self, patience=0.0):
        """Raise if one of the servers has ended."""
        end = time.monotonic() + patience
        while True:
            for side in SIDES:
                if self.processes[side].poll() is not None:
                    with open(self.paths[side] + ".log", "rb") as log:
                        raise Died(side, log.read()[-3000:].decode("utf-8", "replace"))
            if time.monotonic() >= end:
                return
            time.sleep(0.01)

    def close(self):
        """End both; nothing of them is left."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Feed:
    """A subscription on both servers."""

    def __init__(self, clients):
        self.ends = [wire.Subscription(client) for client in clients]
        self.buffers = [b"", b""]

    def sockets(self):
        return [end.socket for end in self.ends]

    def fill(self, side):
        """Take up what can be read right now; the socket must be readable."""
        part = self.ends[side].socket.recv(1 << 20)
        if not part:
            raise Broken("the %s server ended a subscription" % NAMES[side])
        self.buffers[side] += part

    def frames(self, side):
        """The whole frames that have arrived."""
        buffer, frames = self.buffers[side], []
        while len(buffer) >= 8:
            (length,) = struct.unpack_from("<q", buffer)
            if not 0 <= length < wire.MAX_BODY:
                raise Broken("a notification of %d bytes" % length)
            if len(buffer) < 8 + length:
                break
            frames.append(parse_frame(buffer[8 : 8 + length]))
            buffer = buffer[8 + length :]
        self.buffers[side] = buffer
        return frames

    def close(self):
        for end in self.ends:
            end.close()


class Connection:
    """A connection to each server, and what the model knows about it."""

    def __init__(self, pair, name, key):
        self.pair = pair
        self.name = name
        # Unlike the name, never used for a later connection.
        self.key = key
        self.clients = [wire.Client(path) for path in pair.paths]
        self.feed = None
        # Gets that wait: lists of ids.
        self.gets = []
        # By side: replies to such gets that have arrived.
        self.arrived = ([], [])
        # The quota in force, None without one.
        self.quota = None

    def send(self, kind, body=wire.EMPTY, more=b""):
        content = wire.message(kind, body) + more
        for client in self.clients:
            client.send_bytes(content)

    def _get_reply(self, side, table):
        """Parse a GetReply; its descriptors follow it."""
        reply = wire.GetReply.parse(table)
        wanted = []
        for spec in reply.specs:
            if spec.available and spec.segment not in wanted:
                wanted.append(spec.segment)
        if reply.store_fds != wanted:
            raise Broken("segments %s announced, %s in use" % (reply.store_fds, wanted))
        for segment, size in zip(reply.store_fds, reply.mmap_sizes):
            self.segment(side, segment, size)
        return reply

    def segment(self, side, number, mmap_size):
        """A reply names this segment: its descriptor follows if it is new here."""
        known = self.pair.segment_sizes[side].setdefault(number, mmap_size)
        if known != mmap_size:
            raise Broken("segment %d had %d bytes, now %d" % (number, known, mmap_size))
        client = self.clients[side]
        client._receive_segment(number, mmap_size)
        if client.segments[number].file_size < mmap_size - 8:
            raise Broken("the file of segment %d is too small" % number)

    def receive(self, side, kind):
        """The table of the next reply of this type; replies to gets may precede it."""
        while True:
            found, body = self.clients[side].recv()
            table = wire.Table(body)
            if found == kind:
                return table
            if found != wire.GET_REPLY:
                raise Broken("message type %d instead of %d" % (found, kind))
            self.arrived[side].append(self._get_reply(side, table))

    def receive_get(self, side, ids):
        """The reply to the get of exactly these ids."""
        while True:
            found, body = self.clients[side].recv()
            if found != wire.GET_REPLY:
                raise Broken("message type %d instead of a GetReply" % found)
            reply = self._get_reply(side, wire.Table(body))
            if reply.object_ids == ids:
                return reply
            self.arrived[side].append(reply)

    def take_arrival(self, side):
        """Something can be read and no request is out: it must be a GetReply."""
        found, body = self.clients[side].recv()
        if found != wire.GET_REPLY:
            raise Broken("message type %d without a request" % found)
        self.arrived[side].append(self._get_reply(side, wire.Table(body)))

    def sync(self):
        """All earlier requests have been handled."""
        self.send(wire.CONNECT)
        return [self.receive(side, wire.CONNECT_REPLY).scalar(0, "q") for side in SIDES]

    def leave(self, how):
        """End the connection and wait until both servers know."""
        for client in self.clients:
            if how == "message":
                client.send(wire.DISCONNECT)
            elif how == "half":
                client.socket.shutdown(socket.SHUT_WR)
            else:
                client.close()
        for side in SIDES if how != "close" else ():
            self.clients[side].assert_closed()
        self.close()

    def close(self):
        for client in self.clients:
            client.close()
        if self.feed:
            self.feed.close()


def readable(sockets):
    """Those of the sockets that can be read right now."""
    poll = select.poll()
    by_number = {}
    for item in sockets:
        by_number[item.fileno()] = item
        poll.register(item.fileno(), select.POLLIN)
    return {by_number[number] for number, _ in poll.poll(0)}
