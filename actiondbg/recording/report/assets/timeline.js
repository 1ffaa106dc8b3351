// The timeline: a lane a level of nesting, under the density of all actions of the thread.

const LANE = 18, DENSITY = 30, AXIS = 20, SPACE = 10; // pixels
const canvas = byId("canvas");
const draws = canvas.getContext("2d");
const view = { from: 0, to: Math.max(run.end, 1), width: 0, height: 0 };
let selected = -1;
let colors = {};
let hatching = null;

// --- the layout --------------------------------------------------------------------------

const hides = Uint8Array.from(parentOf, (_, at) => {
  const here = (heldInside.get(at) || []).filter((one) => actions.thread[one] === actions.thread[at]);
  return actions.inside[at] > here.length;
});
const laneOf = new Int32Array(parentOf.length);
const threads = new Map(); // number -> {lanes: [[place]], density, top}

function threadOf(number) {
  if (!threads.has(number)) threads.set(number, { number, lanes: [], density: null, top: 0 });
  return threads.get(number);
}

function layOut() {
  for (const each of run.density.threads) threadOf(each.thread).density = each;
  parentOf.forEach((parent, at) => {
    const isNested = parent >= 0 && actions.thread[parent] === actions.thread[at];
    laneOf[at] = isNested ? laneOf[parent] + 1 : 0;
    const lanes = threadOf(actions.thread[at]).lanes;
    while (lanes.length <= laneOf[at] + hides[at]) lanes.push([]);
    lanes[laneOf[at]].push(at);
  });
  let top = AXIS;
  for (const thread of [...threads.values()].sort((a, b) => a.number - b.number)) {
    thread.top = top;
    top += DENSITY + thread.lanes.length * LANE + SPACE;
  }
  view.height = Math.min(Math.max(top, 60), 16000);
}

const laneTop = (at) => threads.get(actions.thread[at]).top + DENSITY + laneOf[at] * LANE;
const toX = (ns) => ((ns - view.from) / (view.to - view.from)) * view.width;
const toTime = (x) => view.from + (x / view.width) * (view.to - view.from);

/** The first of a lane that ends at a time or later: in a lane, what begins later ends later. */
function firstEndingAt(lane, ns) {
  let [low, high] = [0, lane.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endOf(lane[middle]) < ns) low = middle + 1;
    else high = middle;
  }
  return low;
}

// --- drawing ------------------------------------------------------------------------------

const COLORS = ["text", "quiet", "line", "soft", "ground", "accent", "on", "good", "bad",
  "pass", "iteration", "pattern", "fold", "conversion", "other"];

function readColors() {
  const style = getComputedStyle(document.documentElement);
  colors = Object.fromEntries(COLORS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  const tile = h("canvas", { width: 6, height: 6 });
  const strokes = tile.getContext("2d");
  strokes.strokeStyle = colors.line;
  for (const x of [-6, 0, 6]) {
    strokes.moveTo(x, 6);
    strokes.lineTo(x + 6, 0);
  }
  strokes.stroke();
  hatching = draws.createPattern(tile, "repeat");
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  view.width = Math.max(canvas.clientWidth, 50);
  canvas.width = Math.round(view.width * ratio);
  canvas.height = Math.round(view.height * ratio);
  canvas.style.height = `${view.height}px`;
  draws.setTransform(ratio, 0, 0, ratio, 0, 0);
  draws.clearRect(0, 0, view.width, view.height);
  draws.font = "12px system-ui, sans-serif";
  draws.textBaseline = "middle";
  drawAxis();
  for (const thread of threads.values()) {
    drawDensity(thread);
    thread.lanes.forEach((lane, at) => drawLane(lane, thread.top + DENSITY + at * LANE));
    drawTitle(thread);
  }
  drawSelected();
  byId("span").textContent =
    `${time(view.to - view.from)} of ${time(run.end)}, from ${time(view.from)}`;
}

function drawTitle(thread) {
  const title = `thread ${thread.number}`;
  draws.globalAlpha = 0.85;
  draws.fillStyle = colors.ground;
  draws.fillRect(1, thread.top, draws.measureText(title).width + 6, 15);
  draws.globalAlpha = 1;
  draws.fillStyle = colors.quiet;
  draws.fillText(title, 4, thread.top + 8);
}

/** Write a time with as many digits as it takes to tell it from the next one on the axis. */
function timeAt(at, step) {
  const [unit, size] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]].find(([, size]) => at >= size) || ["ns", 1];
  return `${(at / size).toFixed(Math.max(0, Math.ceil(Math.log10(size / step))))} ${unit}`;
}

