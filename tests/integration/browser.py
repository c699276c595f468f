"""A headless Chromium, driven by Debian's chromedriver over the WebDriver protocol (W3C)."""

import base64
import json
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

import harness

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name of a reference


def at_hand():
    return shutil.which("chromium") is not None and shutil.which("chromedriver") is not None


class Failed(Exception):
    pass


class Browser:
    def __init__(self, log):
        self.folder = tempfile.mkdtemp(prefix="weir-browser-")
        self.port = harness.free_port()
        with open(log, "w", encoding="utf-8") as output:
            self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=output,
                                           stderr=output)
        harness.wait_until(self.is_ready, "chromedriver is ready")
        options = {"binary": shutil.which("chromium"),
                   "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                            "--disable-dev-shm-usage", f"--user-data-dir={self.folder}"]}
        made = self.post("/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = "/session/" + made["sessionId"]
        # What a page shows once a server has answered is waited for.
        self.post(self.session + "/timeouts", {"implicit": 10_000})

    def close(self):
        try:
            self.call("DELETE", self.session)
        finally:
            self.driver.kill()
            self.driver.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    def is_ready(self):
        try:
            return self.call("GET", "/status")["ready"]
        except OSError:
            return False

    def call(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise Failed(json.load(error)["value"]["message"].splitlines()[0]) from error

    def post(self, path, body=None):
        return self.call("POST", path, body or {})

    def open(self, address):
        self.post(self.session + "/url", {"url": address})

    def size(self, width, height):
        self.post(self.session + "/window/rect", {"width": width, "height": height})

    def run(self, script, *args):
        """What the script returns, in the page."""
        return self.post(self.session + "/execute/sync", {"script": script, "args": list(args)})

    def outcome(self, script):
        """What the promise that the script returns comes to, in the page."""
        waits = f"const done = arguments[0]; (() => {{ {script} }})().then(done, (error) => done(String(error)));"
        return self.post(self.session + "/execute/async", {"script": waits, "args": []})

    def element(self, selector):
        return self.post(self.session + "/element", {"using": "css selector",
                                                     "value": selector})[ELEMENT]

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def click(self, selector):
        self.post(f"{self.session}/element/{self.element(selector)}/click")

    def type(self, selector, words):
        place = f"{self.session}/element/{self.element(selector)}"
        self.post(place + "/clear")
        self.post(place + "/value", {"text": words})

    def fill(self, selector, words):
        """Puts the words there at once, whatever a key would do."""
        self.run("arguments[0].value = arguments[1]", {ELEMENT: self.element(selector)}, words)

    def choose(self, selector, value):
        self.run("const e = document.querySelector(arguments[0]); e.value = arguments[1];"
                 "e.dispatchEvent(new Event('change'))", selector, value)

    def theme(self, name):
        self.post(self.session + "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": name}]}})

    def complaints(self):
        """What the browser's console says: errors of scripts, of the content policy, of loading."""
        return [line["message"] for line in self.post(self.session + "/se/log", {"type": "browser"})]

    def screenshot(self, path):
        """The whole page."""
        size = self.post(self.session + "/goog/cdp/execute", {
            "cmd": "Page.getLayoutMetrics", "params": {}})["cssContentSize"]
        shot = self.post(self.session + "/goog/cdp/execute", {
            "cmd": "Page.captureScreenshot", "params": {
                "captureBeyondViewport": True,
                "clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"],
                         "scale": 1}}})
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
