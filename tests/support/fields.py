"""Lists of structured fields (RFC 9651), read strictly: what a parser has to refuse is refused.

rate_limits() holds RateLimit and RateLimit-Policy to draft-ietf-httpapi-ratelimit-headers-11 beyond that:
names are strings, each stands once in a field, and RateLimit names none that RateLimit-Policy does not name.
"""

import base64
import re

KEY = re.compile(r"[a-z*][a-z0-9_.*-]*")
TOKEN = re.compile(r"[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*")
STRING = re.compile(r'"((?:[ !#-\[\]-~]|\\["\\])*)"')
NUMBER = re.compile(r"-?(?:[0-9]{1,12}\.[0-9]{1,3}|[0-9]{1,15}(?![0-9.]))(?![0-9.])")
BYTES = re.compile(r":([A-Za-z0-9+/]*={0,2}):")
DATE = re.compile(r"@(-?[0-9]{1,15})(?![0-9.])")
DISPLAY = re.compile(r'%"((?:[ !#$&-~]|%[0-9a-f]{2})*)"')
UNITS = {"requests", "content-bytes", "concurrent-requests"}


class Malformed(ValueError):
    """The field has to be ignored as a whole."""


class Token(str):
    """A word without quotes."""


class Reader:
    def __init__(self, text):
        if not re.fullmatch(r"[\x20-\x7e\t]*", text):
            raise Malformed(f"no printable ASCII: {text!r}")
        self.text, self.at = text.strip(" "), 0

    def ends(self):
        return self.at == len(self.text)

    def took(self, pattern):
        match = re.compile(pattern).match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def need(self, pattern, what):
        match = self.took(pattern)
        if not match:
            raise Malformed(f"{what} is missing at {self.text[self.at:]!r} of {self.text!r}")
        return match

    def bare_item(self):
        first = self.text[self.at:self.at + 1]
        if first == '"':
            return re.sub(r'\\(["\\])', r"\1", self.need(STRING, "a string")[1])
        if first == ":":
            text = self.need(BYTES, "a byte sequence")[1]
            if len(text) % 4:
                raise Malformed(f"{text!r} is no base64")
            return base64.b64decode(text, validate=True)
        if first == "?":
            return self.need(r"\?[01]", "a boolean")[0] == "?1"
        if first == "@":
            return ("date", int(self.need(DATE, "a date")[1]))
        if first == "%":
            text = re.sub("%(..)", lambda hexadecimal: chr(int(hexadecimal[1], 16)),
                          self.need(DISPLAY, "a display string")[1])
            return ("display", text.encode("latin-1").decode())
        if first == "-" or first.isdigit():
            text = self.need(NUMBER, "a number")[0]
            return float(text) if "." in text else int(text)
        return Token(self.need(TOKEN, "an item")[0])

    def parameters(self):
        found = {}
        while self.took(";"):
            self.took(" *")
            key = self.need(KEY, "a key")[0]
            found[key] = self.bare_item() if self.took("=") else True
        return found

    def items(self):
        found = []
        while not self.ends():
            if self.took(r"\("):
                raise Malformed("an inner list, which the fields here have none of")
            found.append((self.bare_item(), self.parameters()))
            self.took("[ \t]*")
            if self.ends():
                break
            self.need(",", "a comma")
            self.took("[ \t]*")
            if self.ends():
                raise Malformed(f"a comma at the end of {self.text!r}")
        return found


def read_list(text):
    """[(item, {parameter: value})]; raises Malformed."""
    return Reader(text).items()


def is_count(value):
    return type(value) is int and value >= 0


KINDS = {
    "RateLimit-Policy": {"q": is_count, "w": lambda value: is_count(value) and value > 0, "qu": UNITS.__contains__,
                         "pk": lambda value: isinstance(value, bytes)},
    "RateLimit": {"r": is_count, "t": is_count, "pk": lambda value: isinstance(value, bytes)},
}
NEEDED = {"RateLimit-Policy": "q", "RateLimit": "r"}


def read_rate_limit(name, text):
    """{item: its parameters} of one of the two fields."""
    found = {}
    for item, parameters in read_list(text):
        if type(item) is not str or item in found:
            raise Malformed(f"{name} has {item!r}, which is no string or stands there twice")
        if NEEDED[name] not in parameters:
            raise Malformed(f"{name} has no {NEEDED[name]} at {item!r}")
        for key, value in parameters.items():
            if key not in KINDS[name] or not KINDS[name][key](value):
                raise Malformed(f"{name} has {key}={value!r} at {item!r}")
        found[item] = parameters
    if not found:
        raise Malformed(f"{name} is empty")
    return found


def rate_limits(fields):
    """{field: {item: its parameters}} of a mapping of HTTP fields, those of the two that are there."""
    found = {name: read_rate_limit(name, fields[name]) for name in KINDS if fields.get(name) is not None}
    if "RateLimit" in found and not set(found["RateLimit"]) <= set(found.get("RateLimit-Policy", ())):
        raise Malformed(f"RateLimit names what RateLimit-Policy does not: {dict(fields)!r}")
    wait = fields.get("Retry-After")
    if wait is not None and not re.fullmatch("[0-9]+", wait):
        raise Malformed(f"Retry-After is {wait!r}")
    return found
