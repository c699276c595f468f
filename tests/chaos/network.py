"""A bridge, and machines on it: network namespaces with one interface each, whose link can fail."""

import os
import signal
import subprocess
import sys

from isolation import run

BRIDGE = "br0"
NET = "10.77.0"
CLIENTS = f"{NET}.1"  # the bridge's own address: the suite's clients call from here


def make_bridge():
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", BRIDGE, "type", "bridge")
    run("ip", "addr", "add", CLIENTS + "/24", "dev", BRIDGE)
    run("ip", "link", "set", BRIDGE, "up")


class Machine:
    def __init__(self, name, number):
        self.name = name
        self.host = f"{NET}.{number}"
        self.wire = None
        run("ip", "netns", "add", name)
        run("ip", "link", "add", "name", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", "dev", name, "master", BRIDGE, "up")
        for words in (("link", "set", "lo", "up"), ("addr", "add", self.host + "/24", "dev", "eth0"),
                      ("link", "set", "eth0", "up")):
            run(*self.inside(), "ip", *words)

    def inside(self):
        """What a command begins with that is to run on this machine."""
        return ["nsenter", f"--net=/run/netns/{self.name}", "--"]

    def cut(self):
        run("ip", "link", "set", "dev", self.name, "down")

    def mend(self):
        run("ip", "link", "set", "dev", self.name, "up")

    def drop(self, way, hosts):
        """Packets from (`in`) or to (`out`) those hosts vanish here, and only in that direction."""
        chain, field = ("input", "saddr") if way == "in" else ("output", "daddr")
        rules = (f"table ip chaos_{way} {{ chain c {{ type filter hook {chain} priority 0; "
                 f"ip {field} {{ {', '.join(hosts)} }} drop; }}; }}")
        run(*self.inside(), "nft", "-f", "-", given=rules)

    def pass_all(self):
        for way in ("in", "out"):
            run(*self.inside(), "nft", "delete", "table", "ip", f"chaos_{way}", check=False)

    def slow(self, delay_ms, loss_percent, seed):
        """Each packet takes so much longer, each way, and some are lost."""
        if self.wire is not None:
            return
        near, far = self.name + "-a", self.name + "-b"
        run("ip", "link", "add", "name", near, "type", "veth", "peer", "name", far)
        run("ip", "link", "set", far, "master", BRIDGE, "up")
        run("ip", "link", "set", near, "up")
        run("ip", "link", "set", "dev", self.name, "nomaster")
        wire = os.path.join(os.path.dirname(__file__), "wire.py")
        self.wire = subprocess.Popen([sys.executable, "-B", wire, self.name, near, str(delay_ms), str(loss_percent),
                                      str(seed)])

    def quick(self):
        if self.wire is None:
            return
        self.wire.send_signal(signal.SIGKILL)
        self.wire.wait()
        self.wire = None
        run("ip", "link", "del", self.name + "-a", check=False)
        run("ip", "link", "set", "dev", self.name, "master", BRIDGE)
