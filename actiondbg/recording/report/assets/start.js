// Fill the page; the timeline first, as it is what is seen first.

if (!run.timed) hideTimes();
startTimeline();
for (const fill of [namesTable, slowestTable, changingTable, suspectsTables, reasonsTable, placesTables])
  fill();
startSearch();
addEventListener("hashchange", follow);
follow();
document.documentElement.dataset.ready = "yes";

/** Hide what only times fill: an import has the order of its passes. */
function hideTimes() {
  for (const one of [byId("slowest"), byId("span"), document.querySelector('a[href="#slowest"]')])
    one.hidden = true;
  document.querySelector("#timeline h2").textContent = "Passes in order";
}
