"""The page of metrics-port in a real Chromium. WEIR_SCREENSHOTS names a folder for pictures of it, and WEIR_AXE the file
axe.min.js of npm's axe-core, which then finds nothing wrong with what pictures are taken of."""

import contextlib
import os
import threading
import time
import unittest

import browser
import harness

SCREENSHOTS = os.environ.get("WEIR_SCREENSHOTS", "")
AXE = os.environ.get("WEIR_AXE", "")
LOOKS = (("light", "light", 1280, 1000), ("dark", "dark", 1280, 1000), ("phone", "light", 390, 844))


@unittest.skipUnless(browser.at_hand(), "chromium is not installed (Debian: chromium, chromium-driver)")
class PageTest(harness.ServerTest):
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
        if AXE:
            self.assertEqual(self.violations(), [], name)

    def pictures(self, name):
        """In light, in dark, and on a phone."""
        if SCREENSHOTS or AXE:
            for look, theme, width, height in LOOKS:
                self.browser.theme(theme)
                self.browser.size(width, height)
                harness.wait_until(lambda: self.browser.run(
                    "return [...document.querySelectorAll('figure[id] svg')].every((each) => "
                    "Math.abs(each.viewBox.baseVal.width - each.clientWidth) < 40)"), "charts are as wide as the window")
                self.picture(f"{name}-{look}")
            self.browser.theme("light")
            self.browser.size(1280, 1000)

    def violations(self):
        """What axe-core has against the page as it is shown: rules, and where."""
        with open(AXE, encoding="utf-8") as source:
            self.browser.run(source.read())
        return self.browser.outcome("return axe.run().then((all) => all.violations.map((each) => "
                                    "`${each.id}: ${each.nodes.map((node) => node.target).join(' ')}`));")

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

    def press(self, words):
        """Presses the button that says so, once it is there."""
        find = "return [...document.querySelectorAll('button')].find((each) => each.innerText === arguments[0])"
        harness.wait_until(lambda: self.browser.run(find, words) is not None, f"there is a button {words}")
        self.browser.run(find.replace("return ", "(").rstrip() + ").click()", words)

    def disabled(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0] + ' button')]"
                                ".filter((each) => each.disabled).map((each) => each.innerText)", selector)

    def buttons(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0] + ' button')]"
                                ".map((each) => each.innerText)", selector)
