"""The C++ client of the pyarrow wheel against the server.

The scenarios are in ../cpp/walkthrough.cc, one test each here. The program is
compiled against the headers and libraries inside the wheel.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pyarrow
import pytest

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "cpp" / "walkthrough.cc"
CACHE = HERE.parents[1] / "target" / "compat-tests" / "cpp"

# Read from the source, so that collecting needs no compiler.
SCENARIOS = re.findall(r"^SCENARIO\((\w+)\)", SOURCE.read_text(), re.MULTILINE)

COMPILE_LIMIT = 240
# The program ends a scenario by itself after 60 s.
SCENARIO_LIMIT = 75


def compiler():
    """The C++ compiler, as make would choose it."""
    command = os.environ.get("CXX", "").split() or ["c++"]
    if shutil.which(command[0]):
        return command
    if shutil.which("g++"):
        return ["g++"]
    pytest.fail("no C++ compiler: install g++, or name one in CXX", pytrace=False)


def compile_command(output):
    wheel = pyarrow.get_library_dirs()[0]
    return [
        *compiler(),
        "-std=c++17",
        # The wheel is built with the older string layout.
        "-D_GLIBCXX_USE_CXX11_ABI=0",
        "-O1",
        "-Wall",
        "-Wextra",
        "-pthread",
        "-isystem",
        pyarrow.get_include(),
        str(SOURCE),
        "-o",
        str(output),
        "-L" + wheel,
        "-l:libplasma.so.1100",
        "-l:libarrow.so.1100",
        "-Wl,-rpath," + wheel,
    ]


def cache_key():
    """Changes with the source, the compiler command and the wheel."""
    inputs = compile_command("") + [pyarrow.__version__]
    return hashlib.sha256(SOURCE.read_bytes() + "\0".join(inputs).encode()).hexdigest()


def build():
    program = CACHE / ("walkthrough-" + cache_key()[:16])
    if program.exists():
        return program
    CACHE.mkdir(parents=True, exist_ok=True)
    # Compiled aside and moved, so that a parallel run never sees half of it.
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        fresh = Path(folder) / "walkthrough"
        done = subprocess.run(
            compile_command(fresh),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMPILE_LIMIT,
        )
        if done.returncode != 0:
            pytest.fail("walkthrough.cc does not compile:\n" + done.stdout, pytrace=False)
        fresh.replace(program)
    return program


@pytest.fixture(scope="module")
def walkthrough():
    return build()


@pytest.mark.limit(COMPILE_LIMIT + 10)
def test_every_scenario_has_a_test(walkthrough):
    listed = subprocess.run(
        [walkthrough, "--list"], stdout=subprocess.PIPE, text=True, timeout=10, check=True
    )
    assert listed.stdout.split() == SCENARIOS
    assert len(set(SCENARIOS)) == len(SCENARIOS)


@pytest.mark.limit(SCENARIO_LIMIT + 5)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario(walkthrough, scenario, request):
    # The reference may lose a signal that comes just before it goes to sleep.
    options = ["--repeat-sigterm"] if request.config.getoption("--reference", False) else []
    done = subprocess.run(
        [walkthrough, *options, os.environ["PLASMA_STORE_SERVER"], scenario],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=SCENARIO_LIMIT,
    )
    # What the program says is all there is to know; a traceback adds nothing.
    if done.returncode != 0 or done.stdout != "ok %s\n" % scenario:
        pytest.fail(
            "%s(status %d)\n%s" % (done.stdout, done.returncode, done.stderr), pytrace=False
        )
