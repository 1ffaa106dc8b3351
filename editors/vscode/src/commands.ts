// The commands of the palette, the toolbar and the menus.

import { execFile } from "node:child_process";
import * as path from "node:path";
import * as vscode from "vscode";
import { findExecutable } from "./executable";
import { IRView, SCHEME } from "./irView";
import { Answer, activeSession, ask } from "./protocol";
import { AnswerView } from "./views";

type Run = (...args: unknown[]) => Promise<void>;

/** Register all commands. */
export function registerCommands(view: IRView, answers: AnswerView, refresh: () => void): vscode.Disposable[] {
  const commands = new Map<string, Run>([
    ["reverseNext", () => resume("reverseNext")],
    ["reverseFinish", () => resume("reverseFinish")],
    ["nextChange", () => resume("nextChange")],
    ["skip", () => resume("skip", { step: true })],
    ["goto", goTo],
    ["diff", (ordinal) => view.showDiff(activeSession(), typeof ordinal === "number" ? ordinal : undefined)],
    ["showIR", () => showIR(view)],
    ["whyNot", () => whyNot(view, answers)],
    ["history", () => history(view, answers)],
    ["explain", () => explain(answers)],
    ["bisect", () => bisect(answers)],
    ["lint", () => lint(problems)],
    ["refresh", async () => refresh()],
  ]);
  const problems = vscode.languages.createDiagnosticCollection("actiondbg");
  const registered = [...commands].map(([name, run]) =>
    vscode.commands.registerCommand(`actiondbg.${name}`, (...args: unknown[]) => run(...args).catch(report)),
  );
  return [...registered, problems];
}

/** Show an error: a message of the server is one sentence, which says what to do. */
function report(error: unknown): void {
  const { message } = (error ?? {}) as { message?: unknown };
  void vscode.window.showErrorMessage(typeof message === "string" ? message : String(error));
}

async function showIR(view: IRView): Promise<void> {
  const session = activeSession();
  await view.open(session);
  await view.update(session);
}

async function resume(name: string, args: Record<string, unknown> = {}): Promise<void> {
  await ask(activeSession(), name, args);
}

async function goTo(given: unknown): Promise<void> {
  const place =
    typeof given === "number"
      ? `#${given}`
      : await vscode.window.showInputBox({
          prompt: "The action: its ordinal, or a run of a pass",
          placeHolder: "#120, or canonicalize#2",
        });
  if (place) {
    await resume("goto", { place: /^\d+$/.test(place) ? `#${place}` : place });
  }
}

async function whyNot(view: IRView, answers: AnswerView): Promise<void> {
  const place = placeOfCursor(view);
  const pattern = await vscode.window.showInputBox({
    prompt: `The pattern that was tried at ${place}`,
    placeHolder: "AddIAddConstant, or a glob such as *Fold*",
  });
  if (pattern) {
    answers.show(`why-not ${pattern}`, await ask<Answer>(activeSession(), "whyNot", { pattern, place }));
  }
}

async function history(view: IRView, answers: AnswerView): Promise<void> {
  const operation = placeOfCursor(view);
  answers.show(`history ${operation}`, await ask<Answer>(activeSession(), "history", { operation }));
}

async function explain(answers: AnswerView): Promise<void> {
  answers.show("explain", await ask<Answer>(activeSession(), "explain"));
}

async function bisect(answers: AnswerView): Promise<void> {
  const ways = [
    { label: "The tool crashes or fails", options: ["--crash"] },
    { label: "A command judges the output...", options: ["--test"] },
    { label: "FileCheck judges the output...", options: ["--filecheck"] },
  ];
  const way = await vscode.window.showQuickPick(ways, { placeHolder: "What tells good from bad" });
  if (!way) {
    return;
  }
  const options = [...way.options];
  if (options[0] !== "--crash") {
    const value = await vscode.window.showInputBox({
      prompt: options[0] === "--test" ? "A command that fails for bad output; {} is its file" : "The file with the checks",
    });
    if (!value) {
      return;
    }
    options.push(value);
  }
  answers.show("bisect", await ask<Answer>(activeSession(), "bisect", { options }));
}

/** The operation at the cursor of the IR; that of the debugger elsewhere. */
function placeOfCursor(view: IRView): string {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== SCHEME) {
    return "cursor";
  }
  const found = view.operationAt(editor.document.uri, editor.selection.active.line);
  return found === undefined ? "cursor" : `@${found}`;
}

/** A finding of `actiondbg lint --format json`, as far as it is shown. */
interface Finding {
  rule: string;
  subject: string;
  detail: string;
  meaning: string;
  advice: string;
  place: { file: string | null; line: number | null; cwd: string };
}

async function lint(problems: vscode.DiagnosticCollection): Promise<void> {
  const session = activeSession();
  const { tool, args, recording, cwd } = session.configuration as Record<string, unknown>;
  const program = await findExecutable(session.workspaceFolder);
  if (!program) {
    throw new Error("actiondbg is not installed.");
  }
  const folder = typeof cwd === "string" ? cwd : session.workspaceFolder?.uri.fsPath;
  const run = recording ? [String(recording)] : ["--", String(tool), ...((args ?? []) as string[])];
  const text = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: "actiondbg lint", cancellable: true },
    (_, token) => output(program, ["lint", "--format", "json", ...run], folder, token),
  );
  const { findings } = JSON.parse(text) as { findings: Finding[] };
  problems.clear();
  const byFile = new Map<string, vscode.Diagnostic[]>();
  for (const each of findings) {
    const file = each.place.file ? path.resolve(each.place.cwd, each.place.file) : folder;
    if (file) {
      byFile.set(file, [...(byFile.get(file) ?? []), problemOf(each)]);
    }
  }
  byFile.forEach((each, file) => problems.set(vscode.Uri.file(file), each));
  const count = findings.length === 1 ? "1 finding" : `${findings.length} findings`;
  void vscode.window.showInformationMessage(`actiondbg lint: ${count}.`);
}

function problemOf(finding: Finding): vscode.Diagnostic {
  const at = new vscode.Position(Math.max((finding.place.line ?? 1) - 1, 0), 0);
  const detail = finding.detail ? ` (${finding.detail})` : "";
  const message = `${finding.subject}: ${finding.meaning}${detail}. ${finding.advice}`;
  const made = new vscode.Diagnostic(new vscode.Range(at, at), message, vscode.DiagnosticSeverity.Warning);
  made.source = "actiondbg lint";
  made.code = finding.rule;
  return made;
}

function output(
  program: string,
  args: string[],
  cwd: string | undefined,
  token: vscode.CancellationToken,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { cwd, maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      // Findings give the exit status 1, as do errors, which print nothing.
      if (error && !(error.code === 1 && stdout)) {
        reject(new Error(stderr.trim() || error.message));
      } else {
        resolve(stdout);
      }
    });
    token.onCancellationRequested(() => child.kill("SIGINT"));
  });
}
