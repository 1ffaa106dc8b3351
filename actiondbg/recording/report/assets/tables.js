// The tables of the page.

const column = (title, value, more = {}) => ({ title, value, ...more });
const words = (title, value, more = {}) => column(title, value, { text: true, ...more });

/** The columns that tell where something happened. */
function placeColumns(columns) {
  return [
    words("operation", (row) => text(columns.op[row])),
    words("location", (row) => place(columns.file[row], columns.line[row], (columns.col || [])[row]),
      { class: "break" }),
    words("function", (row) => text(columns.function[row]), { class: "break" }),
  ];
}

const ordinals = (title, list, more) =>
  column(title, (row) => list[row], { show: (row) => ordinalNode(list[row]), ...more });
const timeColumn = (title, value, more = {}) =>
  column(title, value, { isHidden: !run.timed, show: (row) => time(value(row)), ...more });

// --- passes, patterns and folds ---------------------------------------------------------

function namesTable() {
  const of = run.groups;
  const all = rows(of);
  const isThere = (name) => of[name].some((count) => count);
  const hints = { unchanged: "succeeded without a change" };
  const columns = [
    words("name", (row) => groupName(of.group[row]), {
      class: "break", show: (row) => [nameNode(of.group[row], of.full[row]),
        of.labels[row] ? h("span", { class: "quiet" }, ` ${of.labels[row]}`) : ""] }),
    words("kind", (row) => kindOf(groupTag(of.group[row]))),
    column("calls", (row) => of.calls[row]),
    ...OUTCOMES.filter((name) => name === "succeeded" || name === "failed" || isThere(name)).map((name) =>
      column(name, (row) => of[name][row], { hint: hints[name], show: (row) => of[name][row] || "" })),
    column("changes", (row) => of.changes[row],
      { show: (row) => of.changes[row] || "", hint: "operations inserted, erased, replaced, modified and moved, without changes by nested actions" }),
    timeColumn("time", (row) => of.time[row]),
    timeColumn("self time", (row) => of.self[row],
      { bar: true, hint: "without nested actions" }),
    timeColumn("mean", (row) => of.time[row] / of.calls[row]),
    timeColumn("longest", (row) => of.longest[row]),
    ordinals("first", of.first),
    ...run.events.map((name, at) => column(name, (row) => of[`event${at}`][row] ?? 0)),
  ];
  const kinds = [...new Set(all.map((row) => kindOf(groupTag(of.group[row]))))];
  const target = byId("groups");
  choice(target, ["all", ...kinds], (at) => table.show(
    at ? all.filter((row) => kindOf(groupTag(of.group[row])) === kinds[at - 1]) : all));
  const table = sortable(target, all, columns, { sort: run.timed ? "self time" : "changes", shown: 30 });
}

// --- single actions -----------------------------------------------------------------------

function actionColumns() {
  return [
    words("name", (at) => groupName(actions.group[at]),
      { show: (at) => nameNode(actions.group[at]), class: "break" }),
    ...placeColumns(actions),
    words("outcome", (at) => OUTCOMES[actions.outcome[at]], { show: outcomeNode }),
  ];
}

const MOST_SLOWEST = 300; // by each of the two times

function slowestTable() {
  const all = rows(actions);
  const slowest = (value) => [...all].sort((a, b) => value(b) - value(a)).slice(0, MOST_SLOWEST);
  const both = new Set([...slowest(lengthOf), ...slowest((at) => actions.self[at])]);
  sortable(byId("slowest"), [...both], [
    ordinals("action", actions.ordinal),
    ...actionColumns(),
    column("time", lengthOf, { show: (at) => time(actions.duration[at]) }),
    timeColumn("self time", (at) => actions.self[at], { bar: true }),
    column("children", (at) => actions.inside[at] + actions.elsewhere[at], { hint: "actions nested directly in it" }),
  ], { sort: "self time", empty: "The recording holds no actions." });
}

function changingTable() {
  const all = rows(actions).filter((at) => hasDetails(actions.ordinal[at]));
  const hasDiff = (at) => Boolean(run.diffs.of[actions.ordinal[at]]);
  const target = byId("changing");
  const choices = all.some(hasDiff) ? ["all", "with a diff"] : [];
  if (choices.length) choice(target, choices, (at) => table.show(at ? all.filter(hasDiff) : all));
  const table = sortable(target, all, [
    column("action", (at) => actions.ordinal[at], { show: (at) => ordinalNode(actions.ordinal[at]) }),
    ...actionColumns(),
    column("changes", (at) => actions.changes[at], { hint: "without changes by nested actions" }),
    words("diff", (at) => (hasDiff(at) ? "yes" : "")),
  ], { sort: "action", ascending: true, empty: "No action changed the IR.",
    detail: (at) => () => detailsNode(actions.ordinal[at]) });
}

// --- what may not converge -------------------------------------------------------------------

const namedCounts = (list) => list.flatMap(([group, times]) => [nameNode(group), ` ${number(times)}× `]);

