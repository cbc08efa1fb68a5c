"""A small raw client of the Plasma wire protocol.

It speaks the protocol with plain sockets and hand-made FlatBuffers, shares
nothing with the official client, and can also send what no client would:
broken bodies, partial messages, wrong headers. Every wait has a time limit.
"""

import array
import mmap
import os
import socket
import struct
import time
from dataclasses import dataclass, field

TIMEOUT = 5.0
DIGEST = b"\x01\x02\x03\x04\x05\x06\x07\x08"
MAX_BODY = 2**31

DISCONNECT = 0
CREATE, CREATE_REPLY = 1, 2
CREATE_AND_SEAL, CREATE_AND_SEAL_REPLY = 3, 4
ABORT, ABORT_REPLY = 5, 6
SEAL, SEAL_REPLY = 7, 8
GET, GET_REPLY = 9, 10
RELEASE = 11
DELETE, DELETE_REPLY = 13, 14
CONTAINS, CONTAINS_REPLY = 15, 16
LIST, LIST_REPLY = 17, 18
CONNECT, CONNECT_REPLY = 19, 20
EVICT, EVICT_REPLY = 21, 22
SUBSCRIBE = 23
UNSUBSCRIBE, DATA, DATA_REPLY, NOTIFICATION = 24, 25, 26, 27
SET_OPTIONS, SET_OPTIONS_REPLY = 28, 29
DEBUG_STRING, DEBUG_STRING_REPLY = 30, 31
BATCH, BATCH_REPLY = 32, 33
REFRESH_LRU, REFRESH_LRU_REPLY = 34, 35

OK, EXISTS, NOT_FOUND, FULL, NOT_SEALED, IN_USE = range(6)


class Closed(Exception):
    """The peer closed the connection."""


def oid(number):
    """The object id of a number: readable, 20 bytes."""
    return b"object-%013d" % number


# --- FlatBuffers, writing ---------------------------------------------------
#
# A field is None (absent) or a pair of kind and value. The kinds are struct
# codes for scalars, "s" for a string and "v" for a vector of strings.


def boolean(value):
    return ("B", int(value))


def int32(value):
    return ("I", value & 0xFFFFFFFF)


def int64(value):
    """Also for ulong fields: both are 8 bytes and peers read them as signed."""
    return ("Q", value & 0xFFFFFFFFFFFFFFFF)


def string(value):
    return ("s", bytes(value))


def strings(values):
    return ("v", [bytes(value) for value in values])


def _pad(out, alignment):
    out.extend(bytes(-len(out) % alignment))


def _point(out, at):
    """Make the offset field at this place point to the current end."""
    struct.pack_into("<I", out, at, len(out) - at)


def _put_string(out, value):
    out += struct.pack("<I", len(value)) + value + b"\0"
    _pad(out, 4)


def encode(*fields, room=0):
    """A FlatBuffer whose root table has these fields, in the order of their ids.

    `room` adds that many absent fields behind the known ones, as a later
    version of the schema would.
    """
    inline = {index: pair for index, pair in enumerate(fields) if pair is not None}
    sizes = {"B": 1, "I": 4, "Q": 8, "s": 4, "v": 4}
    order = sorted(inline, key=lambda index: -sizes[inline[index][0]])
    # The widest fields come first, straight behind the 4 bytes that lead to
    # the vtable; so the table starts 4 bytes off a multiple of 8.
    entries, at = [0] * (len(fields) + room), 4
    for index in order:
        entries[index] = at
        at += sizes[inline[index][0]]
    vtable = struct.pack("<HH%dH" % len(entries), 4 + 2 * len(entries), at, *entries)
    out = bytearray(4) + vtable
    out.extend(bytes((4 - len(out)) % 8))
    table = len(out)
    struct.pack_into("<I", out, 0, table)
    out += struct.pack("<i", table - 4)
    pointers = []
    for index in order:
        kind, value = inline[index]
        if kind in "sv":
            pointers.append((len(out), kind, value))
            out += bytes(4)
        else:
            out += struct.pack("<" + kind, value)
    _pad(out, 4)
    for place, kind, value in pointers:
        _point(out, place)
        if kind == "s":
            _put_string(out, value)
            continue
        first = len(out) + 4
        out += struct.pack("<I", len(value)) + bytes(4 * len(value))
        for index, item in enumerate(value):
            _point(out, first + 4 * index)
            _put_string(out, item)
    return bytes(out)


