"use strict";

// Bars of a case: a bar a store, best first, with a line from the least to the most of its runs.
// Where less is better and the best is far from the last, bars from zero would show only the
// last: then a dot on a logarithmic axis stands for each.

// Beyond this ratio of best and last the axis is logarithmic.
const FAR = 40;

function colourOf(mark) {
  return mark.ours ? "var(--ours)" : `var(--p${mark.colour % 12})`;
}

function signOf(mark) {
  return mark.same ? "●" : "○";
}

// Three digits at most, as the tables have them.
function digits(value) {
  return String(Number(value.toPrecision(3)));
}

function scaled(value, steps) {
  for (const [size, suffix] of steps) {
    if (Math.abs(value) >= size) return digits(value / size) + suffix;
  }
  return digits(value);
}

const COUNTS = [[1e9, " G"], [1e6, " M"], [1e3, " K"]];
const SIZES = [[2 ** 30, " GiB"], [2 ** 20, " MiB"], [2 ** 10, " KiB"]];
const TIMES = [[1e9, " s"], [1e6, " ms"], [1e3, " µs"]];
const NANOSECONDS = { "s": 1e9, "ms": 1e6, "us": 1e3, "us/op": 1e3, "ns": 1 };

function timeText(ns) {
  return ns === 0 ? "0" : scaled(ns, [...TIMES, [0, " ns"]].map(([size, s]) => [size || 1, s]));
}

// A value of an axis.
function axisText(unit, value) {
  if (unit in NANOSECONDS) return timeText(value * NANOSECONDS[unit]);
  if (unit === "bytes") return scaled(value, SIZES);
  return scaled(value, COUNTS);
}

function axisLabel(chart) {
  const usual = { "ops/s": "operations a second", "us/op": "an operation" }[chart.unit];
  const what = chart.kind === "bars" && chart.x_label ? chart.x_label : usual;
  const direction = chart.higher ? "more is better →" : "← less is better";
  return what ? `${what}: ${direction}` : direction;
}

function isFar(points) {
  const values = points.map((point) => point.y).filter((value) => value > 0);
  return Math.max(...values) > FAR * Math.min(...values);
}

// What all charts have in common: the page's own type and colours.
function chartStyle(narrow) {
  return { fontFamily: "inherit", fontSize: narrow ? "11px" : "12px", overflow: "visible" };
}

// About what a text takes at the charts' size.
function textWidth(text, narrow) {
  return text.length * (narrow ? 6.2 : 6.7);
}

function longest(marks, narrow, most) {
  return Math.min(most, Math.max(0, ...marks.map((mark) => textWidth(mark.label, narrow))));
}

// Powers of ten, and what lies between when there are few of them.
function logTicks(domain) {
  const decades = Math.log10(domain[1] / domain[0]);
  const steps = decades > 2.2 ? [1] : decades > 1.2 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(Math.log10(domain[0])); 10 ** power <= domain[1]; power += 1) {
    for (const step of steps) ticks.push(step * 10 ** power);
  }
  return ticks.filter((tick) => tick >= domain[0] && tick <= domain[1]);
}

function logDomain(points) {
  const least = Math.min(...points.map((point) => Math.min(point.y, point.least || point.y)));
  const most = Math.max(...points.map((point) => Math.max(point.y, point.most)));
  return [least / 1.5, most * 1.1];
}

function barRows(marks) {
  return marks.map((mark, index) => ({
    ...mark.points[0],
    key: String(index),
    name: `${signOf(mark)} ${mark.label}`,
    fill: mark.ours ? "var(--ours)" : mark.same ? "var(--same)" : "var(--fewer)",
    stroke: mark.ours ? "var(--ours)" : mark.same ? "var(--same)" : "var(--fewer-edge)",
    ours: mark.ours,
  }));
}

function barBodies(rows, far, narrow) {
  const inset = narrow ? 15 : 4;
  if (far) {
    return [
      Plot.ruleY(rows, { y: "key", x1: (row) => row.least, x2: (row) => row.most,
        stroke: "stroke", strokeWidth: 5, strokeOpacity: 0.45, insetTop: 0 }),
      Plot.dot(rows, { y: "key", x: "y", r: 5.5, fill: "fill", stroke: "stroke", strokeWidth: 1.5 }),
    ];
  }
  return [
    Plot.barX(rows, { y: "key", x1: 0, x2: "y", fill: "fill", stroke: "stroke",
      insetTop: inset, insetBottom: narrow ? 3 : 4, rx2: 2 }),
  ];
}

function spreads(rows, narrow) {
  const middle = narrow ? 6 : 0;
  const ends = { insetTop: narrow ? 18 : 8, insetBottom: narrow ? 6 : 8 };
  return [
    Plot.ruleY(rows, { y: "key", x1: "least", x2: "most", stroke: "var(--spread)",
      strokeWidth: 1.5, dy: middle }),
    Plot.tickX(rows, { y: "key", x: "least", stroke: "var(--spread)", strokeWidth: 1.5, ...ends }),
    Plot.tickX(rows, { y: "key", x: "most", stroke: "var(--spread)", strokeWidth: 1.5, ...ends }),
  ];
}

// A text's weight is the same for all of a mark, so Tavola's are marks of their own.
function barTexts(rows, far, narrow, left) {
  const middle = narrow && !far ? 6 : 0;
  return [rows.filter((row) => row.ours), rows.filter((row) => !row.ours)].flatMap((part, other) => {
    const style = { y: "key", textAnchor: "start", fill: "currentColor",
      fontWeight: other ? 400 : 700 };
    const name = narrow
      ? { dy: -12 }
      : { dx: -left, lineWidth: (left - 8) / 12, textOverflow: "ellipsis" };
    return [
      Plot.text(part, { ...style, ...name, frameAnchor: "left", text: "name" }),
      Plot.text(part, { ...style, x: (row) => Math.max(row.most, row.y), text: "text",
        dx: far ? 12 : 8, dy: middle, fontVariant: "tabular-nums" }),
    ];
  });
}

function drawBars(chart, marks, width) {
  const narrow = width < 480;
  const rows = barRows(marks);
  const far = !chart.higher && isFar(rows);
  const left = narrow ? 2 : longest(marks, narrow, 190) + 30;
  const right = Math.max(...rows.map((row) => textWidth(row.text, narrow))) + 18;
  const domain = far ? logDomain(rows) : [0, Math.max(...rows.map((row) => Math.max(row.most, row.y)))];
  const ticks = far ? logTicks(domain) : undefined;
  const marksDrawn = [
    ...barBodies(rows, far, narrow),
    ...(far ? [] : spreads(rows, narrow)),
    ...barTexts(rows, far, narrow, left),
  ];
  return Plot.plot({
    width,
    height: rows.length * (narrow ? 40 : 27) + 52,
    marginLeft: left,
    marginRight: right,
    marginTop: 4,
    marginBottom: 48,
    style: chartStyle(narrow),
    x: { type: far ? "log" : "linear", domain, ticks: ticks || (narrow ? 3 : 5), grid: true,
      tickFormat: (value) => axisText(chart.unit, value),
      label: narrow && chart.x_label ? chart.x_label : axisLabel(chart),
      labelAnchor: "center", labelArrow: "none", labelOffset: 42 },
    y: { domain: rows.map((row) => row.key), axis: null, padding: 0 },
    marks: marksDrawn,
  });
}
