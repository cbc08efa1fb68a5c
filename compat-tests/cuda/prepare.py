"""What the tests of GPU objects need, made from packages alone.

    python prepare.py

puts into target/compat-tests/cuda the official client library and server with
CUDA (of the vovp-cuda wheel), two programs on that client, and the stand-in
for the driver, and prints the folder. It needs no GPU, and of CUDA nothing.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = ROOT / "target" / "compat-tests" / "cuda"
PROGRAMS = ("walkthrough", "bench")

# An unchanged Arrow 3.0 client and server, built with CUDA; and the headers for it.
LIBRARY_WHEEL, HEADER_WHEEL = "vovp-cuda==0.0.2", "pyarrow==3.0.0"

sys.path.insert(0, str(HERE.parent / "suite"))

from cpp_program import CannotCompile, compiler  # noqa: E402


def run(command, **more):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more
    )
    if done.returncode != 0:
        raise CannotCompile("%s fails:\n%s" % (" ".join(map(str, command)), done.stdout))
    return done.stdout


def unpack(wheel, prefix, folder):
    """The part of a wheel below a prefix, whichever Python this is."""
    with tempfile.TemporaryDirectory() as download:
        run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            + ["--disable-pip-version-check", "--only-binary", ":all:", "--dest", download]
            + ["--python-version", "3.9", "--implementation", "cp", "--abi", "cp39"]
            + ["--platform", "manylinux2014_x86_64", wheel]
        )
        (path,) = Path(download).iterdir()
        with zipfile.ZipFile(path) as archive:
            archive.extractall(
                folder, [name for name in archive.namelist() if name.startswith(prefix)]
            )


def compile_program(name, folder):
    library = folder / "vovp_lib"
    run(
        [*compiler(), "-std=c++17", "-O1", "-D_GLIBCXX_USE_CXX11_ABI=0", "-Wall", "-Wextra"]
        + ["-pthread", "-isystem", str(folder / "pyarrow" / "include")]
        + [str(HERE / (name + ".cc")), "-o", str(folder / name), "-L" + str(library)]
        + ["-l:libplasma_client.so", "-l:libarrow.so.300", "-l:libarrow_cuda.so.300", "-ldl"]
        # The driver itself is found when the program starts, or is not.
        + ["-Wl,--allow-shlib-undefined"]
        # The older kind of path, which is good for libraries of libraries too.
        + ["-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/vovp_lib"]
    )


def build_driver(folder):
    """The stand-in, under the name of the driver."""
    cargo = os.environ.get("CARGO", "cargo")
    run([cargo, "build", "--quiet", "--release", "--package", "stand-in-cuda"], cwd=ROOT)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    (folder / "driver").mkdir(exist_ok=True)
    # Moved, since a parallel run may use the old one.
    fresh = folder / "driver" / "fresh"
    shutil.copy2(target / "release" / "libstand_in_cuda.so", fresh)
    fresh.replace(folder / "driver" / "libcuda.so.1")


def prepare():
    """The folder with all that is needed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        build_driver(FOLDER)
        sources = [HERE / (name + ".cc") for name in PROGRAMS] + [HERE / "device.h"]
        inputs = [path.read_bytes() for path in [*sources, Path(__file__)]]
        wanted = hashlib.sha256(b"\0".join(inputs)).hexdigest()
        stamp = FOLDER / "stamp"
        if stamp.exists() and stamp.read_text() == wanted:
            return FOLDER
        if not (FOLDER / "pyarrow").exists():
            unpack(HEADER_WHEEL, "pyarrow/include/", FOLDER)
        if not (FOLDER / "vovp_lib").exists():
            unpack(LIBRARY_WHEEL, "vovp_lib/", FOLDER)
            (FOLDER / "vovp_lib" / "plasma-store-server").chmod(0o755)
        for name in PROGRAMS:
            compile_program(name, FOLDER)
        stamp.write_text(wanted)
    return FOLDER


if __name__ == "__main__":
    try:
        print(prepare())
    except CannotCompile as error:
        sys.exit(str(error))
