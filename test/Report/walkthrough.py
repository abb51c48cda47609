#!/usr/bin/env python3
"""The walk-through page: its figures are its data's, and its commands run.

  walkthrough.py --bin BUILD/bin --source SOURCE

Commands are run as the page has them, in a copy of the page's surroundings, with
small lengths and the CPU's target for what needs a device. Those of PyTorch must
say what is missing on a machine without it.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

SHORT = {"B": 1, "H": 1, "M": 128, "N": 128, "L": 128}
GPU_LEVELS = ("pipelined", "specialized")  # A CPU has no such levels.
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED: " + what)


def commands(page):
    """Lines of the page's sh blocks, continuations joined."""
    for block in re.findall(r"^```sh\n(.*?)^```$", page, re.S | re.M):
        yield from filter(None, block.replace("\\\n", " ").splitlines())


def shortened(command):
    """The same with small lengths, on the CPU where the original needs a GPU."""
    command = re.sub(r"\b([BHMNL])=\d+", lambda m: f"{m[1]}={SHORT[m[1]]}", command)
    if command.startswith("attnc "):
        command = re.sub(r"--targets=\w+", "--targets=cpu", command)
    if command.startswith("attn-bench ") and "--compare" not in command:
        command += " --target=cpu --repeats=3 --warmup=1 --levels=all"
    return command


def run(command, folder, path):
    # Whatever is installed, PyTorch's side is not what is tested here.
    environment = {**os.environ, "PATH": path + os.pathsep + os.environ["PATH"], "PYTHONPATH": folder + "/none"}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)


def check_commands(source, path, folder):
    for name in ("kernels", "tools/peers"):
        shutil.copytree(f"{source}/{name}", f"{folder}/{name}", ignore=shutil.ignore_patterns("__pycache__"))
    os.makedirs(folder + "/out")
    os.makedirs(folder + "/none")
    with open(folder + "/none/torch.py", "w") as file:
        file.write("raise ImportError\n")
    with open(source + "/kernels/WALKTHROUGH.md") as file:
        page = file.read()
    found = list(commands(page))
    expect(len(found) > 10, "the page has commands")
    for command in found:
        done = run(shortened(command), folder, path)
        said = done.stdout + done.stderr
        print(f"{done.returncode}: {shortened(command)}")
        if command.startswith(("tools/peers/torch_levels", "tools/peers/agreement")):
            expect(done.returncode == 2 and "PyTorch is not installed here" in said, f"{command}: {said}")
        elif command.startswith("diff "):
            expect(done.returncode == 1 and done.stdout.count("\n") > 5 and not done.stderr, f"{command}: {said}")
        elif "--compare" in command and any(level in command for level in GPU_LEVELS):
            expect(done.returncode == 2 and "has no level" in said, f"{command}: {said}")
        else:
            expect(done.returncode == 0, f"{command}: exit code {done.returncode}: {said}")
    # The last collection of figures wrote this copy's page.
    with open(folder + "/kernels/WALKTHROUGH.md") as file:
        written = file.read()
    expect("M128 N128" in written and "M128 N128" not in page, "figures were put into the page")
    done = run("tools/peers/walkthrough.py --check", folder, path)
    expect(done.returncode == 0, f"a page just written is right: {done.stdout}{done.stderr}")


def check_device_script(path, folder):
    """The script for a GPU machine, on this one: what can be measured is there, what cannot is told."""
    os.makedirs(folder + "/device")
    os.makedirs(folder + "/packed")
    shutil.copy(path + "/attn-bench", folder + "/device")
    shutil.copytree(folder + "/out/causal", folder + "/device/causal")
    done = run(f"OUT={folder}/packed tools/peers/walkthrough.sh device --length=32", folder, path)
    said = done.stdout + done.stderr
    expect(done.returncode == 2 and "bench: exit code 0" in said, f"walkthrough.sh: {said}")
    expect("torch_levels: PyTorch is not installed" in said and "agreement: PyTorch is not" in said, f"told: {said}")
    done = run("tar -xzf packed/walkthrough.tgz -C packed && tools/peers/walkthrough.py --collect packed/bench.json",
               folder, path)
    expect(done.returncode == 0, f"walkthrough.sh's figures: {done.stderr}")
    done = run("unset OUT; tools/peers/walkthrough.sh device bench all", folder, path)
    expect(done.returncode == 2 and "no step 'all'" in done.stderr, f"a wrong step: {done.stderr}")


def check_marks(source, path, folder):
    """What is not as the data say is found."""
    tool = source + "/tools/peers/walkthrough.py"
    done = run(f"{tool} --check", folder, path)
    expect(done.returncode == 0, f"kernels/WALKTHROUGH.md does not show kernels/walkthrough.json; run {tool}\n"
                                 + done.stdout + done.stderr)
    with open(source + "/kernels/WALKTHROUGH.md") as file:
        page = file.read()
    figure = re.search(r"<!--f [^>]*-->(.+?)<!--/f-->", page)[1]
    row = re.search(r"<!--table [^>]*-->\n(?:.*\n)*?(\| `?\w.*\n)<!--/table-->", page)[1]
    for change, status, words in (
            (lambda p: p.replace(f"-->{figure}<!--/f-->", "-->17 %<!--/f-->", 1), 1, "+"),
            (lambda p: p.replace(row, row + row, 1), 1, "-"),
            (lambda p: p.replace("<!--table levels-->", "<!--table levles-->"), 2, "asks for table 'levles'; there are"),
            (lambda p: p.replace("<!--f live-->", "<!--f live naive-->"), 2, "wrong arguments: 'live naive'"),
            (lambda p: p.replace("<!--/f-->", "", 1), 2, "without its other half"),
            (lambda p: p.replace("<!--table levels-->", ""), 2, "without its other half")):
        changed = change(page)
        expect(changed != page, "the page was changed for: " + words)
        with open(folder + "/page.md", "w") as file:
            file.write(changed)
        done = run(f"{tool} --check --page page.md", folder, path)
        expect(done.returncode == status and words in done.stdout + done.stderr,
               f"{words}: exit code {done.returncode}: {done.stdout}{done.stderr}")
    # Tracked files are not rewritten in silence.
    with open(folder + "/page.md", "w") as file:
        file.write(page)
    again = f"{tool} --page page.md --data {source}/kernels/walkthrough.json"
    done = run(again, folder, path)
    expect(done.returncode == 0 and done.stdout == "page.md says that already\n", f"unchanged: {done.stdout}")
    with open(folder + "/page.md", "w") as file:
        file.write(page.replace(f"-->{figure}<!--/f-->", "-->17 %<!--/f-->", 1))
    done = run(again, folder, path)
    expect(done.returncode == 0 and done.stdout == "rewrote page.md\n", f"changed: {done.stdout}")
    for text, words in (("{", "is not JSON"), ("{}", "is of none of attn-bench --json")):
        with open(folder + "/run.json", "w") as file:
            file.write(text)
        done = run(f"{tool} --collect run.json --page page.md --data none.json", folder, path)
        expect(done.returncode == 2 and words in done.stderr, f"{words}: {done.stderr}")
    done = run(f"{tool} --page page.md --data none.json", folder, path)
    expect(done.returncode == 2 and "none.json is missing" in done.stderr, f"no data: {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--source", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check_marks(options.source, options.bin, folder)
        if os.path.exists(options.bin + "/attnc"):
            check_commands(options.source, options.bin, folder)
            check_device_script(options.bin, folder)
        else:
            print("note: no attnc here: the page's commands are not run")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
