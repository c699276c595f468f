"""weir-policies: files of the reference rate limit service, and limitador's, as lines of a policies-file."""

import os
import re
import subprocess
from pathlib import Path

import harness

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/weir-policies"
PAGE = (ROOT / "docs/rls.md").read_text(encoding="utf-8")
# Of docs/rls.md: (language, text), in order.
BLOCKS = re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", PAGE)


class Conversion(harness.ServerTest):
    def convert(self, *names, text=None, environment=None):
        done = subprocess.run(["/usr/bin/python3", "-B", TOOL, *names], input=text, capture_output=True, text=True,
                              cwd=self.folder, env={**os.environ, **(environment or {})}, timeout=120, check=False)
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stdout, done.stderr

    def checked(self, policies):
        """It says nothing that weir does not take."""
        self.write("policies", policies)
        done = subprocess.run([harness.executable, "--check-config", "--dir", self.folder, "--policies-file", "policies"],
                              text=True, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.stdout + done.stderr, "the configuration is good\n", policies)

    def lines(self, text, *told):
        """The lines that are no remarks. `told` begin what is told, in order, without the file's name."""
        self.write("limits.yaml", text)
        code, policies, said = self.convert("limits.yaml")
        self.checked(policies)
        said = said.splitlines()
        self.assertEqual(len(said), len(told), said)
        for line, begin in zip(said, told):
            self.assertTrue(line.startswith("limits.yaml:" + begin), line)
            self.assertIn("\n# " + line + "\n", policies)
        self.assertEqual(code, 2 if told else 0)
        return [line for line in policies.splitlines() if not line.startswith("#")]

    def of_domain(self, descriptors, *told):
        return self.lines("domain: d\ndescriptors:\n" + descriptors, *told)

    def test_every_unit(self):
        limits = {"second": "/1s ALIGN EPOCH", "minute": " ALIGN MINUTE", "hour": " ALIGN HOUR", "DAY": " ALIGN DAY",
                  "week": "/7d ALIGN EPOCH", "month": "/30d ALIGN EPOCH", "Year": "/365d ALIGN EPOCH"}
        got = self.of_domain("".join(f"- {{key: {unit}, rate_limit: {{unit: {unit}, requests_per_unit: 7}}}}\n" for unit in limits))
        self.assertEqual(got, [line for unit, words in limits.items()
                               for line in (f"policy d.{unit} FIXED 7{words}", f"rls d {unit} POLICY d.{unit}")])

    def test_counts(self):
        self.assertEqual(self.of_domain(
            "- {key: a, rate_limit: {unit: day}}\n"
            "- {key: b, rate_limit: {unit: day, requests_per_unit: 0}, shadow_mode: true}\n"
            "- {key: c, rate_limit: {unit: day, requests_per_unit: 4294967295}}\n"
            "- {key: e, rate_limit: {unit: second, requests_per_unit: 4294967295}}\n"
            "- {key: f, rate_limit: {unit: day, requests_per_unit: 4294967296}}\n"
            "- {key: g, rate_limit: {unit: day, requests_per_unit: many}}\n"
            "- {key: h, rate_limit: {unit: fortnight, requests_per_unit: 1}}\n"
            "- {key: i, rate_limit: {requests_per_unit: 1}}\n"
            "- {key: j, rate_limit: {unlimited: true}}\n"
            "- {key: k, rate_limit: {unlimited: yes, unit: day}, shadow_mode: true}\n"
            "- {key: l, rate_limit: {unlimited: perhaps, unit: day, requests_per_unit: 3}, shadow_mode: false}\n",
            "4: none is granted", "6: a limit is at most 1000000000", "7: there is no such limit: 4294967296 per day",
            "8: requests_per_unit is no whole number: many", "8: there is no such limit", "9: there is no such limit: 1 per fortnight",
            "10: there is no such limit: 1 per nothing", "12: it is unlimited, and has a unit", "13: unlimited is neither"), [
                "policy d.a BLOCKED", "rls d a POLICY d.a", "policy d.b UNLIMITED", "rls d b POLICY d.b",
                "policy d.c FIXED 4294967295 ALIGN DAY", "rls d c POLICY d.c",
                "policy d.e FIXED 1000000000/1s ALIGN EPOCH", "rls d e POLICY d.e",
                "policy d.j UNLIMITED", "rls d j POLICY d.j", "policy d.k UNLIMITED", "rls d k POLICY d.k",
                "policy d.l FIXED 3 ALIGN DAY", "rls d l POLICY d.l"])

    def test_nested_values_and_what_has_no_limit(self):
        self.assertEqual(self.of_domain(
            "- key: a\n  value: 1\n  descriptors:\n"
            "  - {key: b, rate_limit: {unit: day, requests_per_unit: 1}}\n"
            "  - key: b\n    value: 'x*'\n    rate_limit: {unit: day, requests_per_unit: 2}\n"
            "    descriptors: [{key: c, value: 'p,q=r*s\\t'}]\n"
            "- {key: a, value: '*'}\n"
            "- {key: \"a b\", value: \"c\\\"\\n#\"}\n"), [
                "policy d.a_1.b FIXED 1 ALIGN DAY", "rls d a=1,b POLICY d.a_1.b",
                "policy d.a_1.b_x* FIXED 2 ALIGN DAY", "rls d a=1,b=x* POLICY d.a_1.b_x*",
                "policy d.a_1.b_x*.c_p,q=r*s\\t UNLIMITED", "rls d a=1,b=x*,c=p\\,q\\=r\\*s\\\\t POLICY d.a_1.b_x*.c_p,q=r*s\\t",
                "policy d.a_* UNLIMITED", "rls d a=* POLICY d.a_*",
                'policy "d.a b_c\\"\\x0a#" UNLIMITED', 'rls d "a b=c\\"\\x0a#" POLICY "d.a b_c\\"\\x0a#"'])

    def test_shared_thresholds(self):
        self.assertEqual(self.of_domain(
            "- key: user\n  descriptors:\n"
            "  - {key: path, value: '/{a}/*', share_threshold: true, rate_limit: {unit: day, requests_per_unit: 1}}\n"
            "- {key: x, value: 'y', share_threshold: true}\n"
            "- key: a\n  descriptors:\n  - key: a\n    descriptors:\n"
            "    - {key: f, value: 'g*', share_threshold: true, rate_limit: {unit: day, requests_per_unit: 1}}\n",
            "6: share_threshold is for values that end with *", "11: share_threshold: an entry is there twice"), [
                "policy d.user.path_/{a}/* FIXED 1 ALIGN DAY",
                "rls d user,path=/{a}/* POLICY d.user.path_/{a}/* KEY rls:d:user={user},path=/{{a}}/*",
                "policy d.x_y UNLIMITED", "rls d x=y POLICY d.x_y",
                "policy d.a.a.f_g* FIXED 1 ALIGN DAY", "rls d a,a,f=g* POLICY d.a.a.f_g*"])

    def test_what_cannot_be_said_is_told(self):
        limit = "rate_limit: {unit: day, requests_per_unit: 1}"
        self.assertEqual(self.of_domain(
            f"- {{key: a, {limit}, detailed_metric: true}}\n"
            f"- {{key: b, {limit}, value_to_metric: true, quota_mode: true}}\n"
            "- {key: c, rate_limit: {unit: day, requests_per_unit: 1, name: n, replaces: [{name: x}, {name: y}]}}\n"
            f"- {{key: c*, {limit}}}\n"
            f"- {{key: a, {limit}}}\n"
            f"- {{value: a, {limit}}}\n"
            "- {key: e, shadow_mode: true}\n"
            f"- {{key: f, {limit}, shadow_mod: true, key: g}}\n"
            "- just text\n"
            "- {key: h, rate_limit: 7}\n"
            "- {key: i, rate_limit: {unit: day, requests_per_unit: 2, name: n}}\n",
            "10: key is there twice", "3: detailed_metric", "4: value_to_metric", "4: quota_mode", "5: replaces x", "5: replaces y",
            "6: no rule is for all names that begin so: c*", "7: it is there already, in line 3", "8: it has no key",
            "9: there is no rate_limit beside it", "10: shadow_mod is unknown here", "11: a descriptor is no mapping",
            "12: rate_limit is no mapping"), [
                "policy d.a FIXED 1 ALIGN DAY", "rls d a POLICY d.a", "policy d.b FIXED 1 ALIGN DAY SHADOW", "rls d b POLICY d.b",
                "policy n FIXED 1 ALIGN DAY", "rls d c POLICY n", "policy d.e UNLIMITED", "rls d e POLICY d.e",
                "policy d.g FIXED 1 ALIGN DAY", "rls d g POLICY d.g", "policy d.h UNLIMITED", "rls d h POLICY d.h",
                "policy n-2 FIXED 2 ALIGN DAY", "rls d i POLICY n-2"])

    def test_anchors_merges_and_several_documents(self):
        self.assertEqual(self.lines(
            "domain: d\ndescriptors:\n- {key: a, rate_limit: &day {unit: day, requests_per_unit: 1}}\n"
            "- {key: b, rate_limit: *day}\n- {key: c, rate_limit: {<<: *day, requests_per_unit: 2}}\n"
            "---\ndomain: e f\ndescriptors: [{key: a}]\n"), [
                "policy d.a FIXED 1 ALIGN DAY", "rls d a POLICY d.a", "policy d.b FIXED 1 ALIGN DAY", "rls d b POLICY d.b",
                "policy d.c FIXED 2 ALIGN DAY", "rls d c POLICY d.c",
                'policy "e f.a" UNLIMITED', 'rls "e f" a POLICY "e f.a"'])

    def test_depth_and_long_names(self):
        text = "".join(f"{'  ' * depth}- key: k{depth}\n{'  ' * depth}  descriptors:\n" for depth in range(33))
        self.assertEqual(self.of_domain(text, "67: a rule has at most 32 entries"), [])
        got = self.of_domain("".join(f"- {{key: x{'é' * 70}{n}}}\n" for n in (1, 2)))
        self.assertEqual([len(line.split()[1].encode()) for line in got if line.startswith("policy")], [127, 127])

    def test_limitador(self):
        self.assertEqual(self.lines("""
- {namespace: n, max_value: 10, seconds: 60, conditions: ["descriptors[0]['m'] == 'GET'"]}
- {namespace: n, max_value: 90, seconds: 3600, conditions: ['descriptors[0].m == "GET"'], variables:}
- {namespace: n, max_value: 5, seconds: 1, name: each, variables: ["descriptors[0]['m']", "descriptors[0].user"]}
- {namespace: n, max_value: 0, seconds: 1, id: shut, conditions: ["path.startsWith('/x')", "'b' == a"]}
- {namespace: o, max_value: 3, seconds: 1, conditions: ["p.startsWith('/x')"], variables: [p]}
""", "2: it holds for descriptors with more entries too, as in line 4"), [
            "policy n.m=GET FIXED 10/60s FIXED 90/3600s", "rls n m=GET POLICY n.m=GET",
            "policy each FIXED 5/1s", "rls n m,user POLICY each",
            "policy shut BLOCKED", "rls n path=/x*,a=b POLICY shut KEY rls:n:path=/x*,a=b",
            "policy o.p=/x* FIXED 3/1s", "rls o p=/x* POLICY o.p=/x*",
            # Who sends m=GET with a user would not find the rule for any m.
            "rls n m=GET,user POLICY each"])

    def test_limitador_where_limits_meet(self):
        self.assertEqual(self.lines("""
- {namespace: n, max_value: 1, seconds: 1, conditions: ["a == '1'"], variables: [b]}
- {namespace: n, max_value: 2, seconds: 1, conditions: ["b == '2'"], variables: [a]}
- {namespace: n, max_value: 3, seconds: 1, variables: [b], conditions: ["a == '1'"]}
""", "4: it takes the place of the limit in line 2", "3: where this one and that of line 2 meet"), [
            "policy n.a=1,b FIXED 3/1s", "rls n a=1,b POLICY n.a=1,b", "policy n.a,b=2 FIXED 2/1s", "rls n a,b=2 POLICY n.a,b=2",
            "rls n a=1,b=2 POLICY n.a,b=2"])

    def test_limitador_what_cannot_be_said_is_told(self):
        self.assertEqual(self.lines("""
- {namespace: n, max_value: 1, seconds: 1}
- {namespace: n, max_value: 1, seconds: 1, conditions: ["a != 'b'"]}
- {namespace: n, max_value: 1, seconds: 1, conditions: ["a == b"]}
- {namespace: n, max_value: 1, seconds: 1, conditions: ["a == 'b'", "a == 'c'"]}
- {namespace: n, max_value: 1, seconds: 1, variables: ["descriptors[0].a", "descriptors[1].b"]}
- {namespace: n, max_value: 1, seconds: 1, variables: ["descriptors[1].c"]}
- {max_value: 1, seconds: 1, variables: [a]}
- {namespace: n, max_value: 1, variables: [a]}
- {namespace: n, max_value: 1, seconds: 999999999, variables: [a]}
- {namespace: n, max_value: 9999999999, seconds: 1, variables: [d], burst: 7}
- text
- {namespace: n, max_value: 1, seconds: 1, variables: [{a: b}]}
- {namespace: n, max_value: 1, seconds: 1, variables: ["a + b"]}
""", "2: it is for every request", "3: no rule has this condition: a != 'b'", "4: no rule has this condition: a == b",
            "5: a rule has one condition for each entry", "6: it needs entries of several descriptors",
            "7: its rule is for the descriptor wherever it stands", "8: it has no namespace", "9: it needs a max_value",
            "10: a limit has at most", "11: burst is unknown here", "11: a limit is at most 1000000000 in 1 seconds",
            "12: a limit is no mapping", "13: no rule has this variable", "14: no rule has this variable: a + b"), [
                "policy n.c FIXED 1/1s", "rls n c POLICY n.c", "policy n.d FIXED 1000000000/1s", "rls n d POLICY n.d"])

    def test_limitador_many_limits_of_the_same_entries(self):
        text = "".join(f"- {{namespace: n, max_value: 1, seconds: {n}, variables: [a]}}\n" for n in range(1, 18))
        self.assertEqual(self.lines(text, "17: a policy has at most 16 limits"), [
            "policy n.a " + " ".join(f"FIXED 1/{n}s" for n in range(1, 17)), "rls n a POLICY n.a"])

    def test_several_files_and_standard_input(self):
        self.write("a.yaml", "domain: d\ndescriptors: [{key: a}]\n")
        code, policies, said = self.convert("a.yaml", "-", text="domain: d\ndescriptors: [{key: b, colour: red}, {key: a_b}]\n")
        self.assertEqual((code, said), (2, "-:2: colour is unknown here, and left out\n"))
        self.assertTrue(policies.startswith("# from a.yaml\n"), policies)
        self.assertIn("\n# from -\n", policies)
        self.checked(policies)

    def test_what_is_no_file_of_limits_writes_nothing(self):
        bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
        for text, why in {"": "there is nothing in it", "a: [": "line 1", "7": "line 1: this is neither", bomb: "repeated by aliases",
                          "&a [*a]": "nested too deeply", "[" * 5000: "", "{[a]: b}": "the name of a field is no text",
                          "domain: !!python/object/apply:os.getcwd []\n": None}.items():
            with self.subTest(text=text[:40]):
                self.write("limits.yaml", text)
                code, policies, said = self.convert("limits.yaml")
                if why is None:  # a tag makes nothing
                    self.assertEqual(code, 2)
                    continue
                self.assertEqual((code, policies), (1, ""))
                self.assertIn(why, said)
                self.assertEqual(said.count("\n"), 1, said)
        self.assertEqual(self.convert("nowhere.yaml")[:2], (1, ""))
        Path(self.path("limits.yaml")).write_bytes(b"domain: \xff\n")
        self.assertEqual(self.convert("limits.yaml")[:2], (1, ""))

    def test_without_pyyaml_it_says_what_is_missing(self):
        self.write("yaml.py", "raise ImportError\n")
        self.write("limits.yaml", "domain: d\n")
        code, policies, said = self.convert("limits.yaml", environment={"PYTHONPATH": self.folder})
        self.assertEqual((code, policies), (1, ""))
        self.assertIn("apt-get install python3-yaml", said)

    def test_the_page(self):
        for name in ("ratelimit.yaml", "limits.yaml"):
            at = next(at for at, block in enumerate(BLOCKS) if block[0] == "yaml" and block[1].startswith(f"# {name}\n"))
            self.write(name, BLOCKS[at][1])
            code, policies, said = self.convert(name)
            self.assertEqual(("", policies), BLOCKS[at + 1])
            self.assertEqual(said, "".join(line[2:] + "\n" for line in policies.splitlines() if line.startswith(f"# {name}:")))
            self.assertEqual(code, 2 if said else 0)
            self.checked(policies)
        self.assertIn("`weir-policies ratelimit.yaml > policies`", PAGE)


if __name__ == "__main__":
    harness.main()
