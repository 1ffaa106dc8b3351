// Where the program actiondbg is: that of the workspace's Python, since it runs where the tool runs.

import * as fs from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

const INSTALL = "Copy the Command";

/** Return the path of actiondbg for a folder; undefined if it is not installed. */
export async function findExecutable(folder?: vscode.WorkspaceFolder): Promise<string | undefined> {
  const given = vscode.workspace.getConfiguration("actiondbg", folder).get<string>("path");
  if (given) {
    return path.isAbsolute(given) || !given.includes("/") || !folder
      ? onPath(given)
      : path.join(folder.uri.fsPath, given);
  }
  const beside = (await pythonFolders(folder)).map((each) => path.join(each, "actiondbg"));
  return beside.find(isProgram) ?? onPath("actiondbg");
}

/** Say how to install actiondbg. */
export async function offerInstallation(): Promise<void> {
  const command = "python -m pip install actiondbg";
  const message =
    "actiondbg is not installed in the workspace's Python, and not on PATH: install it, or set actiondbg.path.";
  if ((await vscode.window.showErrorMessage(message, INSTALL)) === INSTALL) {
    await vscode.env.clipboard.writeText(command);
  }
}

/** The folders with the programs of the workspace's Python, the preferred one first. */
async function pythonFolders(folder?: vscode.WorkspaceFolder): Promise<string[]> {
  const found: string[] = [];
  const python = vscode.extensions.getExtension("ms-python.python");
  if (python) {
    const api = (await python.activate()) as PythonApi | undefined;
    const active = api?.environments?.getActiveEnvironmentPath(folder?.uri)?.path;
    if (active) {
      found.push(isFolder(active) ? path.join(active, "bin") : path.dirname(active));
    }
  }
  if (folder) {
    found.push(path.join(folder.uri.fsPath, ".venv", "bin"));
    found.push(path.join(folder.uri.fsPath, "venv", "bin"));
  }
  return found;
}

/** What the Python extension offers to others, as far as it is used here. */
interface PythonApi {
  environments?: { getActiveEnvironmentPath(resource?: vscode.Uri): { path: string } | undefined };
}

function onPath(name: string): string | undefined {
  if (path.isAbsolute(name)) {
    return isProgram(name) ? name : undefined;
  }
  return (process.env.PATH ?? "")
    .split(path.delimiter)
    .map((each) => path.join(each, name))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

function isFolder(file: string): boolean {
  return fs.existsSync(file) && fs.statSync(file).isDirectory();
}
