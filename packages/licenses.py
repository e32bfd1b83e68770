"""The licences of every crate that a program links, in their original wording, which most of them require to be distributed with it.

    python3 packages/licenses.py THIRD-PARTY.txt
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Our own licences, in the repository.
OURS = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "NOTICE"]
TEXT = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
SOURCES = {".c", ".h", ".go", ".py", ".rs", ".sh", ".json", ".toml", ".yml"}

HEAD = """The program links these crates, whose authors ask that the texts below go with it. A crate under "A OR B" may be used under either;
both texts are here. What is not ours in this repository itself is in NOTICE.
"""


def linked():
    """The crates of others that are linked on any platform, with all that is released."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--features", "full"]
    try:
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        raise SystemExit("licences are read with cargo, which is not in PATH: install Rust") from None
    if ran.returncode != 0:
        raise SystemExit(f"licences of the dependencies cannot be read:\n{ran.stderr.strip()}")
    metadata = json.loads(ran.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    wait, seen = [metadata["resolve"]["root"]], set()
    while wait:
        one = wait.pop()
        if one in seen:
            continue
        seen.add(one)
        needed = nodes[one]["deps"]
        wait += [dep["pkg"] for dep in needed if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    return sorted((packages[one] for one in seen if packages[one]["source"]), key=lambda package: package["name"])


def text():
    crates, without = defaultdict(list), []
    for package in linked():
        name = f"{package['name']} {package['version']} ({package['license'] or package['license_file']})"
        folder = Path(package["manifest_path"]).parent
        # What is not Rust in a crate has licences of its own, below.
        inside = folder.rglob("*") if package["links"] else folder.iterdir()
        files = [path for path in sorted(inside) if TEXT.match(path.name) and path.suffix not in SOURCES and path.is_file()]
        if package["license_file"]:
            files.append(folder / package["license_file"])
        if not files:
            without.append(name)
        for content in {path.read_text("utf-8", "replace").strip() for path in files}:
            crates[re.sub(r"\s+", " ", content)].append((name, content))
    parts = [HEAD, "Crates that bring no text of their own:\n" + "".join(f"  {name}\n" for name in without)]
    for same in sorted(crates.values(), key=lambda same: (-len(same), same[0][0])):
        names = "".join(f"  {name}\n" for name in sorted({name for name, _ in same}))
        parts.append(f"{'=' * 100}\n{names}{'-' * 100}\n{same[0][1]}\n")
    return "\n".join(parts)


def licenses():
    """What goes with the program into every package, by the names of files."""
    return {name: (ROOT / name).read_bytes() for name in OURS} | {"THIRD-PARTY.txt": text().encode()}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python3 packages/licenses.py FILE")
    Path(sys.argv[1]).write_text(text(), "utf-8")
