// Texts whose colour is too close to what is behind them, with the ratio (WCAG 2, AA).
(() => {
  const light = (c) => {
    const linear = (v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    const [r, g, b] = c.map(v => linear(v / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const parse = (c) => (c.match(/[\d.]+/g) || []).map(Number);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length && (c.length < 4 || c[3] > 0)) return c.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const pale = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (!own || !e.checkVisibility() || e.closest("script, .skip")) continue;
    const style = getComputedStyle(e);
    const c = parse(e.closest("svg") ? style.fill : style.color);
    if (c.length < 3) continue;
    const [a, b] = [light(c.slice(0, 3)), light(behind(e))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    const need = e.matches(".promise") ? 3 : 4.5;
    const text = e.textContent.trim().slice(0, 30);
    if (ratio < need) pale.push(`${e.tagName}.${e.className} ${text}: ${ratio.toFixed(2)}`);
  }
  return pale;
})()
