"""COMMAND INFO and COMMAND DOCS as Python objects, and which of a command's arguments a request uses.

Words are matched against the tree of arguments as COMMAND DOCS has it: in its order, with
backtracking. Each argument has a path of names, as in "SET/expiration/seconds".
"""

import re
from dataclasses import dataclass, field

INTEGER = re.compile(r"[+-]?[0-9]+")


def text(value):
    if isinstance(value, bytes):
        return value.decode("latin-1").lstrip("+")
    return [text(item) for item in value] if isinstance(value, list) else value


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2]))


@dataclass
class Argument:
    path: str
    kind: str
    token: str
    flags: frozenset
    arguments: list

    def all_paths(self):
        own = [] if self.kind in ("oneof", "block") and not self.token else [self.path]
        return own + [path for part in self.arguments for path in part.all_paths()]

    def all_tokens(self):
        own = [self.token] if self.token else []
        return own + [token for part in self.arguments for token in part.all_tokens()]


@dataclass
class Command:
    name: str
    arity: int = 0
    flags: frozenset = frozenset()
    keys: tuple = ()
    categories: frozenset = frozenset()
    tips: tuple = ()
    key_specs: list = field(default_factory=list)
    summary: str = ""
    since: str = ""
    group: str = ""
    arguments: list = field(default_factory=list)

    def all_paths(self):
        return [path for argument in self.arguments for path in argument.all_paths()]


def argument_of(flat, path):
    facts = pairs(flat)
    own = f"{path}/{facts['name']}"
    return Argument(own, facts["type"], facts.get("token", ""), frozenset(facts.get("flags", [])),
                    [argument_of(part, own) for part in facts.get("arguments", [])])


def key_spec(flat):
    spec = pairs(flat)
    return (sorted(spec["flags"]), spec["begin_search"], spec["find_keys"])


def add_docs(commands, documents):
    for name, facts in pairs(documents).items():
        facts = pairs(facts)
        command = commands[name]
        command.summary, command.since = facts["summary"], facts["since"]
        command.group = facts["group"]
        command.arguments = [argument_of(part, name) for part in facts.get("arguments", [])]
        add_docs(commands, facts.get("subcommands", []))


def read_commands(connection):
    """What a server has: name -> Command, subcommands as "config|get"."""
    names = sorted(text(connection.command("COMMAND", "LIST")))
    commands = {}
    for info in text(connection.command("COMMAND", "INFO", *names)):
        commands[info[0]] = Command(info[0], info[1], frozenset(info[2]), tuple(info[3:6]),
                                    frozenset(info[6]), tuple(info[7]),
                                    [key_spec(spec) for spec in info[8]])
    plain = [name for name in names if "|" not in name]
    add_docs(commands, text(connection.command("COMMAND", "DOCS", *plain)))
    return commands


def uses(command, words):
    """The paths of the arguments that the words behind the name use; None if they do not fit."""
    tokens = {token for argument in command.arguments for token in argument.all_tokens()}
    words = [Token(word) if word in tokens else word for word in words]
    for at, used in _sequence(command.arguments, words, 0):
        if at == len(words):
            return used
    return None


class Token(str):
    """A word in the place of a token: never a value, so that lists of values end at it."""


def _sequence(arguments, words, at):
    if not arguments:
        yield at, frozenset()
        return
    if arguments[0].path.endswith("/numkeys") and at < len(words) and words[at].isdigit():
        behind = at + 1 + int(words[at])
        own = {arguments[0].path} | ({arguments[1].path} if behind > at + 1 else set())
        for end, more in _sequence(arguments[2:], words, behind):
            yield end, frozenset(own) | more
        return
    for middle, used in _argument(arguments[0], words, at):
        for end, more in _sequence(arguments[1:], words, middle):
            yield end, used | more


def _argument(argument, words, at):
    """With its repetitions, or without any if it is optional."""
    for end, used in _once(argument, words, at, True):
        if "multiple" in argument.flags and end > at:
            yield from _again(argument, words, end, used)
        yield end, used
    if "optional" in argument.flags:
        yield at, frozenset()


def _again(argument, words, at, used):
    for end, more in _once(argument, words, at, "multiple_token" in argument.flags):
        if end > at:
            yield from _again(argument, words, end, used | more)
            yield end, used | more


def _once(argument, words, at, with_token):
    if argument.token and with_token:
        if at == len(words) or words[at].upper() != argument.token.upper():
            return
        at += 1
    own = frozenset([argument.path])
    if argument.kind == "pure-token":
        yield at, own
    elif argument.kind == "block":
        yield from ((end, used | own) for end, used in _sequence(argument.arguments, words, at))
    elif argument.kind == "oneof":
        for choice in argument.arguments:
            yield from ((end, used | own) for end, used in _argument(choice, words, at))
    elif at < len(words) and not isinstance(words[at], Token) and \
            (argument.kind != "integer" or INTEGER.fullmatch(words[at])):
        yield at + 1, own
