// The IR at the stop, in an editor beside the source: it follows the cursor, and marks what the
// last action changed.

import { randomUUID } from "node:crypto";
import * as path from "node:path";
import * as vscode from "vscode";
import { Diff, IRDocument, ask } from "./protocol";

export const SCHEME = "actiondbg-ir";

const INSERTED = vscode.window.createTextEditorDecorationType({
  isWholeLine: true,
  backgroundColor: new vscode.ThemeColor("diffEditor.insertedLineBackground"),
  overviewRulerColor: new vscode.ThemeColor("diffEditorOverview.insertedForeground"),
});
const MODIFIED = vscode.window.createTextEditorDecorationType({
  isWholeLine: true,
  backgroundColor: new vscode.ThemeColor("merge.currentContentBackground"),
  overviewRulerColor: new vscode.ThemeColor("editorGutter.modifiedBackground"),
});
const ERASED = vscode.window.createTextEditorDecorationType({
  isWholeLine: true,
  borderWidth: "2px 0 0 0",
  borderStyle: "solid",
  borderColor: new vscode.ThemeColor("editorGutter.deletedBackground"),
  overviewRulerColor: new vscode.ThemeColor("diffEditorOverview.removedForeground"),
});
const CURSOR = vscode.window.createTextEditorDecorationType({
  isWholeLine: true,
  backgroundColor: new vscode.ThemeColor("editor.stackFrameHighlightBackground"),
});

// There is more IR behind the line: irLines in the configuration shows more of it.
const CUT = vscode.window.createTextEditorDecorationType({
  after: {
    contentText: "  ... more (irLines)",
    color: new vscode.ThemeColor("editorCodeLens.foreground"),
  },
});

/** The documents of the sessions: one for the IR of each, and two for each diff. */
export class IRView implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly shown = new Map<string, IRDocument>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  constructor() {
    vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((each) => this.mark(each)));
    vscode.workspace.onDidChangeTextDocument((event) => {
      vscode.window.visibleTextEditors
        .filter((each) => each.document === event.document)
        .forEach((each) => this.mark(each));
    });
  }

  dispose(): void {
    this.changed.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** Open the document of a session, beside what is open, unless it is seen. */
  async open(session: vscode.DebugSession): Promise<void> {
    const uri = documentOf(session);
    if (!vscode.window.visibleTextEditors.some((each) => isOf(each.document, uri))) {
      await vscode.window.showTextDocument(await load(uri), {
        viewColumn: vscode.ViewColumn.Beside,
        preserveFocus: true,
        preview: false,
      });
    }
  }

  /** Read the IR of the stop. */
  async update(session: vscode.DebugSession): Promise<void> {
    const uri = documentOf(session);
    if (!vscode.workspace.textDocuments.some((each) => isOf(each, uri))) {
      return; // nobody looks at it
    }
    const found = await ask<IRDocument>(session, "ir").catch(() => undefined);
    if (found) {
      this.shown.set(uri.toString(), found);
      this.put(uri, found.text);
      vscode.window.visibleTextEditors.forEach((each) => this.mark(each));
    } // else it is such as the end of the run: the last IR stays
  }

  /** Open the IR before and after an action in a diff editor. */
  async showDiff(session: vscode.DebugSession, ordinal?: number): Promise<void> {
    const found = await ask<Diff>(session, "diff", ordinal === undefined ? {} : { ordinal });
    const side = (when: string): vscode.Uri =>
      vscode.Uri.from({ scheme: SCHEME, path: `${folderOf(session)}${found.ordinal}/${when}.mlir` });
    const [before, after] = [side("before"), side("after")];
    this.put(before, found.before);
    this.put(after, found.after);
    await Promise.all([load(before), load(after)]);
    await vscode.commands.executeCommand("vscode.diff", before, after, found.title);
  }

  /** The operation at a line of the IR at a stop, from 0. */
  operationAt(uri: vscode.Uri, line: number): number | undefined {
    return this.shown.get(uri.toString())?.operations[line] ?? undefined;
  }

  /** Forget the documents of a session. */
  forget(session: vscode.DebugSession): void {
    const folder = folderOf(session);
    for (const each of [...this.texts.keys()].filter((uri) => vscode.Uri.parse(uri).path.startsWith(folder))) {
      this.texts.delete(each);
      this.shown.delete(each);
    }
  }

  private put(uri: vscode.Uri, text: string): void {
    this.texts.set(uri.toString(), text);
    this.changed.fire(uri);
  }

  private mark(editor: vscode.TextEditor): void {
    const uri = editor.document.uri.toString();
    const found = this.shown.get(uri);
    if (!found || editor.document.getText() !== this.texts.get(uri)) {
      return; // another document, or the new text is on its way
    }
    const lines = (first: number, last: number): vscode.Range =>
      new vscode.Range(first - 1, 0, last - 1, 0);
    const marks = (kind: string): vscode.DecorationOptions[] =>
      found.marks
        .filter((each) => each.kind === kind)
        .map((each) => ({
          range: lines(each.line, each.endLine),
          hoverMessage: each.text ? new vscode.MarkdownString().appendCodeblock(each.text, "mlir") : undefined,
        }));
    editor.setDecorations(INSERTED, marks("inserted"));
    editor.setDecorations(MODIFIED, marks("modified"));
    editor.setDecorations(ERASED, marks("erased"));
    const cursor = lines(found.cursorLine, found.cursorLine);
    editor.setDecorations(CURSOR, [cursor]);
    const last = editor.document.lineCount - 2;
    const cuts = [...(found.moreBefore ? [0] : []), ...(found.moreAfter ? [last] : [])];
    editor.setDecorations(CUT, cuts.map((line) => editor.document.lineAt(line).range));
    editor.revealRange(cursor, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
}

/** Names of values are more than words of MLIR's text: hovers and watches take all of them. */
export class ValueNames implements vscode.EvaluatableExpressionProvider, vscode.HoverProvider {
  provideEvaluatableExpression(
    text: vscode.TextDocument,
    position: vscode.Position,
  ): vscode.EvaluatableExpression | undefined {
    const range = nameAt(text, position);
    return range && new vscode.EvaluatableExpression(range);
  }

  /** Show the operation of a name in the IR: the editor asks the debugger in the file of the frame only. */
  async provideHover(text: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    const range = nameAt(text, position);
    const session = vscode.debug.activeDebugSession;
    if (!range || session?.configuration.irDocument !== text.uri.toString(true)) {
      return undefined;
    }
    try {
      const found = await session.customRequest("evaluate", { expression: text.getText(range), context: "hover" });
      return new vscode.Hover(new vscode.MarkdownString().appendCodeblock(String(found.result), "mlir"), range);
    } catch {
      return undefined; // such as a name of the stop before
    }
  }
}

function nameAt(text: vscode.TextDocument, position: vscode.Position): vscode.Range | undefined {
  return text.getWordRangeAtPosition(position, /%[\w$.-]+(#\d+)?/);
}

/** Return the address of the IR of a new session. */
export function newDocument(): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: `/${randomUUID()}/IR.mlir` });
}

function documentOf(session: vscode.DebugSession): vscode.Uri {
  return vscode.Uri.parse(String(session.configuration.irDocument));
}

function folderOf(session: vscode.DebugSession): string {
  return path.posix.dirname(documentOf(session).path) + "/";
}

function isOf(text: vscode.TextDocument, uri: vscode.Uri): boolean {
  return text.uri.toString() === uri.toString();
}

async function load(uri: vscode.Uri): Promise<vscode.TextDocument> {
  return vscode.languages.setTextDocumentLanguage(await vscode.workspace.openTextDocument(uri), "mlir");
}
