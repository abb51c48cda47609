// Bars of time and bytes, and the roofline. Each draws at the width it is given.
function niceStep(range, wanted) {
  const raw = range / wanted, power = 10 ** Math.floor(Math.log10(raw));
  for (const m of [1, 2, 5, 10]) if (m * power >= raw) return m * power;
}

// Rows of bars over a common axis. A row: {name, bars: [{pieces: [{value, fill, tip}], text, bad}], mark}.
function barChart(where, rows, format, label) {
  const width = where.clientWidth || 800, left = Math.max(...rows.map(r => wide(r.name))) + 14;
  const most = Math.max(...rows.flatMap(r => [r.mark || 0, ...r.bars.map(b => b.pieces.reduce((s, p) => s + p.value, 0))]), 1e-12);
  const longest = Math.max(...rows.flatMap(r => r.bars.filter(b => b.pieces.length).map(b => wide(b.text))), 0);
  const narrow = width < 560;
  const plot = Math.max(80, width - left - (narrow ? 8 : longest + 12)), thick = rows.some(r => r.bars.length > 1) ? 16 : 22;
  const gap = 12, lineHeight = narrow ? 17 : 0;
  let height = 4;
  for (const row of rows) height += row.bars.length * (thick + 3 + lineHeight) + gap;
  const root = canvas(width, height + 22, label), x = v => left + plot * v / most;
  const step = niceStep(most, narrow ? 3 : 6);
  for (let v = 0; v <= most * 1.0001; v += step) {
    root.append(svg("line", { class: "grid", x1: x(v), x2: x(v), y1: 0, y2: height }));
    root.append(svg("text", { class: "soft", x: x(v), y: height + 15, "text-anchor": v === 0 ? "start" : x(v) > width - 40 ? "end" : "middle" }, v === 0 ? "0" : format(v).replace(/\.0+ /, " ")));
  }
  let y = 4;
  for (const row of rows) {
    const top = y;
    root.append(svg("text", { x: left - 10, y: y + (narrow ? 13 : (row.bars.length * (thick + 3)) / 2 + 3), "text-anchor": "end" }, row.name));
    for (const bar of row.bars) {
      let at = 0;
      for (const piece of bar.pieces) {
        root.append(svg("rect", { x: x(at), y, width: Math.max(0.75, x(at + piece.value) - x(at) - (bar.pieces.length > 1 ? 0.75 : 0)), height: thick, rx: 1.5, style: `fill:${piece.fill}`, "fill-opacity": piece.opacity }, title(piece.tip)));
        at += piece.value;
      }
      const end = bar.pieces.length ? Math.max(x(at), row.mark ? x(row.mark) : 0) + 8 : x(0) + 4;
      root.append(svg("text", { class: bar.bad ? "bad" : bar.pieces.length ? null : "soft", x: narrow ? left : end, y: narrow && bar.pieces.length ? y + thick + 13 : y + thick / 2 + 4.5 }, bar.text));
      y += thick + 3 + (bar.pieces.length ? lineHeight : 0);
    }
    if (row.mark) root.append(svg("line", { class: "mark", x1: x(row.mark), x2: x(row.mark), y1: top - 3, y2: top + thick + 3 }, title("predicted " + format(row.mark))));
    y += gap;
  }
  where.replaceChildren(root);
}

function drawLevelBars() {
  const rows = data.levels.map(level => {
    const why = failed(level);
    const pieces = why ? [] : level.kernels.filter(k => k.measured !== null).map(k => ({
      value: k.measured, fill: colour(k.label),
      tip: `${level.name}: ${k.label} ${time(k.measured)}, predicted ${time(k.predicted)} (${k.bound})`
    }));
    const miss = level.miss === null ? "" : ` (${signed(level.miss)})`;
    return {
      name: level.name, mark: why ? 0 : level.predicted,
      bars: [{ pieces, bad: !!why, text: why || (level.launches === 0 ? "nothing to launch" : `${time(level.measured)}${miss}`) }]
    };
  });
  barChart(byId("level-bars"), rows, time, "device time of each level by kernel");
}

