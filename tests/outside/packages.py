"""Installs the packages of a folder as users do, and lets each answer over a folder with a CSV file and a SQLite database.

    python3 tests/outside/packages.py dist/

A wheel goes into a fresh environment, packages of npm into a fresh folder, a bundle is unpacked, and the root file system of an image
is the whole world of its program (chroot with /proc and /dev, user 65532; this takes root). HOME is empty and PATH holds nothing but what starts the
package. Missing packages are skipped; the others must work.
"""

import json
import os
import platform
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CATALOG = """databases:
  - path: sales.csv
  - path: crm.sqlite
documents:
  - path: terms.md
"""
QUERY = """SELECT c.country, sum(s.amount) AS revenue FROM sales.sales s JOIN crm.customers c ON c.id = s.customer_id
           GROUP BY c.country ORDER BY revenue DESC"""
TOKEN = "a-token-for-this-test"


def check(holds, said):
    if not holds:
        raise SystemExit(f"FAILED: {said}")


def make_estate(folder):
    (folder / "catalog.yaml").write_text(CATALOG)
    (folder / "terms.md").write_text("# Terms\n\n## Revenue\n\nRevenue is the sum of sales.amount.\n")
    (folder / "sales.csv").write_text("id,customer_id,amount\n1,1,120.5\n2,1,79.5\n3,2,45\n")
    with sqlite3.connect(folder / "crm.sqlite") as database:
        database.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT)")
        database.executemany("INSERT INTO customers VALUES (?, ?, ?)", [(1, "Ana", "Brazil"), (2, "Jonas", "Germany")])
    database.close()


def run(command, environment):
    began = time.monotonic()
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    return ran, time.monotonic() - began


def speak(command, environment):
    """The first messages of an MCP client; returns the duration of the first response, and the result of a search."""
    began = time.monotonic()
    server = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    took = None

    def ask(number, method, params):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        while True:
            line = server.stdout.readline()
            check(line, f"{command} ended before it answered {method}")
            answer = json.loads(line)
            if answer.get("id") == number:
                check("result" in answer, answer)
                return answer["result"]

    who = {"name": "a test", "version": "1"}
    ask(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who})
    took = time.monotonic() - began
    server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    found = ask(2, "tools/call", {"name": "search", "arguments": {"query": "revenue per country"}})
    server.stdin.close()
    check(server.wait(timeout=60) == 0, f"{command} ended with {server.returncode}")
    return took, json.dumps(found)


def exercise(label, command, environment, catalog):
    """A version, an answer over two sources, and a conversation over MCP."""
    said, _ = run([*command, "--version"], environment)
    check(said.returncode == 0 and said.stdout.startswith("planner "), f"{label}: {said}")
    first, time_first = run([*command, "--catalog", catalog, "sql", QUERY], environment)
    check(first.returncode == 0, f"{label}: {first.stderr}")
    check("Brazil" in first.stdout and "200" in first.stdout and "Germany" in first.stdout, f"{label}: {first.stdout}")
    again, time_again = run([*command, "--catalog", catalog, "sql", QUERY], environment)
    check(again.stdout == first.stdout, f"{label}: {again}")
    time_mcp, found = speak([*command, "--catalog", catalog, "mcp"], environment)
    check("sales.sales" in found, f"{label}: {found}")
    times = f"first answer {time_first:.2f} s, the next {time_again:.2f} s, MCP initialize {time_mcp:.2f} s"
    print(f"{label}: {said.stdout.strip()}, {times}", flush=True)


def wheel(path, folder, environment):
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", "--no-index", path], check=True)
    module, _ = run([folder / "bin/python", "-m", "prospector_planner", "--version"], environment)
    check(module.stdout.startswith("planner "), module)
    # Both names start the same program.
    alias, _ = run([folder / "bin/prospector-planner", "--version"], environment)
    check(alias.stdout == module.stdout, alias)
    return [str(folder / "bin/planner")], environment


def node_packages(paths, folder, environment):
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true}')
    install = ["npm", "install", "--offline", "--no-audit", "--no-fund", "--silent", "--prefix", folder, *paths]
    subprocess.run(install, check=True)
    node = Path(shutil.which("node")).parent
    environment = environment | {"PATH": f"{node}:/usr/bin:/bin", "npm_config_offline": "true"}
    command = ["npx", "--prefix", str(folder), "--no-install", "prospector-planner"]
    return command, environment


