"""The values of the chart of tools/helm. tests/chart/run.py has what helm makes of it."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness

CHART = Path(__file__).resolve().parents[2] / "tools/helm/weir"


class Values(unittest.TestCase):
    def test_every_value_has_its_schema_and_is_used(self):
        schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
        values = (CHART / "values.yaml").read_text(encoding="utf-8")
        names = re.findall(r"(?m)^(\w+):", values)
        self.assertEqual(sorted(names), sorted(set(schema["properties"]) - {"global"}))
        templates = "".join(path.read_text(encoding="utf-8")
                            for path in (CHART / "templates").iterdir())
        for name in names:
            self.assertIn(f".Values.{name}", templates)

    def test_every_value_of_a_section_too(self):
        schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
        values = (CHART / "values.yaml").read_text(encoding="utf-8")
        templates = "".join(path.read_text(encoding="utf-8")
                            for path in (CHART / "templates").iterdir())
        seen = 0
        for section, body in re.findall(r"(?m)^(\w+):\n((?:  .*\n|\n|#.*\n)+)", values):
            part = schema["properties"][section]
            if "properties" not in part:
                continue  # it is Kubernetes' own
            names = re.findall(r"(?m)^  (\w+):", body)
            self.assertEqual(sorted(names), sorted(part["properties"]), section)
            self.assertIs(part["additionalProperties"], False, section)
            for name in names:
                self.assertIn(f".Values.{section}.{name}", templates)
                seen += 1
        self.assertGreater(seen, 30)

    def test_the_version_is_that_of_the_program(self):
        chart = (CHART / "Chart.yaml").read_text(encoding="utf-8")
        said = subprocess.run([harness.executable, "--version"], text=True, stdout=subprocess.PIPE, check=True).stdout
        self.assertIn(re.search(r'appVersion: "(.*)"', chart).group(1), said)


class GoPrograms(unittest.TestCase):
    """tests/chart/get-go-program, with a go that fetches nothing."""

    def get(self, what_go_says):
        with tempfile.TemporaryDirectory() as folder:
            go = Path(folder) / "go"
            go.write_text(f"#!/bin/sh\ntest $1 != get || {{ echo '{what_go_says}'; exit 1; }}\n", encoding="utf-8")
            go.chmod(0o755)
            environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "XDG_CACHE_HOME": folder}
            return subprocess.run([CHART.parents[2] / "tests/chart/get-go-program", "helm"], env=environment, check=False,
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_what_is_not_what_its_checksum_says_is_a_failure(self):
        done = self.get("verifying helm.sh/helm/v3@v3.22.0: checksum mismatch")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not what its checksum says", done.stderr)

    def test_a_proxy_that_does_not_answer_is_none(self):
        done = self.get("dial tcp: connection refused")
        self.assertEqual(done.returncode, 77)
        self.assertIn("cannot fetch", done.stderr)


if __name__ == "__main__":
    harness.main()