function suspectsTables() {
  const target = byId("suspects");
  const { drivers, repeated, chains, pairs } = run.suspects;
  if (![drivers, repeated, chains, pairs].some((each) => rows(each).length)) {
    target.append(h("p", null, "Nothing: every greedy driver converged within three iterations, no " +
      "pattern succeeded three times on one operation, and none undid another."));
    return;
  }
  target.append(h("p", { class: "quiet" }, "These are hints, not proofs: large inputs have some of them, too."));
  if (rows(drivers).length) driversTable(target, drivers);
  if (rows(repeated).length) repeatedTable(target, repeated);
  if (rows(chains).length) chainsTable(target, chains);
  if (rows(pairs).length) pairsTable(target, pairs);
}

const STATES = ["changed nothing", "still changed the IR", "unfinished"];
const arrows = (groups) => groups.map(groupName).join(" → ");

function driversTable(target, of) {
  sortable(target, rows(of), [
    words("driver", (row) => groupName(of.group[row]), { show: (row) =>
      [ordinalNode(of.parent[row]), " ", nameNode(of.group[row])] }),
    column("iterations", (row) => of.iterations[row]),
    words("last one", (row) => STATES[of.state[row]],
      { show: (row) => h("span", { class: of.state[row] ? "outcome failed" : "" }, STATES[of.state[row]]) }),
    timeColumn("time", (row) => of.time[row]),
    ...placeColumns(of),
    words("at last", (row) => of.times[row], { class: "break", show: (row) => of.times[row]
      ? [`${plural(of.times[row], "round")} of `, arrows(of.round[row])] : namedCounts(of.doing[row]) }),
  ], { sort: "iterations", shown: 10,
    caption: "Greedy drivers with many iterations, or that stopped before they converged" });
}

function repeatedTable(target, of) {
  sortable(target, rows(of), [
    words("name", (row) => groupName(of.group[row]), { show: (row) => nameNode(of.group[row]) }),
    column("times", (row) => of.times[row]),
    words("on", (row) => operation(of.operation[row], of.op[row])),
    ...placeColumns(of).slice(1),
    ordinals("first", of.first), ordinals("last", of.last),
  ], { sort: "times", shown: 10, caption: "Repeated successes on the same operation" });
}

function chainsTable(target, of) {
  sortable(target, rows(of), [
    column("rewrites", (row) => of.length[row]),
    words("names", (row) => of.counts[row].length, { class: "break",
      show: (row) => namedCounts(of.counts[row]) }),
    words("its end", (row) => of.end[row].length, { class: "break",
      show: (row) => arrows(of.end[row]) }),
    ...placeColumns(of),
    ordinals("first", of.first), ordinals("last", of.last),
  ], { sort: "rewrites", shown: 10,
    caption: "Chains of rewrites, each of the result of the one before, with repeated names" });
}

function pairsTable(target, of) {
  sortable(target, rows(of), [
    words("one", (row) => groupName(of.one[row]), { show: (row) => nameNode(of.one[row]) }),
    words("the other", (row) => groupName(of.other[row]), { show: (row) => nameNode(of.other[row]) }),
    column("created by the first, erased by the second", (row) => of.made[row],
      { show: (row) => `${number(of.made[row])} (${text(of.op[row])})` }),
    column("vice versa", (row) => of.unmade[row],
      { show: (row) => `${number(of.unmade[row])} (${text(of.back[row])})` }),
    ordinals("first", of.first),
  ], { sort: "vice versa", shown: 10,
    caption: "Pairs that erased each other's operations, in the same driver" });
}

// --- failures and places ---------------------------------------------------------------------

function reasonsTable() {
  const of = run.reasons;
  sortable(byId("reasons"), rows(of), [
    words("reason", (row) => text(of.reason[row]), { class: "break" }),
    words("name", (row) => groupName(of.group[row]),
      { show: (row) => nameNode(of.group[row]), class: "break" }),
    column("times", (row) => of.count[row], { bar: true }),
    ordinals("first", of.first),
  ], { sort: "times", empty: "No failed action gave a reason." });
}

function placesTables() {
  const target = byId("places");
  const kinds = [
    ["functions", run.functions, words("function", (row) => text(run.functions.function[row]), { class: "break" })],
    ["lines", run.lines, words("line", (row) => place(run.lines.file[row], run.lines.line[row]), { class: "break" })],
    ["operations", run.operations, words("operation", (row) => text(run.operations.op[row]), { class: "break" })],
  ];
  const shown = h("div");
  const fill = (at) => {
    const [, of, first] = kinds[at];
    shown.replaceChildren();
    sortable(shown, rows(of), [first,
      column("actions", (row) => of.calls[row], { bar: true }),
      column("changed the IR", (row) => of.changed[row]),
      timeColumn("self time", (row) => of.self[row]), ordinals("first", of.first),
    ], { sort: "changed the IR", shown: 15 });
  };
  choice(target, kinds.map(([title]) => title), fill);
  target.append(shown);
  fill(0);
}
