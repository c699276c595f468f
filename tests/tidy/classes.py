"""Counts what C++ classes are made of, for tidy.py.

It knows the style of this tree, not the language. It takes a file's code without comments and
strings, and answers a Class for every class and struct with a body, nested ones too. A Class has
the signatures of all functions, without const after them, and counts the public ones:
constructors and destructor too.
"""

import re

OPENER = re.compile(r"\b(enum\s+)?(class|struct)\s+(?:\[\[[^\]]*\]\]\s*)?([\w:]+)([^;{}()]*)\{")
LABEL = re.compile(r"\s*(public|private|protected)\s*:(?!:)")
NAMESPACE = re.compile(r"(?m)^(?:inline )?namespace ([\w:]*) ?\{")
# The head of a member function's definition, which begins its line: the first name with a class
# before it that a parenthesis follows.
MEMBER = re.compile(r"(?m)^(?=\w)[^\n;={}]*?\b((?:\w+(?:<[^\n;(]*>)?::)+)(?:~?\w+|operator\b[^\n(]*)\s*\(")
NEITHER = re.compile(r"\s*(using|friend|typedef|static_assert|enum|class|struct|template\s*<>\s*struct)\b")


class Class:
    def __init__(self, name, line, is_struct):
        self.name, self.line = name, line
        self.access = "public" if is_struct else "private"
        self.functions, self.public, self.members = set(), 0, 0


def closing(code, at):
    """The place after the brace that closes the one at `at`."""
    depth = 0
    for match in re.finditer(r"[{}]", code[at:]):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return at + match.end()
    return len(code)


def without_templates(text):
    while True:
        shorter = re.sub(r"<[^<>()]*(?:\([^<>()]*\))?[^<>()]*>", "", text)
        if shorter == text:
            return text
        text = shorter


def statements(body):
    """The declarations of a body: inner bodies are left out, labels are declarations."""
    start, at, parens = 0, 0, 0
    while at < len(body):
        char = body[at]
        parens += (char == "(") - (char == ")")
        label = LABEL.match(body, at) if at == start else None
        if label:
            yield label[1] + ":"
            start = at = label.end()
            continue
        if char == "{":
            end = closing(body, at)
            head = body[start:at]
            is_value = re.match(r"\s*[;,)]", body[end:]) and not re.match(
                r"\s*(enum|class|struct|union)\b", head)
            body = body[:at] + (" " if is_value else ";") + body[end:]
            continue
        if char == ";" and parens == 0:
            yield body[start:at].strip()
            start = at + 1
        at += 1


def arguments(text):
    """The text of a parameter list, from its parenthesis to the one that closes it."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return " ".join(text[1:at].split())
    return text


def add(found, statement):
    if statement.rstrip(":") in ("public", "private", "protected") and statement.endswith(":"):
        found.access = statement[:-1]
        return
    if not statement or NEITHER.match(statement) or re.match(r"\s*static\s+constexpr\b[^()]*$", statement):
        return
    text = without_templates(statement)
    name = re.search(r"(operator\s*\S+?|~?\w+)\s*\(", text.split("=")[0] if "operator" not in text else text)
    if name:
        whole = re.search(re.escape(name[1]) + r"\s*\(", statement)
        rest = statement[whole.end() - 1:] if whole else text[name.end() - 1:]
        found.functions.add((name[1], arguments(rest)))
        found.public += found.access == "public"
    elif re.search(r"\w\s*$", text.split("=")[0].rstrip()):
        found.members += 1 + text.split("=")[0].count(",")


def classes_of(code):
    for match in OPENER.finditer(code):
        if match[1]:
            continue
        found = Class(match[3], code.count("\n", 0, match.start()) + 1, match[2] == "struct")
        end = closing(code, match.end() - 1)
        for statement in statements(code[match.end():end - 1]):
            add(found, statement)
        yield found


def namespaces(code):
    """Begin, end and name of each; "" has none."""
    return [(match.start(), closing(code, match.end() - 1), match[1]) for match in NAMESPACE.finditer(code)]


def defined_types(code):
    """The classes, structs and enums that a file's namespaces hold: whole name -> line. Left out are those of
    namespaces without a name, those within a class or a function, and what specialises a template."""
    spaces = namespaces(code)
    found = {}
    for match in OPENER.finditer(code):
        around = [name for begin, end, name in spaces if begin < match.start() < end]
        braces = code.count("{", 0, match.start()) - code.count("}", 0, match.start())
        if "" not in around and braces == len(around) and not match[4].startswith("<"):
            found.setdefault("::".join([*around, match[3]]), code.count("\n", 0, match.start()) + 1)
    return found


def doubled_types(files):
    """A linker takes two types of one name for one, and one's destructor for the other's."""
    first = {}
    for file in files:
        for name, line in defined_types(file.code).items():
            if first.setdefault(name, file.path) != file.path:
                yield file.path, line, f"{name} is a type in {first[name]} already"


def defined_classes(code):
    """The classes whose member functions a .cc file defines: whole name -> line of the first. Those of
    namespaces without a name are left out, since no other file can define them."""
    spaces = namespaces(code)
    found = {}
    for match in MEMBER.finditer(code):
        within = [name for begin, end, name in spaces if begin < match.start() < end]
        name = "::".join(within + [match[1].rstrip(":")])
        if "" not in within and not match[1].startswith("std::"):
            found.setdefault(name, code.count("\n", 0, match.start(1)) + 1)
    return found
