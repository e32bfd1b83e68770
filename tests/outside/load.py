"""Load test: one server with many concurrent clients on one machine, over the sample catalog and the built-in planner.

Each client runs for the given time: searches, plans as JSON, and questions as events, on connections that are
kept open. Every response must be complete. Meanwhile the memory of the server is sampled. Then the same again while another
process refreshes the index, and at the end the server is stopped: pending requests must be answered, or refused with
a reason, and the server must exit with status 0.

    python3 tests/outside/load.py target/release/planner --clients 200 --minutes 5

Not covered: other machines, a network, a model that takes its time. The clients share the processors with the
server, so that the times are upper bounds.
"""

import argparse
import asyncio
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUESTIONS = [
    "Show me VIP customer spending trends by quarter", "Revenue by country in 2024", "Which albums are refunded most?",
    "What is a churned customer?", "Advertising spending by channel and month",
]
WORDS = ["refund", "invoice", "customer country", "exchange rate", "list orders", "quarterly report", "sessions by channel"]


class Ended(Exception):
    """The connection ended before the answer did."""


class Client:
    """One connection of HTTP/1.1, opened again where the server closes it."""

    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def ask(self, method, path, body=None, accept="application/json"):
        fresh = self.reader is None
        if fresh:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
        text = json.dumps(body) if body is not None else ""
        head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\naccept: {accept}\r\n"
        if text:
            head += f"content-type: application/json\r\ncontent-length: {len(text)}\r\n"
        try:
            self.writer.write((head + "\r\n" + text).encode())
            await self.writer.drain()
            line = await self.reader.readline()
            if not line:
                raise Ended("no answer")
            status, headers = int(line.split()[1]), {}
            while (line := await self.reader.readline()).strip():
                name, value = line.decode().split(":", 1)
                headers[name.lower()] = value.strip()
            if headers.get("transfer-encoding") == "chunked":
                body = await self.chunks()
            else:
                body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        except (ConnectionError, asyncio.IncompleteReadError, Ended) as error:
            self.close()
            # A kept-alive connection may have been closed in the meantime.
            if not fresh and isinstance(error, (Ended, ConnectionError)):
                return await self.ask(method, path, json.loads(text) if text else None, accept)
            raise Ended(str(error)) from error
        if headers.get("connection") == "close":
            self.close()
        return status, body.decode()

    async def chunks(self):
        body = b""
        while True:
            size = int((await self.reader.readline()).strip() or b"x", 16)
            body += await self.reader.readexactly(size)
            await self.reader.readline()
            if size == 0:
                return body

    def close(self):
        if self.writer:
            self.writer.close()
        self.reader = self.writer = None


class Tally:
    def __init__(self):
        self.times, self.errors, self.refused = {"search": [], "plan": [], "ask": []}, [], []

    def table(self):
        for kind, times in self.times.items():
            times.sort()
            if times:
                at = lambda share: 1000 * times[min(len(times) - 1, int(share * len(times)))]
                print(f"  {kind:7} {len(times):7} answers, p50 {at(.5):7.0f} ms, p99 {at(.99):7.0f} ms, "
                      f"most {at(1):7.0f} ms")


async def one(kind, client, tally, pick):
    began = time.monotonic()
    if kind == "search":
        status, body = await client.ask("GET", f"/v1/search?q={pick.choice(WORDS).replace(' ', '+')}")
        holds = status == 200 and "answer" in json.loads(body)
    elif kind == "plan":
        status, body = await client.ask("POST", "/v1/plan", {"question": pick.choice(QUESTIONS)})
        holds = status == 200 and json.loads(body)["ended"] == "completed"
    else:
        status, body = await client.ask("POST", "/v1/ask", {"question": pick.choice(QUESTIONS)}, "text/event-stream")
        holds = status == 200 and "\nevent: done\n" in body and '"ended":"completed"' in body
    if holds:
        tally.times[kind].append(time.monotonic() - began)
    elif status in (429, 503) or "shutting down" in body:
        tally.refused.append(body[-300:])
    else:
        tally.errors.append(f"{kind}: {status} {body[-300:]}")
    return holds


