"""The entry for the registry of MCP servers: packages/registry/server.json, and the bundles of a folder with their hashes.

    python3 packages/registry.py dist/
"""

import hashlib
import json
import sys
from pathlib import Path

from binary import manifest


def build(folder):
    entry = manifest("registry/server.json")
    for package in entry["packages"]:
        named = package.get("version") or package["identifier"].rsplit(":", 1)[1]
        if named != entry["version"]:
            raise SystemExit(f"packages/registry/server.json names {package['identifier']} {named}, not {entry['version']}")
    release = f"{entry['repository']['url']}/releases/download/v{entry['version']}"
    for bundle in sorted(folder.glob("*.mcpb")):
        entry["packages"].append(
            {
                "registryType": "mcpb",
                "identifier": f"{release}/{bundle.name}",
                "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
                "transport": {"type": "stdio"},
            }
        )
    path = folder / "server.json"
    path.write_text(json.dumps(entry, indent=2) + "\n")
    return path


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit("usage: python3 packages/registry.py FOLDER")
    print(build(Path(sys.argv[1])))
