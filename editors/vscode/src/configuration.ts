// Configurations of debug sessions: what is missing in them, and the server that serves them.

import * as vscode from "vscode";
import { findExecutable, offerInstallation } from "./executable";
import { newDocument } from "./irView";

/** Completes a configuration: without one, the active editor is what is debugged. */
export class Configurations implements vscode.DebugConfigurationProvider {
  resolveDebugConfiguration(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): vscode.DebugConfiguration | undefined {
    const made = configuration.type ? configuration : ofActiveEditor();
    if (!made) {
      void vscode.window.showErrorMessage(
        "There is nothing to debug: open an .mlir file or a recording, or add a configuration to launch.json.",
      );
      return undefined;
    }
    if (made.request === "launch" && !made.tool && !made.recording) {
      void vscode.window.showErrorMessage(
        'The configuration has no "tool" and no "recording": name the one to debug in launch.json.',
      );
      return undefined;
    }
    if (made.request === "launch") {
      made.stopOnEntry ??= true;
      made.cwd ??= folder?.uri.fsPath;
    }
    // Frames that are in no file are in the document that this extension shows.
    made.irDocument = newDocument().toString(true);
    return made;
  }
}

function ofActiveEditor(): vscode.DebugConfiguration | undefined {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.uri.scheme !== "file") {
    return undefined;
  }
  const common = { type: "actiondbg", request: "launch", name: "MLIR actions" };
  const file = document.uri.fsPath;
  if (file.endsWith(".adbrec")) {
    return { ...common, recording: file };
  }
  return file.endsWith(".mlir") ? { ...common, tool: "mlir-opt", args: [file, "--canonicalize"] } : undefined;
}

/** Starts `actiondbg dap` for each session; a session of a child process has a server that waits. */
export class Servers implements vscode.DebugAdapterDescriptorFactory {
  async createDebugAdapterDescriptor(
    session: vscode.DebugSession,
  ): Promise<vscode.DebugAdapterDescriptor | undefined> {
    const port: unknown = session.configuration.debugServer;
    if (typeof port === "number") {
      return new vscode.DebugAdapterServer(port, "127.0.0.1");
    }
    const program = await findExecutable(session.workspaceFolder);
    if (!program) {
      void offerInstallation();
      throw new Error("actiondbg is not installed.");
    }
    return new vscode.DebugAdapterExecutable(program, ["dap"], {
      cwd: session.workspaceFolder?.uri.fsPath,
    });
  }
}