async def goes_on(port, until, stopping, tally, seed):
    pick, client = random.Random(seed), Client(port)
    while time.monotonic() < until and not stopping.is_set():
        kind = pick.choices(["search", "plan", "ask"], [6, 2, 2])[0]
        try:
            await one(kind, client, tally, pick)
        except (Ended, OSError) as error:
            if stopping.is_set() and isinstance(error, ConnectionRefusedError):
                break
            # Requests that started before the server was stopped must still be answered.
            tally.errors.append(f"{kind}: {error or type(error).__name__}")
            if stopping.is_set():
                break
    client.close()


def memory(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


async def sampled(pid, until, stopping, samples):
    while time.monotonic() < until and not stopping.is_set():
        samples.append(memory(pid))
        await asyncio.sleep(1)


class Server:
    def __init__(self, planner, folder):
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder, "PROSPECTOR_STATE": f"{folder}/state",
                            "PROSPECTOR_CATALOG": f"{folder}/catalog/catalog.yaml"}
        self.planner, self.said = planner, []
        self.process = subprocess.Popen([planner, "serve", "--listen", "127.0.0.1:0"], env=self.environment,
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"listening on http://[^:]+:(\d+)", line):
                self.port = int(found.group(1))
                break
        # A server blocks if its output is not read.
        threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True).start()


def verdict(tally, what):
    print(f"  {len(tally.errors)} errors, {len(tally.refused)} refused or cancelled with a reason")
    for error in tally.errors[:5]:
        print(f"    {error}")
    if tally.errors:
        raise SystemExit(f"FAILED: {what}")


async def main():
    given = argparse.ArgumentParser()
    given.add_argument("planner")
    given.add_argument("--clients", type=int, default=200)
    given.add_argument("--minutes", type=float, default=5)
    given = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ignore = shutil.ignore_patterns(".prospector")
        shutil.copytree(ROOT / "catalog", f"{folder}/catalog", ignore=ignore)
        shutil.copytree(ROOT / "skills", f"{folder}/skills")
        server = Server(str(pathlib.Path(given.planner).resolve()), folder)
        try:
            await measured(given, server, folder)
        finally:
            server.process.kill()


async def measured(given, server, folder):
    stopping, tally, samples = asyncio.Event(), Tally(), []
    until = time.monotonic() + given.minutes * 60
    print(f"{given.clients} clients for {given.minutes:g} minutes")
    await asyncio.gather(sampled(server.process.pid, until, stopping, samples),
                         *(goes_on(server.port, until, stopping, tally, seed) for seed in range(given.clients)))
    tally.table()
    fifth = max(1, len(samples) // 5)
    mean = lambda part: sum(part) / max(1, len(part))
    parts = ", ".join(f"{mean(samples[at * fifth:(at + 1) * fifth]):.0f}" for at in range(5))
    print(f"  memory, MiB, means of the fifths: {parts}; most {max(samples):.0f}")
    print(f"  the server said {len(server.said)} lines, such as {server.said[:1]}")
    verdict(tally, "errors under load")

    tally, until = Tally(), time.monotonic() + 3600
    print("the same, with refreshes, and the end in the middle of it")
    clients = [asyncio.create_task(goes_on(server.port, until, stopping, tally, seed)) for seed in range(given.clients)]
    for number in range(3):
        with open(f"{folder}/catalog/documents/more_{number}.md", "w") as more:
            more.write(f"# More {number}\n\nA document that came later.\n")
        with open(f"{folder}/catalog/catalog.yaml") as catalog:
            text = catalog.read()
        with open(f"{folder}/catalog/catalog.yaml", "w") as catalog:
            catalog.write(text.replace("\ndocuments:\n", f"\ndocuments:\n  - path: documents/more_{number}.md\n", 1))
        refresh = await asyncio.create_subprocess_exec(server.planner, "refresh", env=server.environment,
                                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        await refresh.wait()
        await asyncio.sleep(5)
    status, body = await Client(server.port).ask("GET", "/v1/catalog/document/more_2")
    if status != 200:
        raise SystemExit(f"FAILED: the refresh is not noticed: {status} {body}")
    stopping.set()
    server.process.send_signal(signal.SIGTERM)
    await asyncio.gather(*clients)
    code = server.process.wait(timeout=60)
    tally.table()
    verdict(tally, "lost at the end")
    if code != 0:
        raise SystemExit(f"FAILED: the server ended with {code}")
    print("  the server ended well")


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
