"""Packages for npm: the one that people name, and the one with the program for its platform. `npm` packs them.

    python3 packages/npm.py target/release/planner dist/
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from binary import ROOT, arguments, manifest, replacing, repository, server_name
from licenses import OURS, licenses


def platform_package(main, binary):
    system, cpu = binary.node
    name = f"{main['name']}-{system}-{cpu}"
    if main["optionalDependencies"].get(name) != main["version"]:
        raise SystemExit(f"packages/npm/package.json does not ask for {name} {main['version']}")
    package = {key: main[key] for key in ("version", "license", "repository", "homepage")}
    package |= {"name": name, "description": f"{main['name']} for {system} on {cpu}", "os": [system], "cpu": [cpu]}
    if binary.glibc:
        package["libc"] = ["glibc"]
    return package | {"preferUnplugged": True, "files": [binary.name, "LICENSE-*", "NOTICE", "THIRD-PARTY.txt"]}


def pack(package, files, folder):
    with tempfile.TemporaryDirectory() as temporary:
        temporary = Path(temporary)
        (temporary / "package.json").write_text(json.dumps(package, indent=2) + "\n")
        for name, content in files.items():
            (temporary / name).write_bytes(content)
            (temporary / name).chmod(0o755 if name.startswith("planner") else 0o644)
        if shutil.which("npm") is None:
            raise SystemExit("packages for npm are packed with npm, which is not in PATH: install Node.js")
        packed = subprocess.run(["npm", "pack", "--silent"], cwd=temporary, capture_output=True, text=True)
        if packed.returncode != 0:
            raise SystemExit(f"npm cannot pack {package['name']}:\n{packed.stderr.strip()}")
        path = folder / f"{package['name']}-{package['version']}.tgz"
        with replacing(path) as unfinished:
            shutil.copyfile(temporary / path.name, unfinished)
    return path


def build(binary, folder):
    main = manifest("npm/package.json")
    main |= {"mcpName": server_name(), "homepage": repository()}
    main["repository"] = {"type": "git", "url": f"git+{repository()}.git"}
    here = ROOT / "packages/npm"
    texts = licenses()
    yield pack(platform_package(main, binary), {binary.name: binary.path.read_bytes()} | texts, folder)
    start = {name: (here / name).read_bytes() for name in ("planner.js", "README.md")}
    yield pack(main, start | {name: texts[name] for name in OURS}, folder)


if __name__ == "__main__":
    for path in build(*arguments("python3 packages/npm.py PROGRAM FOLDER")):
        print(path)