function drawByteBars() {
  const why = (data.missing.find(m => m.what.startsWith("counted bytes")) || { why: "no counters were read" }).why;
  const rows = data.levels.map(level => {
    const sum = pick => level.kernels.reduce((s, k) => s + pick(k), 0);
    const read = sum(k => k.bytes_read), written = sum(k => k.bytes_written);
    const launched = level.kernels.filter(k => k.blocks > 0);
    const counted = launched.length && launched.every(k => k.counted && k.counted.bytes_read !== null && k.counted.bytes_written !== null);
    const pair = (r, w, what) => [
      { value: r, fill: "var(--c0)", tip: `${level.name}: ${bytes(r)} read, ${what}`, opacity: what === "counted" ? 0.6 : 1 },
      { value: w, fill: "var(--c1)", tip: `${level.name}: ${bytes(w)} written, ${what}`, opacity: what === "counted" ? 0.6 : 1 }];
    const bars = [{ pieces: pair(read, written, "predicted"), text: bytes(read + written) }];
    if (counted) {
      const r = sum(k => k.counted ? k.counted.bytes_read : 0), w = sum(k => k.counted ? k.counted.bytes_written : 0);
      bars.push({ pieces: pair(r, w, "counted"), text: `${bytes(r + w)} counted (${signed((r + w) / (read + written) - 1)})` });
    } else if (failed(level)) {
      bars.push({ pieces: [], text: "not counted: " + failed(level), bad: true });
    }
    return { name: level.name, bars };
  });
  barChart(byId("byte-bars"), rows, bytes, "bytes of device memory, predicted and counted");
  const none = data.levels.every(l => l.kernels.every(k => !k.counted));
  byId("byte-legend").replaceChildren(
    html("span", { style: "--swatch:var(--c0)" }, "read"), html("span", { style: "--swatch:var(--c1)" }, "written"),
    html("i", { class: "soft", id: "not-counted" }, none ? "not counted: " + why : "pale: counted"));
}

