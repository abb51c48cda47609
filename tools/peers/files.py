"""Files that are whole or not there."""
import json
import os


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
