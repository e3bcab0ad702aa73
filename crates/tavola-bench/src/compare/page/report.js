'use strict';
// Draws the report from the results embedded in the page. Texts of the results become text nodes
// only, never HTML.
const results = JSON.parse(document.getElementById('results').textContent);

const WORKLOADS = {
  e: ['Many keys, one or more processes', 'Small keys and values: put all, then 98 % get and 2 % ' +
    'remove and put, get at random, and ask for what is not there.'],
  g: ['As the number of keys grows', 'The same work over more and more keys.', 'keys'],
  h: ['As values grow', 'From 16 bytes to a megabyte.', 'value_bytes'],
  i: ['As processes join', 'All processes together, over one store.', 'procs'],
  j: ['Durable stores', 'On a disk, with and without waiting for it: put, get at random, and ' +
    'transactions of two keys (operations are keys).'],
  f: ['How long single calls take', 'Each call is timed by itself.'],
  a: ['A file of companies, in a script', 'Some 2,300 records of a text file: write all, read ' +
    'all, open and read one.'],
  b: ['Values of 8 KB, in a script', '10, 100 and 1,000 records, put and read many times.'],
  c: ['1 byte and 4 KB, in a script', '10,000 keys written, then read.'],
  d: ['Through a client of a server', '30,000 pairs of set and get. Where client and server run, ' +
    'and whether a set waits for its answer, are cases of their own.'],
};
const AXES = { keys: 'keys in the store', value_bytes: 'bytes a value', procs: 'processes' };
const TRIALS = {
  kill: 'A writer is killed', full: 'No room is left', limits: 'Beyond its limits',
  'old-reader': 'A reader that stays', counters: 'Four count together',
  'server-kill': 'Its server is killed', 'power-cut': 'Power is cut',
};
const PROPERTIES = {
  durable: 'Durable', shared: 'Shared by processes', survives_kill: 'Survives kill -9',
  survives_reboot: 'Survives a reboot', evicts: 'Evicts', ordered: 'Ordered',
  transactions: 'Transactions', network: 'Over the network',
};

// Elements. `attributes` with a value of null are left out.
function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}
const list = (items) => el('ul', {}, items.map((item) => el('li', {}, item)));
const number = (text) => el('td', { class: 'number' }, text);
function table(head, rows) {
  const cells = head.map((text) => el('th', { scope: 'col' }, text));
  return el('div', { class: 'scroll', tabindex: 0 },
    el('table', {}, el('thead', {}, el('tr', {}, cells)), el('tbody', {}, rows)));
}

