"use strict";

// Curves: a line a store over what grows (keys, bytes of a value, processes), or over the share
// of calls. Full lines promise the same as Tavola, dashed ones less. Each line has its name at its
// end; names are moved apart where lines end close to each other.

const NAME_GAP = 13;

// Moves wanted places apart so that each has its gap, and keeps them between top and bottom.
function apart(wanted, top, bottom) {
  const order = wanted.map((y, index) => ({ y, index })).sort((a, b) => a.y - b.y);
  const gap = Math.min(NAME_GAP, (bottom - top) / Math.max(1, order.length - 1));
  let least = top;
  for (const name of order) {
    name.y = Math.max(name.y, least);
    least = name.y + gap;
  }
  let most = bottom;
  for (const name of order.reverse()) {
    name.y = Math.min(name.y, most);
    most = name.y - gap;
  }
  const places = new Array(wanted.length);
  for (const name of order) places[name.index] = name.y;
  return places;
}

function linePoints(marks) {
  return marks.flatMap((mark) => mark.points.map((point) => ({
    ...point,
    name: mark.label,
    stroke: colourOf(mark),
    ours: mark.ours,
    same: mark.same,
  })));
}

function lines(marks, options) {
  // Tavola's line lies above the others.
  const ordered = [...marks].sort((a, b) => a.ours - b.ours);
  return ordered.map((mark) => Plot.line(mark.points, {
    x: options.x,
    y: "y",
    stroke: colourOf(mark),
    strokeWidth: mark.ours ? 3.2 : 1.8,
    strokeDasharray: mark.same ? undefined : "5 3",
    curve: options.curve,
  }));
}

function tips(points, x, xText) {
  return Plot.tip(points, Plot.pointer({
    x,
    y: "y",
    title: (point) => `${point.name}\n${xText(point)}\n${point.text}`,
    fill: "var(--surface)",
    stroke: "var(--line)",
    fontSize: 12,
  }));
}

// The names at the ends of the lines, once the axes are known.
function names(plot, marks, options) {
  const scale = plot.scale("y");
  const ends = marks.map((mark) => scale.apply(mark.points.at(-1).y));
  const [bottom, top] = [scale.range[0], scale.range[1]];
  const places = apart(ends, top, bottom);
  const rows = marks.map((mark, index) => ({
    y: scale.invert(places[index]),
    name: `${signOf(mark)} ${mark.label}`,
    fill: colourOf(mark),
    ours: mark.ours,
  }));
  const width = (options.marginRight - 16) / (options.narrow ? 12.5 : 13);
  return [true, false].map((ours) => Plot.text(rows.filter((row) => row.ours === ours), {
    y: "y", frameAnchor: "right", text: "name", textAnchor: "start", dx: 8, fill: "fill",
    fontWeight: ours ? 700 : 500, lineWidth: width, textOverflow: "ellipsis",
  }));
}

function drawLines(options, marks, drawn) {
  const base = {
    width: options.width,
    height: Math.max(options.narrow ? 300 : 360, marks.length * NAME_GAP + 90),
    marginLeft: options.narrow ? 52 : 64,
    marginRight: options.marginRight,
    marginTop: 28,
    marginBottom: 46,
    style: chartStyle(options.narrow),
    x: options.xScale,
    y: options.yScale,
  };
  const plot = Plot.plot({ ...base, marks: drawn });
  return Plot.plot({ ...base, marks: [...drawn, ...names(plot, marks, options)] });
}

function room(marks, narrow) {
  return longest(marks, narrow, narrow ? 100 : 190) + 34;
}

function yScale(chart, points, label) {
  const far = isFar(points);
  const domain = far ? logDomain(points) : [0, 1.05 * Math.max(...points.map((point) => point.most))];
  return { type: far ? "log" : "linear", domain, ticks: far ? logTicks(domain) : 5, grid: true,
    tickFormat: (value) => axisText(chart.unit, value), label, labelArrow: "none" };
}

function drawCurve(chart, marks, width) {
  const narrow = width < 480;
  const points = linePoints(marks);
  const grown = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
  const ticks = grown.filter((_, index) => !narrow || grown.length < 6 || index % 2 === 0);
  const wide = grown.at(-1) > 16 * grown[0];
  const xText = (x) => (chart.x_label.startsWith("bytes") ? axisText("bytes", x) : axisText("", x));
  const dots = Plot.dot(points, { x: "x", y: "y", r: 3, fill: "stroke" });
  const spread = Plot.ruleX(points, { x: "x", y1: "least", y2: "most", stroke: "stroke",
    strokeOpacity: 0.5, strokeWidth: 2 });
  const options = {
    width, narrow, x: "x", curve: "linear", marginRight: room(marks, narrow),
    xScale: { type: wide ? "log" : "linear", ticks, tickFormat: xText, label: chart.x_label,
      labelAnchor: "center", labelArrow: "none", insetLeft: 6, insetRight: 6 },
    yScale: yScale(chart, points, axisLabel(chart).replace(/[→←]/g, "").trim()),
  };
  return drawLines(options, marks, [
    spread, ...lines(marks, options), dots, tips(points, "x", (point) => xText(point.x)),
  ]);
}

const SHARES = [[0.5, "half"], [0.9, "90 %"], [0.99, "99 %"], [0.999, "99.9 %"],
  [0.9999, "99.99 %"], [0.99999, "99.999 %"]];

// How many nines a share has: what is rare gets as much room as what is usual.
function nines(share) {
  return -Math.log10(1 - share);
}

function drawLatency(chart, marks, width) {
  const narrow = width < 480;
  const points = linePoints(marks);
  const domain = logDomain(points);
  const last = Math.max(...points.map((point) => nines(point.x)));
  // On a phone there is room for every second one.
  const shares = SHARES.filter(([share], index) => nines(share) <= last + 0.01
    && (!narrow || index % 2 === 0));
  const named = new Map(shares.map(([share, text]) => [nines(share), text]));
  const x = (point) => nines(point.x);
  const options = {
    width, narrow, x, curve: "monotone-x", marginRight: room(marks, narrow),
    xScale: { domain: [0, last], ticks: [...named.keys()], tickFormat: (tick) => named.get(tick),
      grid: true, label: "share of calls that took no longer", labelAnchor: "center",
      labelArrow: "none" },
    yScale: { type: "log", domain, ticks: logTicks(domain), grid: true, tickFormat: timeText,
      label: "time of a call, less is better", labelArrow: "none" },
  };
  const percent = (point) => `${Number((100 * point.x).toPrecision(6))} % of calls`;
  return drawLines(options, marks, [...lines(marks, options), tips(points, x, percent)]);
}
