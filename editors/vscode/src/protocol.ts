// The requests of `actiondbg dap` beyond the Debug Adapter Protocol, as docs/dap.md has them.

import * as vscode from "vscode";

/** A change of the last action; an erased text was before its line, and is not in the document. */
export interface Mark {
  kind: "inserted" | "modified" | "erased";
  line: number;
  endLine: number;
  operation?: number;
  text?: string;
}

/** The IR around the cursor at a stop. */
export interface IRDocument {
  name: string;
  sourceReference: number;
  text: string;
  operations: (number | null)[];
  cursorLine: number;
  moreBefore: boolean;
  moreAfter: boolean;
  function?: string;
  marks: Mark[];
}

/** The IR before and after an action. */
export interface Diff {
  title: string;
  before: string;
  after: string;
  ordinal: number;
}

/** A place in a file, in lines and columns of the client. */
export interface Place {
  path: string;
  line: number;
  column: number;
}

/** The answer to a question: as the shell prints it, with the keys of --json, and its places. */
export interface Answer {
  text: string;
  result: unknown;
  places: Record<string, Place>;
}

/** The stopped session of actiondbg; an error tells what is missing. */
export function activeSession(): vscode.DebugSession {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== "actiondbg") {
    throw new Error("No tool is debugged: start a session of actiondbg.");
  }
  return session;
}

/** Send a request of actiondbg. */
export async function ask<Result>(
  session: vscode.DebugSession,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Result> {
  return (await session.customRequest(`actiondbg/${name}`, args)) as Result;
}
