"""Random steps. All of them are plain tuples, so a sequence can be shrunk."""

import wire
from world import TIMER_LIMIT

# Around 131,072 the first segment of the reference has little room to spare.
CAPACITIES = (2048, 4096, 10_000, 30_000, 65_536, 100_003, 131_072, 132_000, 500_009)
NAMES = ("c1", "c2", "c3", "c4")
LABELS = (b"", b"a", b"local", b"x y", b"global lru")
# How often each operation is tried; not all attempts are valid.
WEIGHTS = {
    "create": 14,
    "seal": 14,
    "put": 12,
    "batch": 5,
    "abort": 3,
    "get": 18,
    "release": 18,
    "delete": 8,
    "contains": 3,
    "capacity": 1,
    "list": 2,
    "debug": 8,
    "evict": 4,
    "refresh": 4,
    "subscribe": 2,
    "options": 2,
    "leave": 3,
}


class Generator:
    """Makes steps that suit the state of a world; they may still be invalid."""

    def __init__(self, random, world):
        self.random = random
        self.world = world
        self.bytes = world.capacity
        self.names = NAMES[: random.randint(2, len(NAMES))]
        self.ids = [wire.oid(number) for number in range(random.randint(3, 24))]
        # Some sequences are about many small objects, some about few large ones.
        self.typical = self.bytes // random.choice((2, 3, 4, 6, 10, 30))
        weights = dict(WEIGHTS)
        for operation in random.sample(sorted(weights), 4):
            weights[operation] *= random.choice((0, 0, 3))
        self.opening = []
        if not world.external and random.random() < 0.3:
            self.plan_quotas(weights)
        self.operations = list(weights)
        self.weights = list(weights.values())

    def plan_quotas(self, weights):
        """One or two connections begin with a quota of a few typical objects each."""
        quota = self.bytes // self.random.choice((3, 4, 6))
        self.typical = max(1, quota // self.random.choice((1, 2, 3, 5)))
        weights["options"] = 0
        weights["delete"] //= 4
        for name in self.names[: self.random.randint(1, 2)]:
            self.opening.append(("options", name, self.random.choice(LABELS), quota))

    def step(self):
        if self.opening:
            return self.opening.pop()
        operation = self.random.choices(self.operations, self.weights)[0]
        return (operation, self.random.choice(self.names), *getattr(self, operation)())

    def attempt(self):
        """A step of a kind that needs a certain holder, with the right holder."""
        operation, name, *arguments = self.step()
        if operation in ("seal", "abort", "release"):
            found = self.world.objects.get(arguments[0])
            if found is None:
                keys = ()
            else:
                keys = found.holders if operation == "release" else (found.creator,)
            for other in self.names:
                connection = self.world.connections.get(other)
                if connection and connection.key in keys:
                    name = other
        return (operation, name, *arguments)

    def an_id(self):
        return self.random.choice(self.ids)

    def a_new_id(self):
        """Mostly one that is not in use."""
        object_id = self.an_id()
        for _ in range(8):
            if object_id not in self.world.objects or self.random.random() < 0.02:
                break
            object_id = self.an_id()
        return object_id

    def some_ids(self, most=5):
        return self.random.sample(self.ids, min(len(self.ids), self.random.randint(1, most)))

    def pick(self, wanted):
        """An id of an object that meets the condition, if there is one."""
        found = [i for i, o in sorted(self.world.objects.items()) if wanted(o)]
        return self.random.choice(found) if found else self.an_id()

    def sizes(self):
        """Data and metadata sizes."""
        kind = self.random.random()
        if kind < 0.1:
            size = self.random.choice((0, 0, 1, 63, 64, 65))
        elif kind < 0.15:
            size = self.bytes + self.random.choice((-1, 0, 1))
        elif kind < 0.25:
            size = self.random.randint(0, self.bytes // 2)
        elif kind < 0.4:
            # What is free right now, or a byte more.
            free = self.bytes - self.world.size_in_memory()
            size = free + self.random.choice((0, 0, 1))
        else:
            size = self.random.randint(self.typical // 2, self.typical)
        if self.world.external or self.random.random() < 0.4:
            return size, 0
        metadata_size = self.random.choice((1, 7, 64, size // 2, size))
        metadata_size = min(metadata_size, size)
        return size - metadata_size, metadata_size

    def evict_if_full(self):
        return self.random.random() < 0.85

    def create(self):
        device = 1 if self.random.random() < 0.02 else 0
        return (self.a_new_id(), *self.sizes(), self.evict_if_full(), device)

    def seal(self):
        return (self.pick(lambda found: not found.sealed),)

    def put(self):
        return (self.a_new_id(), *self.sizes(), self.evict_if_full())

    def batch(self):
        ids = self.some_ids()
        if self.random.random() < 0.7:
            ids = [i for i in ids if i not in self.world.objects] or ids
        items = [(object_id, *self.sizes()) for object_id in ids]
        if self.random.random() < 0.1:
            items = items[:1] * 2
        if self.random.random() < 0.05:
            items = []
        return (tuple(items), self.evict_if_full())

    def abort(self):
        return (self.pick(lambda found: not found.sealed),)

    def get(self):
        ids = self.some_ids()
        if self.random.random() < 0.5:
            ids = [self.pick(lambda found: found.sealed)]
        if self.random.random() < 0.02:
            ids = []
        kind = self.random.random()
        if kind < 0.6:
            timeout_ms = 0
        elif kind < 0.7:
            timeout_ms = self.random.choice((1, 2, 5))
        elif kind < 0.72:
            timeout_ms = -2
        else:
            timeout_ms = self.random.choice((-1, -1, TIMER_LIMIT))
        return (tuple(ids), timeout_ms)

    def release(self):
        return (self.pick(lambda found: found.sealed and found.holders),)

    def delete(self):
        ids = self.some_ids(3)
        if self.random.random() < 0.1:
            ids += ids[:1]
        return (tuple(ids),)

    def contains(self):
        return (self.an_id(),)

    def capacity(self):
        return ()

    def list(self):
        return ()

    def debug(self):
        return ()

    def evict(self):
        sizes = (0, 1, self.typical, self.bytes // 3, self.bytes, -1, 1 << 63, 1 << 40)
        return (self.random.choice(sizes),)

    def refresh(self):
        return (tuple(self.some_ids()),)

    def subscribe(self):
        return ()

    def options(self):
        quota = self.random.choice(
            (0, 1, self.typical, self.bytes // 5, self.bytes * 2 // 5, self.bytes * 7 // 10)
        )
        return self.random.choice(LABELS), quota + self.random.choice((0, 0, 0, 1))

    def leave(self):
        return (self.random.choice(("message", "half", "close")),)
