// An MCP server over stdio that does what a test wants. What it is told is appended to the file in
// the first argument; further arguments are habits.
import { appendFileSync, closeSync, existsSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const [log, ...habits] = process.argv.slice(2);
const has = (habit) => habits.includes(habit);
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
let calls = 0;
let state = 0;
const running = new Map();

if (has("banner")) process.stdout.write("Welcome to the server\n\n{not json\n[1, 2]\n\xff\n");
if (has("flood")) for (let i = 0; i < 64; i++) writeSync(2, "x".repeat(64 * 1024));
if (has("dies")) process.exit(3);
if (has("stubborn")) {
  process.on("SIGTERM", () => appendFileSync(log, "TERM\n"));
  setInterval(() => {}, 1000);
}

const schema = { type: "object", properties: {} };
const tools = () => [
  { name: "count", inputSchema: schema, annotations: { readOnlyHint: true } },
  { name: "fail", inputSchema: schema },
  { name: "refuse", inputSchema: schema },
  { name: "slow", inputSchema: schema },
  { name: "write", inputSchema: schema },
  { name: "remove", inputSchema: schema, annotations: { destructiveHint: true } },
  { name: "large", inputSchema: schema },
  { name: "now", inputSchema: schema, annotations: { readOnlyHint: true } },
];
const text = (value, more = {}) => ({ content: [{ type: "text", text: String(value) }], ...more });

async function call(message) {
  const { name, arguments: args = {}, _meta = {} } = message.params;
  calls += 1;
  switch (name) {
    case "fail":
      return text(`failed ${calls}`, { isError: true });
    case "remove":
    case "write":
      state += 1;
      return text(`state ${state}`);
    case "large":
      return text("y".repeat(args.bytes));
    case "slow": {
      for (let step = 1; !existsSync(args.until); step++) {
        if (running.get(message.id) === "cancelled") return null;
        const progressToken = _meta.progressToken;
        if (progressToken !== undefined)
          say({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: step } });
        await new Promise((done) => setTimeout(done, 20));
      }
      return text(`slow ${calls}`);
    }
    default:
      return text(`call ${calls}, state ${state}`);
  }
}

async function answer(message) {
  const { id, method, params } = message;
  const result = (result) => say({ jsonrpc: "2.0", id, result });
  switch (method) {
    case "initialize":
      return result({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "scripted", version: "1" },
      });
    case "tools/list": {
      const all = tools();
      if (!has("pages")) return result({ tools: all });
      const at = Number(params?.cursor ?? 0);
      const more = at + 1 < all.length ? { nextCursor: String(at + 1) } : {};
      return result({ tools: [all[at]], ...more });
    }
    case "tools/call": {
      if (params.name === "refuse")
        return say({ jsonrpc: "2.0", id, error: { code: -32000, message: "refused " + ++calls } });
      running.set(id, "running");
      const answered = await call(message);
      running.delete(id);
      return answered && result(answered);
    }
    case "resources/read":
      return result({ contents: [{ uri: params.uri, text: `read ${++calls}` }] });
    case "ask/roots":
      say({ jsonrpc: "2.0", id: id, method: "roots/list" });
      return result({});
    case "change/tools":
      say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      return result({});
    case "change/resource":
      say({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: params.uri } });
      return result({});
    case "end":
      return process.exit(params.code);
    case "crash":
      return process.kill(process.pid, "SIGKILL");
    case "half":
      process.stdout.write('{"jsonrpc":"2.0","id":');
      return setTimeout(() => process.exit(0), 50);
    case "mute":
      return closeSync(1);
    default:
      if (id !== undefined) say({ jsonrpc: "2.0", id, error: { code: -32601, message: method } });
  }
}

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
lines.on("line", (line) => {
  if (line.length < 100_000) appendFileSync(log, line + "\n");
  if (has("echo")) return process.stdout.write(line + "\n");
  const message = JSON.parse(line);
  if (message.method === "notifications/cancelled") running.set(message.params.requestId, "cancelled");
  else if (message.method) answer(message);
});
