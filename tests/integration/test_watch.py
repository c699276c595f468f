"""watch-files: certificates and policies that are replaced as Kubernetes replaces those of a mounted Secret or ConfigMap,
by the swap of one link, are read without a signal."""

import os
import shutil
import signal
import ssl
import time

import harness
from support.certificates import Certificates

LATER_S = 3.5  # than a change is noticed: two looks, one a second, and a tick


class Watch(harness.ServerTest):
    def setUp(self):
        super().setUp()
        self.mount = self.path("mount")
        os.makedirs(self.mount)
        self.version = 0
        self.certificates = Certificates(self.path("tls"))
        self.put()
        for name in ("tls.crt", "tls.key", "ca.crt", "policies"):
            os.symlink(f"..data/{name}", os.path.join(self.mount, name))

    def put(self, certificate="server", policies="policy free 1/1h\n"):
        """As the kubelet does: a new folder, and ..data leads to it from one moment to the next."""
        self.version += 1
        folder = os.path.join(self.mount, f"..{self.version}")
        os.makedirs(folder)
        for end in ("crt", "key"):
            shutil.copy(self.certificates.path(f"{certificate}.{end}"), f"{folder}/tls.{end}")
        shutil.copy(self.certificates.path("ca.crt"), folder)
        with open(f"{folder}/policies", "w", encoding="utf-8") as file:
            file.write(policies)
        os.symlink(f"..{self.version}", f"{self.mount}/..data_tmp")
        os.rename(f"{self.mount}/..data_tmp", f"{self.mount}/..data")
        if self.version > 1:
            shutil.rmtree(f"{self.mount}/..{self.version - 1}")

    def start(self, **named):
        self.tls_port = harness.free_port()
        return self.memory_server(
            tls_port=self.tls_port, tls_auth_clients="no", tls_cert_file=f"{self.mount}/tls.crt",
            tls_key_file=f"{self.mount}/tls.key", tls_ca_cert_file=f"{self.mount}/ca.crt",
            policies_file=f"{self.mount}/policies", **named)

    def name_shown(self):
        context = ssl.create_default_context(cafile=self.certificates.path("ca.crt"))
        with harness.Client(self.tls_port, context=context) as client:
            subject = dict(part[0] for part in client.socket.getpeercert()["subject"])
            return subject["commonName"]

    def reloads(self, server):
        return server.log().count("reload: policies-file: ")

    def test_a_swapped_link_brings_certificate_and_policies_at_once(self):
        server = self.start(watch_files="yes")
        self.certificates.make("next", "next", names="DNS:localhost,IP:127.0.0.1")
        with server.connect() as client:
            self.put("next", "policy free 7/1h\n")
            harness.wait_until(lambda: self.name_shown() == "next", "the new certificate is shown")
            self.assertIn(b"7/1h", b" ".join(part for part in server.call("RL.POLICY", "GET", "free")
                                             if isinstance(part, bytes)))
            self.assertEqual(client.call("PING"), "PONG", "connections go on")
        time.sleep(LATER_S)
        self.assertEqual(self.reloads(server), 1, server.log())
        self.assertIn(f"watch-files: {self.mount}/tls.crt has changed\n", server.log())

    def test_a_signal_that_finds_nothing_new_says_nothing(self):
        server = self.start()
        before = len(server.log())
        for _ in range(3):
            server.send_signal(signal.SIGHUP)
            self.assertEqual(server.call("PING"), "PONG")
        self.put(policies="policy free 3/1h\n")  # the certificates are copies
        server.send_signal(signal.SIGHUP)
        told = 'audit: policies-file changed=free before="GCRA 1/1h" after="GCRA 3/1h"'
        harness.wait_until(lambda: told in server.log(), "the file is read, and told of")
        # The start may still tell what it has read.
        said = [line for line in server.log()[before:].splitlines() if "held for" not in line and 'before=""' not in line]
        self.assertEqual(len(said), 3, said)
        self.assertRegex(said[0], "info .*/policies: 1 policies, of which 1 are new or changed; 0 deleted$")
        self.assertRegex(said[1], "info reload: policies-file: done$")

    def test_a_burst_is_read_once(self):
        server = self.start(watch_files="yes")
        for count in range(8):
            self.put(policies=f"policy free {count + 2}/1h\n")
            time.sleep(0.25)
        harness.wait_until(lambda: self.reloads(server) > 0, "the files are read")
        time.sleep(LATER_S)
        self.assertEqual(self.reloads(server), 1, server.log())
        self.assertIn("9/1h", str(server.call("RL.POLICY", "GET", "free")))

    def test_a_broken_file_keeps_the_old_one_and_is_said(self):
        server = self.start(watch_files="yes")
        self.certificates.make("other", "other", names="DNS:localhost,IP:127.0.0.1")
        shutil.copy(self.certificates.path("server.key"), self.certificates.path("other.key"))
        self.put("other", "policy free 1/never\n")
        harness.wait_until(lambda: "reload: policies-file: " in server.log(), "the files are read, this one last")
        self.assertRegex(server.log(), "reload: tls: failed, going on with what was there: .*it is not the key of")
        self.assertRegex(server.log(), "reload: policies-file: failed, going on with what was there: ")
        self.assertEqual(self.name_shown(), "weir")
        self.assertIn("1/1h", str(server.call("RL.POLICY", "GET", "free")))
        time.sleep(LATER_S)
        self.assertEqual(self.reloads(server), 1, "it is said once")

    def test_a_file_that_is_named_later_is_watched_at_once(self):
        server = self.start(watch_files="yes")
        self.certificates.make("next", "next", names="DNS:localhost,IP:127.0.0.1")
        ends = ("crt", "key")
        for end in ends:
            shutil.copy(self.certificates.path(f"server.{end}"), self.path(f"other.{end}"))
        self.assertEqual(server.call("CONFIG", "SET", "tls-cert-file", self.path("other.crt"),
                                     "tls-key-file", self.path("other.key")), "OK")
        for end in ends:  # no tick has been since
            shutil.copy(self.certificates.path(f"next.{end}"), self.path(f"other.{end}"))
        harness.wait_until(lambda: self.name_shown() == "next", "the new certificate is shown")

    def test_without_the_option_a_signal_is_needed(self):
        server = self.start()
        self.put(policies="policy free 7/1h\n")
        time.sleep(LATER_S)
        self.assertEqual(self.reloads(server), 0)
        self.assertIn("1/1h", str(server.call("RL.POLICY", "GET", "free")))
        self.assertEqual(server.call("CONFIG", "SET", "watch-files", "yes"), "OK")
        self.put(policies="policy free 8/1h\n")
        harness.wait_until(lambda: "8/1h" in str(server.call("RL.POLICY", "GET", "free")), "it is watched now")

    def test_a_topology_is_read_when_it_changes(self):
        port, topology = harness.free_port(), "epoch {}\nowner-1 127.0.0.1:{} 0-16383\n"
        server = self.server(port=port, cluster_enabled="yes", watch_files="yes",
                             cluster_topology=self.write("topology", topology.format(1, port))).start()
        self.write("topology", topology.format(2, port))
        harness.wait_until(lambda: "cluster_current_epoch:2" in str(server.call("CLUSTER", "INFO")), "epoch 2 holds")


if __name__ == "__main__":
    harness.main()
