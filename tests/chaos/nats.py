"""Three NATS servers on machines of their own, with a replica of each stream on all of them."""

import copy
import http.client
import os
import shutil
import signal
import subprocess
from pathlib import Path

import disks
from jetstream import NoAnswer, Connection, PORT
from support.processes import Program
from support.waiting import wait_until

GET_SERVER = Path(__file__).resolve().parents[1] / "nats/get-server"
PROGRAMS = disks.PROGRAMS
CLUSTER_PORT, HTTP_PORT = 6222, 8222
DISK_MB = 320
OPERATOR = "operator"  # of the cluster, in its system account
SETTINGS = """
server_name: {name}
listen: "{host}:{port}"
http: "{host}:{http}"
cluster {{ name: chaos, listen: "{host}:{cluster_port}", routes: [{routes}] }}
jetstream {{ store_dir: "{data}", max_file_store: 1TB, sync_interval: {sync} }}
accounts {{
  MEMBERS: {{ jetstream: enabled, users: [ {{ user: member, password: member }} ] }}
  SYS: {{ users: [ {{ user: {operator}, password: {operator} }} ] }}
}}
system_account: SYS
no_auth_user: member
"""


class Server(Program):
    def __init__(self, machine, hosts, folder, program):
        super().__init__(machine.name, None, os.path.join(folder, machine.name + ".log"))
        self.machine = machine
        self.names = 1
        self.host = machine.host
        self.hosts = hosts
        self.program = program
        self.folder = os.path.join(folder, self.name)
        self.sync = "always"
        self.disk = disks.Disk(self.folder, DISK_MB)

    def configure(self):
        path = self.log_path.replace(".log", ".conf")
        routes = ", ".join(f'"nats://{host}:{CLUSTER_PORT}"' for host in self.hosts)
        with open(path, "w", encoding="ascii") as file:
            file.write(SETTINGS.format(name=self.name, host=self.host, port=PORT, http=HTTP_PORT, routes=routes,
                                       cluster_port=CLUSTER_PORT, data=self.folder + "/data", sync=self.sync,
                                       operator=OPERATOR))
        return path

    def start(self):
        if self.lives():
            return
        self.command = [*self.machine.inside(), self.program, "-c", self.configure()]
        self.spawn()

    def signal(self, number):
        if self.lives():
            self.process.send_signal(number)

    def forget_all(self):
        shutil.rmtree(self.folder + "/data", ignore_errors=True)

    def rename(self):
        """To the cluster it is another server from now on."""
        self.names += 1
        self.name = f"{self.machine.name}-{self.names}"

    def is_healthy(self):
        """It has caught up with all of its streams."""
        asked = http.client.HTTPConnection(self.host, HTTP_PORT, timeout=1)
        try:
            asked.request("GET", "/healthz")
            return asked.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            asked.close()


def find_program():
    """Outside the suite's namespaces, from where it can be fetched; inside it is known then."""
    os.environ["WEIR_NATS_SERVER"] = subprocess.run([GET_SERVER], stdout=subprocess.PIPE, text=True,
                                                    check=True).stdout.strip()


def stream_of(shard):
    return "weir_" + shard


