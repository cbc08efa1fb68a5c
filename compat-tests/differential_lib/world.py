"""Requests sent to both servers in lock-step, and the model that keeps them valid.

A step is a tuple (operation, connection, argument, ...). It is executed only
if the model says that the reference survives it and that no documented
difference can show; so any step can be left out of a sequence and the rest
still makes sense. The rules refer to the names in format/DEVIATIONS.md.
"""

import random
import struct
import time
from dataclasses import dataclass, field, replace

import wire
from pair import NAMES, SIDES, Broken, Connection, Feed, readable

POOL = random.Random(0).randbytes(1 << 20)
LABELS = 5  # Lines for each connection with a quota in the debug string.
HEAD = 11  # Lines in front of them.
PINNED = 5  # The line of the pinned bytes.
TIMER_LIMIT = 100_000  # Milliseconds: longer than any sequence.
SETTLE_LIMIT = 3  # Seconds.
MODEL = "the model of this program"


class Difference(Exception):
    """The two servers answered differently."""

    def __init__(self, what, answers):
        super().__init__(what, answers)
        self.what = what
        self.answers = answers

    def __str__(self):
        return self.what


@dataclass
class Object:
    """An object as the model knows it."""

    data_size: int
    metadata_size: int
    serial: int
    creator: int
    holders: set
    sealed: bool = False
    digest: bytes = b""
    pending: bool = False
    # The connection whose quota may count it.
    quota_owner: object = None
    spilled: bool = False
    restored: bool = False
    # By side: where it is, if a reply has told.
    places: list = field(default_factory=lambda: [None, None])

    @property
    def size(self):
        return self.data_size + self.metadata_size

    def contents(self):
        return contents_of(self.serial, self.data_size, self.metadata_size)


