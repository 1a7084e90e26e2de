// Marks what came since this browser last looked.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const table = document.getElementById("changes");
  const seen = Number(localStorage.getItem("seen-change") || 0);
  for (const row of table.querySelectorAll("tr[data-number]")) {
    if (seen && Number(row.dataset.number) > seen) row.querySelector(".new-mark").textContent = "new";
  }
  localStorage.setItem("seen-change", String(Math.max(seen, Number(table.dataset.newest))));
});
