"""limited.py BYTES ignore|die COMMAND...: no file may grow over BYTES. A write
beyond fails (ignore) or ends the command by a signal (die)."""
import os
import resource
import signal
import sys

limit, mode, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
# Python ignores the signal from its start; a command inherits that.
signal.signal(signal.SIGXFSZ, signal.SIG_IGN if mode == "ignore" else signal.SIG_DFL)
os.execvp(command[0], command)