EMPTY = encode()


def create_body(object_id, data_size=0, metadata_size=0, evict=True, device=0):
    return encode(
        string(object_id), boolean(evict), int64(data_size), int64(metadata_size), int32(device)
    )


def create_and_seal_body(object_id, data=b"", metadata=b"", digest=DIGEST, evict=True):
    return encode(string(object_id), boolean(evict), string(data), string(metadata), string(digest))


def batch_body(object_ids, data, metadata, digests, evict=True):
    return encode(
        strings(object_ids), boolean(evict), strings(data), strings(metadata), strings(digests)
    )


def id_body(object_id):
    """AbortRequest, ReleaseRequest, ContainsRequest."""
    return encode(string(object_id))


def seal_body(object_id, digest=DIGEST):
    return encode(string(object_id), string(digest))


def get_body(object_ids, timeout_ms=0):
    return encode(strings(object_ids), int64(timeout_ms))


def delete_body(object_ids, count=None):
    return encode(int32(len(object_ids) if count is None else count), strings(object_ids))


def evict_body(num_bytes):
    return encode(int64(num_bytes))


def options_body(name, quota):
    return encode(string(name), int64(quota))


def refresh_body(object_ids):
    return encode(strings(object_ids))


# --- FlatBuffers, reading ---------------------------------------------------


class Table:
    """A table in a FlatBuffer; every access is checked for bounds and alignment."""

    def __init__(self, buffer, at=None):
        self.buffer = buffer
        self.at = self._offset(0) if at is None else at
        self.vtable = self.at - self._unpack("i", self.at)
        self.vtable_size = self._unpack("H", self.vtable)

    def _unpack(self, code, at):
        size = struct.calcsize("<" + code)
        assert 0 <= at <= len(self.buffer) - size, "offset outside the FlatBuffer"
        assert at % size == 0, "misaligned value in the FlatBuffer"
        return struct.unpack_from("<" + code, self.buffer, at)[0]

    def _offset(self, at):
        return at + self._unpack("I", at)

    def place(self, index):
        """Where the field is, None if it is absent."""
        slot = 4 + 2 * index
        if slot + 2 > self.vtable_size:
            return None
        offset = self._unpack("H", self.vtable + slot)
        return self.at + offset if offset else None

    def has(self, index):
        return self.place(index) is not None

    def scalar(self, index, code, default=0):
        place = self.place(index)
        return default if place is None else self._unpack(code, place)

    def _string_at(self, at):
        size = self._unpack("I", at)
        text = bytes(self.buffer[at + 4 : at + 4 + size])
        assert len(text) == size, "string runs out of the FlatBuffer"
        return text

    def string(self, index):
        place = self.place(index)
        return None if place is None else self._string_at(self._offset(place))

    def _vector(self, index):
        place = self.place(index)
        assert place is not None, "required vector %d is missing" % index
        start = self._offset(place)
        return self._unpack("I", start), start + 4

    def scalars(self, index, code):
        count, at = self._vector(index)
        size = struct.calcsize("<" + code)
        return [self._unpack(code, at + size * i) for i in range(count)]

    def strings(self, index):
        count, at = self._vector(index)
        return [self._string_at(self._offset(at + 4 * i)) for i in range(count)]

    def tables(self, index):
        count, at = self._vector(index)
        return [Table(self.buffer, self._offset(at + 4 * i)) for i in range(count)]

    def specs(self, index):
        count, at = self._vector(index)
        return [Spec.read(self.buffer, at + Spec.SIZE * i) for i in range(count)]


@dataclass(frozen=True)
class Spec:
    """Where an object is: the PlasmaObjectSpec of 48 bytes."""

    segment: int
    data_offset: int
    data_size: int
    metadata_offset: int
    metadata_size: int
    device: int

    SIZE = 48
    FORMAT = "<i4xqqqqi4x"

    @classmethod
    def read(cls, buffer, at):
        assert at % 8 == 0, "misaligned struct in the FlatBuffer"
        assert buffer[at + 4 : at + 8] == bytes(4), "padding is not zero"
        assert buffer[at + 44 : at + 48] == bytes(4), "padding is not zero"
        return cls(*struct.unpack_from(cls.FORMAT, buffer, at))

    @property
    def available(self):
        return self.data_size != -1


