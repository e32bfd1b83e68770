"""The root file system of a container image, and with buildah, podman or docker the image.

    python3 packages/image.py target/x86_64-unknown-linux-musl/release/planner dist/
    python3 packages/image.py PROGRAM dist/ --with=buildah

Besides the program, which must need no library, it holds what a program asks of a system: whom it runs as, the certificates of this
machine's distribution, and folders to write to.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from binary import ROOT, arguments, version
from licenses import licenses

IMAGE = "ghcr.io/owner-to-be-set/prospector"
CERTIFICATES = [Path("/etc/ssl/certs/ca-certificates.crt"), Path("/etc/pki/tls/certs/ca-bundle.crt"), Path("/etc/ssl/cert.pem")]


def context(binary, folder):
    """What Containerfile copies."""
    if not binary.is_static:
        raise SystemExit(f"{binary.path} needs libraries; an image holds none: give one built for musl")
    certificates = next((path for path in CERTIFICATES if path.is_file()), None)
    if certificates is None:
        raise SystemExit("this machine has no certificates to put into the image: install ca-certificates")
    shutil.rmtree(folder, ignore_errors=True)
    files = {
        "root/usr/bin/planner": binary.path.read_bytes(),
        "root/etc/ssl/certs/ca-certificates.crt": certificates.read_bytes(),
        "root/etc/passwd": b"planner:x:65532:65532::/state:/sbin/nologin\n",
        "root/etc/group": b"planner:x:65532:\n",
    }
    files |= {f"root/usr/share/licenses/prospector/{name}": content for name, content in licenses().items()}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o644)
    (folder / "root/usr/bin/planner").chmod(0o755)
    for name in ["catalog", "state", "tmp"]:
        (folder / "own" / name).mkdir(parents=True)
    shutil.copy(ROOT / "packages/image/Containerfile", folder)
    return folder


def image(tool, binary, folder):
    """Builds it; buildah and podman as well, whose own format has no health checks, in the format of docker."""
    command = [tool, "build", "--platform", f"linux/{binary.image_cpu}", "--build-arg", f"VERSION={version()}"]
    if tool != "docker":
        command += ["--format", "docker"]
    command += ["--tag", f"{IMAGE}:{version()}", "--file", str(folder / "Containerfile"), str(folder)]
    subprocess.run(command, check=True)
    return f"{IMAGE}:{version()}"


if __name__ == "__main__":
    binary, target = arguments("python3 packages/image.py PROGRAM FOLDER [--with=buildah|podman|docker]")
    staged = context(binary, target / "image")
    print(staged)
    for tool in [argument.removeprefix("--with=") for argument in sys.argv if argument.startswith("--with=")]:
        print(image(tool, binary, staged))
