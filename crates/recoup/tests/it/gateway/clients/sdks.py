"""The official Python SDKs of Anthropic and OpenAI as clients of a model API, or of the gateway.

    python sdks.py URL

Prints one line of JSON for each case: what the SDK made of the answer. Each prompt begins with
the name of its case (`case:plain …`), by which the server knows what to say.
"""

import json
import sys

import anthropic
import openai
import pydantic

URL = sys.argv[1]
claude = anthropic.Anthropic(base_url=URL, api_key="none", max_retries=1)
gpt = openai.OpenAI(base_url=f"{URL}/v1", api_key="none", max_retries=1)
CLAUDE, GPT = "claude-sonnet-4-5", "gpt-5"


class Place(pydantic.BaseModel):
    city: str
    unit: str


SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
    "required": ["city", "unit"],
    "additionalProperties": False,
}
CLAUDE_TOOL = {"name": "weather", "description": "Tells the weather.", "input_schema": SCHEMA}
FUNCTION = {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA, "strict": True}
CHAT_TOOL = {"type": "function", "function": FUNCTION}
RESPONSE_TOOL = {"type": "function", **FUNCTION}


def dumped(value):
    """The object as JSON, with what the SDK keeps beside its fields."""
    if isinstance(value, list):
        return [dumped(item) for item in value]
    if isinstance(value, pydantic.BaseModel):
        return {
            "class": type(value).__name__,
            "request_id": getattr(value, "_request_id", None),
            "fields": value.model_dump(mode="json", warnings=False),
        }
    return value


def prompt(name):
    return [{"role": "user", "content": f"case:{name} Grüße, 世界"}]


def message(name, **more):
    return dict(model=CLAUDE, max_tokens=1000, messages=prompt(name), **more)


def message_stream(name, **more):
    """The helper: its own events, and the message that it puts together."""
    with claude.messages.stream(**message(name, **more)) as stream:
        events = [dumped(event) for event in stream]
        return {"events": events, "final": dumped(stream.get_final_message())}


def raw_message_stream(name):
    return [dumped(event) for event in claude.messages.create(**message(name), stream=True)]


def chat(name, **more):
    return dict(model=GPT, messages=prompt(name), **more)


def chat_stream(name, **more):
    return [dumped(chunk) for chunk in gpt.chat.completions.create(**chat(name, **more), stream=True)]


def chat_helper(name, **more):
    with gpt.chat.completions.stream(**chat(name, **more)) as stream:
        events = [dumped(event) for event in stream]
        return {"events": events, "final": dumped(stream.get_final_completion())}


def asked(name, **more):
    return dict(model=GPT, input=f"case:{name} Grüße, 世界", **more)


def response_stream(name, **more):
    return [dumped(event) for event in gpt.responses.create(**asked(name, **more), stream=True)]


def response_helper(name, **more):
    with gpt.responses.stream(**asked(name, **more)) as stream:
        events = [dumped(event) for event in stream]
        return {"events": events, "final": dumped(stream.get_final_response())}


def embedded(texts):
    return dumped(gpt.embeddings.create(model="text-embedding-3-small", input=texts))


FORMAT = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA, "strict": True}}
THINKING = {"type": "enabled", "budget_tokens": 512}

CASES = {
    "message": lambda name: dumped(claude.messages.create(**message(name))),
    "message-raw-stream": raw_message_stream,
    "message-stream": message_stream,
    "message-tools": lambda name: dumped(claude.messages.create(**message(name, tools=[CLAUDE_TOOL]))),
    "message-tools-stream": lambda name: message_stream(name, tools=[CLAUDE_TOOL]),
    "message-structured": lambda name: dumped(claude.messages.parse(**message(name), output_format=Place)),
    "message-structured-stream": lambda name: message_stream(name, output_format=Place),
    "message-thinking": lambda name: dumped(claude.messages.create(**message(name, thinking=THINKING))),
    "message-thinking-stream": lambda name: message_stream(name, thinking=THINKING),
    "message-beta": lambda name: dumped(
        claude.beta.messages.create(**message(name, betas=["context-1m-2025-08-07"]))
    ),
    "count-tokens": lambda name: dumped(
        claude.messages.count_tokens(model=CLAUDE, messages=prompt(name))
    ),
    "claude-models": lambda name: dumped(list(claude.models.list())),
    "chat": lambda name: dumped(gpt.chat.completions.create(**chat(name))),
    "chat-stream": chat_stream,
    "chat-usage-stream": lambda name: chat_stream(name, stream_options={"include_usage": True}),
    "chat-tools": lambda name: dumped(gpt.chat.completions.create(**chat(name, tools=[CHAT_TOOL]))),
    "chat-tools-stream": lambda name: chat_helper(name, tools=[CHAT_TOOL]),
    "chat-structured": lambda name: dumped(
        gpt.chat.completions.parse(**chat(name, response_format=Place))
    ),
    "chat-structured-stream": lambda name: chat_helper(name, response_format=Place),
    "chat-json-schema": lambda name: dumped(
        gpt.chat.completions.create(**chat(name, response_format=FORMAT))
    ),
    "response": lambda name: dumped(gpt.responses.create(**asked(name))),
    "response-stream": response_stream,
    "response-helper-stream": response_helper,
    "response-tools": lambda name: dumped(gpt.responses.create(**asked(name, tools=[RESPONSE_TOOL]))),
    "response-tools-stream": lambda name: response_helper(name, tools=[RESPONSE_TOOL]),
    "response-structured": lambda name: dumped(gpt.responses.parse(**asked(name), text_format=Place)),
    "embedding": lambda name: embedded(f"case:{name} Grüße"),
    "embeddings": lambda name: embedded([f"case:{name} one", "two 世界", "three is longer"]),
    "gpt-models": lambda name: dumped(list(gpt.models.list())),
    # Refused once, and then answered.
    "retry-message": lambda name: dumped(claude.messages.create(**message(name))),
    "retry-message-stream": message_stream,
    "retry-chat": lambda name: dumped(gpt.chat.completions.create(**chat(name))),
    "retry-chat-stream": chat_stream,
}

ERRORS = {
    f"{kind} {api}": (kind, send)
    for kind in ["bad-request", "not-found", "overloaded"]
    for api, send in {
        "message": lambda name: claude.messages.create(**message(name)),
        "message stream": message_stream,
        "chat": lambda name: gpt.chat.completions.create(**chat(name)),
        "response stream": response_stream,
    }.items()
}


def failed(kind, send):
    try:
        return {"unexpected": dumped(send(kind))}
    except (anthropic.APIStatusError, openai.APIStatusError) as error:
        return {
            "class": type(error).__name__,
            "message": str(error),
            "status": error.status_code,
            "body": error.body,
            "request_id": error.request_id,
        }


for name, run in CASES.items():
    print(json.dumps({"case": name, "result": run(name)}))
for name, (kind, send) in ERRORS.items():
    print(json.dumps({"case": name, "result": failed(kind, send)}))
