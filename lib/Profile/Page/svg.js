"use strict";
// Figures for people, and elements made of data: the rest builds on these.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);

// Three digits with the unit that fits.
function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}
function scaled(value, units) {
  let i = 0;
  while (Math.abs(value) >= 999.5 && i + 1 < units.length) { value /= 1000; ++i; }
  return digits(value) + " " + units[i];
}
const time = ms => ms === null || ms === undefined ? "–" : ms === 0 ? "0" : scaled(ms * 1e6, ["ns", "µs", "ms", "s"]);
const bytes = b => b === null || b === undefined ? "–" : b < 1000 ? b + " B" : scaled(b, ["B", "kB", "MB", "GB", "TB", "PB"]);
const rate = r => r ? scaled(r / 1e6, ["MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"]) : "–";
const percent = p => p === null || p === undefined ? "–" : (100 * p).toFixed(p < 0.0995 && p > 0 ? 1 : 0) + " %";
function signed(miss) {
  if (miss === null || miss === undefined) return "–";
  const p = Math.round(100 * miss);
  return p > 999 ? "×" + digits(miss + 1) : (p > 0 ? "+" : p < 0 ? "−" : "") + Math.abs(p) + " %";
}
const plain = v => v === null || v === undefined ? "–" : String(v);

// An element: attributes by name, children as nodes or text.
function html(tag, attributes, ...children) { return fill(document.createElement(tag), attributes, children); }
function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}
function fill(node, attributes, children) {
  for (const name in attributes || {})
    if (attributes[name] !== undefined && attributes[name] !== null) node.setAttribute(name, attributes[name]);
  for (const child of children)
    if (child !== null && child !== undefined) node.append(child);
  return node;
}
const title = text => svg("title", {}, text);
function canvas(width, height, label) {
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}
// How wide a text of the charts' size is, near enough to place it.
const wide = text => 6.9 * text.length;

// One colour a kernel label, in the order of appearance.
const labels = [];
for (const level of data.levels)
  for (const kernel of level.kernels)
    if (!labels.includes(kernel.label)) labels.push(kernel.label);
const colour = label => `var(--c${labels.indexOf(label) % 8})`;

// Kernels in the order of launch, numbered through all levels.
const kernels = [];
for (const level of data.levels)
  for (const kernel of level.kernels) kernels.push({ level, kernel, number: kernels.length + 1 });

const failed = level => level.check === "failed" ? "failed its check, not timed"
  : level.failure ? "cannot run, not timed" : "";

// Columns that nobody fills are left out.
function table(where, columns, rows) {
  const used = columns.map((_, i) => !rows.length || rows.some(row => row[i] !== null && row[i] !== undefined && row[i] !== "–"));
  columns = columns.filter((_, i) => used[i]);
  rows = rows.map(row => row.filter((_, i) => used[i]));
  const head = html("tr", {});
  for (const column of columns) head.append(html("th", { scope: "col", class: column.left ? "left" : null }, column.name));
  const body = html("tbody", {});
  for (const row of rows) {
    const line = html("tr", {});
    row.forEach((cell, i) => {
      const classes = [columns[i].left ? "left" : "", cell && cell.bad ? "bad" : "", cell && cell.good ? "good" : ""];
      line.append(html("td", { class: classes.join(" ").trim() || null }, cell && cell.text !== undefined ? cell.text : plain(cell)));
    });
    body.append(line);
  }
  where.replaceChildren(html("thead", {}, head), body);
}
