"""Lines of a policies-file: policies, and rules for descriptors (docs/rls.md)."""

from dataclasses import dataclass

from client import plain

NAME_BYTES_MAX = 128
COUNT_MAX, COUNT_PER_SECOND_MAX, PERIOD_SECONDS_MAX = 10**12, 10**9, 3650 * 86400
ENTRIES_MAX = 32


def quoted(word):
    """A word as weir.conf has it."""
    if word and word[0] != "#" and not any(c <= " " or c in "\"'\x7f" for c in word):
        return word
    parts = ["\\" + c if c in "\"\\" else f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else c for c in word]
    return '"' + "".join(parts) + '"'


def count_taken(count, seconds):
    """What weir's FIXED takes of a count: so many are never asked."""
    return min(count, COUNT_MAX, COUNT_PER_SECOND_MAX * seconds)


@dataclass(frozen=True)
class Entry:
    """Of a rule: `value` None is any; `begins`: the value begins so."""
    name: str
    value: str | None = None
    begins: bool = False

    def text(self):
        def escaped(text):
            return "".join("\\" + c if c in "\\,=*" else c for c in text)
        if self.value is None:
            return escaped(self.name)
        return f"{escaped(self.name)}={escaped(self.value)}{'*' if self.begins else ''}"

    def covers(self, other):
        """Whether all that fits the other fits this."""
        if self.value is None:
            return True
        if not self.begins:
            return self == other
        return other.value is not None and other.value.startswith(self.value)

    def meets(self, other):
        """Whether a value fits both."""
        return self.covers(other) or other.covers(self)


def in_key(text):
    """As weir writes names and values into the keys that it makes itself."""
    text = "".join(f"%{ord(c):02X}" if c in ",=%" else c for c in text)
    return text.replace("{", "{{").replace("}", "}}")


def shared_key(domain, entries, shared):
    """The template of a key in which the entries at these places are what the rule says, not what
    a request does; None: it would have to name an entry that is there twice."""
    parts, names = [], [entry.name for entry in entries]
    for at, entry in enumerate(entries):
        if at in shared:
            value = in_key(entry.value or "") + "*"
        elif entry.value is not None and not entry.begins:
            value = in_key(entry.value)
        elif names.count(entry.name) > 1 or "}" in entry.name:
            return None
        else:
            value = "{" + entry.name + "}"
        parts.append(f"{in_key(entry.name)}={value}")
    return f"rls:{in_key(domain)}:" + ",".join(parts)


class PolicyLines:
    """Collects the lines of a file, and what could not be said, which stands there as remarks."""

    def __init__(self):
        self.place, self.names, self.lines, self.told = "", set(), [], []

    def begin(self, place):
        self.place = place
        self.remark("from " + place)

    def remark(self, text):
        self.lines.append("# " + plain(text))

    def tell(self, line, text):
        said = plain(f"{self.place}:{line}: {text}")
        self.told.append(said)
        self.lines.append("# " + said)

    def new_name(self, wanted):
        """That, cut to what a name may have; with a number where it is taken."""
        number = 1
        while True:
            end = f"-{number}" if number > 1 else ""
            name = wanted.encode()[:NAME_BYTES_MAX - len(end)].decode(errors="ignore") + end
            if name not in self.names:
                self.names.add(name)
                return name
            number += 1

    def policy(self, wanted_name, limits):
        """Its name, as rules have it."""
        name = quoted(self.new_name(wanted_name))
        self.lines.append(f"policy {name} {limits}")
        return name

    def rule(self, domain, entries, name, key=None):
        words = ["rls", quoted(domain), quoted(",".join(entry.text() for entry in entries)), "POLICY", name]
        self.lines.append(" ".join(words + (["KEY", quoted(key)] if key else [])))
