"""The values of the chart of tools/helm. tests/chart/run.py has what helm makes of it."""

import json
import re
import subprocess
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


if __name__ == "__main__":
    harness.main()
