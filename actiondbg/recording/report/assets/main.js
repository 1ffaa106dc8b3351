// Fill the page; the timeline first, as it is what is seen first.

startTimeline();
for (const fill of [groupsTable, slowestTable, changingTable, suspectsTables, reasonsTable, placesTables])
  fill();
startSearch();
addEventListener("hashchange", follow);
follow();
document.documentElement.dataset.ready = "yes";
