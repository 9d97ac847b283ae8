// A server that responds as it is told, one response after the other, and keeps what it was sent.
import { createServer } from "node:http";

/** A response is [status, body, headers], "break" (the connection ends without one) or "hang". */
export async function serving(t, responses) {
  const requests = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { method, url, headers } = request;
    requests.push({ method, url, headers, body: text === "" ? null : JSON.parse(text) });
    const told = typeof responses === "function" ? responses(requests.at(-1)) : responses.shift();
    if (told === "hang") return;
    if (told === "break") return request.socket.destroy();
    const [status, body, more] = told ?? [500, { detail: "nothing is left to respond with" }];
    response.writeHead(status, { "content-type": "application/json", ...more });
    response.end(typeof body === "string" ? body : body === undefined ? undefined : JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, requests };
}

/** An address where nobody listens. */
export async function nobody() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