NOTHING = Spec(0, 0, 0, 0, 0, 0)
MISSING = Spec(0, 0, -1, 0, 0, 0)


@dataclass(frozen=True)
class CreateReply:
    object_id: bytes
    spec: Spec
    error: int
    store_fd: int
    mmap_size: int

    @classmethod
    def parse(cls, table):
        place = table.place(1)
        assert place is not None, "CreateReply without plasma_object"
        spec = Spec.read(table.buffer, place)
        return cls(
            table.string(0), spec, table.scalar(2, "i"), table.scalar(3, "i"), table.scalar(4, "q")
        )


@dataclass(frozen=True)
class GetReply:
    object_ids: list
    specs: list
    store_fds: list
    mmap_sizes: list

    @classmethod
    def parse(cls, table):
        assert len(table.tables(4)) == 0
        reply = cls(
            table.strings(0), table.specs(1), table.scalars(2, "i"), table.scalars(3, "q")
        )
        assert len(reply.object_ids) == len(reply.specs)
        assert len(reply.store_fds) == len(reply.mmap_sizes)
        return reply

    @property
    def available(self):
        return [spec.available for spec in self.specs]


@dataclass(frozen=True)
class ObjectInfo:
    object_id: bytes
    data_size: int
    metadata_size: int
    ref_count: int
    create_time: int
    construct_duration: int
    digest: object
    is_deletion: bool

    @classmethod
    def parse(cls, table):
        return cls(
            table.string(0),
            table.scalar(1, "q"),
            table.scalar(2, "q"),
            table.scalar(3, "i"),
            table.scalar(4, "q"),
            table.scalar(5, "q"),
            table.string(6),
            bool(table.scalar(7, "B")),
        )

    @property
    def sealed(self):
        return len(self.digest) == 8


# --- Segments, the connection, notifications --------------------------------


class Segment:
    """A shared-memory file as one connection received it."""

    def __init__(self, fd, mmap_size):
        self.fd = fd
        self.mmap_size = mmap_size
        self.file_size = os.fstat(fd).st_size
        self.memory = mmap.mmap(fd, mmap_size - 8)

    def close(self):
        self.memory.close()
        os.close(self.fd)


def header(kind, length, version=0):
    return struct.pack("<qqq", version, kind, length)


def message(kind, body=EMPTY):
    return header(kind, len(body)) + body


