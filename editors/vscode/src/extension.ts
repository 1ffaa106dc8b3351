// actiondbg in VS Code: the debug adapter is `actiondbg dap`; here are only the views of it.

import * as vscode from "vscode";
import { registerCommands } from "./commands";
import { Configurations, Servers } from "./configuration";
import { IRView, SCHEME, ValueNames } from "./irView";
import { AnswerView, RowView, neverHitRows, pipelineRows, timelineRows } from "./views";

const TYPE = "actiondbg";

export function activate(context: vscode.ExtensionContext): void {
  const ir = new IRView();
  const answers = new AnswerView();
  const views = [
    new RowView("actiondbg.pipeline", pipelineRows),
    new RowView("actiondbg.timeline", timelineRows),
    new RowView("actiondbg.neverHit", neverHitRows),
  ];
  const refresh = (): void => views.forEach((each) => each.refresh());
  const stopped = async (session: vscode.DebugSession): Promise<void> => {
    await ir.update(session);
    refresh();
  };
  const started = async (session: vscode.DebugSession): Promise<void> => {
    if (session.type === TYPE && vscode.workspace.getConfiguration(TYPE).get<boolean>("showIR", true)) {
      await ir.open(session);
      await ir.update(session);
    }
  };
  const names = new ValueNames();
  const texts = [{ scheme: SCHEME }, { language: "mlir" }];
  context.subscriptions.push(
    ir,
    answers,
    ...views,
    vscode.debug.registerDebugConfigurationProvider(TYPE, new Configurations()),
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, new Servers()),
    vscode.debug.registerDebugAdapterTrackerFactory(TYPE, {
      createDebugAdapterTracker: (session) => ({
        onDidSendMessage: (message: { type: string; event?: string }) => {
          if (message.type !== "event") {
            return;
          }
          if (message.event === "stopped") {
            void stopped(session);
          } else if (message.event === "actiondbg/cursorMoved") {
            void ir.update(session);
          }
        },
      }),
    }),
    vscode.debug.onDidStartDebugSession(started),
    vscode.debug.onDidTerminateDebugSession((session) => {
      if (session.type === TYPE) {
        ir.forget(session);
      }
    }),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, ir),
    vscode.languages.registerEvaluatableExpressionProvider(texts, names),
    vscode.languages.registerHoverProvider({ scheme: SCHEME }, names),
    ...registerCommands(ir, answers, refresh),
  );
}

export function deactivate(): void {}
