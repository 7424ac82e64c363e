// The official Node SDKs of Anthropic and OpenAI, and the Vercel AI SDK, as clients of a model
// API, or of the gateway.
//
//     node sdks.cjs URL
//
// Prints one line of JSON for each case: what the SDK made of the answer. Each prompt begins with
// the name of its case (`case:plain …`), by which the server knows what to say.

const Anthropic = require("@anthropic-ai/sdk");
const OpenAI = require("openai");
const ai = require("ai");
const { createAnthropic } = require("@ai-sdk/anthropic");
const { createOpenAI } = require("@ai-sdk/openai");

const url = process.argv[2];
const apiKey = "none";
const claude = new Anthropic({ baseURL: url, apiKey, maxRetries: 1 });
const gpt = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 1 });
const vercelClaude = createAnthropic({ baseURL: `${url}/v1`, apiKey })("claude-sonnet-4-5");
const vercel = createOpenAI({ baseURL: `${url}/v1`, apiKey });
const vercelGpt = vercel("gpt-5");
const vercelChat = vercel.chat("gpt-5");

const schema = {
  type: "object",
  properties: { city: { type: "string" }, unit: { type: "string" } },
  required: ["city", "unit"],
  additionalProperties: false,
};
const description = "Tells the weather.";
const claudeTools = [{ name: "weather", description, input_schema: schema }];
const weather = { name: "weather", description, parameters: schema, strict: true };
const chatTools = [{ type: "function", function: weather }];
const responseTools = [{ type: "function", ...weather }];
const vercelTools = { weather: ai.tool({ description, inputSchema: ai.jsonSchema(schema) }) };
const json_schema = { name: "place", schema, strict: true };

const text = (name) => `case:${name} Grüße, 世界`;
const messages = (name) => [{ role: "user", content: text(name) }];
const message = (name, more) => ({
  model: "claude-sonnet-4-5", max_tokens: 1000, messages: messages(name), ...more,
});
const chat = (name, more) => ({ model: "gpt-5", messages: messages(name), ...more });
const asked = (name, more) => ({ model: "gpt-5", input: text(name), ...more });
const embedding = (input) => gpt.embeddings.create({ model: "text-embedding-3-small", input });

async function all(stream) {
  const events = [];
  for await (const event of await stream) events.push(event);
  return events;
}

async function messageStream(name, more) {
  const stream = claude.messages.stream(message(name, more));
  return { events: await all(stream), final: await stream.finalMessage() };
}

async function chatStream(name, more) {
  const stream = gpt.chat.completions.stream(chat(name, more));
  return { events: await all(stream), final: await stream.finalChatCompletion() };
}

async function responseStream(name, more) {
  const stream = gpt.responses.stream(asked(name, more));
  return { events: await all(stream), final: await stream.finalResponse() };
}

const generate = (model) => async (name, more) => {
  const got = await ai.generateText({ model, prompt: text(name), maxRetries: 1, ...more });
  const { content, finishReason, usage, response, providerMetadata } = got;
  const output = more?.output && got.output;
  return { content, finishReason, usage, response, providerMetadata, output };
};

const stream = (model) => async (name, more) => {
  const got = ai.streamText({ model, prompt: text(name), maxRetries: 1, ...more });
  const events = await all(got.fullStream);
  const [content, usage, response] = await Promise.all([got.content, got.usage, got.response]);
  return { events, content, usage, response, output: more?.output && (await got.output) };
};

const tools = { tools: vercelTools };
const structured = () => ({ output: ai.Output.object({ schema: ai.jsonSchema(schema) }) });
const thinking = { thinking: { type: "enabled", budget_tokens: 512 } };
const vercelThinking = {
  providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 512 } } },
};

