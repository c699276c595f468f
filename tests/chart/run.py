#!/usr/bin/env python3
"""What helm makes of the chart of tools/helm, whether Kubernetes' schemas allow it, and whether weir takes the files in it.

    tests/chart/run.py SERVER [unittest options]

helm and kubectl-validate are built with Go, once on a machine (get-go-program). Where they cannot be had it says what was
not run, and ends with 0. There is no cluster here: nothing is installed in one.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))

import harness  # noqa: E402
from support import certificates  # noqa: E402

CHART = HERE.parents[1] / "tools/helm/weir"
PROGRAMS = {}  # their paths, by their names
PASSWORD = ("--set", "auth.password=a-long-phrase")
TLS_ONLY = ("--set", "tls.existingSecret=cert", "--set", "tls.only=true")
SHARD = (*PASSWORD, "--set", "failover.members=3", "--set", "failover.log=postgres://weir@db/weir", "--set",
         "failover.logSecret=log", "--set", "failover.memberPassword=of-members")
BITS = "0f3b5c1e9a7d42668833aa10ffee9c01"
SHARDS = (*PASSWORD, "--set", f"cluster.shards={{a,b,c}},cluster.id={BITS},cluster.name=limits", "--set",
          "failover.log=postgres://weir@db/weir,failover.logSecret=log,failover.memberPassword=of-members")
VERSIONS = ("1.25", "1.30")  # the oldest that the chart is for, and the newest whose schemas the validator has


def run(*words, **options):
    return subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=120, check=False, **options)


def run_helm(command, *words):
    """As for a new cluster: a helm that was built from its module takes the cluster for one of 1.20."""
    return run(PROGRAMS["helm"], command, *words, str(CHART), "--kube-version", VERSIONS[-1])


def block(text, name):
    """The text of a file in a ConfigMap or Secret."""
    found = re.search(rf"(?m)^  {re.escape(name)}: \|\n((?:    .*\n|\n)*)", text)
    return None if found is None else re.sub(r"(?m)^    ", "", found.group(1))


def objects(text):
    """The objects by their kinds."""
    by_kind = {}
    for one in re.split(r"(?m)^---\n", text):
        kind = re.search(r"(?m)^kind: (\w+)$", one)
        if kind:
            by_kind.setdefault(kind.group(1), []).append(one)
    return by_kind


class Charts(harness.ServerTest):
    def render(self, *values):
        done = run_helm("template", "limits", *values)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.validate(done.stdout)
        return done.stdout

    def validate(self, text):
        """That Kubernetes' API would take it, as far as its schemas say."""
        folder = self.path("objects")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for kind, texts in objects(text).items():
            if kind == "ServiceMonitor":
                continue  # it is the Prometheus operator's
            for number, one in enumerate(texts):
                with open(f"{folder}/{kind}-{number}.yaml", "w", encoding="utf-8") as file:
                    file.write(one)
        for version in VERSIONS:
            checked = run(PROGRAMS["kubectl-validate"], folder, "--version", version)
            self.assertEqual(checked.returncode, 0, checked.stdout)
            self.assertEqual(checked.stdout.count("OK"), len(os.listdir(folder)), checked.stdout)

    def accepted(self, text, *options, **files):
        """weir.conf, which weir has to accept, with its paths led to files of the test's: those, and the ones in the text."""
        def here(path):
            name = path.group(1)
            content = files.get(name) or block(text, name) or ("of the log" if name == "password" else None)
            self.assertIsNotNone(content, path.group())
            return self.write(name, content)
        config = re.sub(r"/etc/weir/\w+/([\w.-]+)", here, block(text, "weir.conf"))
        config = config.replace("/data/", self.path("data") + "/")
        os.makedirs(self.path("data"), exist_ok=True)
        checked = run(harness.executable, "--check-config", self.write("weir.conf", config), *options)
        self.assertEqual(checked.returncode, 0, config + checked.stdout)
        return config

    def tls_files(self):
        made = certificates.Certificates(self.path("tls"))
        files = {}
        for name, made_name in (("tls.crt", "server.crt"), ("tls.key", "server.key"), ("ca.crt", "ca.crt")):
            with open(made.path(made_name), encoding="utf-8") as file:
                files[name] = file.read()
        return files


