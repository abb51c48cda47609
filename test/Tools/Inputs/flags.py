"""Every flag that a message names is one that a tool has: flags.py SOURCE."""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*)")
known = {"attn"}  # "--attn-..." names passes.
for tool in ("attn-opt", "attnc", "attn-bench", "attn-check"):
    option = "--help-hidden" if tool in ("attn-opt", "attnc") else "--help"
    known.update(FLAG.findall(subprocess.run([tool, option], capture_output=True, text=True).stdout))
# attn-opt prints its options with their hyphens, passes included.
wrong = []
for folder in ("lib", "tools", "test/Run"):
    for path in sorted((root / folder).rglob("*.cpp")):
        text = re.sub(r'"\s*\n\s*"', "", path.read_text())  # Literals that go on.
        for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
            wrong += [f"{path}: --{flag} in \"{literal}\"" for flag in FLAG.findall(literal) if flag not in known]
print("\n".join(wrong) or "every flag is known")
sys.exit(bool(wrong))
