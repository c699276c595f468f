"""weir-backup, which the package's timer calls: a checked copy of a checkpoint, a hook that takes it elsewhere, and
how many stay."""

import os
import re
import shutil
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

    def back_up(self, *options, code=0, program=ROOT / "tools/weir-backup", **environment):
        """What it says."""
        done = subprocess.run([program, "--port", str(self.weir.port), "--to", self.target, *options],
                              text=True, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=harness.PATIENCE_S,
                              env={**os.environ, "WEIR_SERVER": harness.executable, **environment})
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def backups(self):
        names = os.listdir(self.target) if os.path.isdir(self.target) else []
        return sorted(name for name in names if not name.startswith("."))

    def hook(self, text, executable=True):
        path = Path(self.write("hook", f"#!/bin/sh\n{text}\n"))
        path.chmod(path.stat().st_mode & 0o666 | (stat.S_IXUSR if executable else 0))
        return str(path)

    def older(self, *names):
        for name in names:
            os.makedirs(os.path.join(self.target, name))

    def turn(self):
        return int(self.weir.call("INFO", "storage").split(b"last_checkpoint:")[1].split(b"\r")[0].rsplit(b"-", 1)[1])

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

    def test_the_turn_says_what_is_newer(self):
        """The clock was wrong when one was made."""
        self.back_up()
        ahead = f"2099-01-01T00-00-00.000Z-turn-{self.turn() - 1}"
        self.older(ahead)
        for _ in range(2):
            self.weir.call("SET", "a", "1")
            made = self.back_up("--keep", "2").split("/")[-1].strip()
            self.assertIn(made, self.backups())
        self.assertEqual(len(self.backups()), 2)
        self.assertNotIn(ahead, self.backups())

    def test_what_was_given_up_for_older_data_goes_first(self):
        given_up = [f"2099-01-01T00-00-0{i}.000Z-turn-{1000000 + i}" for i in range(3)]
        self.older(*given_up)
        made = []
        for count in range(4):
            self.weir.call("SET", "a", "1")
            made.append(self.back_up("--keep", "3").split("/")[-1].strip())
            self.assertEqual(self.backups(), sorted([*given_up[count + 1:], *made[-3:]]))

    def test_less_than_none_cannot_be_kept(self):
        self.assertRegex(self.back_up("--keep", "-1", code=1), r"^weir-backup: --keep is .*\n$")
        self.assertEqual(self.backups(), [])

    def test_one_run_at_a_time_works_in_a_folder(self):
        waits = self.path("waits")
        os.mkfifo(waits)
        first = subprocess.Popen([ROOT / "tools/weir-backup", "--port", str(self.weir.port), "--to", self.target,
                                  "--hook", self.hook(f"cat {waits}")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 env={**os.environ, "WEIR_SERVER": harness.executable})
        with open(waits, "wb"):  # opened when the hook reads
            said = self.back_up(code=1)
            self.assertRegex(said, r"^weir-backup: another weir-backup works in .*\n$")
            self.assertEqual(len(self.backups()), 1)
        first.communicate(timeout=harness.PATIENCE_S)
        self.assertEqual(first.returncode, 0)
        self.back_up()
        self.assertEqual(len(self.backups()), 2)

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

    def test_a_hook_that_may_not_be_executed_is_told(self):
        """One that is named, and the one that is there."""
        hook = self.hook("exit 0", executable=False)
        tools = Path(self.path("tools"))
        shutil.copytree(ROOT / "tools/exchange", tools / "exchange")
        text = (ROOT / "tools/weir-backup").read_text(encoding="utf-8")
        program = Path(self.write("tools/weir-backup", text.replace('"/etc/weir/backup-hook"', f'"{hook}"')))
        program.chmod(0o755)
        for said in (self.back_up("--hook", hook, code=1), self.back_up(program=program, code=1)):
            self.assertRegex(said, rf"^weir-backup: the hook {hook} is not there or may not be executed; the backup is in .*\n$")
        self.assertEqual(len(self.backups()), 2)
        os.chmod(hook, 0o755)
        self.back_up(program=program)

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
