"""Interoperability with third-party MCP clients: the official Python client and the inspector's command line.

Both list everything, call every tool and get a plan, over standard input and output and over streamable HTTP.

    python3 -m venv V && V/bin/pip install mcp
    V/bin/python tests/outside/clients.py target/debug/planner [--inspector FOLDER]

FOLDER is where `npm install @modelcontextprotocol/inspector` was called; without it the inspector is skipped.
"""

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import PaginatedRequestParams

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUESTION = "Show me VIP customer spending trends by quarter"

# Arguments for every tool of both profiles, over the sample catalog.
CALLS = {
    "add_fact": {"term": "late order", "definition": "an order that ships after three days", "source": "a test"},
    "ask": {"question": "How many customers are there?"},
    "describe": {"ids": ["music_store.invoices", "business_rules", "shop"]},
    "extract_facts_from_text": {"text": "A VIP customer is one who spent more than 500 dollars."},
    "fetch": None,
    "get_document": {"name": "refund_policy"},
    "get_document_section": {"name": "business_rules", "section": "VIP customer"},
    "get_metric": {"name": "gross_revenue"},
    "get_operation_details": {"api": "shop", "operation": "listCustomerOrders"},
    "get_sample_values": {"database": "music_store", "table": "customers", "column": "country_cd"},
    "get_skill": {"name": "quarterly-report"},
    "get_table_relationships": {"database": "music_store", "table": "invoices"},
    "get_table_schema": {"database": "music_store", "table": "invoices"},
    "get_unresolved_facts": {},
    "get_verified_query": {"name": "exchange-rate"},
    "list": {"of": "music_store"},
    "list_api_operations": {"api": "shop"},
    "list_apis": {},
    "list_databases": {},
    "list_documents": {},
    "list_known_facts": {},
    "list_metrics": {},
    "list_skill_links": {"name": "quarterly-report"},
    "list_skills": {},
    "list_tables": {"database": "music_store"},
    "list_verified_queries": {},
    "plan": {"question": QUESTION},
    "resolve_fact": {"question": "What is a VIP customer?"},
    "resolve_skill_link": {"name": "quarterly-report", "target": "references/quarter-calendar.md"},
    "sample": {"column": "music_store.customers.country_cd"},
    "search": {"query": "invoices of customers"},
    "search_documents": {"query": "refunds"},
    "search_operations": {"query": "list orders"},
    "search_skills": {"query": "quarterly report"},
    "search_tables": {"query": "invoices"},
}


def check(holds, said):
    if not holds:
        raise SystemExit(f"FAILED: {said}")


def field(thing, *names):
    """Names changed their case between versions of the client."""
    for name in names:
        if hasattr(thing, name):
            return getattr(thing, name)
    raise SystemExit(f"FAILED: {thing} has none of {names}")


