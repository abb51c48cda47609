"""What a user can put right: one line that says the reason and what to change."""
import sys


class Problem(Exception):
    pass


def exit_code(tool, run):
    """What run() gives; 2 and one line on stderr when its request cannot be met."""
    try:
        return run()
    except Problem as problem:
        reason = problem
    except OSError as problem:
        reason = f"{problem.filename}: {problem.strerror}"
    except RuntimeError as problem:  # PyTorch's: out of memory, a kernel that failed while it was timed.
        reason = str(problem).splitlines()[0]
    print(f"{tool}: {reason}", file=sys.stderr)
    return 2
