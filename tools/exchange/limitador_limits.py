"""Limitador's file of limits (github.com/Kuadrant/limitador, doc/how-it-works.md).

There a limit is for each descriptor that has its entries, whatever else that has; here a rule is
for descriptors of exactly its entries. Where limits of one file would meet, it is told.
"""

import re
from dataclasses import dataclass

from client import Failure
from policy_lines import ENTRIES_MAX, PERIOD_SECONDS_MAX, Entry, count_taken, shared_key
from yaml_nodes import Fields

WHICH = r"""(?:descriptors\[(?P<at>\d+)\](?:\.(?P<field>\w+)|\[(?P<q>['"])(?P<quoted>[^'"\\]+)(?P=q)\])|(?P<bare>[A-Za-z_][\w.-]*))"""
TEXT = r"""(?P<t>['"])(?P<text>[^'"\\]*)(?P=t)"""
VARIABLE = re.compile(WHICH)
EQUALS = re.compile(rf"{WHICH}\s*==\s*{TEXT}")
EQUALS_TURNED = re.compile(rf"{TEXT}\s*==\s*{WHICH}")
BEGINS = re.compile(rf"{WHICH}\.startsWith\(\s*{TEXT}\s*\)")
RULES_MAX, LIMITS_MAX = 10_000, 16


@dataclass
class Limit:
    line: int
    namespace: str
    name: str
    words: str  # of the policy
    seconds: int
    entries: tuple  # of Entry
    shared: tuple  # the names whose values have one count


@dataclass
class Rule:
    namespace: str
    entries: tuple
    policy: str
    key: str | None

    def parts_from(self, special):
        """The first place where the other's way is another, if this rule's requests may go it."""
        if special.namespace != self.namespace:
            return None
        for at, (mine, other) in enumerate(zip(self.entries, special.entries)):
            if mine != other:
                return at if mine.name == other.name and mine.covers(other) else None
        return None


class Conditions:
    """The entries that conditions and variables name. `fault`: why there is no rule of them."""

    def __init__(self):
        self.entries, self.variables, self.places, self.fault = {}, set(), set(), ""

    def name_of(self, match):
        self.places.add(int(match["at"] or 0))
        return match["field"] or match["quoted"] or match["bare"]

    def condition(self, text):
        text = text.strip()
        begins = BEGINS.fullmatch(text)
        match = begins or EQUALS.fullmatch(text) or EQUALS_TURNED.fullmatch(text)
        if match is None or not (match["text"] or begins):
            self.fault = self.fault or f"no rule has this condition: {text}"
            return
        entry = Entry(self.name_of(match), match["text"], begins=begins is not None)
        if self.entries.setdefault(entry.name, entry) != entry:
            self.fault = self.fault or f"a rule has one condition for each entry, and this is another: {text}"

    def variable(self, text):
        match = VARIABLE.fullmatch(text.strip())
        if match is None:
            self.fault = self.fault or f"no rule has this variable: {text}"
            return
        name = self.name_of(match)
        self.variables.add(name)
        self.entries.setdefault(name, Entry(name))

    def fault_of_all(self):
        if self.fault:
            return self.fault
        if not self.entries:
            return "it is for every request, and a rule needs an entry: have the proxy send one, as generic_key"
        if len(self.places) > 1:
            return "it needs entries of several descriptors, and a rule is for one"
        if len(self.entries) > ENTRIES_MAX:
            return f"a rule has at most {ENTRIES_MAX} entries"
        return ""


