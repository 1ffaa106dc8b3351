"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { source, target, units, cells, words } = data;
  const SIZE = 50; // rows of a page of a table
  const number = (value) => value.toLocaleString("en");

  const element = (name, text = "", kind = "") => {
    const made = document.createElement(name);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  // A table of `count` rows, of which some match the filter and one page is shown.
  const showTable = (id, title, heads, count, textOf, fill) => {
    const place = document.getElementById(id);
    const [filter, shown] = [element("input"), element("span", "", "quiet")];
    const [before, after] = [element("button", "previous"), element("button", "next")];
    const [table, body, top] = [element("table"), element("tbody"), element("tr")];
    filter.type = "search";
    filter.placeholder = "filter";
    filter.setAttribute("aria-label", `filter: ${title}`);
    for (const head of heads) top.append(element("th", head));
    const section = element("thead");
    section.append(top);
    table.append(section, body);
    const controls = element("div", "", "controls");
    controls.append(filter, before, after, shown);
    place.append(element("h2", title), controls, table);
    let [rows, first] = [[], 0];
    const draw = () => {
      const page = rows.slice(first, first + SIZE);
      body.replaceChildren(...page.map((row) => {
        const line = element("tr");
        for (const cell of fill(row)) {
          if (typeof cell === "string") line.append(element("td", cell));
          else if (typeof cell === "number") line.append(element("td", number(cell), "n"));
          else {
            const box = element("td", "", "units");
            box.append(cell);
            line.append(box);
          }
        }
        return line;
      }));
      const last = first + page.length;
      shown.textContent = rows.length
        ? `${number(first + 1)} to ${number(last)} of ${number(rows.length)}`
        : "none";
      before.disabled = first === 0;
      after.disabled = last === rows.length;
    };
    const search = () => {
      const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows = [];
      for (let row = 0; row < count; row++) {
        if (wanted.length) {
          const text = textOf(row).toLowerCase();
          if (!wanted.every((word) => text.includes(word))) continue;
        }
        rows.push(row);
      }
      first = 0;
      draw();
    };
    filter.addEventListener("input", search);
    before.addEventListener("click", () => { first = Math.max(first - SIZE, 0); draw(); });
    after.addEventListener("click", () => { first += SIZE; draw(); });
    search();
    return (text) => { filter.value = text; search(); place.scrollIntoView(); };
  };

  const [cellSources, cellUnits, cellCounts] = cells;
  const group = (keys, size) => {
    const groups = Array.from({ length: size }, () => []);
    keys.forEach((key, at) => groups[key].push(at));
    return groups;
  };
  const ofSource = group(cellSources, source.index.length);
  const ofUnit = group(cellUnits, units.length);
  const lost = new Map(data.lost.map((row) => [row[0], row]));
  const why = ([, reason, ordinal, action]) => {
    const by = action !== undefined && words[action] ? ` by #${ordinal} ${words[action]}` : "";
    return words[reason] + by;
  };
  const name = (stage, row) => stage.names[stage.name[row]];
  const location = (stage, row) => stage.locations[stage.location[row]];
  const unitText = (cell) =>
    units[cellUnits[cell]] + (cellCounts[cell] > 1 ? ` (${number(cellCounts[cell])})` : "");

  const unitList = (row) => {
    const box = document.createDocumentFragment();
    const found = ofSource[row];
    for (const cell of found.slice(0, 50)) {
      const kind = data.exact[cell] ? "unit" : "unit guess";
      const shown = element("span", unitText(cell), kind);
      shown.title = data.exact[cell] ? "shown by the compiler" : "shown by source locations";
      box.append(shown);
    }
    if (found.length > 50) box.append(element("span", `and ${number(found.length - 50)} more`));
    if (lost.has(row)) box.append(element("span", why(lost.get(row)), "reason"));
    return box;
  };
  const textOfInput = (row) =>
    [`:${source.line[row]}`, name(source, row), location(source, row),
      ...ofSource[row].map((cell) => units[cellUnits[cell]]),
      lost.has(row) ? `lost ${why(lost.get(row))}` : ""].join(" ");
  const search = showTable(
    "inputs", "Operations of the input", ["line", "operation", "location", "units of the output"],
    source.index.length, textOfInput,
    (row) => [source.line[row], name(source, row), location(source, row), unitList(row)]);

  const button = (text, act) => {
    const made = element("button", text);
    made.addEventListener("click", act);
    return made;
  };
  showTable(
    "units", "Units of the output",
    ["line", "unit", "operations", "origins in the input", ""],
    units.length, (row) => units[row],
    (row) => [data.unitLines[row], units[row], data.unitSizes[row], ofUnit[row].length,
      button("show origins", () => search(units[row]))]);
  showTable(
    "orphans", "Operations of the output without an origin",
    ["line", "operation", "location", "why"],
    data.unfounded.length,
    (row) => `${name(target, row)} ${location(target, row)} ${why(data.unfounded[row])}`,
    (row) => [target.line[row], name(target, row), location(target, row), why(data.unfounded[row])]);
  document.documentElement.dataset.ready = "yes";
})();
