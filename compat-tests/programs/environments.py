"""Virtual environments that hold an old pyarrow, and running things in them.

Used by `matrix` and `programs/run`. An environment is made once below
target/compat-tests and kept until what it is made from changes. The server
under test is put where clients look for theirs, for as long as it is needed.
Only the standard library is used, since this runs before anything is
installed.
"""

import contextlib
import fcntl
import glob
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from pathlib import Path

WORK = Path(__file__).resolve().parents[2] / "target" / "compat-tests"
# From installing to importing, on a slow machine with an empty cache.
INSTALL_LIMIT = 900
PROBE = (
    "import sys, platform, venv, ensurepip;"
    "print(platform.python_implementation(), '%d.%d.%d' % sys.version_info[:3])"
)


class Unavailable(Exception):
    """This machine lacks something; the message is a phrase for the user."""


class Failure(Exception):
    """Something that should work does not; the message says what."""


def pythons(minor):
    """Paths that may be this CPython, for example of 3.8, the likeliest first."""
    if sys.version_info[:2] == tuple(map(int, minor.split("."))):
        yield sys.executable
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        yield os.path.join(folder, "python" + minor)
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    yield from sorted(glob.glob("%s/versions/%s.*/bin/python%s" % (pyenv, minor, minor)))


def find_python(minors):
    """The first interpreter of one of these versions that can make environments."""
    for minor in minors:
        for path in pythons(minor):
            if not os.access(path, os.X_OK):
                continue
            probe = subprocess.run(
                [path, "-c", PROBE],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            kind, _, version = probe.stdout.decode().strip().partition(" ")
            if probe.returncode == 0 and kind == "CPython" and version.startswith(minor + "."):
                return path, version
    names = " or ".join([", ".join(minors[:-1])] * (len(minors) > 1) + [minors[-1]])
    raise Unavailable("no CPython %s on PATH or under pyenv" % names)


class Environment:
    """A virtual environment: a name, fitting interpreters, and requirements.

    `sources` are the packages that exist only as source archives.
    """

    def __init__(self, name, minors, requirements, sources=()):
        self.path = WORK / name
        self.minors = minors
        self.requirements = requirements
        self.sources = sources
        self.python_version = None

    @property
    def python(self):
        return str(self.path / "bin" / "python")

    @property
    def packages(self):
        return next(self.path.glob("lib/python3*/site-packages"))

    @property
    def stamp(self):
        """What the folder was made from."""
        return (self.path / "stamp").read_text()

    def make(self, say):
        """Make the environment, unless it is there and made from the same inputs."""
        interpreter, self.python_version = find_python(self.minors)
        commands = self.commands()
        wanted = hashlib.sha256(repr((self.python_version, commands)).encode()).hexdigest()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path.with_name(self.path.name + ".lock")):
            # The second part fails if the interpreter has moved away since.
            if (self.path / "stamp").exists() and os.access(self.python, os.X_OK):
                if self.stamp == wanted:
                    return
            say("installing %s for CPython %s" % (self.requirements[0], self.python_version))
            shutil.rmtree(str(self.path), ignore_errors=True)
            run_quietly([interpreter, "-m", "venv", str(self.path)])
            for command in commands:
                run_quietly(command)
            # Last, so that an interrupted run starts again from nothing.
            (self.path / "stamp").write_text(wanted)

    def commands(self):
        """What fills the environment."""
        pip = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        pip += ["--only-binary", ":all:"]
        for source in self.sources:
            pip += ["--no-binary", source]
        commands = []
        # The pip inside these may not know the newer tags of wheels.
        if self.python_version.startswith(("3.6.", "3.7.")):
            commands.append(pip + ["pip==21.3.1"])
        return commands + [pip + list(self.requirements)]

    def variables(self, **more):
        """The environment variables for a program that runs in here."""
        bin_folder = str(self.path / "bin")
        path = os.pathsep.join([bin_folder, os.environ.get("PATH", os.defpath)])
        unwanted = ("PYTHONPATH", "PYTHONHOME", "PYTEST_ADDOPTS")
        kept = {name: value for name, value in os.environ.items() if name not in unwanted}
        return dict(kept, PATH=path, PYTHONDONTWRITEBYTECODE="1", **more)


@contextlib.contextmanager
def locked(path):
    """Other runs that want the same wait meanwhile."""
    with open(str(path), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def installed(server, place):
    """Have a link to this server at `place`; None leaves the original there.

    The original is kept beside it, and is put back afterwards, or by the next
    run if this one is interrupted. Two runs at once wait for each other.
    """
    original = place.with_name(place.name + ".orig")
    with locked(place.with_name(place.name + ".lock")):
        if original.exists():
            os.replace(str(original), str(place))
        try:
            if server is not None:
                os.rename(str(place), str(original))
                place.symlink_to(server)
            yield
        finally:
            if original.exists():
                os.replace(str(original), str(place))


def run_quietly(command):
    """Run a command; show what it printed only if it fails."""
    status, output = run_bounded(command, INSTALL_LIMIT, stdout=subprocess.PIPE)
    if status != 0:
        raise Failure("%s%s %s" % (output, " ".join(command), ending(status)))


def ending(status):
    """How a process ended, in words."""
    if status is None:
        return "ran past its time limit"
    if status < 0:
        return "was ended by signal %d" % -status
    return "ended with status %d" % status


def run_bounded(command, limit, stdout, **options):
    """Run a command in a process group of its own, and end the group after it.

    Returns the status, or None if it ran past the limit of seconds, and the
    output if `stdout` is a pipe. An aborted client leaves its server behind,
    so what is left of the group is killed also after a good end.
    """
    with contextlib.ExitStack() as stack:
        output = None
        if stdout == subprocess.PIPE:
            # A pipe would stay open as long as a process that is left has it.
            stdout = output = stack.enter_context(tempfile.TemporaryFile())
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **options
        )
        try:
            in_time = ended_within(process, limit)
        finally:
            # Not reaped yet, so the number cannot be that of another group.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        text = ""
        if output:
            output.seek(0)
            text = output.read().decode("utf-8", "replace")
    return (process.returncode if in_time else None), text


def ended_within(process, limit):
    """Wait for a process without reaping it; False if the limit is reached."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
            return True
        time.sleep(0.05)
    return False


def outcomes(report):
    """Test names and outcomes from a JUnit file: passed, failed or skipped.

    A test whose end fails is listed twice there; the worse outcome counts. An
    expected failure is counted with the skipped ones.
    """
    found = {}
    if not report.exists():
        return found
    for case in xml.etree.ElementTree.parse(str(report)).getroot().iter("testcase"):
        name = "%s::%s" % (case.get("classname", "").split(".")[-1], case.get("name"))
        tags = {child.tag for child in case}
        outcome = "passed"
        if tags & {"failure", "error"}:
            outcome = "failed"
        elif "skipped" in tags:
            outcome = "skipped"
        if found.get(name) != "failed":
            found[name] = outcome
    return found


def count(found, outcome):
    return sum(1 for value in found.values() if value == outcome)


def server_under_test():
    """The server named in the environment; a clear error if there is none."""
    named = os.environ.get("PLASMA_STORE_SERVER")
    if not named:
        raise Failure("which server? Set PLASMA_STORE_SERVER=/path/to/plasma-store-server.")
    server = Path(named).resolve()
    if not (server.is_file() and os.access(str(server), os.X_OK)):
        raise Failure("PLASMA_STORE_SERVER=%s is not an executable file" % named)
    return server


def exit_on_signals():
    """Turn the usual signals into exceptions, so that everything is put right."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