async def use(session, label):
    await session.initialize()
    tools = (await session.list_tools()).tools
    names = [tool.name for tool in tools]
    again = [tool.name for tool in (await session.list_tools()).tools]
    check(names == again, f"{label}: the order of the tools changes")
    called = 0
    for tool in tools:
        check(tool.annotations is not None, f"{label}: {tool.name} has no annotations")
        check(tool.name in CALLS, f"{label}: {tool.name} is not known here")
        if CALLS[tool.name] is None:
            continue
        heard = []
        async def progress(done, total, message):
            heard.append(message)
        more = {"progress_callback": progress} if tool.name in ("plan", "ask") else {}
        result = await session.call_tool(tool.name, CALLS[tool.name], **more)
        content = field(result, "structuredContent", "structured_content")
        check(not field(result, "isError", "is_error"), f"{label}: {tool.name}: {content}")
        check(isinstance(content, dict), f"{label}: {tool.name} has no structured content")
        called += 1
        if tool.name == "plan":
            check(content["verification"]["ok"], f"{label}: the plan is not verified: {content}")
            check(heard, f"{label}: no progress")
            steps = len(content["plan"]["steps"])
            handle = content["handle"]
            kept = await session.call_tool("fetch", {"handle": handle})
            check(field(kept, "structuredContent", "structured_content") == content, f"{label}: the plan has changed")
            called += 1
    wrong = await session.call_tool("search", {"what": "is this"})
    check(field(wrong, "isError", "is_error"), f"{label}: wrong arguments are accepted")
    resources, cursor = [], None
    while True:
        page = await session.list_resources(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        resources += page.resources
        cursor = field(page, "nextCursor", "next_cursor")
        if not cursor:
            break
    read = await session.read_resource(resources[0].uri)
    check(read.contents[0].text, f"{label}: {resources[0].uri} is empty")
    prompt = await session.get_prompt("plan", {"question": QUESTION})
    check(QUESTION in prompt.messages[0].content.text, f"{label}: the prompt lost its question")
    print(f"{label}: {len(names)} tools, {called} calls, {len(resources)} resources, a plan of {steps} steps")


async def over_pipe(planner, environment, profile):
    server = StdioServerParameters(command=planner, args=["mcp", "--profile", profile], env=environment)
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        await use(session, f"python, stdio, {profile}")


async def over_http(url, profile):
    async with streamable_http_client(url) as streams, ClientSession(streams[0], streams[1]) as session:
        await use(session, f"python, http, {profile}")


@contextlib.contextmanager
def served(planner, environment, profile):
    command = [planner, "serve", "--listen", "127.0.0.1:0", "--profile", profile]
    server = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        for line in server.stderr:
            found = re.search(r"MCP at (\S+)", line)
            if found:
                yield found.group(1)
                break
    finally:
        server.terminate()
        check(server.wait(timeout=60) == 0, "the server did not end well")


async def until_notified(planner, environment, folder, opened, label):
    """Another process refreshes a catalog that has grown, and the client is notified."""
    notified = asyncio.Event()
    async def heard(message):
        if "ResourceListChanged" in repr(message) or "resources/list_changed" in repr(message):
            notified.set()
    async with opened as streams, ClientSession(streams[0], streams[1], message_handler=heard) as session:
        await session.initialize()
        before = len((await session.list_resources()).resources)
        # The stream of a session over HTTP is opened separately.
        await asyncio.sleep(1)
        (folder / "more.csv").write_text("more_id,total\n1,2\n")
        with open(folder / "catalog.yaml", "a") as catalog:
            catalog.write("- path: more.csv\n")
        subprocess.run([planner, "refresh"], env=environment, check=True, capture_output=True)
        await asyncio.wait_for(notified.wait(), 30)
        after = len((await session.list_resources()).resources)
        check(after > before, f"{label}: {before} and {after} resources")
    print(f"{label}: notified of a refresh by another process")


@contextlib.contextmanager
def small(folder, environment):
    """A catalog of one table, to grow."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
    (folder / "orders.csv").write_text("order_id,total\n1,9.50\n")
    (folder / "catalog.yaml").write_text("databases:\n- path: orders.csv\n")
    yield folder, {**environment, "PROSPECTOR_STATE": f"{folder}/state", "PROSPECTOR_CATALOG": f"{folder}/catalog.yaml"}


async def changes(planner, folder, environment):
    with small(folder, environment) as (own, settings):
        opened = stdio_client(StdioServerParameters(command=planner, args=["mcp"], env=settings))
        await until_notified(planner, settings, own, opened, "python, stdio")
    with small(folder, environment) as (own, settings), served(planner, settings, "compact") as url:
        await until_notified(planner, settings, own, streamable_http_client(url), "python, http")


def inspect(folder, target, label, lasts):
    """The inspector's command line: one process per call, and over a pipe also one server per call. `lasts` says that the
    server stays, and handles with it."""
    began = time.monotonic()
    calls = 0
    def run(*more):
        nonlocal calls
        calls += 1
        command = ["npx", "--no-install", "mcp-inspector", "--cli", *target, *more]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180)
        check(ran.returncode == 0, f"{label}: {' '.join(more)}: {ran.stderr[-2000:]} {ran.stdout[-500:]}")
        return json.loads(ran.stdout)
    tools = run("--method", "tools/list")["tools"]
    for tool in tools:
        given = CALLS[tool["name"]]
        if given is None:
            continue
        text = lambda value: value if isinstance(value, str) else json.dumps(value)
        arguments = [part for name, value in given.items() for part in ("--tool-arg", f"{name}={text(value)}")]
        result = run("--method", "tools/call", "--tool-name", tool["name"], *arguments)
        check(not result.get("isError"), f"{label}: {tool['name']}: {result}")
        check(isinstance(result.get("structuredContent"), dict), f"{label}: {tool['name']} has no structured content")
        if tool["name"] == "plan":
            plan = result["structuredContent"]
            check(plan["verification"]["ok"], f"{label}: the plan is not verified")
    result = run("--method", "tools/call", "--tool-name", "fetch", "--tool-arg", f"handle={plan['handle']}")
    if lasts:
        check(result["structuredContent"] == plan, f"{label}: the plan has changed")
    else:
        check(result["structuredContent"]["error"] == "expired", f"{label}: a handle outlives its server: {result}")
    resources = run("--method", "resources/list")["resources"]
    run("--method", "resources/read", "--uri", resources[0]["uri"])
    run("--method", "prompts/get", "--prompt-name", "plan", "--prompt-args", f"question={QUESTION}")
    seconds = time.monotonic() - began
    print(f"{label}: {len(tools)} tools, all called, {len(resources)} resources on the first page, a plan of "
          f"{len(plan['plan']['steps'])} steps; {calls} processes in {seconds:.0f} s")


async def main():
    given = argparse.ArgumentParser()
    given.add_argument("planner")
    given.add_argument("--inspector")
    given = given.parse_args()
    planner = str(pathlib.Path(given.planner).resolve())
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "PROSPECTOR_STATE": f"{folder}/state",
                       "PROSPECTOR_CATALOG": str(ROOT / "catalog/catalog.yaml")}
        await changes(planner, folder, environment)
        for profile in ("compact", "full"):
            await over_pipe(planner, environment, profile)
            with served(planner, environment, profile) as url:
                await over_http(url, profile)
                if given.inspector:
                    inspect(given.inspector, [url, "--transport", "http"], f"inspector, http, {profile}", lasts=True)
            if given.inspector:
                # The inspector passes its environment on.
                os.environ.update({key: environment[key] for key in ("PROSPECTOR_STATE", "PROSPECTOR_CATALOG")})
                inspect(given.inspector, [planner, "mcp", "--profile", profile], f"inspector, stdio, {profile}", lasts=False)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
