"""Starts `planner`, the program in this package."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path


def program() -> Path:
    """The path of the program: in the scripts of this environment, of the user, or of `pip install --target`."""
    name = "planner" + (sysconfig.get_config_var("EXE") or "")
    user = sysconfig.get_preferred_scheme("user")
    folders = [
        Path(sysconfig.get_path("scripts")),
        Path(sysconfig.get_path("scripts", scheme=user)),
        Path(__file__).parent.parent / "bin",
    ]
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"{name} is in none of {', '.join(map(str, folders))}: install prospector-planner again")


def main() -> None:
    command = [str(program()), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.run(command).returncode)
    os.execv(command[0], command)