// Numbers as people read them.
function digits(value) {
  const size = Math.abs(value);
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  return size === 0 || size >= 0.0995 ? value.toFixed(2) : value.toExponential(1);
}
function scaled(value, steps) {
  const [size, unit] = steps.find(([size]) => Math.abs(value) >= 0.9995 * size) || steps.at(-1);
  return `${digits(value / size)}\u00a0${unit}`.trim();
}
const count = (value) => scaled(value, [[1e9, 'G'], [1e6, 'M'], [1e3, 'K'], [1, '']]);
const time = (ns) => scaled(ns, [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']]);
const bytes = (value) => scaled(value, [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [1024, 'KiB'], [1, 'B']]);
const times = (value) => `${value >= 99.5 ? value.toFixed(0) : digits(value)}\u00a0×`;
const percent = (share) => `${(100 * share).toFixed(1)}\u00a0%`;
function show(unit, value) {
  if (unit === 'ops/s') return `${count(value)}/s`;
  const ns = { s: 1e9, ms: 1e6, us: 1e3, 'us/op': 1e3, ns: 1 }[unit];
  return ns ? time(value * ns) : `${digits(value)} ${unit}`;
}

// Stores, by name; also those that only a row or a trial names.
const stores = new Map();
for (const peer of [...results.peers, ...results.rows, ...results.torment]) {
  const name = peer.name ?? peer.peer;
  if (stores.has(name)) continue;
  const known = peer.properties;
  stores.set(name, {
    name, peer, title: (peer.name !== undefined && peer.title) || name,
    ours: name === 'tavola' || name.startsWith('tavola-') || name.endsWith('-tavola'),
    same: !!known && known.shared.run === 'yes' && known.survives_kill.run === 'yes',
    hue: (stores.size * 137.5) % 360,
  });
}
const sorted = [...stores.values()]
  .sort((a, b) => b.ours - a.ours || a.title.localeCompare(b.title));
const present = sorted.filter((store) => !store.peer.skipped);
const titled = (store, label) => `${store.same ? '●' : '○'} ${label ?? store.title}`;
const line = (store, cells, label) => el('tr',
  { 'data-peer': store.name, 'data-same': store.same, class: store.ours ? 'us' : null },
  el('th', { scope: 'row' }, titled(store, label)), cells);

// Rows of one case, phase and unit. Where calls were timed, the 99th percentile is compared.
function contests() {
  const groups = new Map();
  for (const row of results.rows.filter((row) => row.median > 0)) {
    const c = row.case;
    const key = JSON.stringify([row.workload, row.title, row.phase, row.unit, c.placement, c.reply,
      c.keys, c.value_bytes, c.procs, c.batch]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return [...groups.values()].map(contest);
}
function contest(rows, place) {
  const first = rows[0];
  const timed = rows.every((row) => row.case.timed && row.p99_ns != null);
  const higher = !timed && first.unit.endsWith('/s');
  const entries = rows.map((row) => {
    const store = stores.get(row.peer);
    const twice = rows.filter((other) => other.peer === row.peer).length > 1;
    const label = twice && row.language ? `${store.title}, ${row.language}` : store.title;
    const p99 = (of) => of?.p99_ns ?? row.p99_ns;
    const [median, least, most] = timed
      ? [row.p99_ns, p99(row.latency_least), p99(row.latency_most)]
      : [row.median, row.least, row.most];
    return { row, store, label, median, least, most };
  });
  const right = entries.filter((entry) => entry.row.verified)
    .sort((a, b) => (higher ? b.median - a.median : a.median - b.median));
  return {
    id: `case-${place}`, first, timed, higher, unit: timed ? 'ns' : first.unit, entries: right,
    wrong: entries.filter((entry) => !entry.row.verified),
    conditions: [first.case.placement && `client and server on ${first.case.placement}`,
      first.case.reply && `a set ${first.case.reply}`].filter(Boolean).join('; '),
  };
}
const ratio = (c, a, b) => (c.higher ? a.median / b.median : b.median / a.median);
function isLevel(a, b) {
  const close = Math.max(a.median / b.median, b.median / a.median) < 1.1;
  const single = a.least === a.most || b.least === b.most;
  return (a.least <= b.most && b.least <= a.most) || (close && single);
}
// Tavola's best row. A constant file, which nobody can change, does not count for Tavola.
const best = (c) => c.entries.find((entry) => entry.store.ours && entry.store.same);
// Tavola's best beside the store it does worst against: one ahead, else level, else the fastest.
function standing(c, same) {
  const ours = best(c);
  const others = c.entries.filter((entry) => !entry.store.ours && (entry.store.same || !same));
  if (!ours || !others.length) return null;
  const all = others.map((other) => {
    const by = ratio(c, ours, other);
    return { ours, other, by, rank: isLevel(ours, other) ? 1 : by > 1 ? 2 : 0 };
  });
  return all.sort((a, b) => a.rank - b.rank)[0];
}
// Who of the same language is ahead of a row of Tavola's, by how much, and what it is spared.
function behind(c, ours) {
  const ahead = c.entries.filter((other) => ours.store.ours && !other.store.ours &&
    other.row.language === ours.row.language && ratio(c, other, ours) > 1 && !isLevel(other, ours));
  const told = ahead.map((other) => [`${other.label} (${times(ratio(c, other, ours))})`,
    other.store.peer.spared].filter(Boolean).join(', '));
  return told.length ? `behind ${told.join('; ')}` : '';
}
function verdict(s) {
  if (!s) return 'nobody to compare with';
  const theirs = titled(s.other.store, s.other.label);
  if (s.rank === 1) return `${s.ours.label} and ${theirs} are level`;
  if (s.rank === 2) return `${s.ours.label} is fastest, ${times(s.by)} as fast as ${theirs}`;
  return `${theirs} is faster, ${times(1 / s.by)} as fast as ${s.ours.label}`;
}

// Charts. Each is drawn when it comes into view, and again when colours or the filter change.
const charts = [];
function chart(label, x, y, lines) {
  const place = el('div', { class: 'chart' });
  charts.push({ place, x, y, lines, plot: null });
  return el('figure', { 'data-chart': '' }, el('figcaption', {}, label), place);
}
function draw(one) {
  one.plot?.destroy();
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const text = getComputedStyle(document.body).color;
  const same = document.getElementById('same').checked;
  const lines = one.lines.filter((each) => each.points.length && (each.store.same || !same));
  if (!lines.length) { one.plot = null; return; }
  const data = uPlot.join(lines.map((each) => [each.points.map((p) => p[0]),
    each.points.map((p) => p[1])]));
  const axis = (spec) => ({ stroke: text, grid: { stroke: 'rgba(128,128,128,.25)' }, size: 70, ...spec });
  one.plot = new uPlot({
    width: Math.max(one.place.clientWidth, 200), height: 320, legend: { live: false }, padding: [null, 30, null, null],
    scales: { x: { time: false, distr: one.x.log ? 3 : 1 }, y: { distr: one.y.log ? 3 : 1 } },
    axes: [
      axis({ label: one.x.label, size: 40, ...(one.x.incrs && { incrs: one.x.incrs }), values: (_, all) => all.map((v) => (v == null ? '' : one.x.show(v))) }),
      axis({ values: (_, all) => all.map((v) => (v == null ? '' : one.y.show(v))) }),
    ],
    series: [{ label: one.x.label }, ...lines.map((each) => ({
      label: titled(each.store, each.label), spanGaps: true, points: { show: each.points.length < 30 }, width: each.store.ours ? 3 : 1.5,
      stroke: `hsl(${each.store.hue} 70% ${dark ? 70 : 38}%)`, dash: each.store.same ? [] : [6, 4],
    }))],
  }, data, one.place);
}
function drawAll() {
  charts.forEach(draw);
  document.documentElement.dataset.drawn = 'yes';
}

function curves(letter, all) {
  const grows = WORKLOADS[letter]?.[2];
  if (!grows) return [];
  const groups = Map.groupBy(all, (c) => [c.first.phase, c.conditions, c.first.case.batch].join());
  return [...groups.values()].map((group) => {
    const lines = new Map();
    for (const c of group) {
      for (const entry of c.entries) {
        if (!lines.has(entry.label)) lines.set(entry.label, { ...entry, points: [] });
        lines.get(entry.label).points.push([c.first.case[grows], entry.median]);
      }
    }
    for (const each of lines.values()) each.points.sort((a, b) => a[0] - b[0]);
    return chart(`${group[0].first.phase}, ${group[0].conditions}`.replace(/, $/, ''),
      { label: AXES[grows], log: grows !== 'procs', show: grows === 'procs' ? String : count },
      { log: true, show: (v) => show(group[0].unit, v) }, [...lines.values()]);
  });
}
function latency(c) {
  const sampled = c.entries.filter((entry) => (entry.row.cdf || []).length > 1);
  if (!sampled.length) return null;
  const lines = sampled.map((entry) => ({ ...entry, points: entry.row.cdf
    .filter(([ns, share]) => ns > 0 && share < 1).map(([ns, share]) => [-Math.log10(1 - share), ns]) }));
  return chart('Within this time, this share of the calls is done (run of median rate)',
    { label: 'share of the calls', incrs: [1, 2], show: (v) => `${+(100 * (1 - 10 ** -v)).toPrecision(6)} %` },
    { log: true, show: time }, lines);
}
function seconds(c) {
  const told = c.entries.filter((entry) => (entry.row.per_second || []).some((p) => p.length > 1));
  if (c.first.phase !== 'mix' || c.timed || !told.length) return null;
  const lines = told.map((entry) => {
    const parts = entry.row.per_second;
    const slice = (entry.row.case.slice_ms || 1000) / 1000;
    const sums = parts[0].map((_, at) => parts.reduce((sum, part) => sum + (part[at] || 0), 0));
    return { ...entry, points: sums.map((sum, at) => [(at + 0.5) * slice, sum]) };
  });
  return chart('Operations a second over time', { label: 'seconds', show: digits },
    { show: (v) => show(c.unit, v) }, lines);
}

const COLUMNS = [
  ['Its server', (r) => r.placement && !r.case.placement && [r.transport, r.placement].join(', ')],
  ['CPU an operation', (r) => r.cpu_us_per_op != null &&
    time((r.cpu_us_per_op + (r.server_cpu_us_per_op || 0)) * 1e3)],
  ['of it the server', (r) => r.server_cpu_us_per_op != null && time(r.server_cpu_us_per_op * 1e3)],
  ['Bytes a key', (r) => r.bytes_per_key != null && digits(r.bytes_per_key)],
  ['Memory', (r) => r.peak_rss_bytes != null && bytes(r.peak_rss_bytes)],
  ['of the server', (r) => r.server_bytes != null && bytes(r.server_bytes)],
  ['Half of the calls', (r) => r.p50_ns != null && time(r.p50_ns)],
  ['99.9 %', (r) => r.p999_ns != null && time(r.p999_ns)],
  ['Slowest', (r) => r.max_ns != null && time(r.max_ns)],
  ['Longest pause', (r) => r.pause_ns != null && time(r.pause_ns)],
  ['Share of a process', (r) => (r.shares || []).length > 1 &&
    `${percent(Math.min(...r.shares))} – ${percent(Math.max(...r.shares))}`],
];
function figures(c) {
  const columns = COLUMNS.filter(([, of]) => c.entries.some((entry) => of(entry.row)));
  const most = Math.max(...c.entries.map((entry) => entry.most));
  const ours = best(c);
  const part = (value) => `${(100 * value) / most}%`;
  const rows = c.entries.map((entry) => {
    const bar = el('span', { class: 'bar', style: `width:${part(entry.median)}` });
    const spread = el('span', { class: 'spread',
      style: `left:${part(entry.least)};width:${part(entry.most - entry.least)}` });
    return line(entry.store, [
      el('td', { class: 'bars' }, el('span', { class: 'track' }, bar, spread)),
      number(show(c.unit, entry.median)),
      number(`${show(c.unit, entry.least)} – ${show(c.unit, entry.most)}`),
      number(ours && !entry.store.ours ? times(ratio(c, ours, entry)) : ''),
      columns.map(([, of]) => number(of(entry.row) || ''))], entry.label);
  });
  const wrong = c.wrong.map((entry) => line(entry.store, [el('td',
    { class: 'bad', colspan: columns.length + 4 }, '✗ gave wrong answers; its figure does not count')], entry.label));
  const notes = c.entries.map((entry) => [entry.label, [entry.row.note, behind(c, entry)]])
    .map(([label, all]) => [label, all.filter(Boolean)]).filter(([, all]) => all.length)
    .map(([label, all]) => `${label}: ${all.join('; ')}`);
  const head = ['Store', '', c.timed ? '99 % of the calls within' : 'Median', 'Least to most', 'Tavola is'];
  return [table([...head, ...columns.map(([name]) => name)], [...rows, ...wrong]),
    el('small', {}, `${c.higher ? 'more' : 'less'} is better`), notes.length ? list(notes) : null];
}

function workload(letter, all) {
  const [title, what] = WORKLOADS[letter] || [`Workload ${letter}`, ''];
  const cases = all.map((c) => el('article', { id: c.id },
    el('h3', {}, `${c.first.title}, ${c.first.phase}`),
    c.conditions ? el('p', { class: 'muted' }, c.conditions) : null,
    el('p', {}, `${verdict(standing(c, false))}. Same guarantees: ${verdict(standing(c, true))}.`),
    figures(c), latency(c), seconds(c)));
  return section(`w-${letter}`, title, el('p', {}, what), curves(letter, all), cases);
}
function section(id, title, ...children) {
  document.getElementById('contents').append(el('a', { href: `#${id}` }, title));
  return el('section', { id }, el('h2', {}, title), ...children);
}
function winners(all) {
  if (!all.length) return null;
  const tally = (title, same) => {
    const told = all.map((c) => standing(c, same)).filter(Boolean);
    const of = (rank) => told.filter((s) => s.rank === rank).length;
    return `${title}: Tavola is fastest in ${of(2)} of ${told.length} cases, level in ${of(1)}, ` +
      `slower in ${of(0)}.`;
  };
  const rows = all.map((c) => el('tr', {},
    el('td', {}, c.first.workload), el('th', { scope: 'row' },
      el('a', { href: `#${c.id}` }, `${c.first.title}, ${c.first.phase}`)),
    el('td', {}, c.conditions), el('td', {}, verdict(standing(c, true))),
    el('td', {}, verdict(standing(c, false)))));
  return section('winners', 'Who is fastest',
    list([tally('With the same guarantees', true), tally('Of all stores', false)]),
    table(['', 'Case', 'Conditions', 'With the same guarantees', 'Of all stores'], rows));
}
function choose() {
  const signs = { yes: '✓ yes', partly: '◐ partly', no: '– no' };
  const order = ['no', 'partly', 'yes'];
  const rows = present.filter((store) => store.peer.properties).map((store) => line(store, [
    el('td', {}, store.peer.choose ? `Take it when ${store.peer.choose}` : ''),
    Object.keys(PROPERTIES).map((key) => {
      const { run, can, note } = store.peer.properties[key];
      const better = order.indexOf(can) > order.indexOf(run);
      return el('td', {}, `${signs[run]}${better ? `, can: ${can}` : ''} `, el('small', {}, note || ''));
    })]));
  return rows.length ? section('choose', 'When to use which', el('p', {}, 'Each answer is for the ' +
    'store as it is run here: in memory, without waiting for a disk.'),
  table(['Store', '', ...Object.values(PROPERTIES)], rows)) : null;
}
function torment() {
  const trials = Object.keys(TRIALS).filter((key) => results.torment.some((t) => t.trial === key));
  if (!trials.length) return null;
  const outcome = (row) => {
    const fine = row.outcome === 'holds' ||
      (row.outcome === 'refuses' && ['full', 'limits'].includes(row.trial));
    const tone = fine ? 'good' : row.outcome === 'grows' ? 'fair'
      : row.outcome === 'not applicable' ? 'muted' : 'bad';
    const sign = { good: '✓', fair: '▲', muted: '·', bad: '✗' }[tone];
    const excuse = !row.promised && !fine && tone !== 'muted' ? ' (not promised)' : '';
    return [el('strong', { class: tone }, `${sign} ${row.outcome}${excuse}`), ' ',
      el('small', {}, row.detail, row.trials > 1 ? ` (${row.trials} trials)` : '')];
  };
  const rows = sorted.filter((store) => results.torment.some((t) => t.peer === store.name))
    .map((store) => line(store, trials.map((trial) => {
      const row = results.torment.find((t) => t.peer === store.name && t.trial === trial);
      return el('td', {}, row ? outcome(row) : 'not tried');
    })));
  return section('torment', 'Ill-treated', table(['Store', ...trials.map((key) => TRIALS[key])], rows));
}
function banner(tone, text) {
  document.getElementById('banners').append(el('p', { class: `banner ${tone}`, role: 'note' }, text));
}
function head() {
  const { machine, noise } = results;
  document.getElementById('lead').textContent = `Tavola and other stores, same work, same run: ` +
    `${machine.cpus} × ${machine.cpu}, ${bytes(machine.memory_bytes)}, ${results.started}.`;
  if (results.sample) banner('bad', 'Sample figures, made up to try out this page. Nothing was measured.');
  if (results.rows.length && !noise.trusted) banner('bad', `These figures cannot be trusted. ${noise.why ?? ''}`);
  else if (results.rows.length && !results.sample) banner('good', `The machine was quiet: fixed work ` +
    `varied by ${percent(noise.spin_spread)} (a loop) and ${percent(noise.walk_spread)} (a walk).`);
  if (results.quick) banner('fair', 'A quick run: good for the large differences, not for the small.');
}
function machine() {
  const m = results.machine;
  const facts = { Processor: m.cpu, 'CPUs used': m.cpus, Memory: bytes(m.memory_bytes),
    Virtual: m.virtual ? 'yes' : 'no', System: m.os, Kernel: m.kernel, Clock: m.clock,
    Tavola: results.tavola, Begun: results.started, Took: time(results.seconds * 1e9) };
  const name = (peer) => stores.get(peer)?.title ?? peer;
  const rows = present.map((store) => line(store, ['version', 'language', 'configuration']
    .map((key) => el('td', {}, store.peer[key] ?? ''))));
  const skipped = results.peers.filter((peer) => peer.skipped)
    .map((peer) => `${peer.title || peer.name}: ${peer.skipped}`);
  const left = results.left_out.map((one) => [name(one.peer), one.title, one.phase]
    .filter(Boolean).join(', ') + `: ${one.why}`);
  document.getElementById('machine').append(
    el('dl', {}, Object.entries(facts).map(([key, value]) => [el('dt', {}, key), el('dd', {}, String(value))])),
    el('h3', {}, 'The peers'), table(['Peer', 'Version', 'Language', 'How it was set up'], rows));
  if (skipped.length) document.getElementById('machine').append(el('h3', {}, 'Not there'), list(skipped));
  if (left.length) document.getElementById('machine').append(el('h3', {}, 'Cases without a figure'), list(left));
}

const all = contests();
const letters = [...new Set([...Object.keys(WORKLOADS), ...all.map((c) => c.first.workload)])]
  .filter((letter) => all.some((c) => c.first.workload === letter));
head();
document.getElementById('main').append(...[winners(all), choose(), torment(),
  ...letters.map((letter) => workload(letter, all.filter((c) => c.first.workload === letter)))].filter(Boolean));
machine();
document.getElementById('same').addEventListener('change', (event) => {
  document.body.classList.toggle('same-only', event.target.checked);
  drawAll();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
let width = innerWidth;
addEventListener('resize', () => {
  if (width !== innerWidth) drawAll();
  width = innerWidth;
});
drawAll();
// What the address names was not there when the page was loaded.
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
