"""The reference rate limit service's files (github.com/envoyproxy/ratelimit, "Configuration" in its README)."""

from policy_lines import ENTRIES_MAX, Entry, count_taken, shared_key
from yaml_nodes import Fields

# Its windows are multiples of so many seconds since 1970, in UTC; a month has 30 days, a year 365.
WINDOWS = {"second": "/1s ALIGN EPOCH", "minute": " ALIGN MINUTE", "hour": " ALIGN HOUR", "day": " ALIGN DAY",
           "week": "/7d ALIGN EPOCH", "month": "/30d ALIGN EPOCH", "year": "/365d ALIGN EPOCH"}
COUNT_MAX = (1 << 32) - 1
OF_METRICS = ("detailed_metric", "value_to_metric")


class EnvoyLimits:
    """Reads one document into `out`, a PolicyLines."""

    def __init__(self, out):
        self.out, self.domain = out, ""

    def read(self, root):
        fields = Fields(root, self.out.tell)
        self.domain = fields.text("domain")
        descriptors = fields.list("descriptors")
        fields.tell_rest()
        if not self.domain:
            self.out.tell(root.line, "there is no domain, and all of it is left out")
            return
        self.level(descriptors, (), (), self.domain)

    def level(self, descriptors, entries, shared, path):
        """Of siblings the service refuses two of one name and value."""
        seen = {}
        for node in descriptors:
            if not isinstance(node.value, dict):
                self.out.tell(node.line, "a descriptor is no mapping, and left out")
                continue
            fields = Fields(node, self.out.tell)
            key, value = fields.text("key"), fields.text("value")
            own = f"{key}_{value}" if value else key
            if fault := self.fault_of(key, value, len(entries), seen.get(own)):
                self.out.tell(node.line, f"{fault}; the descriptor is left out, with all that is nested in it")
                continue
            seen[own] = node.line
            self.descriptor(fields, (*entries, self.entry(key, value)), shared, f"{path}.{own}")

    @staticmethod
    def entry(key, value):
        if value.endswith("*"):
            return Entry(key, value[:-1], begins=True)
        return Entry(key, value or None)

    @staticmethod
    def fault_of(key, value, depth, line_before):
        if not key:
            return "it has no key"
        if line_before:
            return f"it is there already, in line {line_before}"
        if key.endswith("*") and not value:
            return f"no rule is for all names that begin so: {key}"
        if depth == ENTRIES_MAX:
            return f"a rule has at most {ENTRIES_MAX} entries"
        return ""

    def descriptor(self, fields, entries, shared, path):
        for name in OF_METRICS:
            if line := fields.flag(name):
                self.out.tell(line, f"{name}: weir's metrics are for each policy, not for each value")
        shadow, quota = fields.flag("shadow_mode"), fields.flag("quota_mode")
        if share_line := fields.flag("share_threshold"):
            if entries[-1].begins:
                shared = (*shared, len(entries) - 1)
            else:
                self.out.tell(share_line, "share_threshold is for values that end with *, and left out")
        limit = fields.take("rate_limit", dict, "mapping")
        nested = fields.list("descriptors")
        fields.tell_rest()
        if quota:
            self.out.tell(quota, "quota_mode: it denies nothing (SHADOW), but the proxy is not told of what is over")
        if limit:
            self.limit(limit, entries, shared, path, bool(shadow or quota))
        elif shadow or quota:
            self.out.tell(shadow or quota, "there is no rate_limit beside it, and it is not for what is nested")
        if not limit and not nested:  # it keeps its requests from a more general limit
            self.add(path, "UNLIMITED", entries, shared, fields.line)
        self.level(nested, entries, shared, path)

    def limit(self, node, entries, shared, path, is_shadow):
        fields = Fields(node, self.out.tell)
        name, unit = fields.text("name"), fields.text("unit").lower()
        unlimited, count_node = fields.flag("unlimited"), fields.rest.get("requests_per_unit")
        count = fields.number("requests_per_unit")
        for each in fields.list("replaces"):
            self.tell_replaced(each)
        fields.tell_rest()
        is_wrong = count_node is not None and count_node.value is not None and count is None
        if not unlimited and (unit not in WINDOWS or is_wrong or (count or 0) > COUNT_MAX):
            self.out.tell(node.line, f"there is no such limit: {count} per {unit or 'nothing'}; it is left out")
            return
        if unlimited and unit in WINDOWS:
            self.out.tell(node.line, "it is unlimited, and has a unit, which is left out")
        limits = "UNLIMITED" if unlimited else self.limits_of(count or 0, unit, is_shadow, node.line)
        self.add(name or path, limits, entries, shared, node.line)

    def limits_of(self, count, unit, is_shadow, line):
        if count == 0:
            if is_shadow:
                self.out.tell(line, "none is granted, in shadow: nothing counts here what would be denied (UNLIMITED)")
            return "UNLIMITED" if is_shadow else "BLOCKED"
        most = count_taken(count, 1 if unit == "second" else 60)
        if most < count:
            self.out.tell(line, f"a limit is at most {most} in a {unit}")
        return f"FIXED {most}{WINDOWS[unit]}" + (" SHADOW" if is_shadow else "")

    def tell_replaced(self, node):
        name = node.value.get("name") if isinstance(node.value, dict) else None
        shown = name.value if name is not None else "what has no name"
        self.out.tell(node.line, f"replaces {shown}: no rule puts another out of force, and both limits hold")

    def add(self, name, limits, entries, shared, line):
        key = None
        if shared:
            key = shared_key(self.domain, entries, shared)
            if key is None:
                self.out.tell(line, "share_threshold: an entry is there twice, and each value has its own count")
        self.out.rule(self.domain, entries, self.out.policy(name, limits), key)
