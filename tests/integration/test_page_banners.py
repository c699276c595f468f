"""What the page says is wrong, in a real Chromium: why, and what can be done about it, by whom."""

import signal
import subprocess

import harness
from page_fixture import PageTest
from support import certificates


class PageBanners(PageTest):
    def in_a_storm(self):
        """A policy that was changed a moment ago denies nearly all."""
        weir = self.start().connect()
        self.addCleanup(weir.close)
        weir.call("ACL", "SETUSER", "ops", "on", ">pw", "~*", "policy~*", "+@read", "+rl.policy", "+acl|whoami",
                  "+select")
        weir.call("ACL", "SETUSER", "admin", "on", ">pw", "+@all", "~*", "policy~*")
        weir.call("RL.POLICY", "SET", "api", "1000000/1s")
        weir.call("RL.POLICY", "SET", "api", "FIXED", "1/1h")
        self.browse()
        self.shows("#state", "serves writes")
        return weir

    def test_a_storm_has_a_cause_and_a_former_version_ends_it(self):
        weir = self.in_a_storm()
        with self.load(("RL.TAKE", "storm", "POLICY", "api")):
            self.shows("#banner", "The policy api denies 100 % of them.")
            self.shows("#banner", "The key storm leads")
            self.assertEqual(self.buttons("#banner"), ["Look at storm", "Log in to act"])
            self.press("Look at storm")
            self.shows("#key-view", "FIXED 1/1h")
            self.log_in("ops", "pw")
            self.shows("#banner", "Former version of api")
            self.assertEqual(self.buttons("#banner"), ["Look at storm", "Former version of api", "api in shadow",
                                                       "All limiting in shadow"])
            self.shows("#banner", "This user may not run CONFIG SET limiting.")
            self.assertEqual(self.disabled("#banner"), ["All limiting in shadow"])
            self.pictures("storm-actions")
            self.press("api in shadow")
            self.shows("#policy-diff", "+ SHADOW")
            self.browser.click("#policy-close")
            self.press("Former version of api")
            self.shows("#policy-diff", "- 1/1h")
            self.shows("#policy-diff", "+ 1000000/1s")
            self.pictures("former")
            self.assertEqual(weir.call("RL.POLICY", "GET", "api")[1], b"FIXED 1/1h ALIGN FIRST", "it was only shown")
            self.browser.click("#policy-apply")
            self.shows("#policy-body", "GCRA 1000000/1s")
            self.browser.click("#policy-close")
            harness.wait_until(lambda: self.browser.text("#banner") == "", "the storm is over")
        self.assertEqual(self.browser.complaints(), [])

    def test_limiting_is_put_in_shadow_and_on_again_by_who_may(self):
        weir = self.in_a_storm()
        with self.load(("RL.TAKE", "storm", "POLICY", "api")):
            self.log_in("admin", "pw")
            self.shows("#who", "admin")
            self.press("All limiting in shadow")
            self.shows("#action-command", "CONFIG SET limiting shadow")
            self.pictures("shadow-asked")
            weir.call("ACL", "SETUSER", "admin", "-config|set")
            self.browser.click("#action-do")
            self.shows("#action-outcome", "NOPERM")
            self.assertEqual(weir.call("CONFIG", "GET", "limiting"), [b"limiting", b"on"])
            self.browser.click("#action-cancel")
            self.shows("#banner", "This user may not run CONFIG SET limiting.")
            weir.call("ACL", "SETUSER", "admin", "+config|set")
            harness.wait_until(lambda: self.disabled("#banner") == [], "the right is back")
            self.press("All limiting in shadow")
            self.browser.click("#action-do")
            self.shows("#banner", "Nothing is limited (limiting shadow)")
            self.assertEqual(weir.call("CONFIG", "GET", "limiting"), [b"limiting", b"shadow"])
            self.pictures("limiting-shadow")
            self.press("Limiting on")
            self.browser.click("#action-do")
            harness.wait_until(lambda: "Nothing is limited" not in self.browser.text("#banner"), "limits deny again")
        self.assertEqual(weir.call("CONFIG", "GET", "limiting"), [b"limiting", b"on"])
        self.assertEqual(self.browser.complaints(), [])

    def test_a_policy_goes_back_to_a_version_of_its_history(self):
        weir = self.in_a_storm()
        weir.call("RL.POLICY", "SET", "api", "7/1s")
        self.log_in("ops", "pw")
        self.shows("#policies", "GCRA 7/1s BURST 6")
        self.browser.click("#policies button")
        self.shows("#policy-body", "Go back to it")
        self.pictures("history")
        self.browser.run("[...document.querySelectorAll('#policy-body td button')].at(-1).click()")
        self.shows("#policy-diff", "+ 1000000/1s")
        self.browser.click("#policy-apply")
        self.shows("#policy-body > p", "GCRA 1000000/1s")
        self.assertEqual(weir.call("RL.POLICY", "GET", "api")[1], b"GCRA 1000000/1s BURST 999999")

    def test_a_certificate_near_its_end_is_said(self):
        made = certificates.Certificates(self.path("tls"))
        self.start(tls_port=harness.free_port(), **made.options())
        self.browse()
        self.shows("#banner", "The certificate ends soon")
        self.shows("#banner", ", in 4")  # 48 hours
        self.pictures("certificate")

    def member(self, name, shard="pair", **options):
        server = self.server(dir=self.path(name), logfile=self.path(name + ".log"), log="file:" + self.path("log-" + shard),
                             shard=shard, metrics_port=harness.free_port(), **options)
        server.log_path = self.path(name + ".log")
        return server

    def new_shard(self, name, directory, *options):
        subprocess.run([harness.executable, "--new-shard", "file:" + self.path("log-" + name), name, *options, "--dir",
                        self.path(directory)], check=True, capture_output=True)

    def look_at(self, member):
        self.http_port = int(member.command[member.command.index("--metrics-port") + 1])

    def test_a_standby_and_its_primary(self):
        self.new_shard("pair", "a")
        for name in "ab":
            member = self.member(name)
            self.look_at(member)
            member.start()
            if name == "a":
                self.browse()
                self.shows("#state", "serves writes")
                self.shows("#shard", "(this one)")
                self.shows("#shard", "nobody would take over")
                first = member
        self.shows("#shard", "follows")
        self.pictures("primary")
        self.assertNotIn("nobody would take over", self.browser.text("#shard"))
        self.assertEqual(self.browser.text("#banner"), "")
        self.browser.close()
        self.browse()
        self.shows("#state", "standby")
        self.shows("#banner", f"it follows its shard and serves no requests. The primary is 127.0.0.1:{first.port}.")
        self.shows("#shard", "serves")
        self.shows("#policies", "A standby decides nothing and shows no policies")
        self.assertNotIn("(!)", self.browser.run("return document.title"), "nothing is wrong")
        self.pictures("standby")
        first.process.send_signal(signal.SIGSTOP)
        try:
            self.shows("#shard", "away")
        finally:
            first.process.send_signal(signal.SIGCONT)
        self.assertTrue(self.browser.run("return document.getElementById('shards-section').hidden"))

    def test_the_shards_of_a_cluster(self):
        founding = self.write("founding", f"cluster limits {'0f' * 16}\nshard east 0-8191\nshard west 8192-16383\n")
        members = {}
        for shard in ("east", "west"):
            self.new_shard(shard, shard + "1", "--founding", founding)
        seeds = ""
        for name in ("east1", "east2", "west1"):
            member = self.member(name, name[:4], cluster_enabled="yes", cluster_seeds=seeds)
            members[name] = member.start()
            seeds = f"127.0.0.1:{members['east1'].port}"
        self.look_at(members["east1"])
        self.browse()
        self.shows("#shards", "8192-16383")
        self.shows("#shards", "east (this one)")
        self.shows("#shards", f"127.0.0.1:{members['east2'].port} follows")
        self.shows("#shards", "none")  # west has no standby
        self.pictures("shards")
        self.assertEqual(self.browser.complaints(), [])
        members["west1"].stop(signal.SIGKILL)
        self.shows("#shards", f"127.0.0.1:{members['west1'].port}, does not serve")
        self.pictures("shards-without-west")
        members["east1"].call("ACL", "SETUSER", "default", "-weir")
        self.shows("#shards", "2 shards.")
        self.shows("#shards", "NOPERM")


if __name__ == "__main__":
    harness.main()
