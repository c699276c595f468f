"""What clients note: a line before a request is sent, and one when its outcome is known.

    S number time_ns verb key           before sending
    R number time_ns value host         answered by that member; the value is a count that the key has, see clients.py
    E number time_ns text               refused: it was not carried out
    (no second line)                    unknown

Times are those of CLOCK_MONOTONIC, which all clients share.
"""

import dataclasses
import time

CHARGES = ("take", "once", "incr")


@dataclasses.dataclass
class Entry:
    sent: int
    verb: str
    key: str
    ended: int = None
    value: int = None
    refusal: str = None
    host: str = ""      # of the member that answered
    journal: str = ""   # the path of the one that it is in

    def charges(self):
        """Whether a request of its kind counts one up."""
        return self.verb in CHARGES

    def is_acknowledged(self):
        return self.value is not None

    def is_unknown(self):
        return self.value is None and self.refusal is None


class Writer:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8", buffering=1)
        self.number = 0

    def send(self, verb, key):
        self.number += 1
        self.file.write(f"S {self.number} {time.monotonic_ns()} {verb} {key}\n")

    def reply(self, value, host=""):
        self.file.write(f"R {self.number} {time.monotonic_ns()} {value} {host}\n")

    def refused(self, text):
        self.file.write(f"E {self.number} {time.monotonic_ns()} {text}\n")


def read(paths):
    """All entries of all clients."""
    entries = []
    for path in paths:
        own = {}
        with open(path, encoding="utf-8") as file:
            for line in file:
                kind, number, at, *rest = line.rstrip("\n").split(" ", 4 if line[0] == "S" else 3)
                if kind == "S":
                    own[number] = Entry(int(at), rest[0], rest[1], journal=path)
                elif kind == "R":
                    value, _, own[number].host = rest[0].partition(" ")
                    own[number].ended, own[number].value = int(at), int(value)
                else:
                    own[number].ended, own[number].refusal = int(at), rest[0]
        entries += own.values()
    return entries