class Cluster:
    def __init__(self, machines, folder):
        program = os.environ["WEIR_NATS_SERVER"]
        self.stream = stream_of("main")
        hosts = [machine.host for machine in machines]
        self.servers = [Server(machine, hosts, folder, program) for machine in machines]
        for server in self.servers:
            server.start()
        wait_until(self.is_ready, "NATS is ready", pause_s=0.05)
        self.ask("STREAM.DELETE.ready")

    def of_shard(self, name):
        """The same servers, with another shard's stream in view."""
        view = copy.copy(self)
        view.stream = stream_of(name)
        return view

    def is_ready(self):
        """It can place a stream on all of its servers."""
        try:
            return "config" in self.ask("STREAM.CREATE.ready", {"name": "ready", "subjects": ["ready"],
                                                                "num_replicas": len(self.servers)})
        except NoAnswer:
            return False

    def address(self):
        return "nats://" + ",".join(self.hosts())

    def hosts(self):
        return [server.host for server in self.servers]

    def ask(self, name, request=None, without=None, timeout_s=1.0, user=""):
        """Of any server but that one."""
        failure = NoAnswer("no server lives")
        for server in self.servers:
            if server is without or not server.lives():
                continue
            try:
                with Connection(server.host, timeout_s, user) as connection:
                    return connection.ask(name, request)
            except NoAnswer as its_failure:
                failure = its_failure
        raise failure

    def info(self, without=None):
        """Of the stream, by its leader; empty if nobody leads it."""
        try:
            return self.ask("STREAM.INFO." + self.stream, without=without, timeout_s=0.3)
        except NoAnswer:
            return {}

    def leader(self, without=None):
        """The server that leads the stream, or None."""
        name = self.info(without).get("cluster", {}).get("leader", "")
        return next((server for server in self.servers if server.name == name and server is not without), None)

    def await_leader(self):
        wait_until(self.leader, "the stream has a leader", pause_s=0.05)
        return self.leader() or self.await_leader()

    def others(self, server):
        return [other for other in self.servers if other is not server]

    def is_whole(self):
        replicas = self.info().get("cluster", {}).get("replicas", [])
        return (len(replicas) == len(self.servers) - 1 and all(one.get("current") and not one.get("offline") for one in replicas)
                and all(server.lives() and server.is_healthy() for server in self.servers))

    def wait_whole(self):
        """Each server has all that the others have, so that one more fault takes nothing."""
        wait_until(self.is_whole, "all servers of NATS have caught up", patience_s=90, pause_s=0.05)

    def remove(self, server):
        """From the cluster, by its operator."""
        while True:
            try:
                if self.ask("SERVER.REMOVE", {"peer": server.name}, without=server, user=OPERATOR).get("success"):
                    return
            except NoAnswer:
                pass  # the cluster's own leader may have died with it
            yield 0.2

    def cut_power(self, servers):
        """At the same instant: they hang, then nothing reaches their disks, and then they are gone."""
        for server in servers:
            server.signal(signal.SIGSTOP)
        for server in servers:
            server.disk.cut_power()
        for server in servers:
            server.kill()
            server.disk.power_up()

    def messages(self):
        self.await_leader()
        for server in self.servers:
            if server.lives():
                with Connection(server.host, 20) as connection:
                    last = connection.ask("STREAM.INFO." + self.stream)["state"]["last_seq"]
                    return list(connection.messages(self.stream, 1, last))
        return []

    def count(self, kind):
        """How many records are of a kind, which is a record's third byte."""
        return sum(1 for *_, data in self.messages() if data[2] == kind)

    def rows(self):
        """Of each record its log index, checksum, kind and length, a line each; empty if the log cannot be read."""
        try:
            return "\n".join(f"{at}|{' '.join(headers.decode().split()[1:])}|{data[2]}|{len(data)}"
                             for at, _, headers, data in self.messages())
        except (NoAnswer, AssertionError):
            return ""

    def backends(self):
        """Connections to NATS cost little, and are not counted."""
        return {}

    def lose_second_half(self):
        """As if it had never been appended: the stream is made anew, with the first half of what it had."""
        kept = self.messages()
        config = self.info()["config"]
        self.ask("STREAM.DELETE." + self.stream)
        self.ask("STREAM.CREATE." + self.stream, {**config, "metadata": {}}, timeout_s=10)
        self.await_leader()
        with Connection(self.servers[0].host, 20) as connection:
            for at, subject, headers, data in kept[:len(kept) // 2]:
                told = connection.ask_all([(subject, data, without_conditions(headers))])[0]
                if told.get("seq") != at:
                    raise AssertionError(f"record {at} cannot be put back: {told}")

    def lose_one_in_the_middle(self):
        middle = self.info()["state"]["last_seq"] // 2
        self.ask("STREAM.MSG.DELETE." + self.stream, {"seq": middle}, timeout_s=10)

    def empty(self):
        """What --new-shard begins with."""
        for stream in (self.stream, "KV_" + self.stream):
            self.ask("STREAM.DELETE." + stream, timeout_s=10)


def without_conditions(headers):
    """What a message tells of itself, not what it was appended on."""
    lines = headers.split(b"\r\n")
    kept = [line for line in lines if not line.startswith((b"Nats-Expected-", b"Nats-Msg-Id"))]
    return b"\r\n".join(kept)
