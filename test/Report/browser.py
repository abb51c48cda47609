#!/usr/bin/env python3
"""Opens attn-bench's report in a headless Chromium and looks at it.

Nothing may reach the console, every figure must be drawn from the data beside
it, and the page may not be wider than a phone. `--shots DIR` keeps pictures.
"""
import argparse
import html.parser
import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
WIDTHS = (1100, 400)
# In a copy of the page: what only a laid-out document knows. A browser window
# has a least width, so the copy stands in a frame and tells its frame's page.
PROBE = """<script>
document.body.dataset.width = innerWidth;
document.body.dataset.wide = document.documentElement.scrollWidth;
const nan = [...document.querySelectorAll("svg *")].filter(e =>
  [...e.attributes].some(a => /NaN|Infinity|undefined/.test(a.value)));
document.body.dataset.broken = nan.length;
parent.postMessage(document.documentElement.outerHTML, "*");
</script>"""
FRAME = """<!DOCTYPE html><link rel="icon" href="data:,"><body><script>
addEventListener("message", e => document.body.dataset.page = e.data);
</script><iframe src="probed.html" width="%d" height="3000" style="border:0"></iframe>"""


def find_browser():
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if path := shutil.which(name):
            return path
    return None


class Page(html.parser.HTMLParser):
    """Counts elements by tag and class under each id; gathers their text."""

    def __init__(self, text):
        super().__init__()
        self.stack, self.texts, self.counts, self.body = [], {}, {}, {}
        self.feed(text)

    VOID = {"meta", "link", "br", "img", "input", "hr"}

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "body":
            self.body = attributes
        for mark in [tag] + (attributes.get("class") or "").split():
            for _, name in self.stack:
                if name:
                    key = (name, mark)
                    self.counts[key] = self.counts.get(key, 0) + 1
        if tag not in self.VOID:
            self.stack.append((tag, attributes.get("id")))

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop()[0] != tag:
            pass

    def handle_data(self, text):
        for _, name in self.stack:
            if name:
                self.texts[name] = self.texts.get(name, "") + text


def digits(value):
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def time(ms):
    value = ms * 1e6
    for unit in ("ns", "µs", "ms", "s"):
        if value < 999.5 or unit == "s":
            return f"{digits(value)} {unit}"
        value /= 1000


def expect(truth, what):
    if not truth:
        print("FAILED:", what)
        expect.failures += 1


expect.failures = 0


def browse(browser, profile, page, width, height, *flags):
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu",
               "--disable-extensions", "--no-first-run", "--hide-scrollbars",
               "--user-data-dir=" + profile, "--enable-logging=stderr",
               f"--window-size={width},{height}", *flags, "file://" + page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    expect(done.returncode == 0, f"{page}: the browser ended with {done.returncode}")
    expect(not said, f"{page}: on the console: {said}")
    return done.stdout


