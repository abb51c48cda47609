// Head, tables and lists; then everything is drawn, again at each new width.
function drawHead() {
  byId("title").textContent = data.program;
  document.title = `attn profile: ${data.program}`;
  byId("subtitle").textContent = `${data.target} code on ${data.device} · compiler: ${data.compiler}`;
  const facts = Object.entries(data.binds).map(([name, value]) => [name, value]);
  facts.push(["pairs alive", percent(data.live)]);
  byId("facts").replaceChildren(...facts.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, String(value)))));
  const timed = data.levels.filter(l => l.measured);
  const wrong = data.levels.filter(l => failed(l));
  const says = [];
  if (timed.length > 1) {
    const slow = timed.reduce((a, b) => a.measured > b.measured ? a : b), fast = timed.reduce((a, b) => a.measured < b.measured ? a : b);
    says.push(`${fast.name} takes ${time(fast.measured)}, ${digits(slow.measured / fast.measured)} times less than ${slow.name}, and moves ${bytes(fast.bytes)} instead of ${bytes(slow.bytes)}.`);
  }
  byId("verdict").replaceChildren(says.join(" "), ...wrong.map(l => html("span", { class: "bad" }, ` ${l.name} ${failed(l)}: ${l.failure}.`)));
}

function drawTables() {
  byId("kernel-legend").replaceChildren(...labels.map(l => html("span", { style: `--swatch:${colour(l)}` }, l)),
    html("span", { class: "tick", style: "--swatch:var(--mark)" }, "predicted"));
  const missCell = m => m === null ? "–" : { text: signed(m), bad: m > 0.1 || m < -0.1 };
  const checks = { passed: l => ({ text: "ok " + (l.error === null ? "" : l.error.toExponential(1)), good: true }), failed: () => ({ text: "FAILED", bad: true }), skipped: l => l.failure ? { text: "cannot run", bad: true } : "not checked" };
  const spread = s => s && s.median > 0 ? (50 * (s.upper_quartile - s.lower_quartile) / s.median).toFixed(1) + " %" : "–";
  table(byId("level-table"),
    ["level", "launches", "predicted", "measured", "spread", "miss", "bytes", "FLOP/s", "host a launch", "temporaries", "check"].map((name, i) => ({ name, left: i === 0 })),
    data.levels.map(l => [l.name, l.launches, time(l.predicted), time(l.measured), spread(l.samples), missCell(l.miss), bytes(l.bytes),
      l.measured ? rate(l.flops / (l.measured * 1e-3)) : "–", time(l.host_per_launch), bytes(l.temporary_bytes), checks[l.check](l)]));
  table(byId("footprint-table"),
    [{ name: "#" }, { name: "level", left: true }, { name: "kernel", left: true }, { name: "blocks" }, { name: "threads" }, { name: "registers" }, { name: "spilled" }, { name: "shared" },
      { name: "occupancy" }, { name: "limiter", left: true }, { name: "predicted" }, { name: "measured" }, { name: "miss" }, { name: "bound", left: true }, { name: "schedule", left: true }],
    kernels.map(({ level, kernel: k, number }) => [number, level.name, k.label, k.blocks, k.threads, k.registers, k.spill_bytes ? { text: k.spill_bytes + " B", bad: true } : k.spill_bytes === null ? "–" : "0",
      bytes(k.shared_bytes), k.occupancy ? percent(k.occupancy.share) : "–", k.occupancy ? k.occupancy.limiter : "–", time(k.predicted), time(k.measured), missCell(k.miss), k.bound, k.schedule || "–"]));
  const seen = kernels.filter(k => k.kernel.counted || k.kernel.activity);
  const stalls = c => c ? Object.entries(c.stalls).slice(0, 3).map(([why, share]) => `${why} ${percent(share)}`).join(", ") || "–" : "–";
  const apart = (a, b) => a === null || b === null || a === b ? a : { text: `${a} (driver: ${b})`, bad: true };
  table(byId("counter-table"),
    [{ name: "#" }, { name: "level", left: true }, { name: "kernel", left: true }, { name: "recorded time" }, { name: "registers" }, { name: "read" }, { name: "written" }, { name: "against predicted" }, { name: "moved in the run" },
      { name: "L2 hits" }, { name: "tensor pipe" }, { name: "special functions" }, { name: "warps at work" }, { name: "warps wait for", left: true }],
    seen.map(({ level, kernel: k, number }) => {
      const c = k.counted || {}, both = k.counted && c.bytes_read !== null && c.bytes_written !== null;
      return [number, level.name, k.label, k.activity ? time(k.activity.time) : "–", k.activity ? apart(k.registers, k.activity.registers) : "–", bytes(c.bytes_read), bytes(c.bytes_written),
        both ? signed((c.bytes_read + c.bytes_written) / k.bytes - 1) : "–", both && c.run_bytes_read !== null ? bytes(c.run_bytes_read + c.run_bytes_written) : "–", percent(c.l2_hits), percent(c.tensor_pipe), percent(c.special_pipe), percent(c.occupancy), stalls(k.counted)];
    }));
  if (!seen.length) byId("counters").remove();
  const stamped = kernels.filter(k => k.kernel.timeline), phases = [...new Set(stamped.flatMap(k => k.kernel.timeline.phases))];
  table(byId("phase-table"),
    [{ name: "#" }, { name: "level", left: true }, { name: "role", left: true }, { name: "stamps cost" }, { name: "lanes" }, { name: "a lane" }, { name: "waiting" },
      ...phases.map(p => ({ name: p.replaceAll("_", " ") }))],
    stamped.flatMap(({ level, kernel: { timeline: t }, number }) => t.roles.map(r => [number, level.name, r.role, signed(t.overhead), r.lanes, time(r.time), percent(r.waiting),
      ...phases.map(p => r.shares[p] === undefined ? "–" : percent(r.shares[p]))])));
  if (!stamped.length) byId("phases").remove();
  byId("occupancy-notes").replaceChildren(...kernels.filter(k => k.kernel.occupancy_note).map(k =>
    html("li", {}, html("b", {}, `${k.number} ${k.level.name} ${k.kernel.label}: `), k.kernel.occupancy_note)));
}

