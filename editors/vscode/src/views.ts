// The views in the debug side bar: the pipeline, the timeline, breakpoints without a hit, and the
// answer to the last question.

import * as vscode from "vscode";
import { Answer, Place, ask } from "./protocol";

/** A line of a view. */
export interface Row {
  label: string;
  description?: string;
  tooltip?: string;
  icon?: string;
  ordinal?: number; // a click goes there
  place?: Place; // a click opens it
  rows?: Row[];
}

/** A view of rows, read from the session when it is visible. */
export class RowView implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  readonly view: vscode.TreeView<Row>;
  private rows: Row[] = [];

  constructor(
    id: string,
    private readonly read: (session: vscode.DebugSession) => Promise<Row[]>,
  ) {
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this });
    this.view.onDidChangeVisibility(() => this.refresh());
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }

  /** Read the rows anew, if they are seen. */
  refresh(): void {
    if (this.view.visible) {
      this.changed.fire();
    }
  }

  async getChildren(row?: Row): Promise<Row[]> {
    if (row) {
      return row.rows ?? [];
    }
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== "actiondbg") {
      return [];
    }
    try {
      this.rows = await this.read(session);
    } catch {
      // The tool runs, or shall run: the rows are read at the next stop.
    }
    return this.rows;
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const state = row.rows?.length
      ? vscode.TreeItemCollapsibleState.Expanded
      : vscode.TreeItemCollapsibleState.None;
    const item = new vscode.TreeItem(row.label, state);
    item.description = row.description;
    item.tooltip = row.tooltip;
    item.iconPath = row.icon ? new vscode.ThemeIcon(row.icon) : undefined;
    item.command = commandOf(row);
    return item;
  }
}

function commandOf(row: Row): vscode.Command | undefined {
  if (row.ordinal !== undefined) {
    return { command: "actiondbg.goto", title: "Go to the Action", arguments: [row.ordinal] };
  }
  if (row.place) {
    const at = new vscode.Position(row.place.line - 1, Math.max(row.place.column - 1, 0));
    const options: vscode.TextDocumentShowOptions = { selection: new vscode.Range(at, at) };
    return { command: "vscode.open", title: "Open", arguments: [vscode.Uri.file(row.place.path), options] };
  }
  return undefined;
}

/** The answer to the last question, a row a line: a click goes to its action or its place. */
export class AnswerView extends RowView {
  private answer: Row[] = [];

  constructor() {
    super("actiondbg.answer", async () => this.answer);
  }

  /** Show an answer. */
  show(question: string, answer: Answer): void {
    this.answer = answer.text
      .split("\n")
      .filter((each) => each.trim())
      .map((line) => ({
        label: line,
        tooltip: line,
        ordinal: ordinalIn(line),
        place: Object.entries(answer.places).find(([location]) => line.includes(location))?.[1],
      }));
    if (answer.places.report) {
      this.answer.push({ label: "The report", icon: "book", place: answer.places.report });
    }
    this.view.message = question;
    void vscode.commands.executeCommand("actiondbg.answer.focus").then(() => this.refresh());
  }
}

function ordinalIn(line: string): number | undefined {
  const found = /#(\d+)\b/.exec(line);
  return found && found[1] !== "0" ? Number(found[1]) : undefined;
}

/** A pass of `actiondbg/pipeline`. */
interface Pass {
  name: string;
  op: string;
  ordinals: number[];
  state: string;
  changes: number;
  seconds: number;
  failed: number;
  passes: Pass[];
}

const STATES: Record<string, string> = { running: "debug-stackframe", ahead: "circle-outline", failed: "error" };

/** The passes of the run, with costs; a click goes to the first run of a pass. */
export async function pipelineRows(session: vscode.DebugSession): Promise<Row[]> {
  const answer = await ask<Answer>(session, "pipeline");
  return (answer.result as { passes: Pass[] }).passes.map(passRow);
}

function passRow(pass: Pass): Row {
  const runs = pass.ordinals.length > 1 ? `${pass.ordinals.length} runs, ` : "";
  return {
    label: pass.name,
    description: `#${pass.ordinals[0]}  ${runs}${pass.changes} changes, ${milliseconds(pass.seconds)}`,
    tooltip: `on ${pass.op}, ${pass.state}`,
    icon: STATES[pass.failed ? "failed" : pass.state] ?? "pass",
    ordinal: pass.ordinals[0],
    rows: pass.passes.map(passRow),
  };
}

/** An action of `actiondbg/actions`. */
interface Action {
  ordinal: number;
  tag: string;
  name: string;
  depth: number;
  location: string | null;
  outcome: { result: string } | null;
  changes: number;
  seconds: number | null;
}

/** The actions around the stop that changed the IR; a click goes there. */
export async function timelineRows(session: vscode.DebugSession): Promise<Row[]> {
  const answer = await ask<Answer>(session, "actions", { changed: true });
  const { actions, here } = answer.result as { actions: Action[]; here: number | null };
  return actions.map((each) => ({
    label: `${"  ".repeat(each.depth)}#${each.ordinal} ${each.name}`,
    description: [
      each.outcome?.result ?? "running",
      `${each.changes} changes`,
      ...(each.seconds === null ? [] : [milliseconds(each.seconds)]),
    ].join(", "),
    tooltip: `${each.tag} ${each.name}${each.location ? ` at ${each.location}` : ""}`,
    icon: each.ordinal === here ? "debug-stackframe" : each.outcome?.result === "failed" ? "error" : "circle-outline",
    ordinal: each.ordinal,
  }));
}

/** The breakpoints without a hit, and why they cannot be hit where that is known. */
export async function neverHitRows(session: vscode.DebugSession): Promise<Row[]> {
  const answer = await ask<Answer>(session, "neverHit");
  const lines = answer.text.split("\n").filter((each) => each.trim());
  return lines.map((each) => ({ label: each, tooltip: each, icon: "debug-breakpoint-unverified" }));
}

function milliseconds(seconds: number): string {
  return `${(seconds * 1000).toFixed(3)} ms`;
}
