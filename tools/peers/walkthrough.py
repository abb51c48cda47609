#!/usr/bin/env python3
"""Puts measured figures into kernels/WALKTHROUGH.md, so that none is written by hand.

  tools/peers/walkthrough.py --collect BENCH.json [TORCH.json] [AGREEMENT.json]
  tools/peers/walkthrough.py            write the page again from kernels/walkthrough.json
  tools/peers/walkthrough.py --check    does the page say what kernels/walkthrough.json holds?

--collect reads what attn-bench --json, torch_levels.py --json and agreement.py --json wrote (which is
which shows in the files), keeps what the page shows in kernels/walkthrough.json and writes the page.
A later call replaces only the parts it is given. Both files are tracked: each one that is rewritten is
named. The page marks what is not prose:

  <!--table NAME--> ... <!--/table-->        lines of their own
  <!--f NAME-->...<!--/f-->                  within a line

Exit code: 0; 1 the page is not what the data say (--check); 2 wrong input.
"""
import argparse
import difflib
import json
import os
import sys
import time

import figures
from files import write_json, write_text
from problem import Problem

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except ValueError as problem:
        raise Problem(f"{path} is not JSON: {problem}")


def collect(data, paths, date):
    """`data` with the parts that these files hold."""
    for path in paths:
        run = read_json(path)
        if "levels" in run:
            data["bench"] = {"date": date, **figures.condense_bench(run)}
        elif "forms" in run:
            data["torch"] = figures.condense_torch(run)
        elif "kernels" in run:
            data["agreement"] = figures.condense_agreement(run)
        else:
            raise Problem(f"{path} is of none of attn-bench --json, torch_levels.py --json, agreement.py --json")
    if "bench" not in data:
        raise Problem("nothing of attn-bench yet; give the file that attn-bench --json wrote")
    return data


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collect", nargs="+", metavar="FILE", default=[])
    parser.add_argument("--date", default=time.strftime("%Y-%m-%d", time.gmtime()),
                        help="of attn-bench's run (default: today)")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--page", default=os.path.join(ROOT, "kernels", "WALKTHROUGH.md"))
    parser.add_argument("--data", default=os.path.join(ROOT, "kernels", "walkthrough.json"))
    options = parser.parse_args(arguments)
    try:
        data = read_json(options.data) if os.path.exists(options.data) else {}
        if options.collect:
            data = collect(data, options.collect, options.date)
        if not data:
            raise Problem(f"{options.data} is missing; make it with --collect")
        with open(options.page, encoding="utf-8") as file:
            old = file.read()
        new = figures.rewrite(old, data)
        if options.check:
            difference = list(difflib.unified_diff(old.splitlines(), new.splitlines(), "the page", "the data", n=0,
                                                   lineterm=""))
            print("\n".join(difference) or "the page says what the data hold")
            return int(bool(difference))
        if options.collect:
            write_json(options.data, data)
            print(f"rewrote {options.data}")
        if new == old:
            print(f"{options.page} says that already")
        else:
            write_text(options.page, new)
            print(f"rewrote {options.page}")
    except Problem as problem:
        print(f"walkthrough: {problem}", file=sys.stderr)
        return 2
    except OSError as problem:
        print(f"walkthrough: {problem.filename}: {problem.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
