"use strict";

// Draws the charts and lets the reader choose what is shown. The tables are there without it.

(function () {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const byId = new Map(charts.map((chart) => [chart.id, chart]));
  const draw = { bars: drawBars, curve: drawCurve, latency: drawLatency, seconds: drawSeconds };
  const form = document.getElementById("filter");

  function checked(name) {
    const boxes = form.querySelectorAll(`input[name="${name}"]`);
    return new Set([...boxes].filter((box) => box.checked).map((box) => box.value));
  }

  function choice() {
    return {
      same: checked("same").has("yes"),
      workloads: checked("workload"),
      languages: checked("language"),
      peers: checked("peer"),
    };
  }

  function shows(chosen, mark) {
    const known = !mark.language || chosen.languages.has(mark.language);
    return chosen.peers.has(mark.peer) && known && (mark.same || !chosen.same);
  }

  function filterTables(chosen) {
    for (const part of document.querySelectorAll("[data-workload]")) {
      part.hidden = !chosen.workloads.has(part.dataset.workload);
    }
    for (const row of document.querySelectorAll("tr[data-peer]")) {
      const { peer, language, same } = row.dataset;
      row.hidden = !shows(chosen, { peer, language, same: same !== "false" });
    }
    for (const article of document.querySelectorAll("article")) {
      article.hidden = !article.querySelector("tr[data-peer]:not([hidden])");
    }
  }

  function drawChart(figure, chosen) {
    const chart = byId.get(figure.dataset.chart);
    const marks = chart ? chart.marks.filter((mark) => shows(chosen, mark)) : [];
    const place = figure.querySelector(".chart");
    figure.hidden = marks.length === 0;
    place.replaceChildren();
    // Drawn to the width there is; what cannot be seen has none.
    const width = place.clientWidth;
    if (figure.hidden || width === 0) return;
    const svg = draw[chart.kind](chart, marks, width);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `Chart: ${chart.label}. The table below it has the figures.`);
    place.append(svg);
  }

  function drawCharts(chosen) {
    for (const figure of document.querySelectorAll("figure[data-chart]")) drawChart(figure, chosen);
  }

  function tell() {
    const rows = [...document.querySelectorAll("table.figures tr[data-peer]")];
    const shown = rows.filter((row) => !row.closest("[hidden]")).length;
    document.getElementById("shown").textContent = `${shown} of ${rows.length} figures are shown`;
  }

  function show() {
    const chosen = choice();
    filterTables(chosen);
    drawCharts(chosen);
    tell();
  }

  let waiting = false;
  function soon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      show();
    });
  }

  function onlyOurs() {
    const ours = new Set(charts.flatMap((chart) => chart.marks)
      .filter((mark) => mark.ours).map((mark) => mark.peer));
    for (const box of form.querySelectorAll("input[name=peer]")) box.checked = ours.has(box.value);
    soon();
  }

  function begin() {
    // Where a chart can be seen, the table under it may wait to be asked for.
    for (const table of document.querySelectorAll("article details, .lost details")) table.open = false;
    if (matchMedia("(max-width: 62rem)").matches) document.getElementById("filters").open = false;
    form.hidden = false;
    form.addEventListener("change", soon);
    form.addEventListener("reset", () => setTimeout(soon));
    document.getElementById("none").addEventListener("click", onlyOurs);
    document.querySelectorAll("details.all").forEach((part) => part.addEventListener("toggle", soon));
    let width = document.body.clientWidth;
    new ResizeObserver(() => {
      if (document.body.clientWidth === width) return;
      width = document.body.clientWidth;
      soon();
    }).observe(document.body);
    show();
    document.documentElement.dataset.drawn = "yes";
  }

  begin();
})();
