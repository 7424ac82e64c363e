// Stands between the conformance suite and the server. The suite knows no tokens: the token
// is added to each request. And it asks for tools, resources and prompts that a server under
// test is to have: where we have one that does the same, it is asked for in their place.
//
//   node proxy.mjs URL TOKEN NAMES     NAMES: a JSON object of their names and ours
//
// Prints the URL to use, and ends with its stdin.
import http from "node:http";

const [target, token, namesJson] = process.argv.slice(2);
const names = JSON.parse(namesJson);
const { hostname, port, pathname } = new URL(target);

// The same request by our name; arguments only where ours takes others than theirs.
function ours(body) {
  let message;
  try {
    message = JSON.parse(body);
  } catch {
    return { body };
  }
  const params = message?.params;
  const known = names[params?.name ?? params?.uri];
  if (!known) return { body };
  if (params.name) Object.assign(params, { name: known.name, arguments: known.arguments ?? {} });
  else params.uri = known.uri;
  return { body: JSON.stringify(message), name: known.name ?? known.uri };
}

const server = http.createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { body, name } = ours(Buffer.concat(chunks).toString());
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  delete headers["transfer-encoding"];
  if (body) headers["content-length"] = Buffer.byteLength(body);
  if (name && headers["mcp-name"]) headers["mcp-name"] = name;
  const { method, url: path } = request;
  const onward = http.request({ hostname, port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  // Whoever hangs up here hangs up there.
  response.on("close", () => onward.destroy());
  onward.end(body);
});

server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}${pathname}`);
});

process.stdin.on("end", () => process.exit(0)).resume();
