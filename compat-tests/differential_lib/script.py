"""Sequences as text that people can read."""

import wire
from pair import NAMES

TITLES = {
    "create": ("Create", ("id", "data", "metadata", "evict_if_full", "device")),
    "put": ("CreateAndSeal", ("id", "data", "metadata", "evict_if_full")),
    "batch": ("CreateAndSealBatch", ("objects", "evict_if_full")),
    "seal": ("Seal", ("id",)),
    "abort": ("Abort", ("id",)),
    "get": ("Get", ("ids", "timeout_ms")),
    "release": ("Release", ("id",)),
    "delete": ("Delete", ("ids",)),
    "contains": ("Contains", ("id",)),
    "capacity": ("Connect", ()),
    "list": ("List", ()),
    "debug": ("GetDebugString", ()),
    "evict": ("Evict", ("num_bytes",)),
    "refresh": ("RefreshLRU", ("ids",)),
    "subscribe": ("Subscribe", ()),
    "options": ("SetOptions", ("name", "quota")),
    "leave": ("ends the connection", ("how",)),
}


def plain(value):
    """Ids as id1, id2; records without what is always the same."""
    if isinstance(value, bytes):
        if value.startswith(b"object-") and len(value) == 20:
            return "id%d" % int(value[7:])
        return value.hex() if len(value) == 8 else repr(value.decode("ascii", "replace"))
    if isinstance(value, wire.ObjectInfo):
        if value.is_deletion:
            return plain(value.object_id) + " deleted"
        sizes = (value.data_size, value.metadata_size, value.digest.hex())
        return plain(value.object_id) + " sealed %d+%d digest %s" % sizes
    if value == wire.MISSING:
        return "missing"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(plain(item) for item in value) + "]"
    return str(value)


def describe_step(step):
    operation, name, *arguments = step
    title, labels = TITLES[operation]
    words = ["%s=%s" % (label, plain(value)) for label, value in zip(labels, arguments)]
    return " ".join(["%s: %s" % (name, title), *words])


def describe_answer(answer):
    if not answer:
        return "(nothing)"
    reply, events = answer
    words = [] if reply is None else [plain(reply)]
    words += ["%s gets %s" % (name, plain(content)) for name, content in events]
    return "; ".join(words) or "done"


def describe_texts(first, second):
    """Debug strings: only the lines in which they differ."""
    if first == second:
        return ["the same text"] * 2
    lines = [sum(clients, head) for head, clients in (first, second)]
    return [
        ", ".join(line for line in mine if line not in other) or "no line more"
        for mine, other in (lines, reversed(lines))
    ]


def describe_log(log):
    """All steps; both answers where they differ."""
    lines = []
    for number, (step, first, second) in enumerate(log, 1):
        lines.append("%3d. %s" % (number, describe_step(step)))
        if step[0] == "debug" and first and second:
            texts = describe_texts(first[0], second[0])
            first, second = ((text, answer[1]) for text, answer in zip(texts, (first, second)))
        if first == second and first is not None:
            lines.append("       -> " + describe_answer(first))
            continue
        for name, answer in zip(NAMES, (first, second)):
            lines.append("       %-9s -> %s" % (name, describe_answer(answer)))
    return "\n".join(lines)
