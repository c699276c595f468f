"""The page of metrics-port in a real Chromium. WEIR_SCREENSHOTS names a folder for pictures of it."""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import threading
import time
import unittest
from pathlib import Path

import browser
import harness
from support import certificates

SCREENSHOTS = os.environ.get("WEIR_SCREENSHOTS", "")
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>"


@unittest.skipUnless(browser.at_hand(), "chromium is not installed (Debian: chromium, chromium-driver)")
class Page(harness.ServerTest):
    def setUp(self):
        super().setUp()
        self.http_port = harness.free_port()
        self.browser = None

    def tearDown(self):
        if self.browser is not None:
            self.browser.close()
        super().tearDown()

    def start(self, *options, **named):
        named.setdefault("storage", "rocksdb")
        self.weir = self.server(*options, metrics_port=self.http_port, **named).start()
        return self.weir

    def browse(self, path="/", host="127.0.0.1"):
        self.browser = browser.Browser(self.path("chromedriver.log"))
        self.browser.size(1280, 1000)
        self.browser.open(f"http://{host}:{self.http_port}{path}")
        return self.browser

    def shows(self, selector, words):
        """Answers after how many seconds."""
        begin = time.monotonic()
        try:
            harness.wait_until(lambda: words in self.browser.text(selector), "it is shown")
        except AssertionError:
            self.fail(f"{selector} shows {self.browser.text(selector)!r}, not {words!r}; "
                      f"{self.browser.complaints()}")
        return time.monotonic() - begin

    def picture(self, name):
        if SCREENSHOTS:
            os.makedirs(SCREENSHOTS, exist_ok=True)
            self.browser.screenshot(os.path.join(SCREENSHOTS, name + ".png"))

    @contextlib.contextmanager
    def load(self, *commands, every_s=0.002):
        """Sends the commands again and again meanwhile."""
        stop = threading.Event()

        def send():
            with self.weir.connect() as client:
                while not stop.is_set():
                    for command in commands:
                        client.call(*command)
                    stop.wait(every_s)

        thread = threading.Thread(target=send)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def log_in(self, user, password):
        self.browser.click("#login-open")
        self.browser.type("#login-user", user)
        self.browser.type("#login-password", password)
        self.browser.click("#login-go")

    def test_an_empty_server(self):
        self.start()
        self.browse()
        self.shows("#state", "serves writes")
        self.shows("#tiles", "verdicts a second")
        self.shows("#top", "Nothing was counted")
        self.shows("#slowlog", "No command was slow.")
        self.shows("#policies", "There is no policy yet.")
        self.shows("#client-list", "http")
        self.picture("empty")
        self.assertEqual(self.browser.complaints(), [])

    def test_a_busy_server_in_light_and_dark_and_on_a_phone(self):
        weir = self.start("--slowlog-log-slower-than", "0")
        weir.call("RL.POLICY", "SET", "api", "100/1s", "FIXED", "100000", "ALIGN", "DAY")
        weir.call("RL.POLICY", "SET", "trial", "5/1m", "SHADOW")
        page = self.browse()
        with self.load(("RL.TAKE", "user:1", "POLICY", "api"), ("CL.THROTTLE", "user:2", 20, 30, 60),
                       ("RL.TAKE", "user:3", "POLICY", "trial")):
            self.shows("#top", "user:2")
            self.shows("#policies", "GCRA 100/1s BURST 99 FIXED 100000 ALIGN DAY")
            self.shows("#chart-verdicts", "denied:")
            page.choose("#top-by", "TAKEN")
            self.shows("#top", "user:1")
            time.sleep(6)
            self.picture("busy-light")
            page.theme("dark")
            self.picture("busy-dark")
            page.size(390, 844)
            harness.wait_until(lambda: page.run(
                "return document.querySelector('figure svg').viewBox.baseVal.width") < 400,
                "charts are as wide as the phone")
            self.picture("busy-phone")
            wide = page.run("return document.documentElement.scrollWidth - window.innerWidth")
            self.assertLessEqual(wide, 0, "nothing is wider than a phone")
        self.assertEqual(page.complaints(), [])

    def test_a_denial_storm_is_seen_within_five_seconds(self):
        self.start()
        self.browse()
        self.shows("#state", "serves writes")
        time.sleep(3)
        with self.load(("RL.TAKE", "storm", "FIXED", "1/1h")):
            took = self.shows("#banner", "Denial storm")
            self.assertLess(took, 5)
            self.shows("#top", "storm")
            self.picture("storm")
        self.assertEqual(self.browser.complaints(), [])

    def press(self, words):
        """Presses the button that says so, once it is there."""
        find = "return [...document.querySelectorAll('button')].find((each) => each.innerText === arguments[0])"
        harness.wait_until(lambda: self.browser.run(find, words) is not None, f"there is a button {words}")
        self.browser.run(find.replace("return ", "(").rstrip() + ").click()", words)

    def buttons(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0] + ' button')]"
                                ".map((each) => each.innerText)", selector)

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
            self.picture("storm-actions")
            self.press("api in shadow")
            self.shows("#policy-diff", "+ SHADOW")
            self.browser.click("#policy-close")
            self.press("Former version of api")
            self.shows("#policy-diff", "- 1/1h")
            self.shows("#policy-diff", "+ 1000000/1s")
            self.picture("former")
            self.assertEqual(weir.call("RL.POLICY", "GET", "api")[1], b"FIXED 1/1h ALIGN FIRST", "it was only shown")
            self.browser.click("#policy-apply")
            self.shows("#policy-body", "GCRA 1000000/1s")
            self.browser.click("#policy-close")
            harness.wait_until(lambda: self.browser.text("#banner") == "", "the storm is over")
        self.assertEqual(self.browser.complaints(), [])

    def test_limiting_is_put_in_shadow_and_on_again_by_who_may(self):
        weir = self.in_a_storm()
        with self.load(("RL.TAKE", "storm", "POLICY", "api")):
            self.log_in("ops", "pw")
            self.press("All limiting in shadow")
            self.shows("#action-command", "CONFIG SET limiting shadow")
            self.browser.click("#action-do")
            self.shows("#action-outcome", "NOPERM")
            self.assertEqual(weir.call("CONFIG", "GET", "limiting"), [b"limiting", b"on"])
            self.browser.click("#action-cancel")
            self.browser.click("#logout")
            self.log_in("admin", "pw")
            self.shows("#who", "admin")
            self.press("All limiting in shadow")
            self.picture("shadow-asked")
            self.browser.click("#action-do")
            self.shows("#banner", "Nothing is limited (limiting shadow)")
            self.assertEqual(weir.call("CONFIG", "GET", "limiting"), [b"limiting", b"shadow"])
            self.picture("limiting-shadow")
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
        self.picture("history")
        self.browser.run("[...document.querySelectorAll('#policy-body td button')].at(-1).click()")
        self.shows("#policy-diff", "+ 1000000/1s")
        self.browser.click("#policy-apply")
        self.shows("#policy-body > p", "GCRA 1000000/1s")
        self.assertEqual(weir.call("RL.POLICY", "GET", "api")[1], b"GCRA 1000000/1s BURST 999999")

    def test_a_store_that_fails_is_said_at_once(self):
        weir = self.start()
        self.browse()
        self.shows("#state", "serves writes")
        os.rename(weir.data, weir.data + "-gone")
        self.shows("#state", "no writes")
        self.shows("#banner", "the store has failed")
        self.shows("#banner", "Look whether the directory")
        self.shows("#storage", "has failed")
        self.picture("failed")

    def test_a_certificate_near_its_end_is_said(self):
        made = certificates.Certificates(self.path("tls"))
        self.start(tls_port=harness.free_port(), **made.options())
        self.browse()
        self.shows("#banner", "The certificate ends soon")
        self.shows("#banner", ", in 4")  # 48 hours
        self.picture("certificate")

    def member(self, name):
        return self.server(dir=self.path(name), logfile=self.path(name + ".log"), log="file:" + self.path("log"),
                           shard="pair", metrics_port=harness.free_port())

    def test_a_standby_and_its_primary(self):
        subprocess.run([harness.executable, "--new-shard", "file:" + self.path("log"), "pair", "--dir",
                        self.path("a")], check=True, capture_output=True)
        for name in "ab":
            member = self.member(name)
            member.log_path = self.path(name + ".log")
            self.http_port = int(member.command[member.command.index("--metrics-port") + 1])
            member.start()
            if name == "a":
                self.browse()
                self.shows("#state", "serves writes")
                self.shows("#shard", "(this one)")
                self.shows("#shard", "nobody would take over")
                first = member
        self.shows("#shard", "follows")
        self.picture("primary")
        self.assertNotIn("nobody would take over", self.browser.text("#shard"))
        self.assertEqual(self.browser.text("#banner"), "")
        self.browser.close()
        self.browse()
        self.shows("#state", "standby")
        self.shows("#banner", f"it follows its shard and serves no requests. The primary is 127.0.0.1:{first.port}.")
        self.shows("#shard", "serves")
        self.assertNotIn("(!)", self.browser.run("return document.title"), "nothing is wrong")
        self.picture("standby")
        first.process.send_signal(signal.SIGSTOP)
        try:
            self.shows("#shard", "away")
        finally:
            first.process.send_signal(signal.SIGCONT)

    def test_a_server_that_is_away_and_comes_back(self):
        weir = self.start()
        self.browse()
        self.shows("#state", "serves writes")
        weir.send_signal(9)
        weir.wait()
        self.shows("#banner", "weir does not answer")
        self.shows("#banner", "Its last answer was at")
        self.assertIn("away", self.browser.run("return document.body.className"))
        weir.start()
        self.shows("#state", "serves writes")
        self.assertEqual(self.browser.text("#banner"), "")
        self.assertEqual(self.browser.run("return document.body.className"), "")

    def test_a_key_and_the_curve_that_its_limits_predict(self):
        weir = self.start()
        weir.call("RL.TAKE", "user:42", "GCRA", "10/10s", "FIXED", "100/1m", "COST", "8")
        page = self.browse()
        self.shows("#state", "serves writes")
        page.type("#key", "user:42")
        page.click("#key-form button")
        self.shows("#key-view", "GCRA 10/10s BURST 9")
        self.shows("#key-view", "10 permits in 10s, coming back one by one; 10 permits at once")
        self.shows("#key-view", "FIXED 100/1m")
        drawn = page.run("""return [...document.querySelectorAll('#key-view .predicted')]
                            .map((path) => path.getAttribute('d')?.length ?? 0)""")
        self.assertGreaterEqual(len([length for length in drawn if length > 20]), 4)
        # What was seen is what was predicted: permits come back one a second.
        before = weir.call("RL.INFO", "user:42")
        time.sleep(3)
        self.picture("key")
        seen = page.run("return document.querySelector('#key-view .limit p').innerText")
        left = int(seen.split()[0])
        self.assertAlmostEqual(left, min(10, 2 + 4), delta=4)
        self.assertIsNotNone(before)
        weir.call("RL.RESET", "user:42")
        self.shows("#key-view", "There is no such key")
        self.assertEqual(page.complaints(), [])

    def test_names_are_text(self):
        weir = self.start("--slowlog-log-slower-than", "0")
        weir.call("RL.TAKE", HOSTILE, "FIXED", "1/1h")
        weir.call("RL.TAKE", HOSTILE, "FIXED", "1/1h")
        weir.call("RL.TAKE", b"\xff\xfe\x00", "FIXED", "1/1h", "COST", "2")
        weir.call("RL.POLICY", "SET", HOSTILE.replace(" ", ""), "5/1m")
        page = self.browse()
        self.shows("#top", HOSTILE)
        self.shows("#top", "\\xff\\xfe\\x00")
        self.shows("#policies", "<script>")
        page.click("#top button")
        self.shows("#key-view", "FIXED 1/1h")
        self.assertEqual(page.run("return document.title"), f"weir 127.0.0.1:{self.http_port}")
        self.assertEqual(page.run("return document.querySelectorAll('main script, main img').length"), 0)
        page.run("document.querySelectorAll('#top button')[1].click()")
        self.shows("#key-view", "no such key")  # it was denied, so there is none
        self.assertEqual(page.complaints(), [])

    def test_the_users_of_the_documentation(self):
        page = (Path(__file__).resolve().parents[2] / "docs/metrics.md").read_text(encoding="utf-8")
        lines = re.findall(r"(?m)^redis-cli (ACL SETUSER .*)$", page)
        self.assertEqual(len(lines), 2)
        weir = self.start(storage="memory")
        for line in lines:
            weir.call(*shlex.split(line))
        weir.call("RL.POLICY", "SET", "api", "100/1s")
        shown = self.browse()
        self.shows("#state", "serves writes")
        self.log_in("look", "a-long-phrase")
        self.shows("#who", "look")
        self.shows("#policies", "GCRA 100/1s BURST 99")
        self.assertNotIn("NOPERM", shown.text("main"))
        shown.click("#logout")
        self.log_in("ops", "another-long-phrase")
        self.shows("#who", "ops")
        self.change(weir)

    def test_who_may_see_and_who_may_change(self):
        weir = self.start("--requirepass", "secret").connect()
        self.addCleanup(weir.close)
        weir.call("AUTH", "secret")
        weir.call("ACL", "SETUSER", "ops", "on", ">pw", "+@all", "~*", "policy~*")
        weir.call("ACL", "SETUSER", "look", "on", ">pw", "~*", "policy~*", "+rl.top", "+rl.info",
                  "+acl|whoami", "+select", "+rl.policy|list", "+rl.policy|get", "+rl.policy|stats",
                  "+rl.policy|history")
        weir.call("RL.POLICY", "SET", "api", "100/1s")
        page = self.browse()
        self.shows("#top", "Log in to see keys")
        self.shows("#state", "serves writes")
        self.log_in("look", "wrong")
        self.shows("#login-error", "WRONGPASS")
        page.click("#login-cancel")
        self.log_in("look", "pw")
        self.shows("#policies", "GCRA 100/1s BURST 99")
        page.click("#policies button")
        page.fill("#policy-words", "5/1m")
        page.click("#policy-review")
        page.click("#policy-apply")
        self.shows("#policy-outcome", "NOPERM")
        page.click("#policy-close")
        page.click("#logout")
        self.log_in("ops", "pw")
        self.shows("#who", "ops")
        self.change(weir)
        self.assertEqual(page.run("return document.cookie"), "")
        self.assertEqual(page.run("return localStorage.length + sessionStorage.length"), 0)
        page.open(f"http://127.0.0.1:{self.http_port}/")
        self.shows("#top", "Log in to see keys")

    def change(self, weir):
        """A policy is changed, its difference shown before; a change of somebody else's is not lost."""
        page = self.browser
        page.click("#policies button")
        self.shows("#policy-body", "History")
        page.fill("#policy-words", "GCRA 50/1s BURST 99 ONCHANGE USED")
        page.click("#policy-review")
        self.shows("#policy-diff", "- 100/1s")
        self.shows("#policy-diff", "+ 50/1s")
        self.picture("difference")
        self.assertEqual(weir.call("RL.POLICY", "GET", "api")[1], b"GCRA 100/1s BURST 99")
        page.click("#policy-apply")
        self.shows("#policy-body", "GCRA 50/1s BURST 99")
        self.shows("#policy-body", "ops")
        self.assertEqual(weir.call("RL.POLICY", "GET", "api")[1], b"GCRA 50/1s BURST 99")
        page.fill("#policy-words", "1/1s")
        weir.call("RL.POLICY", "SET", "api", "7/1s")
        page.click("#policy-review")
        page.click("#policy-apply")
        self.shows("#policy-outcome", "changed by somebody else")
        self.assertEqual(weir.call("RL.POLICY", "GET", "api")[1], b"GCRA 7/1s BURST 6")
        page.click("#policy-close")

    def test_a_page_of_somebody_else_gets_nothing(self):
        self.start()
        page = self.browse(host="localhost")
        self.shows("#state", "serves writes")
        # Another origin, as the browser has it: a name, or a port, that is another one.
        said = page.run("""
            const asked = fetch(arguments[0], {method: 'POST', headers: {'Content-Type': 'application/json'},
              body: '{"commands": [["ACL", "WHOAMI"]]}'}).then((a) => a.text(), (e) => String(e));
            return asked""", f"http://127.0.0.1:{self.http_port}/v1/page")
        self.assertIn("TypeError", said)

    def test_a_name_that_leads_here_is_refused(self):
        self.start("--metrics-bind", "127.0.0.1")
        # Chromium leads the name to this machine.
        page = self.browse(host="rebound.localhost")
        self.assertIn("DENIED weir is not known as rebound.localhost here", page.text("body"))


if __name__ == "__main__":
    harness.main()
