"""weir-backup, which the package's timer calls: a checked copy of a checkpoint, a hook that takes it elsewhere, and
how many stay."""

import os
import re
import stat
import subprocess
from pathlib import Path

import harness

ROOT = Path(__file__).resolve().parents[2]
NAME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-turn-\d+"


class Backup(harness.ServerTest):
    def setUp(self):
        super().setUp()
        self.target = self.path("backups")
        self.weir = self.server().start()
        self.weir.call("SET", "a", "1")

    def back_up(self, *options, code=0, **environment):
        """What it says."""
        done = subprocess.run([ROOT / "tools/weir-backup", "--port", str(self.weir.port), "--to", self.target, *options],
                              text=True, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=harness.PATIENCE_S,
                              env={**os.environ, "WEIR_SERVER": harness.executable, **environment})
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def backups(self):
        return sorted(os.listdir(self.target)) if os.path.isdir(self.target) else []

    def hook(self, text):
        path = Path(self.write("hook", f"#!/bin/sh\n{text}\n"))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def test_a_backup_is_restored(self):
        said = self.back_up()
        [name] = self.backups()
        self.assertRegex(name, f"^{NAME}$")
        self.assertEqual(said, f"weir-backup: {self.target}/{name}\n")
        self.assertEqual(os.stat(os.path.join(self.target, name)).st_mode & 0o027, 0)
        self.weir.call("SET", "a", "2")
        done = subprocess.run([harness.executable, "--restore", os.path.join(self.target, name), "--dir",
                               self.path("restored")], check=False, capture_output=True, timeout=harness.PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        restored = self.server(dir=self.path("restored"), logfile=self.path("restored.log"))
        restored.log_path = self.path("restored.log")
        self.assertEqual(restored.start().call("GET", "a"), b"1")

    def test_the_newest_stay_and_nothing_else_is_touched(self):
        os.makedirs(os.path.join(self.target, "mine"))
        os.makedirs(os.path.join(self.target, "2026-01-01T00-00-00.000Z-turn-7.tmp"))
        made = [self.back_up("--keep", "2").split("/")[-1].strip() for _ in range(4)]
        self.assertEqual(self.backups(), sorted([*made[2:], "mine"]))
        self.back_up("--keep", "0")
        self.assertEqual(len(self.backups()), 4)

    def test_the_hook_gets_the_backup(self):
        hook = self.hook(f'test -f "$1/WEIR" && echo "$1" >>{self.path("uploaded")}')
        self.back_up("--hook", hook)
        self.back_up("--hook", hook)
        uploaded = Path(self.path("uploaded")).read_text(encoding="utf-8").split()
        self.assertEqual(uploaded, [f"{self.target}/{name}" for name in self.backups()])

    def test_a_hook_that_fails_is_told_and_nothing_is_removed(self):
        self.back_up()
        said = self.back_up("--keep", "1", "--hook", self.hook("exit 3"), code=1)
        self.assertRegex(said, rf"^weir-backup: the hook {self.path('hook')} has ended with 3; the backup is in .*{NAME}\n$")
        self.assertEqual(len(self.backups()), 2)
        self.back_up("--keep", "1", "--hook", self.hook("exit 0"))
        self.assertEqual(len(self.backups()), 1)

    def test_a_copy_that_is_not_whole_is_no_backup(self):
        program = self.path("checker")
        Path(program).write_text("#!/bin/sh\necho 'a block is damaged'\nexit 1\n", encoding="utf-8")
        os.chmod(program, 0o755)
        said = self.back_up(code=1, WEIR_SERVER=program)
        self.assertRegex(said, r"is not whole: a block is damaged")
        self.assertRegex(self.backups()[0], rf"^{NAME}\.tmp$")
        self.back_up()
        self.assertRegex(" ".join(self.backups()), f"^{NAME}$")

    def test_a_user_with_few_rights(self):
        self.weir.call("ACL", "SETUSER", "backup", "on", ">secret", "+bgsave", "+info", "+config|get")
        self.weir.call("ACL", "SETUSER", "default", "off")
        self.assertIn("NOAUTH", self.back_up(code=1))
        self.back_up("--user", "backup", REDISCLI_AUTH="secret")
        self.assertEqual(len(self.backups()), 1)

    def test_a_weir_that_is_away_is_told(self):
        self.weir.stop()
        self.assertRegex(self.back_up(code=1), r"^weir-backup: cannot connect to 127\.0\.0\.1:\d+: .*\n$")


class Units(harness.ServerTest):
    def test_the_service_calls_it_with_what_the_file_says(self):
        unit = (ROOT / "tools/debian/weir.weir-backup.service").read_text(encoding="utf-8")
        file = (ROOT / "tools/debian/backup.conf").read_text(encoding="utf-8")
        command = re.search(r"(?m)^ExecStart=(\S+) \$(\w+)$", unit)
        self.assertEqual(command.group(1), "/usr/bin/weir-backup")
        self.assertRegex(file, rf"(?m)^{command.group(2)}=")
        self.assertIn("EnvironmentFile=-/etc/weir/backup.conf\n", unit)
        folder = re.search(r"(?m)^ReadWritePaths=(\S+)$", unit).group(1)
        program = (ROOT / "tools/weir-backup").read_text(encoding="utf-8")
        self.assertIn(f'"--to", default="{folder}"', program)
        self.assertIn(f" {folder}\n", (ROOT / "tools/debian/weir.postinst").read_text(encoding="utf-8"))


if __name__ == "__main__":
    harness.main()