class Rendered(Charts):
    def test_lint(self):
        for values in (PASSWORD, SHARD, (*SHARD, *TLS_ONLY), SHARDS):
            done = run_helm("lint", "--strict", *values)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_what_is_wrong_is_seen_by_the_validator(self):
        text = self.render(*PASSWORD)
        for right, wrong in (("readOnlyRootFilesystem: true", "readOnlyRootFilesystem: perhaps"),
                             ("periodSeconds: 10", "periodseconds: 10")):
            with self.assertRaises(AssertionError):
                self.validate(text.replace(right, wrong))

    def test_one_weir(self):
        text = self.render(*PASSWORD, "--set", "serviceMonitor.enabled=true")
        self.assertEqual(set(objects(text)), {"StatefulSet", "Service", "ConfigMap", "Secret",
                                              "PodDisruptionBudget", "ServiceMonitor"})
        self.assertIn("readOnlyRootFilesystem: true", text)
        self.assertIn("runAsNonRoot: true", text)
        self.assertNotIn("a-long-phrase", text, "the Secret has the SHA-256 alone")
        self.assertIn("watch-files yes", self.accepted(text))
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
        pod = re.search(r"limits-weir-2 (\S+):6379 ", topology).group(1)
        self.assertEqual(pod, "limits-weir-2.limits-weir-headless.default.svc.cluster.local")
        self.assertIn("cluster-enabled yes", self.accepted(text, "--cluster-announce-hostname", pod))
        far = self.render(*PASSWORD, "--set", "cluster.owners=3,cluster.epoch=90000,cluster.epochJump=true")
        self.assertIn("epoch 90000 jump\n", block(far, "topology"))

    def test_a_change_of_weir_conf_restarts_the_pods_and_one_of_policies_does_not(self):
        pods = [objects(self.render(*PASSWORD, *values))["StatefulSet"][0] for values in (
            ("--set", "policies=policy free 1/1m"), ("--set", "policies=policy free 2/1m"), ("--set", "config=hz 20"))]
        self.assertEqual(pods[0], pods[1])
        self.assertNotEqual(pods[1], pods[2])

    def test_tls_alone_leaves_no_port_in_clear(self):
        for values in (PASSWORD, SHARD, SHARDS):
            text = self.render(*values, *TLS_ONLY, "--set", "http.enabled=true", "--set", "serviceMonitor.enabled=true")
            ports = dict(re.findall(r"\{name: ([\w-]+), containerPort: (\d+),", text))
            self.assertEqual(ports, {"redis-tls": "6380", "https": "7443", "metrics": "9121"})
            probes = re.findall(r"httpGet: \{(.*)\}", objects(text)["StatefulSet"][0])
            self.assertEqual(len(probes), 3)
            for probe in probes:
                self.assertIn("scheme: HTTPS", probe)
            self.assertIn("scheme: https", objects(text)["ServiceMonitor"][0])
            config = self.accepted(text, "--cluster-announce-hostname", "a.b", **self.tls_files())
            self.assertEqual(set(re.findall(r"(?m)^((?:\w+-)*port) [1-9]", config)),
                             {"tls-port", "http-tls-port", "metrics-tls-port"})
            self.assertIn("metrics-tls-auth-clients no\n", config)
            for service in objects(text)["Service"]:
                self.assertNotRegex(service, r"name: (redis|http),")

    def test_tls_beside_plain(self):
        text = self.render(*SHARD, "--set", "tls.existingSecret=cert", "--set", "http.enabled=true")
        config = self.accepted(text, "--cluster-announce-hostname", "a.b", **self.tls_files())
        self.assertEqual(set(re.findall(r"(?m)^((?:\w+-)*port) [1-9]", config)),
                         {"port", "tls-port", "http-port", "http-tls-port", "metrics-port", "cluster-announce-port"})

    def test_what_cannot_be_meant_is_refused(self):
        for values, why in (
                ((), "set auth.password"), ((*PASSWORD, "--set", "tls.only=true"), "tls.only needs"),
                ((*PASSWORD, "--set", "replicas=3"), "replicas"),
                ((*PASSWORD, "--set", "failover.member=3"), "member"),
                ((*SHARD, "--set", "failover.members=1"), "nobody who could take over"),
                ((*SHARD, "--set", "cluster.owners=3"), "exclude each other"),
                ((*SHARDS, "--set", "failover.members=2"), "exclude each other"),
                ((*SHARDS, "--set", "cluster.owners=3"), "the slots are the shards'"),
                ((*SHARDS, "--set", "cluster.id="), "weir-cluster found"),
                ((*SHARDS, "--set", "cluster.id=17"), "cluster/id"),
                ((*SHARDS, "--set", "cluster.members=1"), "cluster/members"),
                ((*SHARDS, "--set", "cluster.shards={a,a}"), "cluster/shards"),
                ((*SHARDS, "--set", "cluster.shards={A}"), "cluster/shards"),
                ((*SHARDS, "--set", "fullnameOverride=" + "x" * 50 + ",cluster.shards={abc}"), "more than 52 characters"),
                ((*SHARDS, "--set", "failover.log="), "cluster.shards needs failover.log"),
                ((*SHARDS, "--set", "failover.memberPassword="), "failover.memberPassword"),
                ((*SHARD, "--set", "failover.log="), "needs failover.log"),
                ((*SHARD, "--set", "failover.memberPassword="), "failover.memberPassword")):
            done = run_helm("template", "limits", *values)
            self.assertNotEqual(done.returncode, 0, values)
            self.assertIn(why, done.stdout)


