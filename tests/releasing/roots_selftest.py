"""What tools/prove/in-root promises, in the root of this machine: nothing that it started outlives it."""

import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from made_up import TOOLS, InFolder  # noqa: E402
from support.waiting import wait_until  # noqa: E402

IN_ROOT = TOOLS / "prove/in-root"


def can_make_namespaces():
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False).returncode == 0


@unittest.skipUnless(can_make_namespaces(), "it needs root, and namespaces")
class InRoot(InFolder):
    def test_the_command_is_that_users_with_its_environment_and_folder(self):
        shown = subprocess.run([IN_ROOT, "--user", "daemon", "--dir", "/usr", "--env", "NAME=a b", "/", "sh", "-c",
                                'echo "$(id -un) $(pwd) $NAME $$"; exit 3'], text=True, capture_output=True, check=False)
        self.assertEqual((shown.stdout, shown.returncode), ("daemon /usr a b 1\n", 3))

    def test_whoever_kills_it_kills_what_it_started(self):
        self.folder.chmod(0o777)
        for user in ("root", "daemon"):
            log = self.folder / user
            script = f'exec 9>"{log}"; flock 9; echo held >&9; sleep 300 & sleep 300'
            running = subprocess.Popen([IN_ROOT, "--user", user, "/", "sh", "-c", script])
            wait_until(lambda: log.exists() and log.read_text(encoding="utf-8") == "held\n", f"{user} is there")
            running.send_signal(signal.SIGKILL)
            running.wait()
            # The lock is given up when the last of those who hold it is gone.
            subprocess.run(["flock", "--timeout", "20", log, "true"], check=True)


if __name__ == "__main__":
    unittest.main()
