"""The service of the package inside the bare system: set up by its file, started as its unit does."""

import contextlib
import re
import shlex
import ssl

import harness
from root import TOOLS, Failed

PLACE = "/etc/weir/tls"
FILE = "/etc/weir/weir.conf"
UNIT = "/lib/systemd/system/weir.service"


class Service:
    def __init__(self, root):
        self.root = root
        self.port, self.metrics_port, self.http_port = (harness.free_port() for _ in range(3))
        self.edited = 0
        self.program = None

    def make_certificates(self):
        """By the lines of docs/tls.md."""
        page = (TOOLS.parent / "docs/tls.md").read_text(encoding="utf-8")
        lines = re.findall(r"(?m)^(?:KIND=|openssl ).*$", page)
        self.root.run("sh", "-ec", "\n".join(lines), place=PLACE)
        self.root.run("sh", "-c", "chgrp weir *.key && chmod 640 *.key", place=PLACE)

    def edit(self, **options):
        """Changes the options' lines in the package's file, where each has one."""
        path = self.root.path(FILE)
        text = path.read_text(encoding="utf-8")
        for name, value in options.items():
            name = name.replace("_", "-")
            text, count = re.subn(rf"(?m)^{name} .*$", f"{name} {value}", text)
            if count != 1:
                raise Failed(f"{FILE} has {count} lines for {name}")
            self.edited += 1
        path.write_text(text, encoding="utf-8")

    def unit_command(self, name):
        unit = self.root.path(UNIT).read_text(encoding="utf-8")
        return shlex.split(re.search(rf"(?m)^{name}=-?(.*)$", unit)[1])

    def start(self):
        """systemd does not run in there, so its commands are run, as its user."""
        self.root.run(*self.unit_command("ExecStartPre"), user="weir", place="/var/lib/weir")
        self.program = self.launch(self.unit_command("ExecStart"), self.port)

    def launch(self, command, port):
        program = self.root.start(*command, user="weir", place="/var/lib/weir")

        def lets_in():
            if program.process.poll() is not None:
                raise Failed("the server has ended at once")
            with contextlib.suppress(OSError):
                self.connect(port).close()
                return True
            return False

        harness.wait_until(lets_in, "the server lets somebody in")
        return program

    def connect(self, port=None):
        """With the certificate of the page's client."""
        context = ssl.create_default_context(cafile=self.root.path(f"{PLACE}/ca.crt"))
        context.load_cert_chain(self.root.path(f"{PLACE}/shop.crt"), self.root.path(f"{PLACE}/shop.key"))
        return harness.Client(port or self.port, context=context)

    def call(self, *words):
        with self.connect() as client:
            return client.call(*words)

    def redis_cli(self, *words, certificate=True, tls=True):
        """(exit status, what it has said), by Debian's redis-cli inside."""
        options = ["-h", "localhost", "-p", self.port]
        if tls:
            options += ["--tls", "--cacert", "ca.crt"]
        if certificate:
            options += ["--cert", "shop.crt", "--key", "shop.key"]
        return self.root.ask("redis-cli", *options, *words, place=PLACE)

    def metric(self, section, name):
        text = self.call("INFO", section).decode()
        return re.search(rf"(?m)^{name}:(.*?)\r$", text)[1]