def bundle(path, folder, environment):
    shutil.unpack_archive(path, folder, "zip")
    manifest = json.loads((folder / "manifest.json").read_text())
    program = folder / manifest["server"]["entry_point"]
    # Clients make the program of a bundle executable; Python's zipfile drops the mode.
    program.chmod(0o755)
    started = manifest["server"]["mcp_config"]["command"].replace("${__dirname}", str(folder))
    check(Path(started) == program, f"{started} is not the entry point")
    return [str(program)], environment


def image_root(path, folder, estate):
    """Starts the program as user 65532 in a copy of the root file system, with the catalog on /catalog and, as in any container, /proc and /dev."""
    shutil.copytree(path / "root", folder)
    for name in ["catalog", "state", "tmp"]:
        (folder / name).mkdir()
        os.chown(folder / name, 65532, 65532)
    (folder / "proc").mkdir()
    (folder / "dev").mkdir()
    mounts = f'mount --bind "{estate}" "{folder}/catalog" && mount --rbind /dev "{folder}/dev"'
    inside = f'{mounts} && exec chroot --userspec=65532:65532 "{folder}" /usr/bin/planner "$@"'
    alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={folder}/proc", "sh", "-c", inside, "planner"]
    environment = {"PATH": "/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/state", "PROSPECTOR_STATE": "/state"}
    return alone, environment | {"PROSPECTOR_CATALOG": "/catalog/catalog.yaml"}


def serve(command, environment):
    """The command of the image, and its health check."""
    environment = environment | {"PROSPECTOR_TOKEN": TOKEN}
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    well, _ = run([*command, "health", address], environment)
    check(well.returncode == 1, f"nothing listens, and it is well: {well}")
    listen = [*command, "serve", "--listen", address.replace("127.0.0.1", "0.0.0.0")]
    server = subprocess.Popen(listen, env=environment, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        began = time.monotonic()
        while run([*command, "health", address], environment)[0].returncode != 0:
            check(time.monotonic() - began < 60 and server.poll() is None, "the server does not become healthy")
            time.sleep(0.2)
        print(f"image: serve is healthy after {time.monotonic() - began:.2f} s", flush=True)
    finally:
        # unshare forwards no signals; the program is in its process group, and ends on the signal.
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=30)


def main(folder):
    tried = 0
    with tempfile.TemporaryDirectory() as temporary:
        temporary = Path(temporary)
        temporary.chmod(0o755)

        def fresh(name):
            estate, home = temporary / f"estate-{name}", temporary / f"home-{name}"
            estate.mkdir()
            home.mkdir()
            make_estate(estate)
            return str(estate / "catalog.yaml"), {"HOME": str(home), "PATH": "/nonexistent", "NO_COLOR": "1"}

        # Only packages for this platform: pip, npm and the kernel reject others.
        cpu = platform.machine()
        node_cpu = {"x86_64": "x64", "aarch64": "arm64"}[cpu]
        for path in sorted(folder.glob(f"*linux*{cpu}*.whl")):
            catalog, environment = fresh("wheel")
            exercise("wheel", *wheel(path, temporary / "wheel", environment), catalog)
            tried += 1
        paths = sorted(folder.glob(f"prospector-planner-linux-{node_cpu}-*.tgz")) + sorted(folder.glob("prospector-planner-[0-9]*.tgz"))
        if paths:
            catalog, environment = fresh("npm")
            exercise("npm", *node_packages(paths, temporary / "npm", environment), catalog)
            tried += 1
        for path in sorted(folder.glob(f"*-linux-{node_cpu}.mcpb")):
            catalog, environment = fresh("bundle")
            exercise("bundle", *bundle(path, temporary / "bundle", environment), catalog)
            tried += 1
        if (folder / "image").is_dir():
            if os.geteuid() != 0:
                print("image: not tried, a root file system of one's own takes root")
            else:
                catalog, _ = fresh("image")
                command, environment = image_root(folder / "image", temporary / "image", Path(catalog).parent)
                os.chown(Path(catalog).parent, 65532, 65532)
                exercise("image", command, environment, "/catalog/catalog.yaml")
                serve(command, environment)
                tried += 1
    check(tried, f"{folder} holds no package for this platform")
    print(f"{tried} passed, 0 failed")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python3 tests/outside/packages.py FOLDER")
    main(Path(sys.argv[1]).resolve())
