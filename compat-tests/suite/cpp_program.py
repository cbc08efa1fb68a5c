"""C++ programs on the official client library of the pyarrow wheel.

    python cpp_program.py SOURCE FOLDER [COMPILER FLAG ...]

Compiles a program against the headers and libraries inside the wheel of this
Python, unless it was compiled from the same before, and prints its path.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow

COMPILE_LIMIT = 240


class CannotCompile(Exception):
    """With what is to be told."""


def compiler():
    """The C++ compiler, as make would choose it."""
    command = os.environ.get("CXX", "").split() or ["c++"]
    if shutil.which(command[0]):
        return command
    if shutil.which("g++"):
        return ["g++"]
    raise CannotCompile("no C++ compiler: install g++, or name one in CXX")


def compile_command(source, output, flags):
    wheel = pyarrow.get_library_dirs()[0]
    return [
        *compiler(),
        "-std=c++17",
        # The wheel is built with the older string layout.
        "-D_GLIBCXX_USE_CXX11_ABI=0",
        *flags,
        "-Wall",
        "-Wextra",
        "-pthread",
        "-isystem",
        pyarrow.get_include(),
        str(source),
        "-o",
        str(output),
        "-L" + wheel,
        "-l:libplasma.so.1100",
        "-l:libarrow.so.1100",
        "-Wl,-rpath," + wheel,
    ]


def build(source, folder, flags):
    """The path of the program."""
    # Changes with the source, the compiler command and the wheel.
    inputs = compile_command(source, "", flags) + [pyarrow.__version__]
    key = hashlib.sha256(source.read_bytes() + "\0".join(inputs).encode()).hexdigest()
    program = folder / ("%s-%s" % (source.stem, key[:16]))
    if program.exists():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    # Compiled aside and moved, so that a parallel run never sees half of it.
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        fresh = Path(aside) / source.stem
        done = subprocess.run(
            compile_command(source, fresh, flags),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMPILE_LIMIT,
        )
        if done.returncode != 0:
            raise CannotCompile("%s does not compile:\n%s" % (source.name, done.stdout))
        fresh.replace(program)
    return program


if __name__ == "__main__":
    try:
        print(build(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
    except CannotCompile as error:
        sys.exit(str(error))
