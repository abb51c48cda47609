# SIGNAL FOLDER SPEC: ends attnc once its temporary folder is there; fails if
# the folder was not seen, or if anything is left. Started by Python, since a
# shell lets its background jobs ignore SIGINT.
exec python3 - "$@" <<'END'
import os, shutil, signal, subprocess, sys, time
name, folder, spec = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.mkdir(folder)
run = subprocess.Popen(["attnc", spec, "-o", folder + "/b", "--cubin=none"])
end = time.time() + 20
while not os.listdir(folder) and time.time() < end:
    time.sleep(0.005)
seen = os.listdir(folder)
run.send_signal(getattr(signal, "SIG" + name))
run.wait()
left = os.listdir(folder)
print("seen", seen, "status", run.returncode, "left", left)
sys.exit(not seen or run.returncode == 0 or bool(left))
END
