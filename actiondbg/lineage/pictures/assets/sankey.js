"use strict";
(() => {
  const { columns, nodes, links } = JSON.parse(document.getElementById("sankey-data").textContent);
  const place = document.getElementById("sankey");
  const drawn = place.querySelector("svg");
  const [margin, head, bar] = [16, 52, 14];
  const longest = Math.max(...nodes.map((one) => one.name.length));
  const label = Math.max(120, longest * 7 + 60);
  const width = Math.max(place.clientWidth, drawn.width.baseVal.value);
  const most = Math.max(...columns.map((_, at) => nodes.filter((one) => one.column === at).length));
  const height = Math.max(560, most * 26 + head);
  const shown = (value) =>
    value.toLocaleString("en", { maximumFractionDigits: Math.abs(value % 1) < 0.05 ? 0 : 1 });
  const graph = d3
    .sankey()
    .nodeAlign((node) => node.column)
    .nodeWidth(bar)
    .nodePadding(14)
    .extent([[margin, head], [width - label, height - margin]])({
      nodes: nodes.map((one) => ({ ...one })),
      links: links.map((one) => ({ ...one })),
    });

  const svg = drawn.cloneNode(false);
  svg.append(drawn.querySelector("style").cloneNode(true));
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const element = (name, attributes, parent = svg, text = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    parent.append(made);
    return made;
  };
  const step = columns.length > 1 ? (width - label - margin - bar) / (columns.length - 1) : 0;
  columns.forEach((name, at) =>
    element("text", { x: margin + at * step, y: head - 12, class: "quiet" }, svg, name));

  const way = ({ source, target, y0, y1 }) => {
    const middle = (source.x1 + target.x0) / 2;
    return `M${source.x1},${y0}C${middle},${y0} ${middle},${y1} ${target.x0},${y1}`;
  };
  for (const link of graph.links) {
    link.path = element("path", { class: "band", d: way(link) });
    link.path.style.stroke = link.source.color;
    link.path.style.strokeWidth = Math.max(link.width, 0.5);
    const words = `${link.source.name} to ${link.target.name}: ${shown(link.value)}`;
    element("title", {}, link.path, words);
  }
  // Everything that a kind comes from, or becomes.
  const ways = (node, found = new Set()) => {
    const walk = (one, ends, end) => {
      for (const link of one[ends]) {
        found.add(link);
        walk(link[end], ends, end);
      }
    };
    walk(node, "sourceLinks", "target");
    walk(node, "targetLinks", "source");
    return found;
  };
  const fade = (kept) => {
    for (const link of graph.links) link.path.classList.toggle("faded", kept && !kept.has(link));
  };
  for (const node of graph.nodes) {
    const group = element("g", { class: "node" });
    const tall = Math.max(node.y1 - node.y0, 1);
    const box = element("rect", { x: node.x0, y: node.y0, width: bar, height: tall, rx: 2 }, group);
    box.style.fill = node.color;
    const y = (node.y0 + node.y1) / 2 + 4;
    element("text", { x: node.x1 + 6, y }, group, `${node.name} ${shown(node.value)}`);
    group.addEventListener("pointerenter", () => fade(ways(node)));
    group.addEventListener("pointerleave", () => fade(null));
    let [from, moved] = [null, 0];
    group.addEventListener("pointerdown", (event) => {
      from = event.clientY;
      group.setPointerCapture(event.pointerId);
    });
    group.addEventListener("pointermove", (event) => {
      if (from === null) return;
      const by = event.clientY - from;
      from = event.clientY;
      moved += by;
      group.setAttribute("transform", `translate(0 ${moved})`);
      for (const link of node.sourceLinks) link.y0 += by;
      for (const link of node.targetLinks) link.y1 += by;
      for (const link of [...node.sourceLinks, ...node.targetLinks])
        link.path.setAttribute("d", way(link));
    });
    group.addEventListener("pointerup", () => (from = null));
  }
  drawn.replaceWith(svg);
  place.dataset.drawn = "yes";
})();
