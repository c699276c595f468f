"""The page of metrics-port in a real Chromium: what it shows, to whom, and what it changes."""

import os
import re
import shlex
import time
from pathlib import Path

import harness
from page_fixture import PageTest

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>"


class Page(PageTest):
    def test_an_empty_server(self):
        self.start()
        self.browse()
        self.shows("#state", "serves writes")
        self.shows("#tiles", "verdicts a second")
        self.shows("#top", "Nothing was counted")
        self.shows("#slowlog", "No command was slow.")
        self.shows("#policies", "There is no policy yet.")
        self.shows("#client-list", "Nobody beside this page")
        tile = "[...document.querySelectorAll('.tile')].find((each) => each.innerText.includes('clients'))"
        self.assertEqual(self.browser.run(f"return {tile}.querySelector('b').innerText"), "0", "the page is no client")
        with self.weir.connect() as client:
            client.call("PING")
            self.shows("#client-list", "ping")
        self.pictures("empty")
        self.assertEqual(self.browser.complaints(), [])

    def test_a_busy_server_in_light_and_dark_and_on_a_phone(self):
        weir = self.start("--slowlog-log-slower-than", "0")
        weir.call("RL.POLICY", "SET", "api", "100/1s", "FIXED", "100000", "ALIGN", "DAY")
        weir.call("RL.POLICY", "SET", "trial", "5/1m", "SHADOW")
        weir.call("RL.POLICY", "SET", "checkout:customers:europe", "50/1s")
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
            self.pictures("storm")
        self.assertEqual(self.browser.complaints(), [])

    def test_a_store_that_fails_is_said_at_once(self):
        weir = self.start()
        self.browse()
        self.shows("#state", "serves writes")
        os.rename(weir.data, weir.data + "-gone")
        self.shows("#state", "no writes")
        self.shows("#banner", "the store has failed")
        self.shows("#banner", "Look whether the directory")
        self.shows("#storage", "has failed")
        self.pictures("failed")

    def test_a_store_that_fails_while_limits_go_on_in_memory(self):
        weir = self.start(storage_failure_policy="memory")
        self.browse()
        self.shows("#state", "serves writes")
        os.rename(weir.data, weir.data + "-gone")
        with self.load(("RL.TAKE", "k", "100/1s"), every_s=0.1):
            self.shows("#banner", "The store has failed: limits go on in memory")
            self.shows("#banner", "Look whether the directory")
            self.shows("#state", "serves writes")
            self.assertNotIn("- of -", self.browser.text("body"), "a disk that is not there has no figures")
            self.pictures("failed-memory")

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
        self.pictures("key")
        seen = page.run("return document.querySelector('#key-view .limit p').innerText")
        left = int(seen.split()[0])
        self.assertAlmostEqual(left, min(10, 2 + 4), delta=4)
        self.assertIsNotNone(before)
        weir.call("RL.RESET", "user:42")
        self.shows("#key-view", "There is no such key")
        self.assertEqual(page.complaints(), [])

    # What weir tells of a day whose last three hours were a storm, in the place of what it has to tell.
    A_DAY = """
        const whole = window.fetch, end = Math.floor(Date.now() / 1000) - 5;
        const rows = Array.from({length: 1440}, (_, i) =>
          [end - 60 * (1439 - i), 100, i < 1260 ? 1 : 900, 0, 0, 2e-6, 3e-4, 1e-3, null]);
        window.fetch = (path, options) => (!String(path).startsWith("/history") ? whole(path, options)
          : Promise.resolve(new Response(JSON.stringify({every_s: 60,
            names: ["allowed", "denied", "shadow", "errors", "p50", "p99", "turn", "commit"], rows: rows.splice(0)}))))
    """

    def axis(self, chart, kind):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map((each) => "
                                "[each.textContent, Number(each.getAttribute(arguments[1]))])",
                                f"{chart} text{kind}", "x" if kind == ".time" else "y")

    def test_charts_show_the_day_before_by_the_clock(self):
        self.start()
        page = self.browse()
        self.shows("#state", "serves writes")
        page.run(self.A_DAY)
        page.choose("#span", "1440")
        longest = "return document.querySelector('#chart-verdicts .curve.denied').getAttribute('d').length"
        harness.wait_until(lambda: page.run(longest) > 10_000, "the day is drawn")
        self.picture("day-light")
        times = [said for said, _ in self.axis("#chart-verdicts", ".time")]
        self.assertGreaterEqual(len(times), 4)
        for said in times:
            self.assertRegex(said, r"^[0-2]\d:00$")
        marks = self.axis("#chart-latency", ":not(.time)")
        self.assertEqual([said for said, _ in marks][:4], ["1 us", "10 us", "100 us", "1 ms"])
        steps = [one[1] - other[1] for one, other in zip(marks, marks[1:])]
        self.assertAlmostEqual(max(steps), min(steps), delta=0.2, msg="a power of ten is as high as another")
        page.choose("#span", "60")
        harness.wait_until(lambda: 500 < page.run(longest) < 2000, "an hour is drawn")
        self.assertRegex(self.axis("#chart-verdicts", ".time")[0][0], r"^[0-2]\d:[0-5][05]$")
        page.choose("#span", "10")
        harness.wait_until(lambda: page.run(longest) < 500, "ten minutes are drawn")
        styles = page.run("return ['allowed', 'denied', 'shadowed', 'sampled'].map((kind) => getComputedStyle("
                          "document.querySelector('#chart-verdicts .legend .' + kind)).strokeDasharray)")
        self.assertEqual(len(set(styles)), 4, "lines differ without their colours")
        page.theme("dark")
        page.choose("#span", "360")
        self.picture("six-hours-dark")
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
        self.shows("#policy-body", "This user may not run RL.POLICY SET and RL.POLICY DEL.")
        self.assertEqual(self.disabled("#policy-body"), ["Delete", "Review"])
        self.pictures("policy-of-another")
        page.click("#policy-close")
        self.press("New policy")
        page.fill("#policy-name", "mine")
        page.fill("#policy-words", "5/1m")
        page.click("#policy-review")
        self.shows("#policy-outcome", "This user may not run RL.POLICY SET.")
        self.assertEqual(self.disabled("#policy-outcome"), ["Apply"])
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
        self.pictures("difference")
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
