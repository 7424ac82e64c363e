// An MCP server over streamable HTTP that does what a test wants: prints its URL, and each request
// as a line of JSON; ends with its stdin. Arguments are habits.
import { createServer } from "node:http";

const habits = process.argv.slice(2);
const has = (habit) => habits.includes(habit);
const say = (seen) => process.stdout.write(JSON.stringify(seen) + "\n");
let sessions = 0;
let calls = 0;
let lost = false;
let resumed = null;

const tool = {
  name: "count",
  inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
};

function answer(message) {
  const { method, params } = message;
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: {},
        serverInfo: { name: "http", version: "1" },
      };
    case "tools/list":
      return { tools: [tool] };
    default:
      return { content: [{ type: "text", text: `call ${++calls}` }] };
  }
}

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    const { headers, method, url } = request;
    say({ method, url, headers, body });
    if (url === "/elsewhere") return response.writeHead(307, { location: "http://localhost:1/mcp" }).end();
    if (url === "/moved") return response.writeHead(307, { location: "/mcp" }).end();
    if (method === "DELETE") return response.writeHead(200).end();
    if (has("locked") && headers.authorization !== "Bearer secret-token")
      return response.writeHead(401, { "www-authenticate": 'Bearer resource_metadata="https://x/y"' }).end("who are you?");
    if (method === "GET") {
      if (resumed && headers["last-event-id"] === "e1") {
        response.writeHead(200, { "content-type": "text/event-stream" });
        return response.end(`id: e2\ndata: ${resumed}\n\n`);
      }
      return response.writeHead(405).end();
    }
    const message = JSON.parse(body);
    const session = headers["mcp-session-id"];
    if (has("sessions") && message.method !== "initialize" && (session !== `s${sessions}` || lost)) {
      lost = false;
      return response.writeHead(404, { "content-type": "application/json" }).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}');
    }
    if (message.id === undefined || message.method === undefined) return response.writeHead(202).end();
    const own = {};
    if (message.method === "initialize" && has("sessions")) own["mcp-session-id"] = `s${++sessions}`;
    const { name } = message.params ?? {};
    if (name === "lose") lost = true;
    const text = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answer(message) }, null, 2);
    if (name === "stall") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const beat = () => response.write(`event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n`);
      beat();
      response.on("close", () => say({ closed: name, body: "" }));
      return setInterval(beat, 100);
    }
    if (name === "break") {
      resumed = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answer(message) });
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("id: e1\nretry: 10\ndata: \n\n");
      return setTimeout(() => response.destroy(), 50);
    }
    if (name === "page") return response.writeHead(200, { "content-type": "text/html" }).end("<html>Log in</html>");
    if (name === "other")
      return response.writeHead(200, { "content-type": "application/json" }).end('{"jsonrpc":"2.0","id":"other","result":{}}');
    if (name === "cut") return response.destroy();
    if (has("events")) {
      response.writeHead(200, { "content-type": "text/event-stream", ...own });
      const data = text.split("\n").map((line) => `data: ${line}\r\n`).join("");
      return response.end(`: hello\r\n\r\n${data}\r\n`);
    }
    const send = () => response.writeHead(200, { "content-type": "application/json", ...own }).end(text);
    if (has("slow-renewal") && sessions > 1 && message.method === "initialize") setTimeout(send, 200);
    else send();
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`));
process.stdin.on("end", () => process.exit(0)).resume();
