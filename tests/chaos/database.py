"""Two PostgreSQL servers on machines of their own: a primary and its synchronous standby, of which either
may become the other."""

import glob
import os
import shutil
import signal
import subprocess

import isolation
from support.processes import Program
from support.waiting import wait_until

USER = DATABASE = "weir"
NOBODY = "65534"  # PostgreSQL refuses to be root's
DISK_MB = 400
SETTINGS = """
listen_addresses = '*'
shared_buffers = 16MB
max_connections = 40
wal_level = replica
max_wal_senders = 6
wal_keep_size = 64MB
max_wal_size = 64MB
min_wal_size = 8MB
hot_standby = on
synchronous_commit = on
synchronous_standby_names = 'ANY 1 (pg1, pg2)'
wal_sender_timeout = 3s
wal_receiver_timeout = 3s
wal_retrieve_retry_interval = 200ms
restart_after_crash = on
log_line_prefix = '%m [%p] '
"""


def programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    if not found:
        raise RuntimeError("there is no PostgreSQL under /usr/lib/postgresql: apt install postgresql, or --log file")
    return os.path.dirname(found[-1])


class Server(Program):
    """One of the two."""

    def __init__(self, machine, folder):
        self.folder = os.path.join(folder, machine.name)
        super().__init__(machine.name, None, os.path.join(folder, machine.name + ".log"), cwd=self.folder,
                         env={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": self.folder})
        self.machine = machine
        self.host = machine.host
        self.data = os.path.join(self.folder, "data")
        isolation.small_disk(self.folder, DISK_MB)
        shutil.chown(self.folder, int(NOBODY), int(NOBODY))

    def inside(self, program, *words):
        return [*self.machine.inside(), "setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups",
                os.path.join(programs(), program), *map(str, words)]

    def run(self, program, *words, timeout_s=60, environment=None):
        done = subprocess.run(self.inside(program, *words), capture_output=True, text=True, timeout=timeout_s,
                              check=False, cwd=self.folder, stdin=subprocess.DEVNULL,
                              env={**self.how["env"], **(environment or {})})
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def ask(self, words, database=DATABASE, timeout_s=20, writes=False):
        """By its socket, which needs no network."""
        options = {"PGOPTIONS": "-c synchronous_commit=local -c default_transaction_read_only=off"} if writes else {}
        return self.run("psql", "-X", "-h", self.folder, "-U", USER, "-d", database, "-At", "-c", words,
                        timeout_s=timeout_s, environment=options)

    def make(self):
        self.run("initdb", "-D", self.data, "-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8", "--wal-segsize", "1")
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="ascii") as file:
            file.write(SETTINGS + f"unix_socket_directories = '{self.folder}'\n")
        with open(os.path.join(self.data, "pg_hba.conf"), "a", encoding="ascii") as file:
            file.write("host all all 10.77.0.0/24 trust\nhost replication all 10.77.0.0/24 trust\n")

    def copy(self, primary):
        """Becomes a standby of it, from a base backup."""
        self.kill()
        shutil.rmtree(self.data, ignore_errors=True)
        self.run("pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d",
                 f"host={primary.host} user={USER} application_name={self.name} connect_timeout=2 "
                 "tcp_user_timeout=3000 keepalives_idle=1 keepalives_interval=1 keepalives_count=3")
        conf = os.path.join(self.data, "postgresql.conf")
        with open(conf, "a", encoding="ascii") as file:
            file.write(f"unix_socket_directories = '{self.folder}'\n")

    def start(self, wait=True):
        if self.lives():
            return
        self.command = self.inside("postgres", "-D", self.data)
        self.spawn()
        if wait:
            self.wait_ready()

    def wait_ready(self):
        wait_until(self.is_ready, f"{self.name} is ready", pause_s=0.05)

    def is_ready(self):
        try:
            self.ask("select 1", database="postgres")
            return True
        except RuntimeError:
            if self.process.poll() is not None:
                raise AssertionError(f"{self.name} does not start; its log is {self.log_path}") from None
            return False

    def processes(self):
        """The postmaster's, itself first."""
        own = str(self.process.pid)
        found = [own]
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open(f"/proc/{entry}/stat", encoding="latin-1") as file:
                        if file.read().rsplit(")", 1)[1].split()[1] == own:
                            found.append(entry)
                except (FileNotFoundError, ProcessLookupError):
                    pass
        return list(map(int, found))

    def signal_all(self, number):
        for process in self.processes() if self.lives() else []:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def kill(self):
        """kill -9 of all its processes, as a machine's death would be."""
        if not self.lives():
            return
        children = self.processes()[1:]
        self.process.kill()
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        for child in children:  # their first process is gone, so they are the suite's
            try:
                os.waitpid(child, 0)
            except ChildProcessError:
                pass


class Pair:
    """`primary` is the one that clients should write to, `standby` the other."""

    def __init__(self, machines, folder):
        self.servers = [Server(machine, folder) for machine in machines]
        self.primary, self.standby = self.servers
        self.primary.make()
        self.primary.start()
        self.primary.ask(f"create database {DATABASE}", database="postgres", writes=True)
        self.rejoin()

    def address(self):
        return f"postgres://{USER}@{','.join(server.host for server in self.servers)}/{DATABASE}"

    def hosts(self):
        return [server.host for server in self.servers]

    def rejoin(self):
        """The other one is made a standby anew."""
        self.standby.copy(self.primary)
        self.standby.start()
        self.wait_synchronous()

    def wait_synchronous(self):
        wait_until(self.is_synchronous, "the standby is synchronous", pause_s=0.05)

    def is_synchronous(self):
        try:
            states = self.states()
        except RuntimeError:
            return False  # the primary itself is not ready yet
        return states != "" and (states in ("quorum", "sync") or self.is_asynchronous())

    def states(self):
        return self.primary.ask("select sync_state from pg_stat_replication where state = 'streaming'",
                                database="postgres")

    def is_asynchronous(self):
        return self.primary.ask("show synchronous_standby_names", database="postgres") == ""

    def set(self, name, value):
        self.primary.ask(f"alter system set {name} = '{value}'", database="postgres", writes=True)
        self.primary.ask("select pg_reload_conf()", database="postgres")

    def reset(self, name):
        self.primary.ask(f"alter system reset {name}", database="postgres", writes=True)
        self.primary.ask("select pg_reload_conf()", database="postgres")

    def promote(self):
        """The standby becomes the primary; the old one is whatever it is."""
        self.standby.ask("select pg_promote()", database="postgres", timeout_s=60)
        self.primary, self.standby = self.standby, self.primary

    def backends(self):
        """How many each member has at the primary, by the member's address."""
        rows = self.primary.ask("select client_addr, count(*) from pg_stat_activity where application_name = 'weir' "
                                "group by 1", database="postgres")
        return {row.split("|")[0]: int(row.split("|")[1]) for row in rows.splitlines()}

    def count(self, kind):
        """How many records are of a kind, which is a record's third byte."""
        return int(self.primary.ask(f"select count(*) from weir_log where get_byte(record, 2) = {kind}"))

    def rows(self):
        """Of each record its log index, checksum, kind and length, a line each; empty if the log cannot be read."""
        if not self.primary.lives():
            return ""
        return self.primary.ask("select at, crc, get_byte(record, 2), length(record) from weir_log order by at")

    def lose_second_half(self):
        """As if it had never been appended."""
        self.primary.ask(
            "delete from weir_log where at > (select last / 2 from weir_head); "
            "update weir_head set last = l.at, crc = l.crc from weir_log l where l.at = (select max(at) from weir_log)")

    def lose_one_in_the_middle(self):
        self.primary.ask("delete from weir_log where at = (select max(at) / 2 from weir_log)")

    def empty(self):
        """What --new-shard begins with."""
        self.primary.ask("delete from weir_log; delete from weir_head; delete from weir_board")
