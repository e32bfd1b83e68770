"""The root file system of a container image, and with buildah, podman or docker the image.

    python3 packages/image.py target/x86_64-unknown-linux-musl/release/planner dist/
    python3 packages/image.py PROGRAM dist/ --with=buildah

In addition to the program, which must be static, it contains what a program needs from a system: a user, the certificates of this
machine's distribution, and folders to write to. `Dockerfile` runs this in its build stage; its last stage is the image.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from binary import ROOT, arguments, description, repository, server_name, version
from licenses import licenses

CERTIFICATES = [Path("/etc/ssl/certs/ca-certificates.crt"), Path("/etc/pki/tls/certs/ca-bundle.crt"), Path("/etc/ssl/cert.pem")]


def containerfile():
    """The last stage of Dockerfile, over the files of `context`, with the labels of a release."""
    stage = "FROM scratch" + (ROOT / "Dockerfile").read_text().split("\nFROM scratch")[1]
    labels = {
        "org.opencontainers.image.title": "Prospector",
        "org.opencontainers.image.description": description(),
        "org.opencontainers.image.source": repository(),
        "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
        "org.opencontainers.image.version": version(),
        "io.modelcontextprotocol.server.name": server_name(),
    }
    return stage.replace("--from=build ", "").replace("/image/", "") + "".join(f'LABEL {name}="{text}"\n' for name, text in labels.items())


def context(binary, folder):
    """What the last stage of Dockerfile copies."""
    if not binary.is_static:
        raise SystemExit(f"{binary.path} needs libraries, and the image contains none: pass a program built for musl")
    certificates = next((path for path in CERTIFICATES if path.is_file()), None)
    if certificates is None:
        raise SystemExit("this machine has no certificates to put into the image: install ca-certificates")
    texts = licenses()
    shutil.rmtree(folder, ignore_errors=True)
    files = {
        "root/usr/bin/planner": binary.path.read_bytes(),
        "root/etc/ssl/certs/ca-certificates.crt": certificates.read_bytes(),
        "root/etc/passwd": b"planner:x:65532:65532::/state:/sbin/nologin\n",
        "root/etc/group": b"planner:x:65532:\n",
        "Containerfile": containerfile().encode(),
    }
    files |= {f"root/usr/share/licenses/prospector/{name}": content for name, content in texts.items()}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o644)
    (folder / "root/usr/bin/planner").chmod(0o755)
    for name in ["catalog", "state", "tmp"]:
        (folder / "own" / name).mkdir(parents=True)
    return folder


def image(tool, binary, folder):
    """Builds it; buildah and podman in the format of docker, since their own has no health checks."""
    name = f"prospector:{version()}"
    command = [tool, "build", "--platform", f"linux/{binary.image_cpu}"]
    if tool != "docker":
        command += ["--format", "docker"]
    command += ["--tag", name, "--file", str(folder / "Containerfile"), str(folder)]
    try:
        code = subprocess.run(command).returncode
    except FileNotFoundError:
        raise SystemExit(f"{tool} is not in PATH") from None
    if code != 0:
        raise SystemExit(f"{tool} could not build {folder}")
    return name


if __name__ == "__main__":
    binary, target = arguments("python3 packages/image.py PROGRAM FOLDER [--with=buildah|podman|docker]")
    staged = context(binary, target / "image")
    print(staged)
    for tool in [argument.removeprefix("--with=") for argument in sys.argv if argument.startswith("--with=")]:
        print(image(tool, binary, staged))
