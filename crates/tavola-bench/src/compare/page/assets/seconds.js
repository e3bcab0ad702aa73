"use strict";

// What stores did over time: a row a store, and in it a band a process, one upon the other. Each
// row has a scale of its own, from nothing to the best of its store: what can be seen is how steady
// a store is and how its processes share it. How fast it is stands at the end of the row.

const ROW = 46;
const ROW_WITH_NAME = 64;

function secondRows(marks) {
  return marks.map((mark, index) => {
    const most = Math.max(...mark.points.map((point) => point.y), 1);
    return { mark, most, key: String(index), name: `${signOf(mark)} ${mark.label}`,
      fill: mark.ours ? "var(--ours)" : mark.same ? "var(--same)" : "var(--fewer-edge)" };
  });
}

// The bands of a row, each from the top of the one below it. Where a slice begins and ends a band is
// as high as in its middle.
function bands(row) {
  const { points } = row.mark;
  const half = points.length > 1 ? (points[1].x - points[0].x) / 2 : points[0].x;
  const steps = [points[0], ...points, points.at(-1)];
  const x = (index) => {
    const shift = index === 0 ? -half : index === steps.length - 1 ? half : 0;
    return steps[index].x + shift;
  };
  return points[0].parts.map((_, part) => steps.map((point, index) => {
    const below = point.parts.slice(0, part).reduce((sum, one) => sum + one, 0);
    return { key: row.key, x: x(index), y1: below / row.most,
      y2: (below + point.parts[part]) / row.most };
  }));
}

function bandMarks(rows) {
  return rows.flatMap((row) => bands(row).map((band, part) => Plot.areaY(band, {
    fy: "key", x: "x", y1: "y1", y2: "y2", fill: row.fill, curve: "step",
    // Neighbours are told apart by how full their colour is, and by a line between them.
    fillOpacity: part % 2 === 0 ? 0.85 : 0.5, stroke: "var(--surface)", strokeWidth: 0.75,
  })));
}

function secondTexts(rows, narrow, left, end) {
  return [rows.filter((row) => row.mark.ours), rows.filter((row) => !row.mark.ours)]
    .flatMap((part, other) => {
      const style = { fy: "key", fill: "currentColor", fontWeight: other ? 400 : 700 };
      const above = { frameAnchor: "top-left", textAnchor: "start", dy: -13 };
      if (narrow) {
        return [Plot.text(part, { ...style, ...above,
          text: (row) => `${row.name}: ${row.mark.text}` })];
      }
      return [
        Plot.text(part, { ...style, frameAnchor: "left", textAnchor: "start", text: "name",
          dx: -left, lineWidth: (left - 8) / 12, textOverflow: "ellipsis" }),
        Plot.text(part, { ...style, frameAnchor: "right", textAnchor: "start", dx: 8,
          text: (row) => row.mark.text, fontVariant: "tabular-nums" }),
      ];
    });
}

function secondTips(rows) {
  const points = rows.flatMap((row) => row.mark.points.map((point) => ({ key: row.key, x: point.x,
    y: point.y / row.most,
    title: `${row.mark.label}, ${digits(point.x)} s\n${point.text}` })));
  return Plot.tip(points, Plot.pointer({ fy: "key", x: "x", y: "y", title: "title",
    fill: "var(--surface)", stroke: "var(--line)", fontSize: 12 }));
}

function drawSeconds(chart, marks, width) {
  const narrow = width < 560;
  const rows = secondRows(marks);
  const left = narrow ? 2 : longest(marks, narrow, 190) + 30;
  const end = Math.max(...marks.map((mark) => textWidth(mark.text, narrow))) + 14;
  return Plot.plot({
    width,
    height: rows.length * (narrow ? ROW_WITH_NAME : ROW) + (narrow ? 62 : 46),
    marginLeft: left,
    marginRight: narrow ? 6 : end,
    marginTop: narrow ? 18 : 2,
    marginBottom: 44,
    style: chartStyle(narrow),
    x: { domain: [0, Math.max(...rows.map((row) => bands(row)[0].at(-1).x))], ticks: narrow ? 4 : 6,
      grid: true, tickFormat: (value) => digits(value), label: chart.x_label,
      labelAnchor: "center", labelArrow: "none" },
    y: { domain: [0, 1], axis: null },
    fy: { domain: rows.map((row) => row.key), axis: null, padding: narrow ? 0.4 : 0.18 },
    marks: [
      Plot.ruleY(rows, { fy: "key", y: 0, stroke: "var(--line)" }),
      ...bandMarks(rows),
      ...secondTexts(rows, narrow, left, end),
      secondTips(rows),
    ],
  });
}
