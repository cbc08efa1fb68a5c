"""The C++ client of the pyarrow wheel against the server.

The scenarios are in ../cpp/walkthrough.cc, one test each here. The program is
compiled against the headers and libraries inside the wheel.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

import cpp_program

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "cpp" / "walkthrough.cc"
CACHE = HERE.parents[1] / "target" / "compat-tests" / "cpp"

# Read from the source, so that collecting needs no compiler.
SCENARIOS = re.findall(r"^SCENARIO\((\w+)\)", SOURCE.read_text(), re.MULTILINE)

# The program ends a scenario by itself after 60 s.
SCENARIO_LIMIT = 75


@pytest.fixture(scope="module")
def walkthrough():
    try:
        return cpp_program.build(SOURCE, CACHE, ["-O1"])
    except cpp_program.CannotCompile as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.limit(cpp_program.COMPILE_LIMIT + 10)
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
