"""YAML with the line of each value, by PyYAML (Debian: python3-yaml), which is loaded when it is needed."""

from dataclasses import dataclass

from client import Failure

DEPTH_MAX = 200
NODES_MAX = 300_000  # aliases make large things of small files
YES, NO = ("true", "yes", "on", "y"), ("false", "no", "off", "n")


@dataclass
class Node:
    line: int
    value: object  # {name: Node}, [Node], the text of a scalar as it is written, or None


class Reading:
    """Makes nodes of one file. `tell(line, text)` takes what is there twice."""

    def __init__(self, tell):
        self.tell, self.made = tell, 0

    def node(self, read, depth=0):
        self.made += 1
        line, kind = read.start_mark.line + 1, read.id
        if depth > DEPTH_MAX or self.made > NODES_MAX:
            raise Failure(f"line {line}: this is nested too deeply, or too much of it is repeated by aliases")
        if kind == "mapping":
            return Node(line, self.mapping(read, depth))
        if kind == "sequence":
            return Node(line, [self.node(each, depth + 1) for each in read.value])
        return Node(line, None if read.tag.endswith(":null") else read.value)

    def mapping(self, read, depth):
        """What a merge (<<) brings in comes before what is written beside it."""
        merged, own = {}, {}
        for key, value in read.value:
            line = key.start_mark.line + 1
            if key.id != "scalar":
                raise Failure(f"line {line}: the name of a field is no text")
            if key.tag.endswith(":merge"):
                for each in value.value if value.id == "sequence" else [value]:
                    merged = {**self.merged(each, line, depth), **merged}
                continue
            if key.value in own:
                self.tell(line, f"{key.value} is there twice, and the last one is taken")
            own[key.value] = self.node(value, depth + 1)
            own[key.value].line = line
        return {**merged, **own}

    def merged(self, read, line, depth):
        if read.id != "mapping":
            raise Failure(f"line {line}: << merges what is no mapping")
        return self.node(read, depth + 1).value


def documents(text, tell):
    """The documents of a file that say anything."""
    try:
        import yaml  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise Failure("this needs PyYAML: apt-get install python3-yaml") from None
    reading = Reading(tell)
    try:
        found = [reading.node(each) for each in yaml.compose_all(text, Loader=yaml.SafeLoader)]
    except (yaml.YAMLError, RecursionError) as error:
        raise Failure(" ".join(str(error).split())) from None
    return [node for node in found if node.value is not None]


class Fields:
    """The fields of a mapping, each taken once: what nobody took is told, and what is of another kind."""

    def __init__(self, node, tell):
        self.line, self.tell, self.rest = node.line, tell, dict(node.value)

    def take(self, name, kind, what):
        node = self.rest.pop(name, None)
        if node is None or node.value is None:
            return None
        if not isinstance(node.value, kind):
            self.tell(node.line, f"{name} is no {what}, and left out")
            return None
        return node

    def text(self, name):
        node = self.take(name, str, "text")
        return node.value if node else ""

    def list(self, name):
        node = self.take(name, list, "list")
        return node.value if node else []

    def flag(self, name):
        """The line of a flag that is set; 0: it is not."""
        node = self.take(name, str, "true or false")
        if node is None or node.value.lower() in NO:
            return 0
        if node.value.lower() not in YES:
            self.tell(node.line, f"{name} is neither true nor false, and left out")
            return 0
        return node.line

    def number(self, name):
        """None: there is none, or none that can be read."""
        node = self.take(name, str, "number")
        if node is None:
            return None
        digits = node.value
        if not digits.isascii() or not digits.isdigit() or (digits[0] == "0" and digits != "0"):
            self.tell(node.line, f"{name} is no whole number: {digits}")
            return None
        return int(digits)

    def tell_rest(self):
        for name, node in self.rest.items():
            self.tell(node.line, f"{name} is unknown here, and left out")