def contents_of(serial, data_size, metadata_size):
    """Data and metadata of an object, different for each serial number."""
    at = serial * 7919 % (len(POOL) // 4)
    end = at + data_size
    return POOL[at:end], POOL[end : end + metadata_size]


def digest_of(serial):
    return struct.pack("<Q", serial * 0x9E3779B97F4A7C15 & (1 << 64) - 1)


def end_of_place(spec):
    return spec.data_offset + spec.data_size + spec.metadata_size


class World:
    """One sequence on a pair of servers that are empty at its start."""

    def __init__(self, pair):
        self.pair = pair
        self.capacity = pair.capacity
        self.external = pair.external
        self.objects = {}
        self.connections = {}
        self.keys = 0
        self.serial = 0
        # With an external store: the evictable objects, the oldest first.
        self.lru = []
        # Executed steps and the answers to them.
        self.log = []
        self.answers = None
        self.observer = self.connect("observer")
        self.subscribe(self.observer)

    # Connections and events.

    def connect(self, name):
        self.keys += 1
        connection = Connection(self.pair, name, self.keys)
        self.connections[name] = connection
        return connection

    def at(self, name):
        """The connection of this name, made when first needed."""
        return self.connections.get(name) or self.connect(name)

    def subscribe(self, connection):
        connection.feed = Feed(connection.clients)
        connection.sync()

    def collect(self):
        """Read what has arrived besides the reply, and expect it to be there already.

        Notifications are written before the replies to gets, and those before
        the reply to the request that caused them.
        """
        sources = {}
        for connection in self.connections.values():
            for side in SIDES:
                sources[connection.clients[side].socket] = (connection, side, False)
            if connection.feed:
                for side, end in zip(SIDES, connection.feed.sockets()):
                    sources[end] = (connection, side, True)
        ready = readable(sources)
        while ready:
            for source in ready:
                connection, side, is_feed = sources[source]
                if is_feed:
                    connection.feed.fill(side)
                else:
                    connection.take_arrival(side)
            ready = readable(ready)

    def take_events(self, unordered):
        """By side: notifications of all subscribers and replies to waiting gets."""
        events = ([], [])
        replies = ([], [])
        for side in SIDES:
            for name, connection in sorted(self.connections.items()):
                if connection.feed:
                    frames = [self.shape_of_frame(f) for f in connection.feed.frames(side)]
                    if connection.feed.buffers[side]:
                        raise Broken("part of a notification from the %s server" % NAMES[side])
                    if name in unordered:
                        frames.sort(key=lambda frame: [info.object_id for info in frame])
                    events[side].extend((name, frame) for frame in frames)
                for reply in connection.arrived[side]:
                    events[side].append((name, self.shape_of_get(reply)))
                    replies[side].append((connection, reply))
                connection.arrived[side].clear()
        return events, replies

    def shape_of_frame(self, frame):
        """The entries; "digest": of a restored object the reference has zeros."""
        return tuple(
            replace(info, digest=b"")
            if not info.is_deletion and self.is_restored(info.object_id)
            else info
            for info in frame
        )

    def is_restored(self, object_id):
        found = self.objects.get(object_id)
        return found is not None and found.restored

    # Execution.

    def run(self, step):
        """Execute a step if it is valid; whether it was."""
        operation, name, *arguments = step
        if not getattr(self, "can_" + operation)(name, *arguments):
            return False
        self.answers = None
        self.log.append([step, None, None])
        try:
            self._run(operation, name, arguments)
        except Difference as difference:
            self.log[-1][1:] = difference.answers
            raise
        except (AssertionError, wire.Closed, OSError, Broken) as error:
            # A dying server closes its connections first.
            self.pair.check_alive(patience=0.5)
            text = "%s: %s" % (type(error).__name__, error)
            raise Difference("a broken reply or none: " + text, ("", "")) from error
        return True

    def _run(self, operation, name, arguments):
        answers, apply = getattr(self, "do_" + operation)(name, *arguments)
        self.collect()
        # A new subscriber hears of the objects, and the objects of a lost
        # connection are released, in an order that is not specified.
        unordered = {"subscribe": (name,), "leave": tuple(self.connections)}.get(operation, ())
        events, replies = self.take_events(unordered)
        self.log[-1][1:] = [(answers[side], events[side]) for side in SIDES]
        if answers[0] != answers[1]:
            raise Difference("the replies differ", self.log[-1][1:])
        if events[0] != events[1]:
            raise Difference("notifications or replies to gets differ", self.log[-1][1:])
        self.remove_evicted(events[0])
        if apply:
            apply(answers[0])
        if self.external:
            self.settle()
        for side in SIDES:
            for connection, reply in replies[side]:
                self.check_get(side, connection, reply)
        for connection, reply in replies[0]:
            connection.gets.remove(reply.object_ids)

    def settle(self):
        """Wait for the tested server to copy: "nobody waits for copies".

        What is being spilled counts until its copy is complete, and what is
        being restored for a get that goes on waiting is not held yet.
        """
        allocated = b"\nallocated bytes: %d\n" % self.size_in_memory()
        pinned = b"\npinned bytes: %d\n" % self.size_in_memory(lambda found: found.holders)
        end = time.monotonic() + SETTLE_LIMIT
        while True:
            self.observer.clients[1].send(wire.DEBUG_STRING)
            text = self.observer.receive(1, wire.DEBUG_STRING_REPLY).string(0)
            if allocated in text and pinned in text:
                return
            if time.monotonic() > end:
                raise Broken("%s expects %s%s: %s" % (MODEL, allocated, pinned, text))

    def request(self, connection, kind, body=wire.EMPTY):
        """The tables of both replies."""
        connection.send(kind, body)
        return [connection.receive(side, kind + 1) for side in SIDES]

    def remove_evicted(self, events):
        for name, frame in events:
            if name != "observer":
                continue
            for info in frame:
                if info.is_deletion:
                    self.forget(info.object_id)

    def forget(self, object_id):
        """An object has left the store."""
        if object_id not in self.objects:
            raise Broken("a notification of the end of an unknown object")
        del self.objects[object_id]
        if object_id in self.lru:
            self.lru.remove(object_id)

    # What holds for one server by itself.

    def check_place(self, side, connection, found, spec):
        """The rules for places: aligned, in range, metadata adjacent, no overlap."""
        if spec.data_offset % 64 or spec.metadata_offset != spec.data_offset + spec.data_size:
            raise Broken("%s: a wrong place: %s" % (NAMES[side], spec))
        segment = connection.clients[side].segments.get(spec.segment)
        if segment is None or end_of_place(spec) > segment.mmap_size - 8:
            raise Broken("%s: a place outside the segment: %s" % (NAMES[side], spec))
        if found.places[side] not in (None, spec):
            raise Broken("%s: an object was moved to %s" % (NAMES[side], spec))
        found.places[side] = spec
        # "objects of no bytes" have no room of their own in the tested server.
        for other in self.objects.values() if found.size else ():
            place = other.places[side]
            if other is found or place is None or place.segment != spec.segment or not other.size:
                continue
            if place.data_offset < end_of_place(spec) and spec.data_offset < end_of_place(place):
                raise Broken("%s: %s overlaps %s" % (NAMES[side], spec, place))

    def check_get(self, side, connection, reply):
        """Places and contents of the objects of a GetReply."""
        for object_id, spec in zip(reply.object_ids, reply.specs):
            if not spec.available:
                continue
            found = self.objects.get(object_id)
            if found is None or not found.sealed:
                raise Broken("%s: a get returned an object that is not there" % NAMES[side])
            self.check_place(side, connection, found, spec)
            if connection.clients[side].read(spec) != found.contents():
                raise Broken("%s: wrong contents of %r" % (NAMES[side], object_id))

    @staticmethod
    def shape_of_get(reply):
        """What of a GetReply is the same for all servers."""
        shapes = [
            (spec.data_size, spec.metadata_size, spec.device) if spec.available else spec
            for spec in reply.specs
        ]
        return ("GetReply", tuple(reply.object_ids), tuple(shapes))

    # The model.

    def size_in_memory(self, which=lambda found: True):
        return sum(
            found.size for found in self.objects.values() if not found.spilled and which(found)
        )

    def new_object(self, connection, object_id, data_size, metadata_size, serial):
        found = Object(data_size, metadata_size, serial, connection.key, {connection.key})
        found.quota_owner = connection.key if connection.quota is not None else None
        self.objects[object_id] = found
        return found

    def mark_sealed(self, object_id, digest):
        """The object is sealed: who waits for it holds it from now on."""
        found = self.objects[object_id]
        found.sealed, found.digest = True, digest
        for connection in self.connections.values():
            if any(object_id in ids for ids in connection.gets):
                found.holders.add(connection.key)

    def drop_hold(self, key, object_id):
        """Pending objects go; the notification has already removed them here."""
        found = self.objects.get(object_id)
        if found is None:
            return
        found.holders.discard(key)
        if self.external and not found.holders:
            self.lru.append(object_id)

    def hold(self, connection, object_id):
        """A get has found this object."""
        found = self.objects[object_id]
        if found.spilled:
            self.make_room(found.size)
            found.spilled, found.restored = False, True
        if object_id in self.lru:
            self.lru.remove(object_id)
        found.holders.add(connection.key)

    def spill(self, wanted):
        """Spill from the old end until this many bytes are free; the bytes freed."""
        freed = 0
        while self.lru and freed < wanted:
            found = self.objects[self.lru.pop(0)]
            found.spilled, found.places = True, [None, None]
            freed += found.size
        return freed

    def make_room(self, size):
        """Spill as a new object of this size makes it necessary."""
        if not self.external:
            return
        while (required := self.size_in_memory() + size - self.capacity) > 0:
            freed = self.spill(max(required, self.capacity // 5))
            if freed < required or freed == 0:
                return

    def room_ok(self, connection, sizes, evict):
        """Whether this is answered alike, and leaves the same objects behind.

        Avoided are "refuse before evicting", "quota always holds" and the
        "ghosts in a quota" that a batch leaves when it is rolled back.
        """
        if not evict:
            return connection.quota is None
        if connection.quota is not None and max(sizes, default=0) > connection.quota:
            return len(sizes) == 1
        unmovable = self.size_in_memory(
            lambda found: found.holders or found.quota_owner is not None
        )
        if sum(sizes) <= self.capacity - unmovable:
            return True
        # It fails; then there must be nothing that could be evicted for it.
        return connection.quota is None and all(
            found.holders or found.spilled for found in self.objects.values()
        )

    def waits_for(self, connection, ids):
        return any(object_id in waiting for waiting in connection.gets for object_id in ids)

    # Create.

    def can_create(self, name, object_id, data_size, metadata_size, evict, device):
        if self.external and metadata_size:
            return False  # "metadata" of an external store.
        if object_id in self.objects or device:
            return True
        return self.room_ok(self.at(name), [data_size + metadata_size], evict)

    def do_create(self, name, object_id, data_size, metadata_size, evict, device):
        connection = self.at(name)
        body = wire.create_body(object_id, data_size, metadata_size, evict, device)
        replies = [
            wire.CreateReply.parse(table) for table in self.request(connection, wire.CREATE, body)
        ]
        answers = []
        for side, reply in zip(SIDES, replies):
            if reply.error == wire.OK:
                connection.segment(side, reply.store_fd, reply.mmap_size)
                assert reply.spec.segment == reply.store_fd
            else:
                assert reply.spec == wire.NOTHING
                assert reply.store_fd == reply.mmap_size == 0
            spec = reply.spec
            sizes = (spec.data_size, spec.metadata_size, spec.device)
            answers.append((reply.object_id, reply.error, sizes))

        def apply(answer):
            if answer[1] != wire.OK:
                return
            if (object_id, (data_size, metadata_size, 0)) != (answer[0], answer[2]):
                raise Broken("a CreateReply about something else")
            self.serial += 1
            self.make_room(data_size + metadata_size)
            found = self.new_object(connection, object_id, data_size, metadata_size, self.serial)
            for side, reply in zip(SIDES, replies):
                self.check_place(side, connection, found, reply.spec)
                connection.clients[side].write(reply.spec, *found.contents())

        return answers, apply

    # Seal.

    def own_unsealed(self, name, object_id):
        """Whether this connection created it, holds it, and has not sealed it."""
        found, connection = self.objects.get(object_id), self.connections.get(name)
        if not (found and connection) or found.sealed:
            return False
        return found.creator == connection.key and connection.key in found.holders

    def can_seal(self, name, object_id):
        return self.own_unsealed(name, object_id)

    def do_seal(self, name, object_id):
        digest = digest_of(self.objects[object_id].serial)
        connection = self.at(name)
        tables = self.request(connection, wire.SEAL, wire.seal_body(object_id, digest))
        answers = [(table.string(0), table.scalar(1, "i")) for table in tables]
        if self.waits_for(connection, [object_id]):
            # Its own GetReply and the SealReply go out together in the tested
            # server, which may be before the GetReply to another connection.
            # No official client waits and seals at the same time.
            self.observer.sync()
        return answers, lambda answer: self.mark_sealed(object_id, digest)

    # CreateAndSeal and the batch.

    def can_put(self, name, object_id, data_size, metadata_size, evict):
        if self.waits_for(self.at(name), [object_id]):
            return False  # "own object, own get".
        return self.can_create(name, object_id, data_size, metadata_size, evict, 0)

    def do_put(self, name, object_id, data_size, metadata_size, evict):
        connection = self.at(name)
        self.serial += 1
        serial = self.serial
        contents, digest = contents_of(serial, data_size, metadata_size), digest_of(serial)
        body = wire.create_and_seal_body(object_id, *contents, digest, evict)
        tables = self.request(connection, wire.CREATE_AND_SEAL, body)

        def apply(error):
            if error == wire.OK:
                self.make_room(data_size + metadata_size)
                self.new_object(connection, object_id, data_size, metadata_size, serial)
                self.mark_sealed(object_id, digest)
                self.drop_hold(connection.key, object_id)

        return [table.scalar(0, "i") for table in tables], apply

    def can_batch(self, name, items, evict):
        connection = self.at(name)
        ids = [object_id for object_id, _, _ in items]
        if self.waits_for(connection, ids):
            return False  # "own object, own get".
        if self.external and any(metadata_size for _, _, metadata_size in items):
            return False
        clash = len(set(ids)) < len(ids) or any(object_id in self.objects for object_id in ids)
        if clash and connection.quota is not None:
            return False  # "ghosts in a quota".
        if connection.quota is not None and any(d + m > connection.quota for _, d, m in items):
            return False
        return self.room_ok(connection, [d + m for _, d, m in items], evict)

    def do_batch(self, name, items, evict):
        connection = self.at(name)
        first = self.serial + 1
        self.serial += len(items)
        serials = range(first, self.serial + 1)
        contents = [contents_of(s, d, m) for s, (_, d, m) in zip(serials, items)]
        body = wire.batch_body(
            [object_id for object_id, _, _ in items],
            [data for data, _ in contents],
            [metadata for _, metadata in contents],
            [digest_of(serial) for serial in serials],
            evict,
        )
        tables = self.request(connection, wire.BATCH, body)

        def apply(error):
            made = []
            for serial, (object_id, data_size, metadata_size) in zip(serials, items):
                # A spilled object has kept its id; others may have been
                # evicted by the objects in front of them.
                if object_id in self.objects:
                    break
                if evict:
                    self.make_room(data_size + metadata_size)
                if self.external and (
                    self.size_in_memory() + data_size + metadata_size > self.capacity
                ):
                    break
                self.new_object(connection, object_id, data_size, metadata_size, serial)
                made.append((object_id, serial))
            if error != wire.OK:
                for object_id, _ in made:
                    del self.objects[object_id]
                return
            for object_id, serial in made:
                self.mark_sealed(object_id, digest_of(serial))
            for object_id, _ in made:
                self.drop_hold(connection.key, object_id)

        return [table.scalar(0, "i") for table in tables], apply

    # Abort.

    def can_abort(self, name, object_id):
        if not self.own_unsealed(name, object_id):
            return False
        found = self.objects[object_id]
        # "mark outlives the object", "ghosts in a quota".
        return not found.pending and found.quota_owner is None

    def do_abort(self, name, object_id):
        tables = self.request(self.at(name), wire.ABORT, wire.id_body(object_id))
        return [table.string(0) for table in tables], lambda answer: self.forget(object_id)

    # Get and Release.

    def can_get(self, name, ids, timeout_ms):
        connection = self.at(name)
        if len(connection.gets) > 1 or list(ids) in connection.gets:
            return False
        if not self.external:
            return True
        # The reference restores in the order of the list, and to make room it
        # may evict what stands further back, and restore that too. The tested
        # server first holds what is there, so such lists are not sent.
        spilled = [i in self.objects and self.objects[i].spilled for i in ids]
        if any(i in self.lru and any(spilled[:at]) for at, i in enumerate(ids)):
            return False
        # "no room to restore".
        wanted = [found for i in ids if (found := self.objects.get(i)) and found.sealed]
        held = [found for found in self.objects.values() if found.holders and found not in wanted]
        return sum(found.size for found in wanted + held) <= self.capacity

    def do_get(self, name, ids, timeout_ms):
        connection, ids = self.at(name), list(ids)
        found = [i for i in ids if i in self.objects and self.objects[i].sealed]
        waits = len(found) < len(ids) and (timeout_ms == -1 or timeout_ms >= TIMER_LIMIT)
        start = time.monotonic()
        connection.send(wire.GET, wire.get_body(ids, timeout_ms))
        if waits:
            answers, replies = connection.sync(), []
        else:
            replies = self.get_replies(connection, ids, start, len(found) < len(ids), timeout_ms)
            answers = [self.shape_of_get(reply) for reply in replies]

        def apply(answer):
            for object_id in found:
                self.hold(connection, object_id)
            if waits:
                connection.gets.append(ids)
            for side, reply in zip(SIDES, replies):
                self.check_get(side, connection, reply)

        return answers, apply

    @staticmethod
    def get_replies(connection, ids, start, incomplete, timeout_ms):
        """Both replies, and neither before its time; the tested server is read first."""
        replies = [None, None]
        for side in reversed(SIDES):
            replies[side] = connection.receive_get(side, ids)
            if incomplete and (time.monotonic() - start) * 1000 < timeout_ms - 1:
                raise Broken("the %s server answered a get too early" % NAMES[side])
        return replies

    def can_release(self, name, object_id):
        found, connection = self.objects.get(object_id), self.connections.get(name)
        if not (found and connection and found.sealed and connection.key in found.holders):
            return False  # "needless release", "release before seal".
        return not self.waits_for(connection, [object_id])  # "released while waiting".

    def do_release(self, name, object_id):
        connection = self.at(name)
        body = wire.id_body(object_id)
        # There is no reply, so that of a second request shows that it is done.
        connection.send(wire.RELEASE, body, wire.message(wire.CONNECT))
        tables = [connection.receive(side, wire.CONNECT_REPLY) for side in SIDES]
        return (
            [table.scalar(0, "q") for table in tables],
            lambda answer: self.drop_hold(connection.key, object_id),
        )

    # Delete.

    def can_delete(self, name, ids):
        for object_id in ids:
            found = self.objects.get(object_id)
            if found is None:
                continue
            held = found.holders or not found.sealed
            if held and found.quota_owner is not None:
                return False  # "ghosts in a quota".
            if self.external and (held or found.spilled):
                return False  # "spilled objects", "pending, external store".
        return True

    def do_delete(self, name, ids):
        tables = self.request(self.at(name), wire.DELETE, wire.delete_body(list(ids)))
        answers = [
            (table.scalar(0, "i"), table.strings(1), table.scalars(2, "i")) for table in tables
        ]

        def apply(answer):
            for object_id in ids:
                # Those that were not in use are gone already.
                if object_id in self.objects:
                    self.objects[object_id].pending = True

        return answers, apply

    # Questions.

    def can_contains(self, name, object_id):
        return True

    def do_contains(self, name, object_id):
        tables = self.request(self.at(name), wire.CONTAINS, wire.id_body(object_id))
        return [(table.string(0), table.scalar(1, "i")) for table in tables], None

    def can_capacity(self, name):
        return True

    def do_capacity(self, name):
        return self.at(name).sync(), None

    def can_list(self, name):
        return True

    def do_list(self, name):
        tables = self.request(self.at(name), wire.LIST)
        lists = []
        for side, table in zip(SIDES, tables):
            infos = [wire.ObjectInfo.parse(entry) for entry in table.tables(0)]
            self.check_list(side, infos)
            lists.append({info.object_id: info for info in infos})
        answers = [sorted(self.shape_of_info(info) for info in one.values()) for one in lists]
        for object_id in lists[0].keys() & lists[1].keys():
            first, second = (one[object_id] for one in lists)
            # Whole seconds, read a little later by one of the two.
            if abs(first.create_time - second.create_time) > 1:
                raise Broken("times of creation: %s, %s" % (first, second))
            if abs(first.construct_duration - second.construct_duration) > 1:
                raise Broken("durations of construction: %s, %s" % (first, second))
        return answers, None

    def shape_of_info(self, info):
        # "digest", as above.
        digest = b"" if self.is_restored(info.object_id) else info.digest
        unsealed = info.construct_duration == -1
        return (
            info.object_id,
            info.data_size,
            info.metadata_size,
            info.ref_count,
            unsealed,
            digest,
            info.is_deletion,
        )

    def check_list(self, side, infos):
        """The list is what the model expects."""
        listed = {
            info.object_id: (info.data_size, info.metadata_size, info.ref_count, info.sealed)
            for info in infos
        }
        expected = {
            object_id: (o.data_size, o.metadata_size, len(o.holders), o.sealed)
            for object_id, o in self.objects.items()
        }
        if listed != expected or len(infos) != len(listed):
            raise Broken("%s lists %s, not %s as %s" % (NAMES[side], listed, expected, MODEL))
        for info in infos:
            found = self.objects[info.object_id]
            if side == 1 and found.sealed and info.digest != found.digest:
                raise Broken("the digest of %r was not kept" % info.object_id)

    def can_debug(self, name):
        return True

    def do_debug(self, name):
        connection = self.at(name)
        texts = [table.string(0) for table in self.request(connection, wire.DEBUG_STRING)]
        answers = [self.shape_of_debug(side, text) for side, text in zip(SIDES, texts)]
        if self.external:
            self.check_spilled(answers[0])
        return answers, None

    def check_spilled(self, answer):
        """What is spilled is not told to anybody, so the model counts along."""
        allocated, objects = self.size_in_memory(), len(self.lru)
        wanted = ["allocated bytes: %d" % allocated, "(global lru) num objects: %d" % objects]
        if any(line not in answer[0] for line in wanted):
            raise Broken("%s expects %s: %s" % (MODEL, wanted, answer))

    def shape_of_debug(self, side, text):
        """The lines but for the pinned bytes; those of clients in any order."""
        lines = text.decode("ascii").split("\n")
        pinned = int(lines[PINNED].removeprefix("pinned bytes: "))
        expected = self.size_in_memory(lambda found: found.holders)
        if side == 1 and pinned != expected:
            raise Broken("%d pinned bytes, not %d as %s" % (pinned, expected, MODEL))
        if side == 0:
            # "pinned bytes": they drift upwards, and never down.
            if pinned - expected < self.pair.drift:
                raise Broken("the drift went from %d to %d" % (self.pair.drift, pinned - expected))
            self.pair.drift = pinned - expected
        head = lines[:PINNED] + lines[PINNED + 1 : HEAD]
        clients = sorted(lines[at : at + LABELS] for at in range(HEAD, len(lines), LABELS))
        return head, clients

    # Eviction.

    def can_evict(self, name, num_bytes):
        return True

    def do_evict(self, name, num_bytes):
        tables = self.request(self.at(name), wire.EVICT, wire.evict_body(num_bytes))

        def apply(answer):
            if self.external and 0 < num_bytes < 1 << 63:
                self.spill(num_bytes)

        return [table.scalar(0, "Q") for table in tables], apply

    def can_refresh(self, name, ids):
        return True

    def do_refresh(self, name, ids):
        self.request(self.at(name), wire.REFRESH_LRU, wire.refresh_body(list(ids)))

        def apply(answer):
            for object_id in ids:
                if object_id in self.lru:
                    self.lru.remove(object_id)
                    self.lru.append(object_id)

        return [None, None], apply

    # Subscribe, SetOptions.

    def can_subscribe(self, name):
        return self.at(name).feed is None  # "second subscription".

    def do_subscribe(self, name):
        self.subscribe(self.at(name))
        return [None, None], None

    def can_options(self, name, label, quota):
        # "negative quota". With an external store the model of the order of
        # eviction knows no quotas.
        return quota >= 0 and not self.external

    def do_options(self, name, label, quota):
        connection = self.at(name)
        tables = self.request(connection, wire.SET_OPTIONS, wire.options_body(label, quota))

        def apply(error):
            if error == wire.OK:
                connection.quota = quota

        return [table.scalar(0, "i") for table in tables], apply

    # The end of a connection.

    def can_leave(self, name, how):
        connection = self.connections.get(name)
        if connection is None or len(connection.gets) > 1:
            return False  # "several gets at once".
        # "mark outlives the object".
        return not any(
            found.pending and not found.sealed and found.creator == connection.key
            for found in self.objects.values()
        )

    def do_leave(self, name, how):
        connection = self.connections.pop(name)
        key = connection.key
        connection.leave(how)
        if how == "close":
            # The first request of a new connection is handled after it.
            self.connect("probe").sync()
            self.connections.pop("probe").close()
        for object_id, found in list(self.objects.items()):
            if found.creator == key and not found.sealed:
                self.forget(object_id)
        touched = [
            object_id
            for object_id, found in sorted(self.objects.items())
            if key in found.holders or found.quota_owner == key
        ]
        # They enter the queue in an order that is not specified, and "a
        # quota's end" is a deliberate difference; so the order is set now.
        body = wire.refresh_body(touched)
        self.request(self.observer, wire.REFRESH_LRU, body)

        def apply(answer):
            for object_id in touched:
                found = self.objects.get(object_id)
                if found and found.quota_owner == key:
                    found.quota_owner = None
                if found and key in found.holders:
                    self.drop_hold(key, object_id)

        return [None, None], apply

    # The end of a sequence.

    def finish(self):
        """Compare everything once more, then empty both servers."""
        self.run(("list", "observer"))
        self.run(("debug", "observer"))
        self.read_everything()
        self.empty()

    def read_everything(self):
        """A new connection reads all objects."""
        for object_id in sorted(self.objects):
            self.run(("get", "reader", (object_id,), 0))
            self.run(("release", "reader", object_id))

    def empty(self):
        for object_id, found in list(self.objects.items()):
            if not found.sealed:
                for name in list(self.connections):
                    self.run(("seal", name, object_id))
        for name in list(self.connections):
            gets = self.connections[name].gets
            while len(gets) > 1:
                for object_id in list(gets[0]):
                    self.run(("put", "filler", object_id, 0, 0, False))
        for name in list(self.connections):
            if name != "observer":
                self.run(("leave", name, "message"))
        for object_id in sorted(self.objects):
            self.run(("get", "observer", (object_id,), 0))
            self.run(("release", "observer", object_id))
            self.run(("delete", "observer", (object_id,)))
        self.run(("list", "observer"))
        self.run(("debug", "observer"))
        if self.objects:
            raise Broken("%s could not empty the servers: %s" % (MODEL, self.objects))

    def close(self):
        for connection in self.connections.values():
            connection.close()
