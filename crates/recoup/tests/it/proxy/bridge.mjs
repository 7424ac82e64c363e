// Streamable HTTP in front of a server over stdio, for suites that speak HTTP only. A session has a
// process of its own; requests without one share a process. Ids are made unique on the way.
//
//   node bridge.mjs COMMAND...     prints the URL to use, and ends with its stdin
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [program, ...args] = process.argv.slice(2);
const sessions = new Map();
let lastId = 0;

class Session {
  pending = new Map();
  listener = null;

  constructor() {
    this.child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.child.on("exit", () => this.pending.forEach(({ response }) => response.destroy()));
    createInterface({ input: this.child.stdout }).on("line", (line) => this.hear(JSON.parse(line)));
  }

  say(message) {
    this.child.stdin.write(JSON.stringify(message) + "\n");
  }

  ask(message, response, headers) {
    const id = ++lastId;
    this.pending.set(id, { id: message.id, response });
    response.writeHead(200, { "content-type": "text/event-stream", ...headers });
    response.flushHeaders();
    response.on("close", () => {
      if (!this.pending.delete(id) || headers["mcp-session-id"]) return;
      const params = { requestId: id };
      this.say({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    });
    this.say({ ...message, id });
  }

  hear(message) {
    const asked = message.method === undefined && this.pending.get(message.id);
    const event = (body) => `event: message\ndata: ${JSON.stringify(body)}\n\n`;
    if (asked) {
      this.pending.delete(message.id);
      return asked.response.end(event({ ...message, id: asked.id }));
    }
    // What belongs to a subscription goes there, else to the newest request.
    const key = "io.modelcontextprotocol/subscriptionId";
    const meta = message.params?._meta;
    const subscribed = meta?.[key] !== undefined && this.pending.get(Number(meta[key]));
    if (subscribed) meta[key] = String(subscribed.id);
    const newest = [...this.pending.values()].at(-1);
    const stream = subscribed?.response ?? newest?.response ?? this.listener;
    stream?.write(event(message));
  }

  cancelled(params) {
    const found = [...this.pending].find(([, { id }]) => id === params?.requestId);
    return found ? { ...params, requestId: found[0] } : params;
  }
}

let shared = null;
const server = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  const id = request.headers["mcp-session-id"];
  const found = sessions.get(id);
  if (id && !found) return response.writeHead(404).end();
  if (request.method === "GET") {
    if (!found) return response.writeHead(405).end();
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    found.listener = response;
    return;
  }
  if (request.method === "DELETE") {
    found?.child.stdin.end();
    sessions.delete(id);
    return response.writeHead(200).end();
  }
  const message = JSON.parse(body);
  const headers = {};
  let session = found;
  if (message.method === "initialize") {
    headers["mcp-session-id"] = randomUUID();
    sessions.set(headers["mcp-session-id"], (session = new Session()));
  } else if (id) headers["mcp-session-id"] = id;
  session ??= shared ??= new Session();
  if (message.id !== undefined && message.method) return session.ask(message, response, headers);
  if (message.method === "notifications/cancelled") message.params = session.cancelled(message.params);
  session.say(message);
  response.writeHead(202).end();
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
process.stdin.on("end", () => process.exit(0)).resume();