function drawLists() {
  const size = m => Math.max(m, 1 / (m + 1) - 1);
  const misses = kernels.filter(k => k.kernel.reason).sort((a, b) => size(b.kernel.miss) - size(a.kernel.miss));
  byId("miss-list").replaceChildren(...misses.map(({ level, kernel: k }) => html("li", {}, html("span", { class: "size bad" }, signed(k.miss)),
    html("b", {}, `${level.name} ${k.label}`), ` predicted ${time(k.predicted)}, measured ${time(k.measured)}: `, k.reason + ".")));
  if (!misses.length) byId("miss-list").replaceWith(html("p", { id: "miss-list" }, kernels.some(k => k.kernel.measured) ? "None." : "Nothing was timed."));
  byId("step-list").replaceChildren(...data.steps.map(drawStep));
  if (!data.steps.length) byId("step-list").textContent = "One level only: there is no step to show.";
  byId("missing-list").replaceChildren(...data.missing.map(m => html("li", {}, html("b", {}, m.what), ": " + m.why)));
  if (!data.missing.length) byId("missing").remove();
}

function drawStep(step) {
  const [before, after] = step.launches, saved = step.bytes_saved;
  const moved = saved > 0 ? `${bytes(saved)} less to move` : saved < 0 ? `${bytes(-saved)} more to move` : "the same bytes";
  const box = html("div", { class: "step" }, html("h3", {}, `${step.from} → ${step.to}`),
    html("p", { class: "tags" }, `${before} → ${after} launch${after === 1 ? "" : "es"}, ${moved}`));
  for (const group of step.kernels)
    box.append(html("p", {}, !group.after ? `Gone: ${group.before}.` : !group.before ? `New: ${group.after}.` : `${group.before} became ${group.after}.`));
  if (!step.kernels.length) box.append(html("p", {}, "The same kernels, scheduled differently."));
  if (step.diff) {
    const pre = html("pre", {});
    for (const line of step.diff.replace(/\n$/, "").split("\n"))
      pre.append(html("span", { class: { "+": "add", "-": "remove", "@": "hunk" }[line[0]] || null }, line || " "));
    box.append(html("details", {}, html("summary", {}, `the IR's difference (${step.stage}, ${step.diff.split("\n").length - 1} lines)`), pre));
  } else {
    box.append(html("p", { class: "soft" }, "No IR difference: " + step.diff_missing + "."));
  }
  return box;
}

function drawFigures() { drawLevelBars(); drawByteBars(); drawRoofline(); drawTimeline(); }

drawHead();
drawTables();
drawLists();
if (data.timeline.length) {
  layTimeline();
  listenTimeline();
} else {
  drawTimeline = () => byId("time-plot").replaceChildren("Nothing was timed.");
}
drawFigures();
let drawnWidth = innerWidth;
addEventListener("resize", () => { if (innerWidth !== drawnWidth) { drawnWidth = innerWidth; drawFigures(); } });
addEventListener("beforeprint", () => { for (const d of document.querySelectorAll("details")) d.open = true; drawFigures(); });
addEventListener("afterprint", drawFigures);
document.body.dataset.ready = "yes";