function drawRoofline() {
  const where = byId("roof-plot"), width = where.clientWidth || 800, height = Math.min(440, Math.max(300, width * 0.5));
  const dots = kernels.filter(k => k.kernel.measured && k.kernel.flops > 0 && k.kernel.bytes > 0).map(k => ({
    ...k, x: k.kernel.flops / k.kernel.bytes, y: k.kernel.flops / (k.kernel.measured * 1e-3)
  }));
  const units = [...new Set(kernels.map(k => k.kernel.unit).filter(u => u && data.roofs.matmul[u]))];
  const roofs = units.map(u => ({ name: u + " " + rate(data.roofs.matmul[u]), rate: data.roofs.matmul[u] }));
  roofs.push({ name: "elementwise " + rate(data.roofs.scalar), rate: data.roofs.scalar });
  const top = Math.max(...roofs.map(r => r.rate)), bandwidth = data.roofs.bandwidth;
  const xs = [...dots.map(d => d.x), top / bandwidth], ys = [...dots.map(d => d.y), top];
  const lowX = 10 ** Math.floor(Math.log10(Math.min(...xs) / 1.5)), highX = 10 ** Math.ceil(Math.log10(Math.max(...xs) * 1.5));
  const lowY = 10 ** Math.floor(Math.log10(Math.min(...ys) / 1.5)), highY = 10 ** Math.ceil(Math.log10(Math.max(...ys) * 1.2));
  const left = 74, right = width - 12, up = 12, down = height - 40;
  const x = v => left + (right - left) * Math.log10(v / lowX) / Math.log10(highX / lowX);
  const y = v => down - (down - up) * Math.log10(v / lowY) / Math.log10(highY / lowY);
  const root = canvas(width, height, "roofline with a dot for each kernel");
  for (let v = lowX; v <= highX * 1.01; v *= 10) {
    root.append(svg("line", { class: "grid", x1: x(v), x2: x(v), y1: up, y2: down }));
    root.append(svg("text", { class: "soft", x: x(v), y: down + 16, "text-anchor": "middle" }, v < 1 ? String(+v.toPrecision(1)) : String(Math.round(v))));
  }
  for (let v = lowY; v <= highY * 1.01; v *= 10) {
    root.append(svg("line", { class: "grid", x1: left, x2: right, y1: y(v), y2: y(v) }));
    root.append(svg("text", { class: "soft", x: left - 6, y: y(v) + 4, "text-anchor": "end" }, rate(v).replace(/\.0+ /, " ").replace("FLOP/s", "F/s")));
  }
  root.append(svg("text", { class: "soft", x: right, y: height - 4, "text-anchor": "end" }, "operations a byte of device memory (predicted)"));
  const start = Math.max(lowX, lowY / bandwidth);
  root.append(svg("path", { class: "roof", d: `M${x(start)},${y(start * bandwidth)}L${x(top / bandwidth)},${y(top)}` }));
  const middle = Math.sqrt(start * top / bandwidth);
  const angle = Math.atan2(y(2 * middle * bandwidth) - y(middle * bandwidth), x(2 * middle) - x(middle)) * 180 / Math.PI;
  root.append(svg("text", { class: "soft halo", transform: `translate(${x(middle)},${y(middle * bandwidth) - 6}) rotate(${angle})`, "text-anchor": "middle" }, bytes(bandwidth) + "/s"));
  for (const roof of roofs) {
    root.append(svg("line", { class: "roof", x1: x(roof.rate / bandwidth), x2: right, y1: y(roof.rate), y2: y(roof.rate), "stroke-dasharray": roof.rate === top ? null : "4 4" }));
  }
  const labels = roofs.sort((a, b) => b.rate - a.rate).map((roof, i) => ({ name: roof.name, y: y(roof.rate) + (i === 0 ? -6 : 15) }));
  for (const label of labels)
    root.append(svg("text", { class: "soft halo", x: right, y: label.y, "text-anchor": "end" }, label.name));
  const onLabel = (bx, by) => labels.some(l => bx > right - 7 * l.name.length - 9 && by > l.y - 21 && by < l.y + 13);
  // A bubble that would cover another one, or a roof's name, moves aside and keeps a leader.
  const placed = [], bubbles = [];
  for (const dot of dots) {
    const px = x(dot.x), py = y(dot.y);
    let bx = px, by = py;
    search: for (let radius = 0; radius < 200; radius += 10)
      for (let turn = 0; turn < 12; ++turn) {
        bx = px + radius * Math.cos(turn * Math.PI / 6 + 0.5); by = py + radius * Math.sin(turn * Math.PI / 6 + 0.5);
        const inside = bx > left + 9 && bx < right - 9 && by > up + 9 && by < down - 9;
        if (inside && !onLabel(bx, by) && placed.every(p => Math.hypot(p[0] - bx, p[1] - by) > 19)) break search;
      }
    placed.push([bx, by]);
    const tip = `${dot.number}: ${dot.level.name} ${dot.kernel.label}, ${digits(dot.x)} operations a byte, ${rate(dot.y)}, ${percent(dot.kernel.roofline_share)} of its roof`;
    if (bx !== px) root.append(svg("line", { class: "leader", x1: px, y1: py, x2: bx, y2: by }), svg("circle", { cx: px, cy: py, r: 2.5, style: `fill:${colour(dot.kernel.label)}` }));
    bubbles.push(svg("g", { class: "dot" }, title(tip), svg("circle", { cx: bx, cy: by, r: 9, style: `fill:${colour(dot.kernel.label)};stroke:var(--card)`, "stroke-width": 1.5 }),
      svg("text", { class: "inside", x: bx, y: by + 4, "text-anchor": "middle" }, String(dot.number))));
  }
  root.append(...bubbles);
  where.replaceChildren(root);
  const left_out = kernels.filter(k => k.kernel.blocks > 0 && !dots.some(d => d.number === k.number));
  const above = (data.above_roof || "").trim().split("\n").filter(line => line).map(line => "Above the roof, " + line + ". ").join("");
  byId("roof-note").textContent = above + (left_out.length
    ? "Without a dot: " + left_out.map(k => `${k.number} ${k.level.name} ${k.kernel.label} (${k.kernel.measured ? "no operations" : "not timed"})`).join(", ") + "." : "");
}
