"""docs/operations.md: its commands are typed, and what only names something names what there is."""

import os
import re
import signal
import subprocess
from pathlib import Path

import harness
from support.certificates import Certificates

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/operations.md").read_text(encoding="utf-8")


def lines_of(language):
    """The lines of all blocks of that language, in their order."""
    blocks = re.findall(rf"(?ms)^```{language}\n(.*?)^```", PAGE)
    return [line for block in blocks for line in block.splitlines()]


def indented():
    """Commands that no test can run."""
    return re.findall(r"(?m)^    ((?:systemctl|journalctl|docker|helm|kubectl|apt) .*)$", PAGE)


class Typed(harness.ServerTest):
    def test_every_command_of_the_page(self):
        http_port = harness.free_port()
        weir = self.server(metrics_port=http_port).start()
        weir.call("RL.POLICY", "SET", "shop", "1/1h")
        for _ in range(3):
            weir.call("RL.TAKE", "shop:1", "POLICY", "shop")
        places = {"redis-cli": f"redis-cli -p {weir.port}", "weir-server": harness.executable,
                  "/var/lib/weir": weir.data, "/etc/weir/weir.conf": str(ROOT / "weir.conf"),
                  ":9121": f":{http_port}", "/tmp/weir-restored": self.path("restored")}
        lines = lines_of("sh")
        self.assertGreater(len(lines), 25)
        for line in lines:
            command = line
            for name, place in places.items():
                command = re.sub(rf"(^|[ (/])?{re.escape(name)}\b" if name[0] == ":" else
                                 rf"(?<![\w/-]){re.escape(name)}(?![\w-])", lambda _: place, command)
            with self.subTest(line):
                done = subprocess.run(["bash", "-ec", command], text=True, timeout=60, check=False,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertNotRegex(done.stdout, r"(?m)^(ERR|NOPERM|NOAUTH|\(error\))")
        self.assertTrue(Path(self.path("restored")).is_dir())
        self.assertIn(b"shop", weir.call("ACL", "USERS"))


class Named(harness.ServerTest):
    def test_units_are_those_of_the_package(self):
        units = {path.name for path in (ROOT / "tools/debian").glob("weir.*service")}
        self.assertEqual(units, {"weir.service", "weir.weir@.service", "weir.weir-backup.service"})
        named = [line for line in indented() if line.startswith(("systemctl", "journalctl"))]
        self.assertGreater(len(named), 5)
        for line in named:
            self.assertRegex(line, r"^(systemctl (enable --now|reload|restart|status|edit)|"
                                   r"journalctl -u) (weir|weir@\d+|weir-backup\.timer|weir-backup)( weir@\d+)*( -f| -p warning)?$")

    def test_the_image_has_what_its_lines_name(self):
        image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
        run = next(line for line in indented() if line.startswith("docker run"))
        port, volume = re.search(r"-p \d+:(\d+) -v [\w-]+:(\S+) weir ", run).groups()
        self.assertIn(f"EXPOSE {port}\n", image)
        self.assertIn(f"VOLUME {volume}\n", image)
        self.assertIn("USER weir\n", image)
        options = re.findall(r" --([a-z-]+) \S+", run.split(" weir ")[-1].join([" ", ""]))
        for option in options:
            self.assertRegex((ROOT / "weir.conf").read_text(encoding="utf-8"),
                             rf"(?m)^{option} ")

    def test_the_image_gets_what_it_copies_and_no_tests(self):
        image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
        copied = {word.split("/")[0] for line in re.findall(r"(?m)^COPY (?!--from)(.*)$", image)
                  for word in line.split()[:-1]}
        sent = re.findall(r"(?m)^!(.*)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"))
        self.assertEqual(copied, set(sent))
        self.assertNotIn("tests", copied)  # an edit of a test would build everything anew
        self.assertEqual(set(re.findall(r"opencontainers\.image\.(\w+)=", image)),
                         {"title", "description", "licenses", "revision"})

    def is_healthy(self, **ports):
        words = {f"WEIR_{name.upper()}": str(port) for name, port in ports.items()}
        return subprocess.run([ROOT / "tools/healthcheck"], env={**os.environ, **words}, check=False,
                              stderr=subprocess.DEVNULL, timeout=60).returncode == 0

    def test_the_image_is_healthy_by_either_port_and_with_tls_alone(self):
        metrics, nobody = harness.free_port(), harness.free_port()
        server = self.memory_server("--requirepass", "secret", metrics_port=metrics)
        self.assertTrue(self.is_healthy(metrics_port=metrics, port=nobody))
        self.assertTrue(self.is_healthy(metrics_port=nobody, port=server.port))
        server.send_signal(signal.SIGSTOP)
        self.assertFalse(self.is_healthy(metrics_port=metrics, port=server.port))
        server.send_signal(signal.SIGCONT)
        server.stop()
        self.assertFalse(self.is_healthy(metrics_port=metrics, port=server.port))
        options = Certificates(self.path("tls")).options(port=0, tls_port=nobody, metrics_port=metrics)
        self.memory_server(**options)
        self.assertTrue(self.is_healthy(metrics_port=metrics, port=server.port))

    def test_values_are_those_of_the_chart(self):
        values = (ROOT / "tools/helm/weir/values.yaml").read_text(encoding="utf-8")
        named = [word for line in indented() for word in re.findall(r"--set ([\w.]+)=", line)]
        named += re.findall(r"`((?:cluster|failover|tls)\.\w+)`", PAGE)
        self.assertGreaterEqual(len(named), 4)
        for name in named:
            section, key = name.split(".")
            self.assertRegex(values, rf"(?m)^{section}:\n(?:  .*\n)*?  {key}:", name)

    def test_every_alert_has_its_row(self):
        alerts = (ROOT / "tools/monitoring/alerts.yml").read_text(encoding="utf-8")
        names = re.findall(r"- alert: (\w+)", alerts)
        rows = re.findall(r"(?m)^\| (Weir\w+) \|", PAGE)
        self.assertEqual(sorted(names), sorted(rows))

    def test_options_and_metrics_are_there(self):
        options = (ROOT / "weir.conf").read_text(encoding="utf-8")
        table = PAGE[PAGE.index("## Settings that matter"):PAGE.index("## systemd")]
        rows = re.findall(r"(?m)^\| (`.*?) \|", table)
        self.assertGreater(len(rows), 7)
        for name in re.findall(r"`([a-z-]+)`", " ".join(rows)):
            self.assertRegex(options, rf"(?m)^#? ?{name} ", name)
        http_port = harness.free_port()
        self.server(metrics_port=http_port).start()
        done = subprocess.run(["curl", "-s", f"http://127.0.0.1:{http_port}/metrics"], text=True,
                              stdout=subprocess.PIPE, timeout=60, check=True)
        for name in set(re.findall(r"`(weir_\w+)`", PAGE)):
            self.assertRegex(done.stdout, rf"(?m)^# TYPE {name} ", name)


if __name__ == "__main__":
    harness.main()
