"""The official Python SDK as a client of `recoup mcp`, on stdio or HTTP.

    python sdk.py stdio RECOUP      python sdk.py http URL TOKEN

Prints what it saw as one line of JSON. The SDK checks each tool's answer against the
schema that the server gave for it.
"""

import asyncio
import json
import sys

import mcp.types as types
from mcp import ClientSession, StdioServerParameters, stdio_client


async def tour(streams) -> dict:
    seen: dict = {"updated": [], "asked": []}
    updated = asyncio.Event()

    async def on_message(message) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            seen["updated"].append(str(message.params.uri))
            updated.set()

    async def on_question(context, params) -> types.ElicitResult:
        seen["asked"].append(params.message)
        return types.ElicitResult(action="accept", content={"agree": True})

    read, write = streams[0], streams[1]
    async with ClientSession(
        read, write, message_handler=on_message, elicitation_callback=on_question
    ) as session:
        hello = await session.initialize()
        seen["server"] = hello.server_info.name
        seen["instructions"] = hello.instructions
        seen["tools"] = [tool.name for tool in (await session.list_tools()).tools]
        seen["resources"] = [str(r.uri) for r in (await session.list_resources()).resources]
        seen["prompts"] = [p.name for p in (await session.list_prompts()).prompts]
        await session.subscribe_resource("recoup://rules")

        async def call(tool: str, arguments: dict) -> dict:
            result = await session.call_tool(tool, arguments)
            assert not result.is_error, result
            return result.structured_content

        seen["stored"] = await call("store_memory", {"content": "use tabs"})
        await asyncio.wait_for(updated.wait(), 30)
        seen["rules"] = await call("load_rules", {})
        seen["found"] = await call("search_memory", {"query": "tabs"})
        named = {"paths": ["a.rs"], "query": "why", "operation": "review"}
        seen["miss"] = await call("cache_lookup", named)
        await call("cache_store", {**named, "result": {"answer": 42}})
        seen["hit"] = await call("cache_lookup", named)
        await call("cache_explain", named)
        await call("cache_stats", {})
        await call("save_checkpoint", {"completed": ["a"], "remaining": ["b"], "notes": "n"})
        await call("load_checkpoint", {})
        await call("cache_invalidate", {"operation": "review"})
        await call("delete_memory", {"id": seen["stored"]["memory"]["id"]})
        contents = (await session.read_resource("recoup://rules")).contents
        seen["resource"] = contents[0].text
        prompt = await session.get_prompt("recall", {"query": "tabs"})
        seen["prompt"] = prompt.messages[0].content.text
        wrong = await session.call_tool("search_memory", {"query": 5})
        seen["wrong"] = wrong.is_error
    return seen


async def main() -> None:
    if sys.argv[1] == "stdio":
        args = ["mcp", "--tools", "all"]
        async with stdio_client(StdioServerParameters(command=sys.argv[2], args=args)) as streams:
            seen = await tour(streams)
    else:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        headers = {"Authorization": f"Bearer {sys.argv[3]}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            async with streamable_http_client(sys.argv[2], http_client=http) as streams:
                seen = await tour(streams)
    print(json.dumps(seen))


asyncio.run(main())