@dataclass
class Client:
    """One connection to the store."""

    path: str
    segments: dict = field(default_factory=dict)

    def __post_init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # With a Python time-out, connect would fail at once while the
        # server's queue is full; this one waits.
        limit = struct.pack("@ll", int(TIMEOUT) + 1, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        try:
            self.socket.connect(self.path)
        except OSError:
            self.socket.close()
            raise
        self.socket.settimeout(TIMEOUT)

    def close(self):
        self.socket.close()
        for segment in self.segments.values():
            segment.close()
        self.segments = {}

    # Messages.

    def send_bytes(self, content):
        try:
            self.socket.sendall(content)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Closed(str(error)) from error

    def send(self, kind, body=EMPTY):
        self.send_bytes(message(kind, body))

    def send_fds(self, fds, payload=b"\0"):
        """The 1-byte message that carries descriptors."""
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([payload], control)

    def recv_bytes(self, size):
        """Exactly this many bytes, with plain reads as the official client does."""
        content = bytearray()
        while len(content) < size:
            try:
                part = self.socket.recv(min(size - len(content), 1 << 20))
            except ConnectionResetError as error:
                raise Closed(str(error)) from error
            if not part:
                raise Closed("EOF after %d of %d bytes" % (len(content), size))
            content += part
        return bytes(content)

    def recv(self):
        """The next message: its type and body."""
        version, kind, length = struct.unpack("<qqq", self.recv_bytes(24))
        assert version == 0
        assert 0 <= length < MAX_BODY
        return kind, self.recv_bytes(length)

    def recv_fd(self):
        """The one descriptor of the next 1-byte message."""
        room = socket.CMSG_SPACE(8 * 4)
        content, controls, flags, _ = self.socket.recvmsg(1, room)
        if not content:
            raise Closed("EOF instead of a descriptor")
        assert len(content) == 1 and flags & socket.MSG_CTRUNC == 0
        assert len(controls) == 1, "expected one control message, got %d" % len(controls)
        level, kind, data = controls[0]
        assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
        fds = array.array("i", data)
        assert len(fds) == 1, "expected one descriptor, got %d" % len(fds)
        return fds[0]

    def expect(self, kind):
        """The table of the next message, which must have this type."""
        found, body = self.recv()
        assert found == kind, "expected message type %d, got %d" % (kind, found)
        return Table(body)

    def request(self, kind, body=EMPTY):
        """Send a request and return the table of its reply."""
        self.send(kind, body)
        return self.expect(kind + 1)

    def quiet(self, seconds=0.0):
        """Whether nothing arrives for this long."""
        self.socket.settimeout(max(seconds, 0.001))
        try:
            self.socket.recv(1, socket.MSG_PEEK)
            return False
        except (socket.timeout, BlockingIOError):
            return True
        finally:
            self.socket.settimeout(TIMEOUT)

    def assert_closed(self):
        """The server closes this connection without sending anything more."""
        try:
            content = self.socket.recv(1)
        except ConnectionResetError:
            return
        except socket.timeout:
            raise AssertionError("the server did not close the connection") from None
        assert content == b"", "the server answered instead of closing the connection"

    def sync(self):
        """All earlier requests of this connection have been handled."""
        self.request(CONNECT)

    # Segments and contents.

    def _receive_segment(self, store_fd, mmap_size):
        if store_fd not in self.segments:
            self.segments[store_fd] = Segment(self.recv_fd(), mmap_size)

    def write(self, spec, data, metadata=b""):
        assert (spec.data_size, spec.metadata_size) == (len(data), len(metadata))
        memory = self.segments[spec.segment].memory
        memory[spec.data_offset : spec.data_offset + len(data)] = data
        memory[spec.metadata_offset : spec.metadata_offset + len(metadata)] = metadata

    def read(self, spec):
        """Data and metadata of an object."""
        memory = self.segments[spec.segment].memory
        return (
            memory[spec.data_offset : spec.data_offset + spec.data_size],
            memory[spec.metadata_offset : spec.metadata_offset + spec.metadata_size],
        )

    # Requests.

    def capacity(self):
        return self.request(CONNECT).scalar(0, "q")

    def try_create(self, object_id, data_size=0, metadata_size=0, evict=True, device=0):
        body = create_body(object_id, data_size, metadata_size, evict, device)
        reply = CreateReply.parse(self.request(CREATE, body))
        assert reply.object_id == object_id
        if reply.error == OK:
            self._receive_segment(reply.store_fd, reply.mmap_size)
        return reply

    def create(self, object_id, data_size=0, metadata_size=0, evict=True):
        """Create an object, which must succeed; its spec."""
        reply = self.try_create(object_id, data_size, metadata_size, evict)
        assert reply.error == OK
        return reply.spec

    def seal(self, object_id, digest=DIGEST):
        table = self.request(SEAL, seal_body(object_id, digest))
        assert table.string(0) == object_id
        return table.scalar(1, "i")

    def release(self, object_id):
        self.send(RELEASE, id_body(object_id))

    def abort(self, object_id):
        assert self.request(ABORT, id_body(object_id)).string(0) == object_id

    def put(self, object_id, data_size=0, metadata_size=0, evict=True):
        """Create and seal an object and keep holding it; its spec."""
        spec = self.create(object_id, data_size, metadata_size, evict)
        assert self.seal(object_id) == OK
        return spec

    def leave(self, object_id, data_size=0, metadata_size=0, evict=True):
        """Create and seal an object that nobody holds."""
        self.put(object_id, data_size, metadata_size, evict)
        self.release(object_id)

    def create_and_seal(self, object_id, data=b"", metadata=b"", digest=DIGEST, evict=True):
        body = create_and_seal_body(object_id, data, metadata, digest, evict)
        return self.request(CREATE_AND_SEAL, body).scalar(0, "i")

    def batch(self, object_ids, data, metadata=None, digests=None, evict=True):
        metadata = metadata if metadata is not None else [b""] * len(object_ids)
        digests = digests if digests is not None else [DIGEST] * len(object_ids)
        return self.request(BATCH, batch_body(object_ids, data, metadata, digests, evict)).scalar(
            0, "i"
        )

    def send_get(self, object_ids, timeout_ms=0):
        self.send(GET, get_body(object_ids, timeout_ms))

    def recv_get(self):
        reply = GetReply.parse(self.expect(GET_REPLY))
        for store_fd, mmap_size in zip(reply.store_fds, reply.mmap_sizes):
            self._receive_segment(store_fd, mmap_size)
        return reply

    def get(self, object_ids, timeout_ms=0):
        self.send_get(object_ids, timeout_ms)
        reply = self.recv_get()
        assert reply.object_ids == list(object_ids)
        return reply

    def hold(self, object_id):
        """Get one object that must be there; its spec."""
        spec = self.get([object_id]).specs[0]
        assert spec.available
        return spec

    def contents(self, object_id):
        """Data and metadata of an object, which is not held afterwards."""
        contents = self.read(self.hold(object_id))
        self.release(object_id)
        return contents

    def delete(self, object_ids, count=None):
        table = self.request(DELETE, delete_body(object_ids, count))
        assert table.strings(1) == list(object_ids)
        assert table.scalar(0, "i") == len(object_ids)
        return table.scalars(2, "i")

    def contains(self, object_id):
        table = self.request(CONTAINS, id_body(object_id))
        assert table.string(0) == object_id
        has_object = table.scalar(1, "i")
        assert has_object in (0, 1)
        return has_object == 1

    def present(self, object_ids):
        """Those of the ids that the store contains."""
        return [object_id for object_id in object_ids if self.contains(object_id)]

    def list(self):
        """All objects by id."""
        infos = [ObjectInfo.parse(table) for table in self.request(LIST).tables(0)]
        assert all(info.digest is not None for info in infos), "ListReply without a digest"
        found = {info.object_id: info for info in infos}
        assert len(found) == len(infos), "an object is listed twice"
        return found

    def evict(self, num_bytes):
        return self.request(EVICT, evict_body(num_bytes)).scalar(0, "Q")

    def refresh_lru(self, object_ids):
        self.request(REFRESH_LRU, refresh_body(object_ids))

    def set_options(self, name, quota):
        return self.request(SET_OPTIONS, options_body(name, quota)).scalar(0, "i")

    def debug_string(self):
        return self.request(DEBUG_STRING).string(0).decode("ascii")

    def debug_values(self):
        """The debug string as a dictionary."""
        return dict(line.split(": ") for line in self.debug_string().split("\n"))

    def subscribe(self, blocking=False):
        return Subscription(self, blocking)


class Subscription:
    """The reading end of a notification socket."""

    def __init__(self, client, blocking=False):
        self.socket, server_end = socket.socketpair()
        self.socket.settimeout(TIMEOUT)
        server_end.setblocking(blocking)
        with server_end:
            client.send(SUBSCRIBE)
            client.send_fds([server_end.fileno()])

    def close(self):
        self.socket.close()

    def recv_bytes(self, size):
        content = bytearray()
        while len(content) < size:
            part = self.socket.recv(size - len(content))
            if not part:
                raise Closed("EOF on the notification socket")
            content += part
        return bytes(content)

    def recv_frame(self):
        (length,) = struct.unpack("<q", self.recv_bytes(8))
        assert 0 <= length < MAX_BODY
        return self.recv_bytes(length)

    def next(self):
        """The entries of the next frame."""
        return [ObjectInfo.parse(table) for table in Table(self.recv_frame()).tables(0)]

    def next_one(self):
        """The entry of the next frame, which must have exactly one."""
        entries = self.next()
        assert len(entries) == 1
        return entries[0]

    def events(self, count):
        """The next frames of one entry each, as (id, is_deletion)."""
        entries = [self.next_one() for _ in range(count)]
        return [(entry.object_id, entry.is_deletion) for entry in entries]

    def ready(self):
        """Whether a frame can be read right now."""
        self.socket.settimeout(0)
        try:
            return self.socket.recv(8, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return False
        finally:
            self.socket.settimeout(TIMEOUT)

    def ended(self):
        """Whether the server closes its end, with nothing more to read."""
        return self.socket.recv(1) == b""


def wait_until(condition, what, timeout=None):
    """Poll until the condition holds."""
    end = time.monotonic() + (timeout or TIMEOUT)
    while not condition():
        assert time.monotonic() < end, "timed out waiting until " + what
        time.sleep(0.01)
