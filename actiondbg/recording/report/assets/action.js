// One action: its facts, its changes, and its diff.

const KINDS = { inserted: "+", erased: "-", replaced: "→", modified: "~", moved: "↷" };
let sideBySide = matchMedia("(min-width: 70rem)").matches;

function changesNode(ordinal) {
  const listed = run.changes.of[ordinal];
  if (!listed) return null;
  const at = Object.fromEntries(run.changes.columns.map((name, place) => [name, place]));
  const items = listed.map((change) => {
    const kind = text(change[at.kind]);
    const by = change[at.by] ? ` by ${operation(change[at.by], change[at.by_op])}` : "";
    const where = place(change[at.file], change[at.line], change[at.col]);
    return h("li", { class: kind },
      h("span", { class: "sign", "aria-hidden": "true" }, KINDS[kind] || "·"),
      `${change[at.block] ? "block of " : ""}${kind} `,
      h("code", null, operation(change[at.operation], change[at.op]) + by),
      where ? h("span", { class: "quiet" }, ` at ${where}`) : "",
      change[at.guess] ? h("span", { class: "quiet" }, " (a guess)") : "");
  });
  const rest = run.changes.left_out[ordinal];
  if (rest) items.push(h("li", { class: "quiet" }, `${plural(rest, "more change")} not in the page`));
  return h("ul", { class: "changes" }, items);
}

// --- diffs ----------------------------------------------------------------------------

function lineNodes(at) {
  const line = run.diffs.lines[at];
  const nodes = [];
  for (let i = 0; i < line.length; i += 2) {
    const marked = line[i].endsWith("!");
    const name = marked ? line[i].slice(0, -1) : line[i];
    const piece = name ? h("span", { class: name }, line[i + 1]) : line[i + 1];
    nodes.push(marked ? h("mark", null, piece) : piece);
  }
  return nodes;
}

const gap = () => h("tr", { class: "gap" }, h("td", { colspan: 2 }, "..."));

function sideTable(shown) {
  const cell = (at, kind, name) =>
    at < 0 ? h("td", { class: "none" }) : h("td", { class: kind === " " ? "" : name }, lineNodes(at));
  return h("table", { class: "diff side hl" },
    h("tr", null, h("th", null, "before"), h("th", null, "after")),
    shown.map((row) => row.length
      ? h("tr", null, cell(row[1], row[0], "old"), cell(row[2], row[0], "new")) : gap()));
}

/** Of a run of changed lines, first all that goes, then all that comes. */
function unifiedTable(shown) {
  const made = [];
  let coming = [];
  const line = (sign, name, at) => h("tr", null,
    h("td", { class: "sign" }, sign), h("td", { class: name }, lineNodes(at)));
  const flush = () => { made.push(...coming); coming = []; };
  for (const row of shown) {
    if (!row.length || row[0] === " ") flush();
    if (!row.length) made.push(gap());
    else if (row[0] === " ") made.push(line("", "", row[1]));
    else {
      if (row[1] >= 0) made.push(line("-", "old", row[1]));
      if (row[2] >= 0) coming.push(line("+", "new", row[2]));
    }
  }
  flush();
  return h("table", { class: "diff hl" }, made);
}

function diffNode(one) {
  if (!one.rows.length) return h("p", { class: "quiet" }, "It made no difference to the printed IR.");
  const shown = h("div");
  const toggle = h("button", { type: "button", onclick: () => { sideBySide = !sideBySide; draw(); } });
  function draw() {
    toggle.textContent = sideBySide ? "Unified" : "Side by side";
    shown.replaceChildren(sideBySide ? sideTable(one.rows) : unifiedTable(one.rows));
  }
  draw();
  const rest = one.left_out ? h("p", { class: "quiet" },
    `${plural(one.left_out, "more row")} of this diff not in the page.`) : "";
  return h("div", { class: "difference" }, toggle, shown, rest);
}

function diffNodes(ordinal) {
  const one = run.diffs.of[ordinal];
  if (run.diffs.skipped.includes(ordinal))
    return h("p", { class: "quiet" }, "Its IR is too long for a diff in the page.");
  return one ? diffNode(one) : "";
}

const hasDetails = (ordinal) => Boolean(run.diffs.of[ordinal] || run.changes.of[ordinal]);

function detailsNode(ordinal) {
  return h("div", null, diffNodes(ordinal), changesNode(ordinal));
}

// --- the selected action ----------------------------------------------------------------

function factsNode(at) {
  const facts = [
    ["operation", operation(actions.operation[at], actions.op[at])],
    ["at", actionPlace(at)], ["in", text(actions.function[at])],
    ["began", run.timed && `${time(actions.start[at])} after the first action, in thread ${actions.thread[at]}`],
    ["took", run.timed && `${time(actions.duration[at])}, ${time(actions.self[at])} without nested actions`],
    ["fold", text(actions.fold[at])], ["reason", text(actions.reason[at])],
    ["changes", actions.changes[at] ? number(actions.changes[at]) : ""],
  ];
  return h("dl", null, facts.filter(([, value]) => value).map(([name, value]) =>
    [h("dt", null, name), h("dd", null, value)]));
}

function insideNode(at) {
  const held = heldInside.get(at) || [];
  const all = actions.inside[at] + actions.elsewhere[at];
  if (!all) return "";
  const longest = [...held].sort((a, b) => lengthOf(b) - lengthOf(a));
  const words = held.length === all ? plural(all, "action") :
    `${plural(all, "action")}, ${number(held.length)} of them in the page`;
  return h("p", null, `Children: ${words}. `, longest.length && run.timed ? "The longest: " : "",
    longest.slice(0, 8).map((one, nth) => [nth ? ", " : "", ordinalNode(actions.ordinal[one]),
      ` ${groupName(actions.group[one])}${run.timed ? ` (${time(actions.duration[one])})` : ""}`]));
}

function showAction(at) {
  const around = [];
  for (let one = parentOf[at]; one >= 0; one = parentOf[one]) around.unshift(one);
  const ordinal = actions.ordinal[at];
  byId("said").textContent = `#${ordinal} ${groupTag(actions.group[at])} ${groupName(actions.group[at])}, ` +
    OUTCOMES[actions.outcome[at]];
  byId("action").replaceChildren(
    h("p", { class: "quiet path" }, around.flatMap((one) =>
      [ordinalNode(actions.ordinal[one]), ` ${groupName(actions.group[one])} › `])),
    h("h3", { id: `action-${ordinal}` }, `#${ordinal} ${groupTag(actions.group[at])} `,
      nameNode(actions.group[at]), " ", outcomeNode(at)),
    factsNode(at), insideNode(at), detailsNode(ordinal));
}