const cases = {
  "message": (name) => claude.messages.create(message(name)),
  "message-raw-stream": (name) => all(claude.messages.create(message(name, { stream: true }))),
  "message-stream": messageStream,
  "message-tools": (name) => claude.messages.create(message(name, { tools: claudeTools })),
  "message-tools-stream": (name) => messageStream(name, { tools: claudeTools }),
  "message-structured": (name) =>
    claude.messages.parse(message(name, { output_config: { format: { type: "json_schema", schema } } })),
  "message-thinking": (name) => claude.messages.create(message(name, thinking)),
  "message-thinking-stream": (name) => messageStream(name, thinking),
  "count-tokens": (name) =>
    claude.messages.countTokens({ model: "claude-sonnet-4-5", messages: messages(name) }),
  "claude-models": () => all(claude.models.list()),
  "chat": (name) => gpt.chat.completions.create(chat(name)),
  "chat-stream": (name) => all(gpt.chat.completions.create(chat(name, { stream: true }))),
  "chat-usage-stream": (name) => chatStream(name, { stream_options: { include_usage: true } }),
  "chat-tools": (name) => gpt.chat.completions.create(chat(name, { tools: chatTools })),
  "chat-tools-stream": (name) => chatStream(name, { tools: chatTools }),
  "chat-structured": (name) =>
    gpt.chat.completions.parse(chat(name, { response_format: { type: "json_schema", json_schema } })),
  "response": (name) => gpt.responses.create(asked(name)),
  "response-stream": responseStream,
  "response-tools": (name) => gpt.responses.create(asked(name, { tools: responseTools })),
  "response-tools-stream": (name) => responseStream(name, { tools: responseTools }),
  "response-structured": (name) =>
    gpt.responses.parse(asked(name, { text: { format: { type: "json_schema", ...json_schema } } })),
  "embedding": (name) => embedding(text(name)),
  "embeddings": (name) => embedding([text(name), "two 世界", "three is longer"]),
  "gpt-models": () => all(gpt.models.list()),
  // Refused once, and then answered.
  "retry-message": (name) => claude.messages.create(message(name)),
  "retry-message-stream": messageStream,
  "retry-chat": (name) => gpt.chat.completions.create(chat(name)),
  "retry-response-stream": responseStream,
  "vercel-message": generate(vercelClaude),
  "vercel-message-stream": stream(vercelClaude),
  "vercel-message-tools": (name) => generate(vercelClaude)(name, tools),
  "vercel-message-tools-stream": (name) => stream(vercelClaude)(name, tools),
  "vercel-message-structured-stream": (name) => stream(vercelClaude)(name, structured()),
  "vercel-message-thinking": (name) => generate(vercelClaude)(name, vercelThinking),
  "vercel-message-thinking-stream": (name) => stream(vercelClaude)(name, vercelThinking),
  "vercel-chat": generate(vercelChat),
  "vercel-chat-stream": stream(vercelChat),
  "vercel-chat-tools-stream": (name) => stream(vercelChat)(name, tools),
  "vercel-chat-structured": (name) => generate(vercelChat)(name, structured()),
  "vercel-response": generate(vercelGpt),
  "vercel-response-stream": stream(vercelGpt),
  "vercel-response-tools": (name) => generate(vercelGpt)(name, tools),
  "vercel-response-tools-stream": (name) => stream(vercelGpt)(name, tools),
  "vercel-response-structured-stream": (name) => stream(vercelGpt)(name, structured()),
  "vercel-embedding": (name) =>
    ai.embed({ model: vercel.embedding("text-embedding-3-small"), value: text(name) }),
  "vercel-embeddings": (name) =>
    ai.embedMany({
      model: vercel.embedding("text-embedding-3-small"), values: [text(name), "four", "five 世界"],
    }),
  "retry-vercel-message": generate(vercelClaude),
  "retry-vercel-response-stream": stream(vercelGpt),
};

const senders = {
  "message": (name) => claude.messages.create(message(name)),
  "message stream": messageStream,
  "chat": (name) => gpt.chat.completions.create(chat(name)),
  "response stream": responseStream,
  "vercel": generate(vercelClaude),
  "vercel response": generate(vercelGpt),
};

async function failed(send, kind) {
  try {
    return { unexpected: await send(kind) };
  } catch (error) {
    const last = error.lastError ?? error;
    const { name, message, status, statusCode, requestID, responseBody, isRetryable } = last;
    const said = { status, statusCode, requestID, responseBody, isRetryable, error: last.error };
    return { class: last.constructor.name, name, message, reason: error.reason, ...said };
  }
}

const print = (name, result) => console.log(JSON.stringify({ case: name, result }));

async function main() {
  for (const [name, run] of Object.entries(cases)) print(name, await run(name));
  for (const kind of ["bad-request", "not-found", "overloaded"]) {
    for (const [api, send] of Object.entries(senders)) {
      print(`${kind} ${api}`, await failed(send, kind));
    }
  }
}

main();
