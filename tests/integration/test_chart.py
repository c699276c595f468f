"""The chart of tools/helm: what it makes, and whether weir takes the files in it.

Helm is not in Debian 12, so CI skips what needs it; `helm` (and `kubeconform`, which looks at each
object against Kubernetes' schemas) are looked for in PATH.
"""

import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import harness
from support import certificates

CHART = Path(__file__).resolve().parents[2] / "tools/helm/weir"
PASSWORD = ("--set", "auth.password=a-long-phrase")


def run(*words, **options):
    return subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=120, check=False, **options)


def block(text, name):
    """The text of a file in a ConfigMap or Secret."""
    found = re.search(rf"(?m)^  {re.escape(name)}: \|\n((?:    .*\n|\n)*)", text)
    return None if found is None else re.sub(r"(?m)^    ", "", found.group(1))


class Values(unittest.TestCase):
    def test_every_value_has_its_schema_and_is_used(self):
        schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
        values = (CHART / "values.yaml").read_text(encoding="utf-8")
        names = re.findall(r"(?m)^(\w+):", values)
        self.assertEqual(sorted(names), sorted(set(schema["properties"]) - {"global"}))
        self.assertIs(schema["additionalProperties"], False)
        templates = "".join(path.read_text(encoding="utf-8")
                            for path in (CHART / "templates").iterdir())
        for name in names:
            self.assertIn(f".Values.{name}", templates)

    def test_the_version_is_that_of_the_program(self):
        chart = (CHART / "Chart.yaml").read_text(encoding="utf-8")
        said = run(harness.executable, "--version").stdout
        self.assertIn(re.search(r'appVersion: "(.*)"', chart).group(1), said)


@unittest.skipUnless(shutil.which("helm"), "helm is not installed (it is not in Debian 12)")
class Rendered(harness.ServerTest):
    def render(self, *values):
        done = run("helm", "template", "limits", str(CHART), *values)
        self.assertEqual(done.returncode, 0, done.stdout)
        if shutil.which("kubeconform"):
            checked = run("kubeconform", "-strict", "-ignore-missing-schemas", input=done.stdout)
            if "could not download" not in checked.stdout and "failed downloading" not in checked.stdout:
                self.assertEqual(checked.returncode, 0, checked.stdout)
        return done.stdout

    def accepted(self, text, **files):
        """weir.conf with the paths in it led to a folder of the test's; weir has to accept it."""
        folder = self.path("etc")
        os.makedirs(folder, exist_ok=True)
        config = block(text, "weir.conf")
        for name, content in files.items():
            path = self.write(name, content)
            config = re.sub(rf"/etc/weir/\w+/{name}\b", path, config)
        config = config.replace("/data/", self.path("data") + "/")
        checked = run(harness.executable, "--check-config", self.write("weir.conf", config))
        self.assertEqual(checked.returncode, 0, config + checked.stdout)
        return config

    def test_lint(self):
        done = run("helm", "lint", str(CHART), "--strict", *PASSWORD)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_one_weir(self):
        text = self.render(*PASSWORD, "--set", "serviceMonitor.enabled=true")
        for kind in ("StatefulSet", "Service", "ConfigMap", "Secret", "PodDisruptionBudget",
                     "ServiceMonitor"):
            self.assertRegex(text, rf"(?m)^kind: {kind}$")
        self.assertIn("readOnlyRootFilesystem: true", text)
        self.assertIn("runAsNonRoot: true", text)
        self.assertNotIn("a-long-phrase", text, "the Secret has the SHA-256 alone")
        self.accepted(text, users_acl="")
        users = block(text, "users.acl")
        server = self.server("--aclfile", self.write("users.acl", users), storage="memory").start()
        with server.connect() as client:
            with self.assertRaises(harness.Refused):
                client.call("PING")
            client.call("AUTH", "a-long-phrase")
            self.assertEqual(client.call("PING"), "PONG")

    def test_users_of_ones_own_leave_default_off(self):
        text = self.render("--set-string", "auth.users=user shop on >p +@ratelimit ~shop:*")
        server = self.server("--aclfile", self.write("users.acl", block(text, "users.acl")),
                             storage="memory").start()
        with server.connect() as client:
            with self.assertRaises(harness.Refused):
                client.call("PING")
            client.call("AUTH", "shop", "p")

    def test_owners_share_the_slots(self):
        text = self.render(*PASSWORD, "--set", "cluster.owners=3")
        topology = block(text, "topology")
        ranges = [tuple(map(int, pair)) for pair in re.findall(r" (\d+)-(\d+)", topology)]
        self.assertEqual(len(ranges), 3)
        self.assertEqual((ranges[0][0], ranges[-1][1]), (0, 16383))
        for one, next_one in zip(ranges, ranges[1:]):
            self.assertEqual(one[1] + 1, next_one[0])
        self.assertIn("--cluster-announce-hostname", text)
        self.assertIn("cluster-enabled yes", self.accepted(text, topology=topology))
        far = self.render(*PASSWORD, "--set", "cluster.owners=3,cluster.epoch=90000,cluster.epochJump=true")
        self.assertIn("epoch 90000 jump\n", block(far, "topology"))

    def test_tls_alone(self):
        text = self.render(*PASSWORD, "--set", "tls.existingSecret=cert", "--set", "tls.only=true",
                           "--set", "http.enabled=true")
        self.assertNotIn("name: redis,", text)
        made = certificates.Certificates(self.path("tls"))
        files = {}
        for name, made_name in (("tls.crt", "server.crt"), ("tls.key", "server.key"), ("ca.crt", "ca.crt")):
            with open(made.path(made_name), encoding="utf-8") as file:
                files[name] = file.read()
        config = self.accepted(text, **files)
        self.assertIn("port 0\n", config)

    def test_what_cannot_be_meant_is_refused(self):
        for values, why in ((), "set auth.password"), (("--set", "tls.only=true", *PASSWORD),
                                                        "tls.only needs"), (
                (*PASSWORD, "--set", "replicas=3"), "replicas"):
            done = run("helm", "template", "limits", str(CHART), *values)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(why, done.stdout)


if __name__ == "__main__":
    harness.main()
