#!/usr/bin/env python3
"""Stamps of PTX on every way through it: stamp_places.py [--plant=move|stamp] FILE.ptx...

A stamp stands a number of rows behind the lane's place, which moves on once for
several of them. So on each way the n-th stamp since the place last moved must be n
rows behind it, the place must move by as many rows as were stamped, and ways that
meet must agree on n. A wait that finds nothing to wait for makes no stamp; one that
waits makes two and moves the place by these two, which leaves n as it was.
Prints how many stamps were followed; exit code 1 with the first fault. --plant puts
one in and fails if it is not found.
"""
import re
import sys

STAMP = re.compile(r"@attn_writes st\.global\.u32 \[attn_place\+(\d+)\]")
MOVE = re.compile(r"add\.u64 attn_place, attn_place, (\d+);")
BRANCH = re.compile(r"(@!?%p\d+\s+)?bra(?:\.uni)?\s+(\$L__BB\w+);")


class Fault(Exception):
    pass


def blocks_of(lines):
    """label -> (steps, next labels); a step is (line, kind, bytes)."""
    blocks, label, steps, inside, waits, opens = {}, "entry", [], False, False, False
    reached = True  # By what stands above.

    def end(targets, next_label, falls):
        nonlocal label, steps, reached
        if reached:
            blocks[label] = (steps, targets + [next_label] * falls)
        label, steps, reached = next_label, [], falls

    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text == "// begin inline asm":
            inside, waits, opens = True, False, False
        elif text == "// end inline asm":
            inside = False
        elif found := re.match(r"(\$L__BB\w+):", text):
            end([], found[1], True)
            reached = True
        elif not inside and (found := BRANCH.match(text)):
            end([found[2]], f"line {number}", bool(found[1]))
        elif not inside and text == "ret;":
            end([], f"line {number}", False)
        elif inside and ".test_wait." in text:
            waits = True
        elif text.startswith("mad.wide.u32 attn_place"):
            opens = True  # The lane's first place, behind the headers.
        elif found := STAMP.match(text):
            steps.append((number, "wait's stamp" if waits else "stamp", int(found[1])))
        elif (found := MOVE.match(text)) and not opens:
            steps.append((number, "wait's move" if waits else "move", int(found[1])))
    end([], "end", False)
    return blocks


def follow(path, name, lines, row):
    """Stamps of one kernel."""
    blocks, ahead, todo, count = blocks_of(lines), {"entry": 0}, ["entry"], 0
    while todo:
        label = todo.pop()
        now, waited = ahead[label], 0
        for number, kind, size in blocks[label][0]:
            rows = size // row
            right = {"stamp": now, "wait's stamp": now + waited, "move": now,
                     "wait's move": waited}[kind]
            if size % row or rows != right:
                raise Fault(f"{path}: {name}, line {number}: a {kind} of {rows} rows where {right} are due")
            count += "stamp" in kind
            now += kind == "stamp"
            waited = waited + 1 if kind == "wait's stamp" else 0 if kind == "wait's move" else waited
            now = 0 if kind == "move" else now
        for target in blocks[label][1]:
            if target not in ahead:
                ahead[target] = now
                todo.append(target)
            elif ahead[target] != now:
                raise Fault(f"{path}: {name}: ways that meet at {target} are {ahead[target]} and {now} stamps ahead")
    return count


def check(path, text):
    total = 0
    for kernel in re.split(r"(?=\.visible \.entry )", text)[1:]:
        lanes = re.search(r"div\.u32 made, lane, (\d+);", kernel)
        if lanes:
            name = re.match(r"\.visible \.entry (\w+)", kernel)[1]
            total += follow(path, name, kernel.split("\n"), 4 * int(lanes[1]))
    return total


def plant(kind, text):
    """The text with a fault in the middle of it."""
    found = list((MOVE if kind == "move" else STAMP).finditer(text))
    fault = found[len(found) // 2]
    wrong = re.sub(r"\d+(?=[\];])", lambda size: str(int(size[0]) + 4096), fault[0])
    return text[:fault.start()] + wrong + text[fault.end():]


def main():
    planted = [a.split("=")[1] for a in sys.argv[1:] if a.startswith("--plant=")]
    for path in (a for a in sys.argv[1:] if not a.startswith("--")):
        with open(path) as file:
            text = file.read()
        for kind in planted:
            try:
                check(path, plant(kind, text))
            except Fault as fault:
                print(f"found: {fault}")
            else:
                return f"{path}: the planted {kind} was not found"
        if not planted:
            try:
                print(f"{path}: {check(path, text)} stamps")
            except Fault as fault:
                return str(fault)


if __name__ == "__main__":
    sys.exit(main())
