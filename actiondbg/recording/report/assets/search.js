// Search over what the page holds; what it does not hold is said with every answer.

const MOST_FOUND = 25; // of each kind

/** What can be found: [title, count, text of one, node of one]; texts are made when first asked. */
const KINDS_OF_THINGS = [
  ["names", run.groups, (row) => `${run.names[run.groups.group[row]].join(" ")} ${run.groups.full[row]} ` +
    (run.groups.labels[row] || ""),
  (row) => [nameNode(run.groups.group[row]), ` ${plural(run.groups.calls[row], "call")}, `,
    `${number(run.groups.succeeded[row])} succeeded, ${number(run.groups.failed[row])} failed, `,
    `${run.timed ? `${time(run.groups.self[row])} self time, ` : ""}first `, ordinalNode(run.groups.first[row])]],
  ["operations", run.operations, (row) => text(run.operations.op[row]),
    (row) => placeWords(run.operations, row, text(run.operations.op[row]))],
  ["functions", run.functions, (row) => text(run.functions.function[row]),
    (row) => placeWords(run.functions, row, text(run.functions.function[row]))],
  ["lines", run.lines, (row) => place(run.lines.file[row], run.lines.line[row]),
    (row) => placeWords(run.lines, row, place(run.lines.file[row], run.lines.line[row]))],
  ["reasons of failure", run.reasons, (row) => text(run.reasons.reason[row]),
    (row) => [`${text(run.reasons.reason[row])}: ${number(run.reasons.count[row])}× by `,
      nameNode(run.reasons.group[row]), " first ", ordinalNode(run.reasons.first[row])]],
  ["actions", actions, (at) => [`#${actions.ordinal[at]}`, groupTag(actions.group[at]),
    groupName(actions.group[at]), operation(actions.operation[at], actions.op[at]), actionPlace(at),
    text(actions.function[at]), text(actions.reason[at]), OUTCOMES[actions.outcome[at]]].join(" "),
  actionLine],
];
let haystacks = null;

function placeWords(of, row, name) {
  return [`${name}: ${plural(of.calls[row], "action")}, ${number(of.changed[row])} changed the IR, first `,
    ordinalNode(of.first[row])];
}

function actionLine(at) {
  return [ordinalNode(actions.ordinal[at]), " ", nameNode(actions.group[at]), " ", outcomeNode(at),
    ` ${[operation(actions.operation[at], actions.op[at]), actionPlace(at), text(actions.function[at])]
      .filter(Boolean).join(", ")}`];
}

/** Find rows; of actions, those first that changed the IR. */
function matching(at, wanted) {
  haystacks ||= KINDS_OF_THINGS.map(([, of, textOf]) => rows(of).map((row) => textOf(row).toLowerCase()));
  const found = haystacks[at].flatMap((hay, row) => (wanted.every((word) => hay.includes(word)) ? [row] : []));
  return KINDS_OF_THINGS[at][1] === actions ? found.sort((a, b) => isChange(b) - isChange(a)) : found;
}

/** The actions of whose diff some line has all the words. */
function matchingDiffs(wanted) {
  const hits = new Set(run.diffs.lines.flatMap((line, at) => {
    const whole = line.filter((_, place) => place % 2).join("").toLowerCase();
    return wanted.every((word) => whole.includes(word)) ? [at] : [];
  }));
  return Object.entries(run.diffs.of).filter(([, one]) => one.rows.some((row) =>
    hits.has(row[1]) || hits.has(row[2]))).map(([ordinal]) => Number(ordinal));
}

function foundNode(title, found, node) {
  const rest = found.length - MOST_FOUND;
  return found.length ? [
    h("h3", null, `${title} (${number(found.length)})`),
    h("ul", { class: "found" }, found.slice(0, MOST_FOUND).map((one) => h("li", null, node(one))),
      rest > 0 ? h("li", { class: "quiet" }, `${number(rest)} more: add a word`) : ""),
  ] : [];
}

function notHeld(query) {
  const [, ordinal] = query.match(/^#?(\d+)$/) || [];
  if (ordinal && Number(ordinal) >= 1 && Number(ordinal) <= run.count && !placeOf.has(Number(ordinal)))
    return h("p", null, `Action #${ordinal} itself is not in the page. `, run.heldWords, " Ask the recording: ",
      h("code", null, `actiondbg query ${run.path} "SELECT * FROM actions WHERE ordinal = ${ordinal}"`));
  return h("p", { class: "quiet" }, run.searched);
}

function search(query) {
  const results = byId("results");
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  results.hidden = !wanted.length;
  if (!wanted.length) return results.replaceChildren();
  const exact = query.trim().match(/^#(\d+)$/);
  const found = exact
    ? foundNode("actions", placeOf.has(Number(exact[1])) ? [placeOf.get(Number(exact[1]))] : [], actionLine)
    : [...KINDS_OF_THINGS.flatMap(([title, , , node], at) => foundNode(title, matching(at, wanted), node)),
      ...foundNode("diffs", matchingDiffs(wanted), (ordinal) => actionLine(placeOf.get(ordinal)))];
  results.replaceChildren(h("h2", null, `Search for “${query.trim()}”`),
    ...(found.length ? found : [h("p", null, "Nothing in the page.")]), notHeld(query.trim()));
}

function startSearch() {
  const input = byId("search");
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(input.value), 120);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { clearTimeout(timer); search(input.value); byId("results").scrollIntoView(); }
    if (event.key === "Escape") { input.value = ""; search(""); }
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /INPUT/.test(event.target.tagName)) return;
    event.preventDefault();
    input.focus();
  });
}

function unescaped(hash) {
  try { return decodeURIComponent(hash); } catch { return hash; }
}

/** Follow links to actions and to searches. */
function follow() {
  const hash = unescaped(location.hash);
  const [, ordinal] = hash.match(/^#action-(\d+)$/) || [];
  if (ordinal && placeOf.has(Number(ordinal))) {
    select(placeOf.get(Number(ordinal)));
    byId("timeline").scrollIntoView();
  } else if (hash.startsWith("#find=")) {
    byId("search").value = hash.slice("#find=".length);
    search(byId("search").value);
    byId("results").scrollIntoView();
  }
}