class Shard(Charts):
    def test_its_files_are_those_of_a_member(self):
        text = self.render(*SHARD)
        self.accepted(text, "--cluster-announce-hostname", "limits-weir-0.limits-weir-headless")
        for line in ("log postgres://weir@db/weir", "log-password-file /etc/weir/log/password", "shard main",
                     "member-user weir-member"):
            self.assertIn(line + "\n", block(text, "weir.conf"))
        users = block(text, "users.acl")
        server = self.server("--aclfile", self.write("users.acl", users), storage="memory").start()
        with server.connect() as client:
            client.call("AUTH", "weir-member", "of-members")
            with self.assertRaisesRegex(harness.Refused, "NOPERM"):
                client.call("GET", "key")
            with self.assertRaisesRegex(harness.Refused, "(?i)shard"):
                client.call("WEIR", "SWITCHOVER", "a" * 40)

    def test_members_are_told_apart_and_have_their_secrets(self):
        pods = objects(self.render(*SHARD))["StatefulSet"][0]
        self.assertIn("replicas: 3\n", pods)
        self.assertRegex(pods, r"- --cluster-announce-hostname\n +- \$\(POD_NAME\)\.limits-weir-headless\.default\.svc")
        self.assertRegex(pods, r"- --member-password\n +- \$\(MEMBER_PASSWORD\)")
        self.assertNotIn("of-members", pods)
        self.assertIn("{name: log, mountPath: /etc/weir/log, readOnly: true}", pods)
        self.assertIn("podAntiAffinity", pods)
        self.assertIn("minReadySeconds: 10", pods)
        self.assertIn("path: /readyz", pods)

    def test_the_service_of_clients_selects_nobody_and_its_slice_has_its_ports(self):
        for values, ports in ((SHARD, {"redis": "6379"}),
                              ((*SHARD, "--set", "http.enabled=true", *TLS_ONLY), {"redis-tls": "6380", "https": "7443"})):
            made = objects(self.render(*values))
            service, headless = made["Service"]
            self.assertNotIn("selector", service)
            self.assertIn("selector", headless)
            self.assertEqual(dict(re.findall(r"\{name: ([\w-]+), port: (\d+), targetPort: \d+,", service)), ports)
            slice_ = made["EndpointSlice"][0]
            self.assertEqual(dict(re.findall(r"\{name: ([\w-]+), port: (\d+),", slice_)), ports)
            self.assertIn("kubernetes.io/service-name: limits-weir\n", slice_)
            self.assertIn("endpoints: []", slice_)

    def test_the_right_is_to_one_object_and_the_server_has_no_token(self):
        made = objects(self.render(*SHARD))
        rules = made["Role"][0].partition("rules:\n")[2].split()
        self.assertEqual(" ".join(rules), "- apiGroups: [discovery.k8s.io] resources: [endpointslices] "
                         "resourceNames: [limits-weir-serving] verbs: [get, patch]")
        self.assertNotIn("ClusterRole", made)
        pods = made["StatefulSet"][0]
        self.assertEqual(pods.count("automountServiceAccountToken: false"), 1)
        weir, names = pods.split("- name: name-who-serves\n")
        self.assertNotIn("weir-api", weir)
        self.assertIn("{name: api, mountPath: /var/run/secrets/weir-api, readOnly: true}", names)
        self.assertIn("/namespaces/default/endpointslices/limits-weir-serving", names)

    def test_what_runs_beside_a_member_is_the_file_that_is_tested(self):
        text = self.render(*SHARD)
        self.assertEqual(block(text, "name-who-serves").strip(),
                         (CHART / "files/name-who-serves").read_text(encoding="utf-8").strip())
        asked = set(re.findall(r"\$\{?([A-Z]+_[A-Z_]+)", (CHART / "files/name-who-serves").read_text(encoding="utf-8")))
        names = objects(text)["StatefulSet"][0].split("- name: name-who-serves\n")[1]
        self.assertEqual(asked - {"BASH_REMATCH"}, set(re.findall(r"name: ([A-Z]+_[A-Z_]+)\b", names)))

    def test_the_job_makes_a_shard_once(self):
        job = objects(self.render(*SHARD, *TLS_ONLY))["Job"][0]
        script = re.sub(r"(?m)^ {14}", "", re.search(r"(?m)^            - \|\n((?: {14}.*\n)+)", job).group(1))
        os.makedirs(self.path("data"))
        log = "file:" + self.path("shared-log")
        script = script.replace("/data/", self.path("data") + "/").replace("weir-server ", harness.executable + " ")
        config = json.loads(re.search(r'name: WEIR_CONF\n +value: (".*")', job).group(1))
        self.assertIn("watch-files yes\n", config)
        environment = {**os.environ, "WEIR_LOG": log, "WEIR_SHARD": "main", "WEIR_CONF": config}
        for again in (False, True):
            shutil.rmtree(self.path("data") + "/new", ignore_errors=True)  # each try of the job has a volume of its own
            done = run("bash", "-ec", script, env=environment)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual("is that of shard main of cluster" in done.stdout, again, done.stdout)
        self.assertNotEqual(run("bash", "-ec", script, env={**environment, "WEIR_SHARD": "other"}).returncode, 0)
        self.assertIn("helm.sh/hook: pre-install\n", job)
        self.assertNotIn("Job", objects(self.render(*SHARD, "--set", "failover.newShard=false")))
        member = self.server(log=log, failover_after_ms=1000, dir=self.path("member")).start()
        harness.wait_until(lambda: member.call("ROLE")[0] == b"master", "a member with an empty directory serves")


