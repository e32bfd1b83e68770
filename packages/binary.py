"""What the scripts here share: which platform a program is for, as its own first bytes say, and the version of the project."""

import contextlib
import json
import mmap
import os
import platform
import re
import struct
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

ELF_CPUS = {62: "x86_64", 183: "arm64"}
MACH_CPUS = {0x01000007: "x86_64", 0x0100000C: "arm64"}
PE_CPUS = {0x8664: "x86_64", 0xAA64: "arm64"}
ELF_INTERPRETER = 3


@dataclass(frozen=True)
class Binary:
    path: Path
    # linux, macos or windows
    system: str
    # x86_64 or arm64
    cpu: str
    # The oldest glibc with everything that it uses, such as (2, 35); none where it needs no library at all.
    glibc: tuple[int, int] | None

    @property
    def name(self):
        """What the program is called on its platform."""
        return "planner.exe" if self.system == "windows" else "planner"

    @property
    def is_static(self):
        return self.system == "linux" and self.glibc is None

    @property
    def node(self):
        """The platform and the processor as Node.js calls them."""
        system = {"linux": "linux", "macos": "darwin", "windows": "win32"}[self.system]
        return system, {"x86_64": "x64", "arm64": "arm64"}[self.cpu]

    @property
    def image_cpu(self):
        """The processor as images call it."""
        return {"x86_64": "amd64", "arm64": "arm64"}[self.cpu]

    @property
    def runs_here(self):
        systems = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}
        cpus = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
        return (systems.get(platform.system()), cpus.get(platform.machine())) == (self.system, self.cpu)


def cargo():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())


def version():
    """The version of every crate and of every package."""
    return cargo()["workspace"]["package"]["version"]


def description():
    return cargo()["package"]["description"]


def repository():
    """The address of the repository. Cargo.toml is the only file here that states its owner."""
    return cargo()["workspace"]["package"]["repository"]


def server_name():
    """The name of the server in the registry of MCP servers: io.github.OWNER/prospector."""
    return "io.github." + repository().removeprefix("https://github.com/")


def manifest(path):
    """A manifest of a package; its version must be that of the project."""
    text = json.loads((ROOT / "packages" / path).read_text())
    if text["version"] != version():
        raise SystemExit(f"packages/{path} has version {text['version']}, Cargo.toml {version()}")
    return text


@contextlib.contextmanager
def replacing(path):
    """A path to write to; what is written there gets its final name only when it is complete."""
    unfinished = path.with_name(path.name + ".new")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def arguments(usage):
    """The program and the folder that a script was given."""
    given = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if len(given) != 2:
        raise SystemExit(f"usage: {usage}")
    folder = Path(given[1])
    folder.mkdir(parents=True, exist_ok=True)
    return read(Path(given[0])), folder


def read(path):
    """Examines a program; one that can run here must have the version of the project."""
    if not path.is_file() or path.stat().st_size == 0:
        raise SystemExit(f"there is no program {path}; build one with `cargo build --release`")
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        binary = examine(path, data)
        has_debug_info = data.find(b"\0.debug_info\0") >= 0
    if binary is None:
        raise SystemExit(f"{path} is not a program for Linux, macOS or Windows on x86-64 or arm64")
    if has_debug_info:
        raise SystemExit(f"{path} contains debug information; build it with `cargo build --release`, or strip it")
    if binary.runs_here:
        ran = subprocess.run([path.resolve(), "--version"], capture_output=True, text=True)
        if ran.stdout.strip() != f"planner {version()}":
            raise SystemExit(f"{path} --version prints `{(ran.stdout or ran.stderr).strip()}`; expected planner {version()}")
    return binary


def examine(path, data):
    if data[:6] == b"\x7fELF\x02\x01":
        cpu = ELF_CPUS.get(struct.unpack_from("<H", data, 18)[0])
        return cpu and Binary(path, "linux", cpu, glibc_of(path, data))
    if data[:4] == b"\xcf\xfa\xed\xfe":
        cpu = MACH_CPUS.get(struct.unpack_from("<I", data, 4)[0])
        return cpu and Binary(path, "macos", cpu, None)
    if data[:2] == b"MZ":
        header = struct.unpack_from("<I", data, 0x3C)[0]
        is_pe = data[header : header + 4] == b"PE\0\0"
        cpu = PE_CPUS.get(struct.unpack_from("<H", data, header + 4)[0]) if is_pe else None
        return cpu and Binary(path, "windows", cpu, None)
    return None


def glibc_of(path, data):
    offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    kinds = [struct.unpack_from("<I", data, offset + number * size)[0] for number in range(count)]
    if ELF_INTERPRETER not in kinds:
        return None
    needed = [int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)", data)]
    if not needed:
        raise SystemExit(f"{path} needs libraries other than glibc; pass a static program, or one built for glibc")
    return 2, max(needed)


if __name__ == "__main__":
    # For scripts of the shell: the processor, as images call it, of a program that can be put into one.
    program = read(Path(sys.argv[1]))
    if not program.is_static:
        raise SystemExit(f"{sys.argv[1]} cannot be put into an image, which needs a static program for Linux")
    print(program.image_cpu)
