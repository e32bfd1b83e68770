"""The entry for the registry of MCP servers: packages/registry/server.json, and the bundles of a folder with their hashes.

    python3 packages/registry.py dist/
    IMAGE=registry.example/owner/prospector python3 packages/registry.py dist/

IMAGE names the container image without its tag; without it the entry lists no image.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

from binary import manifest, replacing, repository, server_name


def build(folder):
    entry = manifest("registry/server.json")
    entry |= {"name": server_name(), "websiteUrl": repository(), "repository": {"url": repository(), "source": "github"}}
    image = os.environ.get("IMAGE")
    entry["packages"] = [package for package in entry["packages"] if image or package["registryType"] != "oci"]
    for package in entry["packages"]:
        if package["registryType"] == "oci":
            package["identifier"] = f"{image.lower()}:{entry['version']}"
        elif package["version"] != entry["version"]:
            raise SystemExit(f"packages/registry/server.json names {package['identifier']} {package['version']}, not {entry['version']}")
    release = f"{repository()}/releases/download/v{entry['version']}"
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
    with replacing(path) as unfinished:
        unfinished.write_text(json.dumps(entry, indent=2) + "\n")
    return path


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit("usage: python3 packages/registry.py FOLDER")
    print(build(Path(sys.argv[1])))