class Shards(Charts):
    def test_each_is_a_set_of_pods_with_a_budget_and_volumes_of_its_own(self):
        made = objects(self.render(*SHARDS, "--set", "serviceMonitor.enabled=true"))
        for kind in ("StatefulSet", "PodDisruptionBudget"):
            self.assertEqual(len(made[kind]), 3, kind)
        for name, pods, budget in zip("abc", made["StatefulSet"], made["PodDisruptionBudget"]):
            for text in (pods, budget):
                self.assertIn(f"  name: limits-weir-{name}\n", text)
                self.assertEqual(set(re.findall(r'(?m)^ +shard: "(.*)"$', text)), {name})
            self.assertIn("  maxUnavailable: 1\n", budget)
            self.assertIn("  replicas: 2\n", pods)
            self.assertRegex(pods, rf'- --shard\n +- "{name}"\n')
            self.assertIn("podAntiAffinity", pods)
            self.assertIn("terminationGracePeriodSeconds: 120", pods)
            self.assertNotIn("initContainers", pods)
            self.assertNotIn("--new-shard", pods)
        self.assertIn("publishNotReadyAddresses: true", made["Service"][1])
        self.assertIn("selector", made["Service"][0], "clients of a cluster may begin at any member")
        self.assertIn("podTargetLabels: [shard]", made["ServiceMonitor"][0])
        for kind in ("EndpointSlice", "Role", "ServiceAccount"):
            self.assertNotIn(kind, made)

    def test_its_files_are_those_of_a_member_of_any(self):
        text = self.render(*SHARDS)
        config = self.accepted(text, "--shard", "a", "--cluster-announce-hostname", "limits-weir-a-0.limits-weir-headless")
        self.assertIn("cluster-enabled yes\n", config)
        seeds = re.search(r'(?m)^cluster-seeds "(.*)"$', config)[1].split()
        self.assertEqual(len(seeds), 6)
        self.assertEqual(seeds[-1], "limits-weir-c-1.limits-weir-headless.default.svc.cluster.local:6379")
        self.assertIn("+weir|facts", block(text, "users.acl"))
        self.assertIn("+weir|settings", block(text, "users.acl"))

    def test_the_founding_text_is_the_tool_s_and_is_not_changed(self):
        text = block(self.render(*SHARDS), "founding")
        found = run(CHART.parents[2] / "tools/weir-cluster", "found", "limits", "a", "b", "c").stdout
        self.assertEqual(text.strip(), re.sub("[0-9a-f]{32}", BITS, found).strip())
        kept = next(one for one in objects(self.render(*SHARDS))["ConfigMap"] if "limits-weir-founding" in one)
        self.assertIn("immutable: true\n", kept)
        self.assertNotRegex(self.render(*SHARDS), "randAlpha|genPrivate")
        self.assertEqual(self.render(*SHARDS), self.render(*SHARDS))

    def test_the_job_makes_each_once_and_none_of_another_cluster(self):
        job = objects(self.render(*SHARDS))["Job"][0]
        script = re.sub(r"(?m)^ {14}", "", re.search(r"(?m)^            - \|\n((?: {14}.*\n)+)", job).group(1))
        os.makedirs(self.path("data"))
        script = script.replace("/data/", self.path("data") + "/").replace("weir-server ", harness.executable + " ")
        # Each shard's log is a file here; in PostgreSQL and NATS the shard's name tells them apart.
        script = script.replace('"$WEIR_LOG"', '"$WEIR_LOG-$shard"')
        value = {name: json.loads(text) for name, text in re.findall(r'name: (WEIR_\w+)(?:,|\n +) ?value: (".*?")\}?\n', job)}
        environment = {**os.environ, **value, "WEIR_LOG": "file:" + self.path("log")}
        for again in (False, True):
            for name in "abc":
                shutil.rmtree(self.path("data") + f"/new-{name}", ignore_errors=True)
            done = run("bash", "-ec", script, env=environment)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(done.stdout.count(f"of cluster {value['WEIR_CLUSTER']} already"), 3 if again else 0, done.stdout)
        for name in "abc":
            shutil.rmtree(self.path("data") + f"/new-{name}")
        other = objects(self.render(*SHARDS, "--set", "cluster.id=" + "1" * 32))["Job"][0]
        others = {"WEIR_FOUNDING": json.loads(re.search(r'WEIR_FOUNDING\n +value: (".*")', other)[1]),
                  "WEIR_CLUSTER": re.search(r'WEIR_CLUSTER, value: "(.*)"', other)[1]}
        done = run("bash", "-ec", script, env={**environment, **others})
        self.assertNotEqual(done.returncode, 0, "a log of another cluster is not taken for this one's")
        member = self.server("--shard", "b", log=environment["WEIR_LOG"] + "-b", failover_after_ms=1000,
                             cluster_enabled="yes", dir=self.path("member")).start()
        harness.wait_until(lambda: member.call("ROLE")[0] == b"master", "a member with an empty directory serves")


def main():
    began = time.monotonic()
    for name in ("helm", "kubectl-validate"):
        got = subprocess.run([HERE / "get-go-program", name], text=True, stdout=subprocess.PIPE, check=False)
        if got.returncode == 77:
            print(f"NOT RUN: helm lint, helm template and kubectl-validate of the chart, since {name} cannot be had")
            return
        if got.returncode != 0:
            sys.exit(f"{name} cannot be built")
        PROGRAMS[name] = got.stdout.strip()
    print(f"helm and kubectl-validate are there after {time.monotonic() - began:.0f} s", flush=True)
    harness.main()


if __name__ == "__main__":
    main()
