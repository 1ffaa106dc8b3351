// Perfetto's trace processor, which is compiled for browsers, on standard input and output:
// requests and replies of its RPC, byte for byte. Its folder is the argument.
"use strict";
const fs = require("fs");
const path = require("path");

const folder = process.argv[2];

function fail(error) {
  // The engine is one line of 150 kB, which Node would show.
  fs.writeSync(2, `${String(error.stack).slice(-2000)}\n`);
  process.exit(1);
}
process.on("uncaughtException", fail);

class FileRequest {
  open(_, url) {
    this.file = path.join(folder, path.basename(url));
  }
  send() {
    this.response = new Uint8Array(fs.readFileSync(this.file)).buffer;
  }
}

const silent = () => {};
// What it sees of a browser's worker, and what it must not see of Node.
const world = {
  self: { location: { href: "http://localhost/" } },
  WorkerGlobalScope: class {},
  XMLHttpRequest: FileRequest,
  console: { log: silent, warn: silent, error: silent },
  ...Object.fromEntries(
    ["process", "require", "module", "exports", "window", "document"].map((name) => [name]),
  ),
};
const engine = fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8");
new Function(...Object.keys(world), engine)(...Object.values(world));

const port = {
  postMessage(reply) {
    for (let at = 0; at < reply.length; ) {
      try {
        at += fs.writeSync(1, reply, at);
      } catch (error) {
        if (error.code !== "EAGAIN") throw error;
      }
    }
  },
};
world.self.onmessage({ data: port });
process.stdin.on("data", (part) => port.onmessage({ data: new Uint8Array(part) }));
