// What all parts share: the run, times as text, and references to actions.

const run = JSON.parse(document.getElementById("data").textContent);
const OUTCOMES = run.outcomes;
const byId = (id) => document.getElementById(id);

/** Write a time in ns; of an import nothing, as its actions have an order only. */
function time(ns) {
  if (!run.timed) return "";
  if (ns < 0) return "unfinished";
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
    if (ns >= size) return `${ns < 1e3 * size ? (ns / size).toPrecision(3) : number(Math.round(ns / size))} ${unit}`;
  return `${Math.round(ns)} ns`;
}

const text = (at) => (at < 0 ? "" : run.texts[at]);
const rows = (columns) => Array.from(Object.values(columns)[0] || [], (_, at) => at);

function place(file, line, column) {
  const name = text(file);
  if (!name && !line) return "";
  return [name, ...(line ? [line] : []), ...(line && column ? [column] : [])].join(":");
}

const TAGS = {
  "pass-execution": "pass", "apply-pattern": "pattern", fold: "fold",
  GreedyPatternRewriteIteration: "iteration", "apply-conversion": "conversion",
};
const kindOf = (tag) => TAGS[tag] || "other";
const groupTag = (group) => run.names[group][0];
const groupName = (group) => run.names[group][1] || groupTag(group);

/** A name, with a link that searches for all that the page knows of it. */
function nameNode(group, title) {
  const [tag, name] = [groupTag(group), groupName(group)];
  const kind = kindOf(tag);
  return h("span", { class: "name" },
    h("span", { class: `dot ${kind}`, title: tag }),
    h("a", { href: `#find=${encodeURIComponent(name)}`, title: title || tag }, name));
}

// --- the actions that the page holds -------------------------------------------------

const actions = run.actions;
for (const name of ["ordinal", "start"]) {
  let sum = 0;
  actions[name] = Float64Array.from(actions[name], (step) => (sum += step));
}
const placeOf = new Map(Array.from(actions.ordinal, (ordinal, at) => [ordinal, at]));
const parentOf = actions.parent.map((distance, at) => (distance ? at - distance : -1));
const heldInside = new Map();
parentOf.forEach((parent, at) => {
  if (!heldInside.has(parent)) heldInside.set(parent, []);
  heldInside.get(parent).push(at);
});
/** The length of an action in ns; of an unfinished one up to the end of the run. */
const lengthOf = (at) => (actions.duration[at] < 0 ? run.end - actions.start[at] : actions.duration[at]);
// Begins include the time that it takes to record IR, and durations do not.
const ends = actions.start.map((start, at) => start + lengthOf(at));
for (let at = ends.length - 1; at >= 0; at--)
  if (parentOf[at] >= 0) ends[parentOf[at]] = Math.max(ends[parentOf[at]], ends[at]);
/** The end of an action in ns: not before that of an action in it. */
const endOf = (at) => ends[at];

const actionPlace = (at) => place(actions.file[at], actions.line[at], actions.col[at]);
const operation = (id, op) => `${id ? `@${id} ` : ""}${text(op)}`;

/** A reference to an action: a link if the page holds it. */
function ordinalNode(ordinal) {
  if (!ordinal) return "";
  return placeOf.has(ordinal)
    ? h("a", { href: `#action-${ordinal}` }, `#${ordinal}`)
    : h("span", { title: "This action itself is not in the page." }, `#${ordinal}`);
}

function outcomeNode(at) {
  const outcome = OUTCOMES[actions.outcome[at]];
  const words = actions.flags[at] & 2 ? `${outcome}, rolled back` : outcome;
  return h("span", { class: `outcome ${outcome}` }, words);
}