class LimitadorLimits:
    """Reads one document into `out`, a PolicyLines."""

    def __init__(self, out):
        self.out, self.limits = out, []

    def read(self, root):
        self.out.remark("each rule is for a descriptor of exactly its entries in this order: the proxy has to send it so")
        for node in root.value:
            if isinstance(node.value, dict):
                self.limit(node)
            else:
                self.out.tell(node.line, "a limit is no mapping, and left out")
        groups = {}
        for limit in self.limits:
            groups.setdefault((limit.namespace, self.ordered(limit)), []).append(limit)
        rules = []
        for (namespace, entries), limits in groups.items():
            self.tell_meetings(namespace, entries, limits[0], groups)
            rules.append(self.add(namespace, entries, limits))
        self.add_where_ways_part(rules)

    def add_where_ways_part(self, rules):
        """The way through rules never goes back: where an earlier entry of one rule is more special than
        that of another, the other is written with that entry, too. Its policy and its keys are the same."""
        known = {(rule.namespace, rule.entries) for rule in rules}
        for rule in rules:  # which grows
            for special in rules:
                at = rule.parts_from(special)
                if at is None:
                    continue
                entries = (*rule.entries[:at], special.entries[at], *rule.entries[at + 1:])
                if (rule.namespace, entries) in known:
                    continue
                if len(known) == RULES_MAX:
                    raise Failure(f"this makes more than {RULES_MAX} rules")
                known.add((rule.namespace, entries))
                rules.append(Rule(rule.namespace, entries, rule.policy, rule.key))
                self.out.rule(rule.namespace, entries, rule.policy, rule.key)

    def limit(self, node):
        fields = Fields(node, self.out.tell)
        namespace, name = fields.text("namespace"), fields.text("name")
        identity = fields.text("id")
        count, seconds = fields.number("max_value"), fields.number("seconds")
        found = Conditions()
        for each in fields.list("conditions"):
            found.condition(each.value if isinstance(each.value, str) else "")
        for each in fields.list("variables"):
            found.variable(each.value if isinstance(each.value, str) else "")
        fields.tell_rest()
        fault = found.fault_of_all()
        if not namespace:
            fault = "it has no namespace"
        if count is None or not seconds:
            fault = "it needs a max_value, and seconds above 0"
        elif seconds > PERIOD_SECONDS_MAX:
            fault = f"a limit has at most {PERIOD_SECONDS_MAX} seconds"
        if fault:
            self.out.tell(node.line, f"{fault}; the limit is left out")
            return
        if found.places != {0}:
            self.out.tell(node.line, "its rule is for the descriptor wherever it stands in a request")
        if (most := count_taken(count, seconds)) < count:
            self.out.tell(node.line, f"a limit is at most {most} in {seconds} seconds")
        words = f"FIXED {most}/{seconds}s" if count else "BLOCKED"
        shared = tuple(entry.name for entry in found.entries.values()
                       if entry.begins and entry.name not in found.variables)
        self.limits.append(Limit(node.line, namespace, name or identity, words, seconds,
                                 tuple(found.entries.values()), shared))

    def ordered(self, limit):
        """Limits of the same names have these in the order of the first."""
        names = {entry.name: entry for entry in limit.entries}
        for other in self.limits:
            if other.namespace == limit.namespace and {each.name for each in other.entries} == set(names):
                return tuple(names[each.name] for each in other.entries)
        return limit.entries

    def tell_meetings(self, namespace, entries, limit, groups):
        """Of two limits that meet the later one is told, but the one with fewer entries in any case."""
        names = {entry.name: entry for entry in entries}
        for (other_namespace, others), [other, *_] in groups.items():
            other_names = {entry.name: entry for entry in others}
            if other is limit or other_namespace != namespace or not names.keys() <= other_names.keys():
                continue
            if not all(entry.meets(other_names[name]) for name, entry in names.items()):
                continue
            if len(names) < len(other_names):
                self.out.tell(limit.line, f"it holds for descriptors with more entries too, as in line {other.line}: "
                                          "have the proxy send one with these alone as well")
            elif other.line < limit.line:
                self.out.tell(limit.line, f"where this one and that of line {other.line} meet only one of them holds")

    def add(self, namespace, entries, limits):
        """Limits of the same entries are one policy; of those with the same seconds the last is taken."""
        by_seconds = {}
        for limit in limits:
            if limit.seconds in by_seconds:
                self.out.tell(limit.line, f"it takes the place of the limit in line {by_seconds[limit.seconds].line}")
            by_seconds[limit.seconds] = limit
        for limit in list(by_seconds.values())[LIMITS_MAX:]:
            self.out.tell(limit.line, f"a policy has at most {LIMITS_MAX} limits; the limit is left out")
        words = [limit.words for limit in by_seconds.values()][:LIMITS_MAX]
        if "BLOCKED" in words:
            words = ["BLOCKED"]
        shared = {name for limit in limits for name in limit.shared}
        if any(set(limit.shared) != shared for limit in limits):
            self.out.tell(limits[0].line, "its values have one count, those of another limit with these entries each "
                                          "their own: here all have one")
        places = [at for at, entry in enumerate(entries) if entry.name in shared]
        name = next((limit.name for limit in limits if limit.name),
                    f"{namespace}.{','.join(entry.text() for entry in entries)}")
        key = shared_key(namespace, entries, places) if places else None
        rule = Rule(namespace, entries, self.out.policy(name, " ".join(words)), key)
        self.out.rule(namespace, entries, rule.policy, key)
        return rule
