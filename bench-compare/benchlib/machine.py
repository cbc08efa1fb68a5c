"""What is said about the machine."""

import os
import platform
from pathlib import Path

HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage")


def first_line(path, default="not known"):
    try:
        return Path(path).read_text().splitlines()[0]
    except (OSError, IndexError):
        return default


def field(path, name):
    """The value of the first line like `name : value`."""
    try:
        for line in Path(path).read_text().splitlines():
            key, colon, value = line.partition(":")
            if colon and key.strip() == name:
                return value.strip()
    except OSError:
        pass
    return None


def chosen(text):
    """The word in brackets, of the files that list what can be chosen."""
    return text[text.find("[") + 1 : text.find("]")] if "[" in text else text


def processors():
    return len(os.sched_getaffinity(0))


def describe():
    """Pairs of what and which."""
    kibibytes = (field("/proc/meminfo", "MemTotal") or "0").split()[0]
    scaling = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    flags = (field("/proc/cpuinfo", "flags") or "").split()
    model = field("/proc/cpuinfo", "model name") or platform.machine()
    if "hypervisor" in flags:
        model += ", virtual"
    load = "%.1f" % os.getloadavg()[0]
    return [
        ("processor", model),
        ("processors to run on", str(processors())),
        ("memory", "%.1f GiB" % (int(kibibytes) / (1 << 20))),
        ("kernel", "%s %s" % (platform.system(), platform.release())),
        ("frequency governor", first_line(scaling, "none")),
        ("transparent huge pages", chosen(first_line(HUGE_PAGES / "enabled"))),
        ("the same for shared memory", chosen(first_line(HUGE_PAGES / "shmem_enabled"))),
        ("load average before the run", load),
    ]