def look(browser, profile, folder, shots):
    with open(folder + "/report.json") as file:
        data = json.load(file)
    with open(folder + "/report.html") as file:
        text = file.read()
    expect("http:" not in text.replace("http://www.w3.org/2000/svg", "")
           and "https:" not in text, "the page names nothing on a network")
    copy = folder + "/probed.html"
    with open(copy, "w") as file:
        file.write(text.replace("</body>", PROBE + "</body>"))
    kernels = [k for level in data["levels"] for k in level["kernels"]]
    timed = [level for level in data["levels"] if level["measured"] is not None and level["launches"]]
    untimed = [level for level in data["levels"] if level["failure"]]
    for width in WIDTHS:
        frame = f"{folder}/frame{width}.html"
        with open(frame, "w") as file:
            file.write(FRAME % width)
        outer = Page(browse(browser, profile, frame, 1300, 3000, "--dump-dom", "--virtual-time-budget=5000"))
        page = Page(outer.body.get("data-page") or "")
        name = f"{data['program']} at {width}"
        expect(page.body.get("data-ready") == "yes", name + ": the script ran to its end")
        expect(page.body.get("data-broken") == "0", name + ": every figure has numbers in it")
        expect(page.body.get("data-width") == str(width), f"{name}: laid out at {page.body.get('data-width')}")
        expect(int(page.body.get("data-wide", 9999)) <= int(page.body.get("data-width", 0)),
               f"{name}: no wider than its window, {page.body}")
        count = lambda where, mark: page.counts.get((where, mark), 0)
        said = lambda where: page.texts.get(where, "")
        for figure in ("level-bars", "byte-bars", "roof-plot"):
            expect(count(figure, "svg") == 1, f"{name}: {figure} is drawn")
        expect(count("roof-plot", "dot") == sum(
            k["measured"] is not None and k["measured"] > 0 and k["flops"] > 0 and k["bytes"] > 0
            for k in kernels), name + ": a dot a kernel")
        expect(count("footprint-table", "tr") == 1 + len(kernels), name + ": a footprint row a kernel")
        expect(count("level-table", "tr") == 1 + len(data["levels"]), name + ": a row a level")
        expect(count("miss-list", "li") == sum(bool(k["reason"]) for k in kernels), name + ": every miss is listed")
        expect(count("step-list", "step") == len(data["levels"]) - 1, name + ": every step is told")
        expect(count("missing-list", "li") == len(data["missing"]), name + ": what is missing is told")
        spans = sum(len(level["spans"]) for level in data["timeline"])
        expect(count("time-plot", "span") == 2 * spans, name + ": host and device lanes are full")
        roles = sum(len(k["timeline"]["roles"]) for k in kernels if k["timeline"])
        expect(count("phase-table", "tr") == (1 + roles if roles else 0), name + ": a row a role whose phases were recorded")
        for level in timed:
            expect(time(level["measured"]) in said("level-bars"), f"{name}: {level['name']} shows {time(level['measured'])}")
            expect(level["name"] in said("byte-bars"), f"{name}: bytes of {level['name']}")
        for level in untimed:
            expect("not timed" in said("level-bars"), f"{name}: {level['name']} is not timed")
            expect(level["failure"] in said("verdict"), f"{name}: why {level['name']} failed")
        if all(k["counted"] is None for k in kernels):
            expect("not counted: " in said("byte-legend"), name + ": why nothing was counted")
    if shots:
        os.makedirs(shots, exist_ok=True)
        for look_name, width, flags in (("light", 1100, []), ("phone", 400, []),
                                        ("dark", 1100, ["--blink-settings=preferredColorScheme=0"])):
            browse(browser, profile, folder + "/report.html", width, 3400, *flags,
                   f"--screenshot={shots}/{data['program']}-{look_name}.png")
        browse(browser, profile, folder + "/report.html", 1100, 3400,
               f"--print-to-pdf={shots}/{data['program']}.pdf")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--shots")
    options = parser.parse_args()
    browser = find_browser()
    if not browser:
        print("skipped: no Chromium here (Debian: apt-get install chromium)")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        # One level of this bundle is wrong on purpose.
        bundle = shutil.copytree(options.source + "/test/Tools/Inputs/bench", folder + "/bundle")
        subprocess.run([options.cc, "-shared", "-fPIC", "-O2", "-o", bundle + "/kernels.so",
                        bundle + "/kernels.c", "-lm"], check=True)
        jobs = [(bundle, 1, ["--bind", "B=1,H=2,M=65,N=130"])]
        if os.path.exists(os.path.join(os.path.dirname(options.bench), "attnc")):
            jobs.append((options.source + "/kernels/causal.attn", 0, ["--bind", "B=1,H=2,M=256,N=256,D=64"]))
            jobs.append((options.source + "/kernels/alibi.attn", 0, ["--bind", "M=0", "--levels=flash"]))
        else:
            print("note: no attnc beside attn-bench: only the bundle made by hand is looked at")
        for i, (spec, status, flags) in enumerate(jobs):
            report = f"{folder}/report{i}"
            done = subprocess.run([options.bench, spec, "--target=cpu", "--repeats=5", "--report", report, *flags],
                                  stdout=subprocess.DEVNULL)
            expect(done.returncode == status, f"{spec}: attn-bench ended with {done.returncode}")
            look(browser, folder + "/profile", report, options.shots)
    return 1 if expect.failures else 0


if __name__ == "__main__":
    sys.exit(main())
