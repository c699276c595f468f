"""What docs/cluster.md has somebody type for three shards on three machines, and to run them: the machines are folders
and addresses of this one, and systemd's part is the command of the package's unit. The log is in a PostgreSQL that asks
for a password."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

import harness
import postgres
from shard_fixture import CLI, TOOL, ShardTest
from support.processes import Program

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/cluster.md").read_text(encoding="utf-8")
LOG_PAGE = (ROOT / "docs/failover.md").read_text(encoding="utf-8")
UNIT = (ROOT / "tools/debian/weir.weir@.service").read_text(encoding="utf-8")
PASSWORD = "a-phrase-of-the-test"
MACHINES = {f"m{number}": f"127.0.0.{number}" for number in (1, 2, 3, 4)}
SHARES = {"a": "0-5460", "b": "5461-10921", "c": "10922-16383"}
PORTS = {"a": "7001", "b": "7002", "c": "7003"}


def section(page, title):
    return page.split(f"\n## {title}\n")[1].split("\n## ")[0]


def blocks(text):
    """The indented blocks, without their indent."""
    return [re.sub("(?m)^    ", "", block) for block in re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)]


class Unit(Program):
    """weir@NAME on a machine, by the unit's own command."""

    def __init__(self, machine, name, command, log):
        super().__init__(f"weir@{name} on {machine}", command, log)

    def is_ready(self):
        log = Path(self.log_path)
        return log.exists() and "ready to accept" in log.read_text(encoding="utf-8", errors="replace")