function drawAxis() {
  const least = ((view.to - view.from) * 90) / view.width;
  let step = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  for (const factor of [2, 5, 10]) if (step < least) step = 10 ** Math.floor(Math.log10(least)) * factor;
  draws.globalAlpha = 1;
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    draws.fillStyle = colors.line;
    draws.fillRect(toX(at), 0, 1, view.height);
    draws.fillStyle = colors.quiet;
    if (run.timed) draws.fillText(timeAt(at, step), toX(at) + 3, 9);
  }
}

function drawDensity({ density, top }) {
  if (!density) return;
  const { width } = run.density;
  const first = Math.max(Math.floor(view.from / width), 0);
  const last = Math.min(Math.ceil(view.to / width), density.calls.length);
  const columns = new Map(); // pixel -> [all, changed]
  for (let at = first; at < last; at++) {
    const x = Math.floor(toX(at * width));
    const both = columns.get(x) || [0, 0, 1];
    both[0] += density.calls[at];
    both[1] += density.changed[at];
    both[2] = Math.max(Math.ceil(toX((at + 1) * width)) - x, 1);
    columns.set(x, both);
  }
  const most = Math.max(...[...columns.values()].map(([all]) => all), 1);
  const bar = DENSITY - 4;
  draws.globalAlpha = 1;
  for (const [x, [all, changed, wide]] of columns) {
    draws.fillStyle = colors.line;
    draws.fillRect(x, top + bar * (1 - all / most), wide, (bar * all) / most);
    draws.fillStyle = colors.good;
    draws.fillRect(x, top + bar * (1 - changed / most), wide, (bar * changed) / most);
  }
}

const isChange = (at) => actions.flags[at] & 1;

function drawLane(lane, top) {
  let drawn = -1; // the last pixel that is taken: what is shorter than that is drawn once
  for (let i = firstEndingAt(lane, view.from); i < lane.length; i++) {
    const at = lane[i];
    if (actions.start[at] > view.to) break;
    const left = Math.max(toX(actions.start[at]), 0);
    const right = Math.min(toX(endOf(at)), view.width);
    if (right < drawn + 0.5) continue;
    const wide = Math.max(right - left, 1);
    draws.globalAlpha = isChange(at) ? 1 : 0.45;
    draws.fillStyle = colors[kindOf(groupTag(actions.group[at]))];
    draws.fillRect(left, top, wide > 3 ? wide - 0.5 : wide, LANE - 2);
    if (hides[at]) drawHidden(left, top + LANE, wide);
    drawn = left + wide;
    if (wide > 34) drawName(at, left, top, wide);
  }
}

/** Say that there are more actions inside than the page holds; those that it holds are over it. */
function drawHidden(left, top, wide) {
  draws.globalAlpha = 1;
  draws.fillStyle = hatching;
  draws.fillRect(left, top, wide, LANE - 2);
}

function drawName(at, left, top, wide) {
  draws.save();
  draws.beginPath();
  draws.rect(left, top, wide - 3, LANE);
  draws.clip();
  draws.globalAlpha = 1;
  draws.fillStyle = colors.on;
  draws.fillText(groupName(actions.group[at]), left + 4, top + LANE / 2);
  draws.restore();
}

