"""interrupted.py FOLDER SPEC: attnc, ended by signals at every stage of its work,
leaves neither a partial bundle nor a temporary folder, and ends as the signal ends
any program."""
import os
import shutil
import signal
import subprocess
import sys
import time

folder, spec = sys.argv[1:]
temporary = os.path.join(folder, "tmp")
os.makedirs(temporary)
command = ["attnc", spec, "-o", os.path.join(folder, "bundle"), "--targets=cpu,sm_80",
           "--cubin=none", "--quiet"]
environment = dict(os.environ, TMPDIR=temporary)


def remains():
    return os.listdir(temporary) + [n for n in os.listdir(folder) if n != "tmp"]


def interrupted(number, delay):
    """Whether the signal came before the bundle was whole."""
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    # From the moment that it has something to tidy up.
    while not remains() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    seen = remains()
    time.sleep(delay)
    process.send_signal(number)
    status = process.wait(60)
    assert status in (0, -number), (status, number)
    # A linker that outlives the compiler by a moment removes its own files.
    while remains() not in ([], ["bundle"]) and time.monotonic() < deadline:
        time.sleep(0.01)
    if remains() == ["bundle"]:  # The signal came behind the last step.
        bundle = os.path.join(folder, "bundle")
        assert os.path.exists(os.path.join(bundle, "manifest.json"))
        shutil.rmtree(bundle)
        return False
    assert status == -number, (status, number)
    assert seen, "nothing was begun"
    assert remains() == [], (number, delay, remains())
    return True


ended = [interrupted(number, delay)
         for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
         for delay in (0, 0.02, 0.1, 0.2)]
assert sum(ended) >= 2, ended
print("ended early:", sum(ended), "of", len(ended))
