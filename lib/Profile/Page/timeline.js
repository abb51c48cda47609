// Host and device lanes of one run of each level, zoomable.
const timeline = { from: 0, to: 1, whole: 1, levels: [] };

// Levels one after another, a twentieth of the whole between them.
function layTimeline() {
  const lengths = data.timeline.map(l => Math.max(...l.spans.flatMap(s => [s.host[1], s.device[1]]), 0));
  const gap = Math.max(lengths.reduce((s, l) => s + l, 0) / 60, 1);
  let at = gap / 2;
  data.timeline.forEach((entry, i) => {
    timeline.levels.push({ level: data.levels[entry.level], spans: entry.spans, start: at, end: at + lengths[i] });
    at += lengths[i] + gap;
  });
  timeline.whole = Math.max(at - gap / 2, 1);
  timeline.to = timeline.whole;
}

function drawTimeline() {
  const where = byId("time-plot"), width = where.clientWidth || 800, left = 54, right = width - 4;
  const { from, to } = timeline, x = t => left + (right - left) * (t - from) / (to - from);
  const lanes = { host: 34, device: 82 }, thick = 34, height = 146;
  const root = canvas(width, height, "timeline of host and device"), clip = svg("clipPath", { id: "time-clip" }, svg("rect", { x: left, y: 0, width: right - left, height }));
  const inside = svg("g", { "clip-path": "url(#time-clip)" });
  root.append(clip, inside);
  for (const lane in lanes) root.append(svg("text", { class: "soft", x: 0, y: lanes[lane] + thick / 2 + 4 }, lane));
  const step = niceStep(to - from, width < 560 ? 3 : 6);
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
    inside.append(svg("line", { class: "grid", x1: x(t), x2: x(t), y1: 22, y2: 124 }));
    inside.append(svg("text", { class: "soft", x: x(t), y: 140, "text-anchor": x(t) < left + 20 ? "start" : x(t) > right - 24 ? "end" : "middle" }, t === 0 ? "0" : time(t * 1e-3)));
  }
  const visible = (a, b) => b >= from && a <= to;
  for (const { level, spans, start, end } of timeline.levels) {
    if (!visible(start, end)) continue;
    inside.append(svg("rect", { class: "band", x: x(start), width: Math.max(1, x(end) - x(start)), y: 20, height: 102, "fill-opacity": 0.7 }));
    const name = Math.max(left, x(start)), room = Math.min(right, x(end)) - name;
    if (room > wide(level.name)) inside.append(svg("text", { x: name + 3, y: 14 }, level.name));
    for (const span of spans) {
      const kernel = level.kernels[span.kernel], h = span.host.map(t => t + start), d = span.device.map(t => t + start);
      const tip = `${level.name}: ${kernel.label}\ndevice ${time((d[1] - d[0]) * 1e-3)}, host ${time((h[1] - h[0]) * 1e-3)}\n${kernel.schedule}` +
        (kernel.registers === null ? "" : `\n${kernel.registers} registers, ${bytes(kernel.shared_bytes)} shared`);
      for (const [lane, at, text] of [["host", h, "launch " + kernel.label], ["device", d, kernel.label]]) {
        if (!visible(at[0], at[1])) continue;
        const a = Math.max(x(at[0]), left - 5), b = Math.min(x(at[1]), right + 5);
        inside.append(svg("rect", { class: "span", x: a, width: Math.max(1, b - a), y: lanes[lane], height: thick, rx: 2, style: `fill:${colour(kernel.label)};stroke:var(--card)`, "stroke-width": b - a > 4 ? 1 : 0, "fill-opacity": lane === "host" ? 0.75 : 1 }, title(tip)));
        if (b - a > wide(text) + 8) inside.append(svg("text", { class: "inside", x: Math.max(a, left) + 6, y: lanes[lane] + thick / 2 + 4 }, text));
      }
      if (x(d[0]) - x(h[0]) > 3) inside.append(svg("path", { class: "flow", d: `M${x(h[0])},${lanes.host + thick}C${x(h[0])},${lanes.device - 4} ${x(d[0])},${lanes.host + thick + 4} ${x(d[0])},${lanes.device}` }));
    }
  }
  where.replaceChildren(root);
  byId("time-note").textContent = `shown: ${time((to - from) * 1e-3)} of ${time(timeline.whole * 1e-3)}`;
}

function showRange(from, to) {
  const least = timeline.whole * 1e-6, length = Math.min(Math.max(to - from, least), timeline.whole);
  timeline.from = Math.min(Math.max(from, 0), timeline.whole - length);
  timeline.to = timeline.from + length;
  drawTimeline();
}
function zoom(factor, centre) {
  const c = centre === undefined ? (timeline.from + timeline.to) / 2 : centre;
  showRange(c - (c - timeline.from) * factor, c + (timeline.to - c) * factor);
}

function listenTimeline() {
  const plot = byId("time-plot"), fingers = new Map();
  const timeAt = px => timeline.from + (timeline.to - timeline.from) * (px - plot.getBoundingClientRect().left - 54) / Math.max(1, plot.clientWidth - 58);
  const move = part => showRange(timeline.from + part * (timeline.to - timeline.from), timeline.to + part * (timeline.to - timeline.from));
  plot.addEventListener("wheel", e => { e.preventDefault(); zoom(Math.exp(e.deltaY * 0.002), timeAt(e.clientX)); }, { passive: false });
  plot.addEventListener("pointerdown", e => { plot.setPointerCapture(e.pointerId); fingers.set(e.pointerId, e.clientX); });
  plot.addEventListener("pointermove", e => {
    if (!fingers.has(e.pointerId)) return;
    const before = fingers.get(e.pointerId);
    if (fingers.size === 1) move((before - e.clientX) / Math.max(1, plot.clientWidth - 58));
    else {
      const other = [...fingers].find(([id]) => id !== e.pointerId)[1];
      zoom(Math.max(8, Math.abs(before - other)) / Math.max(8, Math.abs(e.clientX - other)), timeAt(other));
    }
    fingers.set(e.pointerId, e.clientX);
  });
  for (const kind of ["pointerup", "pointercancel"]) plot.addEventListener(kind, e => fingers.delete(e.pointerId));
  plot.addEventListener("keydown", e => {
    const act = { "+": () => zoom(0.7), "-": () => zoom(1 / 0.7), ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "0": () => showRange(0, timeline.whole) }[e.key];
    if (act) { e.preventDefault(); act(); }
  });
  const button = (text, act, name) => { const b = html("button", { type: "button", "aria-label": name || text }, text); b.addEventListener("click", act); return b; };
  byId("time-buttons").replaceChildren(
    button("all", () => showRange(0, timeline.whole), "show all levels"), button("+", () => zoom(0.5), "zoom in"), button("−", () => zoom(2), "zoom out"),
    ...timeline.levels.map(l => button(l.level.name, () => { const edge = (l.end - l.start) / 50; showRange(l.start - edge, l.end + edge); }, "show level " + l.level.name)));
}
