"""/v1/ by curl: the examples of docs/http.md, the page's tables beside the OpenAPI document, a crash."""

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import harness
from http_fixture import PAGE, Http

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))

import transcripts  # noqa: E402

# Members that are accepted and change nothing: the page does not tell them row by row.
SILENT = {"full", "headers"}


class Page(Http):
    def test_the_examples_are_what_curl_shows(self):
        if shutil.which("curl") is None:
            self.skipTest("curl is not installed")
        self.start()
        words, began, examples = {}, time.monotonic(), 0
        for block in re.findall(r"(?ms)^```console\n(.*?)^```", PAGE.read_text()):
            for command, expected in re.findall(r"(?m)^\$ (curl .*)\n(.*)$", block):
                examples += 1
                command = transcripts.known(command, words).replace("7080", str(self.http_port))
                shown = subprocess.run(shlex.split(command), capture_output=True, text=True, timeout=60,
                                       check=True).stdout.rstrip("\n")
                passed_ms = (time.monotonic() - began) * 1000
                with self.subTest(command=command):
                    self.assertTrue(transcripts.line_fits(expected, shown, words, passed_ms),
                                    f"\n{expected}\n{shown}")
        self.assertGreater(examples, 4)

    def test_the_page_has_what_the_document_has(self):
        self.start()
        document = json.loads(self.get("/v1/openapi.json")[2])
        rows = {}
        for path, members in re.findall(r"(?m)^\| `([a-z/]+)` \|[^|]*\|([^|]*)\|[^|]*\|$",
                                        PAGE.read_text()):
            rows[f"/v1/{path}"] = set(re.findall(r"`(\w+)`", members))
        told = {}
        for path, methods in document["paths"].items():
            schema = methods.get("post", {}).get("requestBody", {}).get("content", {}).get(
                "application/json", {}).get("schema", {})
            if "$ref" in schema and not path.endswith("/batch"):
                body = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
                told[path] = {name for name, member in body["properties"].items()
                              if name not in SILENT or not member["description"].startswith("Changes nothing")}
        self.assertGreater(len(told), 20)
        self.assertEqual(rows, told)

    def test_the_pattern_of_durations_takes_none_that_weir_does_not_read(self):
        self.start()
        schemas = json.loads(self.get("/v1/openapi.json")[2])["components"]["schemas"]
        hold = next(schema["properties"]["hold"] for schema in schemas.values()
                    if "hold" in schema.get("properties", {}))
        pattern = next(form["pattern"] for form in hold["anyOf"] if "pattern" in form)
        texts = [digits * count + unit for unit in ("s", "h", "minutes") for digits in "07" for count in range(40)]
        fit = [text for text in [*texts, "60s", "0ms", "1hour", "10weeks", "9us"] if re.search(pattern, text)]
        self.assertGreater(len(fit), 60)
        connection = self.connection()
        for text in fit:  # what comes of so long a time is the command's to say
            with self.subTest(text=text):
                _, answer = self.take(connection, key="k", limits="1/1h", hold=text)
                self.assertNotRegex(answer.get("error", ""), "^ERR hold ")


class Curl(Http):
    def ask(self, path, **members):
        status, _, text = Http.ask(self.connection(), f"/v1/{path}", "POST", json.dumps(members))
        return status, json.loads(text)

    def test_a_batch_survives_kill_9_as_a_whole(self):
        server = self.start(storage="rocksdb", durability="always")
        takes = [{"take": {"key": f"k{number}", "limits": "FIXED 10/1d"}} for number in range(100)]
        for left in (9, 8):
            status, answer = self.ask("batch", requests=takes)
            self.assertEqual(status, 200)
            self.assertEqual({each["body"]["limits"][0]["remaining"] for each in answer["answers"]},
                             {left})
        server.stop(signal.SIGKILL)
        server.start()
        for number in range(100):
            _, peeked = self.ask("peek", key=f"k{number}", cost=0)
            self.assertEqual(peeked["limits"][0]["remaining"], 8)

    def test_who_waits_comes_in_turn_with_others(self):
        """One waits over HTTP, one by the Redis protocol after him."""
        server = self.start()
        limits = {"key": "jobs", "limits": "GCRA 2/1s BURST 0"}
        self.ask("take", **limits)
        waiting = self.connection()
        waiting.request("POST", "/v1/acquire", json.dumps({**limits, "timeout": "10s"}))
        harness.wait_until(lambda: self.ask("info", key="jobs")[1]["waiting"] == 1, "he waits")
        with server.connect() as other:
            self.assertEqual(other.call("RL.ACQUIRE", "jobs", *limits["limits"].split(),
                                        "TIMEOUT", "10s")[0], 1)
        self.assertTrue(json.loads(waiting.getresponse().read())["allowed"])
        self.assertEqual(self.ask("info", key="jobs")[1]["waiting"], 0)

    def test_who_leaves_the_queue_takes_nothing(self):
        self.start()
        limits = {"key": "jobs", "limits": "GCRA 1/30s BURST 0"}
        self.ask("take", **limits)
        waiting = self.connection()
        waiting.request("POST", "/v1/acquire", json.dumps({**limits, "timeout": "60s"}))
        harness.wait_until(lambda: self.ask("info", key="jobs")[1]["waiting"] == 1, "he waits")
        waiting.close()
        harness.wait_until(lambda: self.ask("info", key="jobs")[1]["waiting"] == 0, "he has left")


if __name__ == "__main__":
    harness.main()
