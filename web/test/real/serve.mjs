// A place to serve pages from.
import { createServer } from "node:http";

/** Serves these files, by path: `{ type, body, headers }`. What is not there answers 404. */
export async function serve(files) {
  const server = createServer((request, response) => {
    const file = files[new URL(request.url, "http://localhost").pathname];
    if (!file) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": file.type, ...file.headers }).end(file.body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://localhost:${server.address().port}/`, close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
