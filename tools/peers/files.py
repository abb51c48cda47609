"""Files that are whole or not there."""
import json
import os

from problem import Problem


def spare(outputs, folders):
    """Refuses an output, path by option, that is a file of one of these bundles (through a link too)."""
    for option, path in outputs.items():
        for folder in folders if path and os.path.exists(path) else []:
            for name in os.listdir(folder):
                if os.path.samefile(path, os.path.join(folder, name)):
                    raise Problem(f"{option}: '{path}' is a file of bundle {folder}, which this run reads; "
                                  "write elsewhere")


def write_text(path, text):
    """Written beside and renamed: nobody sees half a file."""
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, path)
    except OSError as problem:
        if os.path.exists(beside):
            os.unlink(beside)
        # What stands beside would only confuse.
        raise OSError(problem.errno, problem.strerror, path) from None


def write_json(path, value, indent=1):
    write_text(path, json.dumps(value, indent=indent) + "\n")
