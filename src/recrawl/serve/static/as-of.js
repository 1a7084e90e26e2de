// Says in the visitor's own time as of when figures are; their UTC is in the title.
"use strict";
(() => {
  const two = (number) => String(number).padStart(2, "0");
  const clock = (at) => [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
  const day = (at) => [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");

  // All such lines of a part of the page.
  window.recrawlLocalTimes = (part) => {
    for (const place of part.querySelectorAll(".as-of time")) {
      const at = new Date(place.dateTime);
      place.textContent = day(at) === day(new Date()) ? clock(at) : `${day(at)} ${clock(at)}`;
    }
  };

  // The line at the top of the page.
  window.recrawlAsOf = (instant, stale) => {
    const line = document.querySelector("header .as-of");
    if (instant) {
      const place = line.querySelector("time");
      place.dateTime = instant;
      place.title = instant.replace("T", " ").replace("Z", " UTC");
      window.recrawlLocalTimes(line.parentNode);
    }
    line.classList.toggle("stale", stale);
  };

  document.addEventListener("DOMContentLoaded", () => window.recrawlLocalTimes(document));
})();
