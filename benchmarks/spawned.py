"""Run one command and print its exit status, seconds, processor seconds and peak memory in MiB.

    python -I -S benchmarks/spawned.py OUTPUT COMMAND...

The peak of a process starts at that of its parent, so this script imports next to nothing.
"""

import os
import sys
import time

UNIT = 1 << 20 if sys.platform == "darwin" else 1 << 10  # ru_maxrss is in bytes on macOS, else in KiB

if __name__ == "__main__":
    output, *command = sys.argv[1:]
    opened = (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    begin = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[opened])
    _, status, used = os.wait4(pid, 0)
    seconds = time.perf_counter() - begin
    print([os.waitstatus_to_exitcode(status), seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / UNIT])
