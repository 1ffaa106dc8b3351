(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { source, target, units, cells, words } = data;

  // A section with a table of `count` rows, which `textOf` makes searchable.
  const showTable = (id, title, count, textOf, columns) => {
    const place = document.getElementById(id);
    place.append(h("h2", null, title));
    const rows = Array.from({ length: count }, (_, row) => row);
    const table = sortable(place, rows, columns,
      { sort: "line", ascending: true, shown: 50, filter: textOf, empty: "none" });
    return (text) => { table.search(text); place.scrollIntoView(); };
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
    const found = ofSource[row];
    const shown = found.slice(0, 50).map((cell) => h("span", {
      class: data.exact[cell] ? "unit" : "unit guess",
      title: data.exact[cell] ? "shown by the compiler" : "shown by source locations" },
      unitText(cell)));
    if (found.length > 50) shown.push(h("span", null, `and ${number(found.length - 50)} more`));
    if (lost.has(row)) shown.push(h("span", { class: "reason" }, why(lost.get(row))));
    return shown;
  };
  const textOfInput = (row) =>
    [`:${source.line[row]}`, name(source, row), location(source, row),
      ...ofSource[row].map((cell) => units[cellUnits[cell]]),
      lost.has(row) ? `lost ${why(lost.get(row))}` : ""].join(" ");
  const text = (title, value) => ({ title, value, text: true });
  const places = (stage) => [
    { title: "line", value: (row) => stage.line[row] },
    text("operation", (row) => name(stage, row)), text("location", (row) => location(stage, row))];
  const search = showTable(
    "inputs", "Operations of the input", source.index.length, textOfInput,
    [...places(source), { title: "units of the output", text: true, class: "units",
      value: (row) => ofSource[row].map(unitText).join(" "), show: unitList }]);
  showTable(
    "units", "Units of the output", units.length, (row) => units[row],
    [{ title: "line", value: (row) => data.unitLines[row] }, text("unit", (row) => units[row]),
      { title: "operations", value: (row) => data.unitSizes[row] },
      { title: "origins in the input", value: (row) => ofUnit[row].length },
      { title: "", text: true, show: (row) => button("show origins", () => search(units[row])) }]);
  const reason = (row) => why(data.unfounded[row]);
  showTable(
    "orphans", "Operations of the output without an origin", data.unfounded.length,
    (row) => `${name(target, row)} ${location(target, row)} ${reason(row)}`,
    [...places(target), text("why", reason)]);
  document.documentElement.dataset.ready = "yes";
})();
