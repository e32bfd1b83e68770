"""A bundle that desktop clients install with a click: the program and a manifest (MCPB).

    python3 packages/mcpb.py target/release/planner dist/
"""

import json
import zipfile

from binary import arguments, manifest, replacing, repository
from licenses import licenses


def build(binary, folder):
    about = manifest("mcpb/manifest.json")
    system, cpu = binary.node
    about["compatibility"] = {"platforms": [system]}
    program = f"server/{binary.name}"
    about["server"]["entry_point"] = program
    about["server"]["mcp_config"]["command"] = "${__dirname}/" + program
    about["author"]["url"] = about["homepage"] = repository()
    about["repository"] = {"type": "git", "url": f"{repository()}.git"}
    texts = licenses()
    path = folder / f"prospector-{about['version']}-{system}-{cpu}.mcpb"
    with replacing(path) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as bundle:

        def add(name, content, mode=0o644):
            entry = zipfile.ZipInfo(name)
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            bundle.writestr(entry, content)

        add("manifest.json", json.dumps(about, indent=2) + "\n")
        add(program, binary.path.read_bytes(), 0o755)
        for name, content in texts.items():
            add(name, content)
    return path


if __name__ == "__main__":
    print(build(*arguments("python3 packages/mcpb.py PROGRAM FOLDER")))
