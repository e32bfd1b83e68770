"""A wheel of a program, as maturin writes it for `bindings = "bin"`, without compiling it once more.

    python3 packages/pypi.py target/release/planner dist/
"""

import base64
import hashlib
import zipfile

from binary import ROOT, arguments, description, replacing, repository, server_name, version
from licenses import licenses

NAME = "prospector-planner"


def tag(binary):
    """The platform as a wheel names it. macOS: the oldest that Rust builds for."""
    if binary.system == "windows":
        return {"x86_64": "win_amd64", "arm64": "win_arm64"}[binary.cpu]
    if binary.system == "macos":
        return {"x86_64": "macosx_10_12_x86_64", "arm64": "macosx_11_0_arm64"}[binary.cpu]
    cpu = {"x86_64": "x86_64", "arm64": "aarch64"}[binary.cpu]
    if binary.is_static:
        return f"manylinux_2_17_{cpu}.musllinux_1_1_{cpu}"
    return "manylinux_{}_{}_{}".format(*binary.glibc, cpu)


def metadata(texts):
    fields = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {version()}",
        f"Summary: {description()}",
        "License-Expression: MIT OR Apache-2.0",
        *(f"License-File: {name}" for name in texts),
        "Keywords: mcp,llm,agent,sql,search",
        f"Project-URL: Repository, {repository()}",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
    ]
    readme = (ROOT / "packages/pypi/README.md").read_text()
    return "\n".join(fields) + f"\n\n{readme}\n<!-- mcp-name: {server_name()} -->\n"


def build(binary, folder):
    stem = NAME.replace("-", "_") + "-" + version()
    path = folder / f"{stem}-py3-none-{tag(binary)}.whl"
    tags = "".join(f"Tag: py3-none-{one}\n" for one in tag(binary).split("."))
    about = f"{stem}.dist-info"
    texts = licenses()
    record = []
    with replacing(path) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(name, content, mode=0o644):
            entry = zipfile.ZipInfo(name)
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}\n")

        add(f"{stem}.data/scripts/{binary.name}", binary.path.read_bytes(), 0o755)
        add("prospector_planner/__init__.py", (ROOT / "packages/pypi/__init__.py").read_bytes())
        add("prospector_planner/__main__.py", b"from . import main\n\nmain()\n")
        add(f"{about}/entry_points.txt", f"[console_scripts]\n{NAME} = prospector_planner:main\n".encode())
        add(f"{about}/METADATA", metadata(texts).encode())
        add(f"{about}/WHEEL", f"Wheel-Version: 1.0\nGenerator: prospector\nRoot-Is-Purelib: false\n{tags}".encode())
        for name, content in texts.items():
            add(f"{about}/licenses/{name}", content)
        entry = zipfile.ZipInfo(f"{about}/RECORD")
        entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
        wheel.writestr(entry, "".join(record) + f"{about}/RECORD,,\n")
    return path


if __name__ == "__main__":
    print(build(*arguments("python3 packages/pypi.py PROGRAM FOLDER")))
