"""Identifiers of C++ say the field's words, and each word means one thing: a rule of tidy.py.

A row has the words that are not used, what is said in their place, and where the words would have
the old meaning. A word is a whole part, or several, of a name in snake_case or CamelCase: "door" is
in Door and kTcpDoor, not in indoor. Comments and strings are
not looked at: there the words have their ordinary meanings, too.
"""

import re
from pathlib import PurePath

EVERYWHERE = r""
STORE = r"(storage|tests/storage)/(?!replication/|shared_logs/)"
SHARD = r"(storage/replication|server/(commands|core/shard|failover)|tests/(replication|shard_servers|server/failover))/"

WORDS = [
    ("figure figures", "metric", EVERYWHERE),
    ("upkeep", "offline tools (server/offline), or maintenance", EVERYWHERE),
    ("family families", "command list, or collection", r"server/(command|commands|core|offline|rdb)/"),
    ("queue_tail kept_tail", "simulated queue", EVERYWHERE),
    ("door doors", "listening socket, or ListenerKind", EVERYWHERE),
    ("stranger strangers", "unauthenticated", EVERYWHERE),
    ("translator", "protocol adapter", EVERYWHERE),
    ("held_replies held_reply drop_held", "pending replies", EVERYWHERE),
    ("write_pass begin_pass end_pass finish_pass apply_pass pass_state", "write-back", STORE),
    ("horizon", "GC watermark", STORE),
    ("debt", "dirty bytes", STORE),
    ("handover handovers hand_over", "switchover", SHARD),
    ("incarnation incarnations", "generation", STORE),
    ("burial bury buried unburied", "reclaim", r"storage/"),
    ("sweep sweeps swept", "eviction scan", STORE),
    ("stamp stamps stamped", "log bookmark, or saved_by", r"storage/|server/(core|failover)/"),
    ("office offices", "role: promoted, demoted, primary", EVERYWHERE),
    ("wishes", "operator requests", EVERYWHERE),
    ("board", "member registry", r"storage/|server/failover/"),
    ("silence", "failure detector", r"(storage|tests)/replication/"),
    ("fold folds folded refold", "log state", SHARD),
    ("beat beats", "heartbeat", SHARD),
]


def parts_of(name):
    """'kTcpDoors_' as '_k_tcp_doors_'."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return "_" + "_".join(part.lower() for part in parts) + "_"


def old_word(name, rows):
    """The word of the rows that a name has, with the new one; None: it has none."""
    parts = parts_of(name)
    return next(((word, new) for words, new in rows for word in words.split() if f"_{word}_" in parts), None)


def check_identifiers(root, files):
    for file in files:
        rows = [(words, new) for words, new, where in WORDS if file.is_cpp and re.match(where, file.path)]
        if not rows:
            continue
        names = [(1, PurePath(file.path).stem)]
        names += [(number, name) for number, line in enumerate(file.code.splitlines(), 1)
                  for name in re.findall(r"[A-Za-z_]\w*", line)]
        for number, name in names:
            if found := old_word(name, rows):
                yield file.path, number, f"{name}: not {found[0].replace('_', ' ')} but {found[1]}"