function drawSelected() {
  if (selected < 0) return;
  const left = toX(actions.start[selected]);
  draws.globalAlpha = 1;
  draws.strokeStyle = colors.accent;
  draws.lineWidth = 2;
  draws.strokeRect(left, laneTop(selected), Math.max(toX(endOf(selected)) - left, 2), LANE - 2);
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

// --- moving ---------------------------------------------------------------------------------

function show(from, to) {
  const length = Math.min(Math.max(to - from, 20), Math.max(run.end, 20));
  const middle = (from + to) / 2;
  view.from = Math.min(Math.max(middle - length / 2, 0), Math.max(run.end - length, 0));
  view.to = view.from + length;
  redraw();
}

function zoom(factor, x = view.width / 2) {
  const fixed = toTime(x);
  show(fixed - (fixed - view.from) / factor, fixed + (view.to - fixed) / factor);
}

const pan = (share) => {
  const by = (view.to - view.from) * share;
  show(view.from + by, view.to + by);
};
const whole = () => show(0, run.end);

function zoomTo(at) {
  const around = (endOf(at) - actions.start[at]) * 0.15;
  show(actions.start[at] - around, endOf(at) + around);
}

function isSeen(at) {
  const wide = toX(endOf(at)) - toX(actions.start[at]);
  return wide >= 3 && actions.start[at] >= view.from && endOf(at) <= view.to;
}

/** Select an action, and show the timeline around it. */
function select(at, { reveal = true } = {}) {
  if (at >= parentOf.length) return;
  selected = at;
  if (reveal && !isSeen(at)) zoomTo(at);
  showAction(at);
  redraw();
}

function beside(step) {
  if (selected < 0) return select(0);
  const lane = threads.get(actions.thread[selected]).lanes[laneOf[selected]];
  const next = lane[lane.indexOf(selected) + step];
  if (next !== undefined) select(next);
}

function nested() {
  const inside = selected < 0 ? [0] : heldInside.get(selected);
  if (inside) select(inside[0]);
}

const around = () => { if (selected >= 0 && parentOf[selected] >= 0) select(parentOf[selected]); };

// --- pointer and keys ---------------------------------------------------------------------------

function actionAt(x, y) {
  for (const thread of threads.values()) {
    const lane = thread.lanes[Math.floor((y - thread.top - DENSITY) / LANE)];
    if (y < thread.top + DENSITY || !lane) continue;
    const ns = toTime(x), near = toTime(x + 2) - ns;
    const at = lane[firstEndingAt(lane, ns - near)];
    return at !== undefined && actions.start[at] <= ns + near ? at : -1;
  }
  return -1;
}

function tip(event, at) {
  const shown = byId("tip");
  shown.hidden = at < 0;
  if (at < 0) return;
  shown.textContent = [
    `#${actions.ordinal[at]} ${groupTag(actions.group[at])} ${groupName(actions.group[at])}`,
    [operation(actions.operation[at], actions.op[at]), text(actions.function[at])]
      .filter(Boolean).join(" in "),
    actionPlace(at), [OUTCOMES[actions.outcome[at]], time(actions.duration[at])].filter(Boolean).join(", "),
  ].filter(Boolean).join("\n");
  shown.style.left = `${Math.min(event.pageX + 14, scrollX + innerWidth - shown.offsetWidth - 8)}px`;
  shown.style.top = `${event.pageY + 16}px`;
}

function listen() {
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.offsetX, from: view.from, to: view.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return tip(event, actionAt(event.offsetX, event.offsetY));
    const by = ((drag.x - event.offsetX) / view.width) * (drag.to - drag.from);
    drag.moved ||= Math.abs(drag.x - event.offsetX) > 3;
    if (drag.moved) show(drag.from + by, drag.to + by);
  });
  canvas.addEventListener("pointerup", (event) => {
    const at = drag && !drag.moved ? actionAt(event.offsetX, event.offsetY) : -1;
    drag = null;
    if (at >= 0) select(at, { reveal: false });
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
  canvas.addEventListener("dblclick", (event) => {
    const at = actionAt(event.offsetX, event.offsetY);
    if (at >= 0) zoomTo(at);
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / view.width);
    else zoom(1.0015 ** -event.deltaY, event.offsetX);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const does = KEYS[event.key];
    if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    does();
  });
  byId("zoom-in").addEventListener("click", () => zoom(2));
  byId("zoom-out").addEventListener("click", () => zoom(0.5));
  byId("zoom-whole").addEventListener("click", whole);
  new ResizeObserver(redraw).observe(canvas.parentElement);
}

const KEYS = {
  "+": () => zoom(1.6), "=": () => zoom(1.6), "-": () => zoom(1 / 1.6), 0: whole, Home: whole,
  ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15),
  ArrowUp: around, ArrowDown: nested, n: () => beside(1), p: () => beside(-1),
  Enter: () => { if (selected >= 0) zoomTo(selected); },
};

function startTimeline() {
  layOut();
  readColors();
  for (const kind of new Set(run.names.map(([tag]) => kindOf(tag))))
    byId("legend").append(h("span", null, h("span", { class: `dot ${kind}` }), kind));
  byId("legend").append(h("span", { class: "quiet" }, "pale: no change of the IR" +
    (hides.includes(1) ? "; hatched: shorter ones, not in the page" : "")));
  const recolor = () => { readColors(); redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
  addEventListener("beforeprint", () => { readColors(); draw(); });
  addEventListener("afterprint", recolor);
  listen();
  draw();
}
