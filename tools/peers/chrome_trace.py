"""Launches of several forwards as a Chrome trace that Perfetto opens, in the format of attn-bench --trace:
a host lane, a lane a stream, an arrow from each call to what it started, footprints as arguments."""
from files import write_json

PROCESS, HOST, FIRST_STREAM = 1, 1, 2
GAP = 20  # Microseconds between two forwards.
LEAST = 0.001  # Microseconds; a slice of no length has no inside for an arrow's end.


def lane(number, name):
    return {"ph": "M", "pid": PROCESS, "tid": number, "name": "thread_name", "args": {"name": name}}


def slice_(number, name, start, end, args):
    return {"ph": "X", "pid": PROCESS, "tid": number, "name": name, "ts": start, "dur": max(end - start, LEAST),
            "args": args}


def arrow(phase, number, ident, at):
    event = {"ph": phase, "pid": PROCESS, "tid": number, "name": "launch", "cat": "launch", "id": ident, "ts": at}
    return {**event, "bp": "e"} if phase == "f" else event


def short(symbol):
    """A kernel's name without templates and arguments: "void at::softmax<...>(...)" is "at::softmax"."""
    depth, kept = 0, []
    for letter in symbol.removeprefix("void ").replace("(anonymous namespace)::", ""):
        if letter == "(" and depth == 0:
            break
        depth += letter == "<"
        if depth == 0:
            kept.append(letter)
        depth -= letter == ">"
    return "".join(kept).strip() or symbol


def footprint(launch):
    args = {"symbol": launch.name, "kind": launch.kind, "correlation": launch.correlation}
    if launch.kind == "kernel":
        args.update(blocks=launch.blocks, threads=launch.threads, registers=launch.registers,
                    shared_bytes=launch.shared)
    return args


def events(process, device, forwards):
    """`forwards`: {name: (launches of one run, labels, args)}; labels name the launches, or None."""
    streams = sorted({launch.stream for launches, _, _ in forwards.values() for launch in launches})
    lanes = {stream: FIRST_STREAM + i for i, stream in enumerate(streams)}
    made = [{"ph": "M", "pid": PROCESS, "name": "process_name", "args": {"name": process}}, lane(HOST, "host")]
    made += [lane(number, f"stream {stream}: {device}") for stream, number in lanes.items()]
    start, ident = 0.0, 0
    for name, (launches, labels, args) in forwards.items():
        if not launches:
            continue
        zero = min(min(launch.start, launch.host[0] if launch.host else launch.start) for launch in launches)
        place = start - zero
        finished = start
        for stream, number in lanes.items():
            own = [launch for launch in launches if launch.stream == stream]
            if own:
                # The slice around them comes first: a slice stands before those it holds.
                last = max(launch.start + launch.duration for launch in own)
                made.append(slice_(number, name, own[0].start + place, max(last, own[0].start + LEAST) + place,
                                   {**args, "launches": len(own)}))
        called = -1.0
        for i, launch in enumerate(launches):
            label = labels[i] if labels else short(launch.name)
            begin, end = launch.start + place, launch.start + launch.duration + place
            finished = max(finished, end)
            made.append(slice_(lanes[launch.stream], label, begin, end, footprint(launch)))
            if not launch.host:
                continue
            call, done = launch.host[0] + place, sum(launch.host) + place
            if call <= called or begin < call:
                continue  # Several launches of one call, as a graph's; or clocks that disagree.
            called = call
            finished = max(finished, done)
            ident += 1
            made.append(slice_(HOST, f"launch {label}", call, done, {"level": name}))
            made += [arrow("s", HOST, ident, call), arrow("f", lanes[launch.stream], ident, begin)]
        start = finished + GAP
    return made


def write(path, process, device, forwards):
    write_json(path, {"displayTimeUnit": "ms", "otherData": {"device": device},
                      "traceEvents": events(process, device, forwards)}, indent=None)
