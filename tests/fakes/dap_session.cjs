// Drives a server of actiondbg dap with the client of @vscode/debugadapter-testsupport.
//   node dap_session.cjs PORT CONFIGURATION LINE
// CONFIGURATION is the JSON of a launch, whose first argument is the input. Prints what it has seen
// as JSON.
const { DebugClient } = require("@vscode/debugadapter-testsupport");
const assert = require("node:assert");
const path = require("node:path");

async function main(port, configuration, line) {
  const file = path.join(configuration.cwd, configuration.args[0]);
  const client = new DebugClient("", "", "actiondbg");
  const seen = { output: "" };
  client.on("output", (event) => {
    if (event.body.category === "stdout") seen.output += event.body.output;
  });
  await client.start(port);
  // It fails unless the breakpoint is verified, and the stop is there.
  await client.hitBreakpoint(configuration, { path: file, line }, { path: file, line });
  const stack = await client.stackTraceRequest({ threadId: 1 });
  seen.frames = stack.body.stackFrames.map((frame) => frame.name);
  const scopes = await client.scopesRequest({ frameId: stack.body.stackFrames[0].id });
  seen.scopes = scopes.body.scopes.map((scope) => scope.name);
  seen.variables = {};
  for (const scope of scopes.body.scopes) {
    const found = await client.variablesRequest({ variablesReference: scope.variablesReference });
    seen.variables[scope.name] = found.body.variables.map((each) => each.name);
  }
  const moves = [
    () => client.nextRequest({ threadId: 1 }),
    () => client.stepInRequest({ threadId: 1 }),
    () => client.stepBackRequest({ threadId: 1 }),
    () => client.customRequest("actiondbg/reverseNext", {}),
    () => client.stepOutRequest({ threadId: 1 }),
  ];
  seen.stops = [];
  for (const move of moves) {
    const [event] = await Promise.all([client.waitForEvent("stopped"), move()]);
    seen.stops.push(event.body.description);
  }
  await client.setBreakpointsRequest({ source: { path: file }, breakpoints: [] });
  const ir = await client.customRequest("actiondbg/ir", {});
  seen.ir = ir.body.text;
  await assert.rejects(client.evaluateRequest({ expression: "shell ls", context: "repl" }));
  await Promise.all([client.waitForEvent("terminated"), client.continueRequest({ threadId: 1 })]);
  await client.disconnectRequest({});
  client.stop();
  console.log(JSON.stringify(seen));
}

main(Number(process.argv[2]), JSON.parse(process.argv[3]), Number(process.argv[4])).catch((error) => {
  console.error(error);
  process.exit(1);
});