@unittest.skipUnless(postgres.programs() or os.environ.get("CI"), "PostgreSQL is not installed")
class ThePage(ShardTest):
    def setUp(self):
        super().setUp()
        self.database = postgres.Postgres(bare=True)
        self.addCleanup(self.database.close)
        for statement in blocks(section(LOG_PAGE, "Ten lines"))[0].strip().splitlines():
            self.database.ask(statement, "postgres")
        self.ports = {}
        while len(set(self.ports.values())) < len(PORTS):
            self.ports = {port: str(harness.free_port()) for port in PORTS.values()}
        self.units = {}
        self.addCleanup(self.stop_all)
        self.set_up_machines()

    def stop_all(self):
        for unit in self.units.values():
            unit.kill()

    def here(self, text, machine):
        """The page's text as somebody types it on a machine: its paths, addresses and ports are the test's."""
        for path in ("/etc/weir", "/var/lib", "/var/backups"):
            text = text.replace(path, self.path(machine) + path)
        for name, port in self.ports.items():
            text = re.sub(rf"(?<=[: ]){name}\b", port, text)
        return (text.replace("10.0.0.", "127.0.0.").replace("weir@db1/", f"weir@127.0.0.1:{self.database.port}/")
                .replace("bind 0.0.0.0", f"bind {MACHINES[machine]}").replace("<a password>", PASSWORD)
                .replace("<the same>", PASSWORD))

    def type(self, line, machine="m1"):
        """What a command of the page prints; with the tools of this tree, as root or not, and without systemd."""
        words = shlex.split(self.here(line, machine))
        environment = {**os.environ, "WEIR_SERVER": harness.executable, "REDISCLI_AUTH": PASSWORD}
        if words[0].startswith("REDISCLI_AUTH="):
            environment["REDISCLI_AUTH"] = words.pop(0).partition("=")[2]
        if words[:2] == ["sudo", "-u"]:
            words = words[3:]
        if words[0] == "systemctl":
            return self.systemctl(machine, *words[1:])
        if words[0] == "install":
            words = [word for word in words if word not in ("-o", "-g", "weir")]
        out = subprocess.PIPE
        if ">" in words:
            out = open(words[-1], "w", encoding="utf-8")
            words = words[:-2]
        programs = {"weir-server": [harness.executable], "redis-cli": [CLI, "-e"],
                    "weir-cluster": [sys.executable, "-B", str(TOOL)],
                    "weir-backup": [sys.executable, "-B", str(TOOL.parent / "weir-backup")]}
        with contextlib.nullcontext() if out == subprocess.PIPE else out:
            done = subprocess.run([*programs.get(words[0], words[:1]), *words[1:]], env=environment, text=True, check=False,
                                  timeout=harness.PATIENCE_S, stdout=out, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, f"{line}: {done.stdout}")
        return done.stdout

    def systemctl(self, machine, what, *names):
        for name in (name.removeprefix("weir@") for name in names if name.startswith("weir@")):
            if what in ("disable", "restart"):
                unit = self.units.pop((machine, name))
                unit.send_signal(signal.SIGTERM)
                self.assertEqual(unit.process.wait(harness.PATIENCE_S), 0, unit.name)
            if what in ("enable", "restart"):
                folder = self.here(re.search(r"StateDirectory=(\S+)", UNIT)[1].replace("%i", name), machine)
                os.makedirs(f"{self.path(machine)}/var/lib/{folder}", exist_ok=True)
                command = self.here(re.search(r"(?m)^ExecStart=(.*)$", UNIT)[1].replace("%i", name), machine)
                words = command.replace("/usr/bin/weir-server", harness.executable).split()
                checked = subprocess.run([harness.executable, "--check-config", *words[1:2]], text=True, check=False,
                                         capture_output=True, timeout=harness.PATIENCE_S)
                self.assertEqual(checked.returncode, 0, checked.stdout)
                log = f"{self.path(machine)}/{name}.log"
                Path(log).unlink(missing_ok=True)
                self.units[machine, name] = Unit(machine, name, [*words, "--logfile", log], log).spawn()
        for unit in self.units.values():
            harness.wait_until(unit.is_ready, f"{unit.name} is ready")
        return ""

    def set_up_machines(self):
        making = blocks(section(PAGE, "Three shards on three machines"))
        self.assertEqual([block.split()[0] for block in making], ["tools/weir-cluster", "m1$", "bind", "include", "m1$"])
        self.founding, self.settings, self.shard, self.steps = making[1:]
        password = re.search("PASSWORD '(.*)'", LOG_PAGE)[1]
        for number, machine in enumerate(MACHINES, 1):
            os.makedirs(self.path(machine) + "/etc/weir")
            os.makedirs(self.path(machine) + "/var/lib")
            self.put(machine, "log-password", password + "\n")
            self.put(machine, "weir.conf", re.sub(r"(?m)(?<=^cluster-announce-ip )\S+", f"10.0.0.{number}", self.settings))
            for name, port in PORTS.items():
                self.put(machine, name + ".conf", self.shard.replace("7001", port).replace("shard a", f"shard {name}"))
        self.type(self.founding.removeprefix("m1$ "))
        text = Path(self.path("m1") + "/etc/weir/founding").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"shard (\w) (\S+)", text), list(SHARES.items()))
        for machine in ("m2", "m3", "m4"):
            self.put(machine, "founding", text)
        for line in self.steps.splitlines():
            where, _, command = line.partition("$ ")
            machine = "m1" if where == "any" else where
            command = re.sub(r" +#.*", "", command)
            if "weir-cluster status" in command:
                self.wait_for_status(command)
            else:
                self.type(command, machine)
            if command.startswith("install"):
                for machine, name in (("m2", "b"), ("m3", "c")):
                    self.type(command.replace("weir-a", f"weir-{name}"), machine)

    def put(self, machine, name, text):
        path = f"{self.path(machine)}/etc/weir/{name}"
        with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(self.here(text, machine) if name.endswith(".conf") else text)

    def status(self, command):
        """A line for each shard, by its name; nothing while the command fails."""
        with contextlib.suppress(AssertionError):
            return dict(re.findall(r"(?m)^(\w): (slots .*)$", self.type(command)))
        return {}

    def wait_for_status(self, command):
        """All shards serve, and have a standby that follows and lacks nothing."""
        def is_well():
            shown = self.status(command)
            return set(shown) == set(SHARES) and all(
                "(following, lacks 0 turns)" in line and "NOT" not in line for line in shown.values())
        harness.wait_until(is_well, f"{command} shows that all is well")
        return self.status(command)

    def commands_of(self, rows, task):
        return [command for command in re.findall(r"`([a-z-]+ [^`]+)`", rows[task])
                if command.split()[0] in ("systemctl", "redis-cli", "weir-cluster", "weir-backup")]

    def test_a_stranger_founds_it_and_does_every_task_of_the_table(self):
        rows = dict(re.findall(r"(?m)^\| ([^|]+?) \| (.*) \|$", section(PAGE, "Running a cluster of shards")))
        tasks = [task for task in rows if task not in ("task", "---")]
        self.assertEqual(tasks, ["see all", "restart all, one after the other", "give the role of primary to a standby",
                                 "move a member to another machine", "change an option or users everywhere",
                                 "back up each shard", "one shard's trouble"])
        status = self.commands_of(rows, "see all")[0]
        self.take("{b}", "{k}", "{a}")
        self.see_all(rows, status)
        self.restart_all(rows, status)
        self.switch_over(rows, status)
        self.back_up(rows)
        self.change_an_option(rows)
        self.move_a_member(rows, status)
        self.one_shards_trouble(rows, status)

    def take(self, *tags):
        """A permit of each tag, wherever its shard's primary is; the tags are of a, b and c."""
        for tag in tags:
            done = subprocess.run([CLI, "-c", "-h", MACHINES["m1"], "-p", self.ports["7001"], "RL.TAKE", tag, "FIXED",
                                   "100/3650d"], env={**os.environ, "REDISCLI_AUTH": PASSWORD}, text=True, check=False,
                                  capture_output=True, timeout=harness.PATIENCE_S)
            self.assertTrue(done.stdout.startswith("1\n"), done.stdout + done.stderr)

    def see_all(self, rows, status):
        shown = self.wait_for_status(status)
        for name, slots in SHARES.items():
            self.assertIn(f"slots {slots} ", shown[name])
            first, last = map(int, slots.split("-"))
            info = self.type(f"redis-cli -h 10.0.0.{'abc'.index(name) + 1} -p {PORTS[name]} INFO cluster")
            self.assertIn(f"slots_owned:{last - first + 1}\nslots_unowned:0\n", info.replace("\r", ""))
        told = self.type(self.commands_of(rows, "see all")[1])
        for slots in SHARES.values():
            self.assertIn(slots, told)

    def restart_all(self, rows, status):
        restart, shown = self.commands_of(rows, "restart all, one after the other")
        self.assertEqual(shown, status)
        for machine, name in list(self.units):
            self.type(restart.replace("weir@a", f"weir@{name}"), machine)
            self.wait_for_status(status)
        self.take("{b}", "{k}", "{a}")

    def switch_over(self, rows, status):
        command = self.commands_of(rows, "give the role of primary to a standby")[0]
        if f"primary {MACHINES['m2']}:" in self.status(status)["a"]:
            command = command.replace("10.0.0.2", "10.0.0.1")
        goal = "primary " + re.search(r"-h (\S+)", command)[1].replace("10.0.0.", "127.0.0.")
        self.assertEqual(self.type(command).strip(), "OK")
        harness.wait_until(lambda: goal in self.status(status).get("a", ""), "the standby is the primary")

    def back_up(self, rows):
        backup = self.commands_of(rows, "back up each shard")[0]
        for name, machine in (("a", "m1"), ("b", "m2"), ("c", "m3")):
            folder = Path(self.path(machine), "var/backups/weir", name)
            folder.mkdir(parents=True)
            self.type(backup.replace("7001", PORTS[name]).replace("weir/a", f"weir/{name}") + f" --host {MACHINES[machine]}", machine)
            checked = subprocess.run([harness.executable, "--check", next(folder.glob("*turn*"))], text=True, check=False,
                                     capture_output=True, timeout=harness.PATIENCE_S)
            self.assertEqual(checked.returncode, 0, checked.stdout)

    def change_an_option(self, rows):
        command = self.commands_of(rows, "change an option or users everywhere")[0]
        self.assertEqual(self.type(command).count(": OK"), 6)

    def move_a_member(self, rows, status):
        begin, shown, end = self.commands_of(rows, "move a member to another machine")
        self.assertEqual(shown, status)
        self.type(begin, "m4")
        harness.wait_until(lambda: f"{MACHINES['m4']}:{self.ports['7002']} (following" in self.status(status).get("b", ""),
                           "the new member follows")
        self.type(end, "m2")
        harness.wait_until(lambda: f"primary {MACHINES['m2']}:" not in self.status(status).get("b", "primary 127.0.0.2:"),
                           "shard b goes on without it")
        self.take("{k}")

    def one_shards_trouble(self, rows, status):
        for machine, name in list(self.units):
            if name == "c":
                self.units.pop((machine, name)).kill()
        self.take("{b}", "{k}")
        shown, asked = self.commands_of(rows, "one shard's trouble")
        self.assertEqual(shown, status)
        with self.assertRaisesRegex(AssertionError, "c: CANNOT BE ASKED"):
            self.type(shown)
        self.assertIn("stopped_because", self.type(asked))
        self.restore_c()
        self.wait_for_status(status)
        self.take("{b}", "{k}", "{a}")

    def restore_c(self):
        """As docs/failover.md restores one shard, with the founding text; the other shards' rows stay."""
        row = re.search(r"(?m)^\| restore the whole shard \|.*", LOG_PAGE)[0]
        head = re.search(r"`(DELETE FROM weir_head WHERE shard = 'main')`", row)[1].replace("main", "c")
        for table in ("weir_head", "weir_log", "weir_board"):
            self.database.ask(head.replace("weir_head", table))
        for machine in ("m1", "m3"):
            shutil.rmtree(self.path(machine) + "/var/lib/weir-c")
        backup = next(Path(self.path("m3"), "var/backups/weir/c").glob("*turn*"))
        for command in re.findall(r"`(weir-server --(?:restore|leave-shard) [^`]+)`", row):
            command = command.replace("BACKUP", f"/var/backups/weir/c/{backup.name}").replace("weir.conf", "c.conf")
            self.type(f"{command} --dir /var/lib/weir-c", "m3")
        self.type(next(line for line in self.steps.splitlines() if " c --founding" in line).removeprefix("m3$ "), "m3")
        for machine in ("m3", "m1"):
            self.systemctl(machine, "enable", "weir@c")


if __name__ == "__main__":
    harness.main()
