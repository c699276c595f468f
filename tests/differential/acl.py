#!/usr/bin/env python3
"""Users and their rights on weir-server and on redis-server 7, side by side.

    acl.py WEIR_SERVER [--rounds N] [--seed N] [--round N]

First what the commands say of themselves: their categories and what they do to their keys. Then
random rounds: rules for users, requests as those users (alone, in transactions, in scripts), dry
runs, what is logged, what is listed. Every reply has to be the same to the byte, but for this:

- A user's commands are compared by what they mean: Redis 7.0 shows the shortest list of categories
  and commands that gives the same rights, weir shows the rules as they were given, as 7.2 does. So
  weir's list is given to another user of the same Redis, and that user's list is compared.
- Of an entry of ACL LOG, what time and the connection make of it is left out.

It needs the Debian package redis-server, and Python's standard library only.
"""

import argparse
import os
import random
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import acl_pools as pools  # noqa: E402
from servers import redis_server, weir_server  # noqa: E402
from wire import Closed, decode, encode, quoted  # noqa: E402

OUR_CATEGORIES = [b"ratelimit", b"ratelimitadmin"]
STEPS = 40
LOG_FIELDS = (b"count", b"reason", b"context", b"object", b"username")
QUIET_S = 0.002


class Mismatch(Exception):
    pass


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2]))


class Rows:
    """What COMMAND INFO says, subcommands included."""

    def __init__(self, connection):
        self.rows = {}
        for row in connection.command("COMMAND", "INFO"):
            self.add(row)

    def add(self, row):
        if row is None:
            return
        name, categories, keys, subcommands = row[0], row[6], row[8], row[9]
        self.rows[name] = (sorted(categories), [self.use(key) for key in keys])
        for subcommand in subcommands:
            self.add(subcommand)

    @staticmethod
    def use(specification):
        specification = pairs(specification)
        begin, find = pairs(specification[b"begin_search"]), pairs(specification[b"find_keys"])
        return (sorted(specification[b"flags"]), begin[b"type"], begin[b"spec"], find[b"type"],
                find[b"spec"])


def compare_rows(servers):
    connections = [server.connect() for server in servers]
    ours, theirs = [Rows(connection).rows for connection in connections]
    common = sorted(set(ours) & set(theirs))
    faults = []
    for name in common:
        categories = [row for row in ours[name][0] if row[2:] not in OUR_CATEGORIES]
        if categories != theirs[name][0]:
            faults.append(f"{name}: categories {categories}, not {theirs[name][0]}")
        known = [use for use in theirs[name][1] if use[1] != b"unknown"]
        if ours[name][1] != known:
            faults.append(f"{name}: keys {ours[name][1]}, not {known}")
    lists = [connection.command("ACL", "CAT") for connection in connections]
    if lists[0] != lists[1] + OUR_CATEGORIES:
        faults.append(f"ACL CAT: {lists[0]}, not {lists[1]}")
    for category in lists[1]:
        members = [set(connection.command("ACL", "CAT", category)) & set(common)
                   for connection in connections]
        if members[0] != members[1]:
            faults.append(f"ACL CAT {category}: {members[0] ^ members[1]}")
    print(f"{len(common)} commands say of themselves what Redis says" if not faults
          else "\n".join(faults), flush=True)
    return not faults


class Round:
    """One random round; `log` is what was sent."""

    def __init__(self, servers, seed, number):
        self.rng = random.Random(f"{seed} {number}")
        self.servers = servers
        self.log = []
        self.clients = {}
        self.resp3 = {name: self.rng.random() < 0.5 for name in ("admin", *pools.USERS)}

    def connect(self, name):
        self.clients[name] = [server.connect() for server in self.servers]
        if self.resp3[name]:
            for connection in self.clients[name]:
                connection.command("HELLO", "3")

    def ask(self, name, *args, compare=None):
        """Sends it to both and compares; answers Redis' reply, None if both closed."""
        args = [arg if isinstance(arg, bytes) else arg.encode() for arg in args]
        if name not in self.clients:
            self.connect(name)
        self.log.append(f"{name}> {' '.join(quoted(arg) for arg in args)}")
        replies = [self.reply(connection, args) for connection in self.clients[name]]
        alike = compare(*replies) if compare and None not in replies else replies[0] == replies[1]
        if not alike:
            raise Mismatch(f"weir:  {replies[0]}\nredis: {replies[1]}")
        if replies[1] is None:
            self.forget(name)
        return replies[1]

    @staticmethod
    def reply(connection, args):
        try:
            return connection.exchange([encode(*args)], 1)[0]
        except Closed:
            return None

    def forget(self, name):
        for connection in self.clients.pop(name, []):
            connection.close()

    def play(self):
        self.begin()
        steps = (self.change_user, self.change_user, self.as_user, self.as_user, self.as_user,
                 self.as_user, self.as_user, self.dry_run, self.dry_run, self.transaction,
                 self.script, self.script, self.show_user, self.show_list, self.show_log,
                 self.log_in, self.delete_user, self.ask_about)
        for _ in range(STEPS):
            self.rng.choice(steps)()
        for user in pools.USERS:
            self.compare_user(user)
        self.show_list()
        self.show_log()
        for name in list(self.clients):
            self.forget(name)

    def begin(self):
        self.ask("admin", "FLUSHALL")
        self.ask("admin", "CONFIG", "SET", "acl-pubsub-default", "resetchannels",
                 "acllog-max-len", "128")
        self.ask("admin", "ACL", "DELUSER", "probe", *pools.USERS, compare=lambda *_: True)
        self.ask("admin", "ACL", "LOG", "RESET")
        for user in pools.USERS:
            self.ask("admin", "ACL", "SETUSER", user, "on", ">" + pools.PASSWORD)
            self.ask(user, "AUTH", user, pools.PASSWORD)

    def user(self):
        return self.rng.choice(pools.USERS)

    def change_user(self):
        user = self.user()
        self.ask("admin", "ACL", "SETUSER", user, *pools.rules(self.rng))
        self.see_who_is_gone()

    def see_who_is_gone(self):
        """Who listened where it may no more, and who is no user any more."""
        for name in list(self.clients):
            ends = []
            for connection in self.clients[name]:
                ends.append(connection.transcript(b"", b"\0never\0", QUIET_S)[1])
            if ends[0] != ends[1]:  # give the slower one its time
                ends = [connection.transcript(b"", b"\0never\0", 1)[1]
                        for connection in self.clients[name]]
            if ends[0] != ends[1]:
                raise Mismatch(f"{name} was closed by one of the two: {ends}")
            if ends[0]:
                self.forget(name)

    def as_user(self):
        user = self.user()
        request = pools.request(self.rng)
        # Redis 7.0 puts a message of one's own before the reply of what sent it.
        if self.resp3[user] and "subscribe" in request[0]:
            return
        self.ask(user, *request)
        if request[0] == "reset":
            self.resp3[user] = False

    def log_in(self):
        user, rng = self.user(), self.rng
        password = rng.choice((pools.PASSWORD, pools.PASSWORD, "nonsense", ""))
        who = rng.choice((user, user, user, "nobody"))
        if rng.random() < 0.8:
            self.ask(user, rng.choice(("AUTH", "auth")), who, password)
        else:
            protocol = "3" if self.resp3[user] else "2"
            self.ask(user, "HELLO", protocol, "AUTH", who, password,
                     compare=lambda ours, theirs: ours.startswith(b"-") == theirs.startswith(b"-"))

    def dry_run(self):
        user = self.rng.choice((*pools.USERS, *pools.USERS, "nobody"))
        self.ask("admin", "ACL", "DRYRUN", user, *pools.request(self.rng))

    def transaction(self):
        user = self.user()
        self.ask(user, "MULTI")
        for _ in range(self.rng.randint(1, 3)):
            self.ask(user, *pools.queueable(self.rng))
        if self.rng.random() < 0.5:
            self.change_user()
        self.ask(user, "EXEC")
        if self.rng.random() < 0.5:
            self.ask(user, "DISCARD")

    def script(self):
        call = self.rng.choice(("call", "pcall", "acl_check_cmd"))
        words = [word if isinstance(word, str) else word.decode()
                 for word in pools.scriptable(self.rng)]
        arguments = ",".join("'" + word + "'" for word in words)
        keys = self.rng.sample(pools.KEYS, self.rng.randint(0, 2))
        self.ask(self.user(), self.rng.choice(("EVAL", "EVAL", "EVAL_RO")),
                 f"return redis.{call}({arguments})", str(len(keys)), *keys)

    def show_user(self):
        self.compare_user(self.user())

    def compare_user(self, user):
        self.ask("admin", "ACL", "GETUSER", user, compare=self.same_user)

    def same_user(self, ours, theirs):
        ours, theirs = decode(ours), decode(theirs)
        if ours is None or theirs is None:
            return ours is theirs
        ours, theirs = pairs(ours), pairs(theirs)
        if list(ours) != list(theirs):
            return False
        selectors = [[pairs(selector) for selector in user.pop(b"selectors")]
                     for user in (ours, theirs)]
        if len(selectors[0]) != len(selectors[1]):
            return False
        return all(self.same_rights(first, second)
                   for first, second in [(ours, theirs), *zip(*selectors)])

    def same_rights(self, ours, theirs):
        commands = [rights.pop(b"commands") for rights in (ours, theirs)]
        return ours == theirs and self.same_commands(*commands)

    def same_commands(self, ours, theirs):
        redis = self.clients["admin"][1]
        told = redis.command("ACL", "SETUSER", "probe", "reset", *ours.split())
        if told != b"+OK":
            raise Mismatch(f"{ours} is no rule to Redis: {told}")
        shown = pairs(redis.command("ACL", "GETUSER", "probe"))[b"commands"]
        redis.command("ACL", "DELUSER", "probe")
        return set(shown.split()) == set(theirs.split())

    def show_list(self):
        def same_lists(ours, theirs):
            return [self.without_commands(line) for line in decode(ours)] == \
                [self.without_commands(line) for line in decode(theirs)]

        self.ask("admin", "ACL", "LIST", compare=same_lists)

    @staticmethod
    def without_commands(line):
        return [word for word in line.replace(b")", b" )").split() if word[:1] not in b"+-"]

    def show_log(self):
        def same_logs(ours, theirs):
            ours, theirs = [[[pairs(entry)[field] for field in LOG_FIELDS]
                             for entry in decode(reply)] for reply in (ours, theirs)]
            return ours == theirs

        self.ask("admin", "ACL", "LOG", "100", compare=same_logs)
        self.ask("admin", "ACL", "LOG", self.rng.choice(("RESET", "reset")))

    def delete_user(self):
        user = self.user()
        self.ask("admin", "ACL", "DELUSER", user, self.rng.choice(("nobody", user)))
        self.see_who_is_gone()
        if self.rng.random() < 0.3:
            self.ask("admin", "ACL", "DELUSER", "default")

    def ask_about(self):
        self.ask("admin", *self.rng.choice(pools.QUESTIONS))


def parse_options():
    parser = argparse.ArgumentParser(description="users on weir-server and redis-server")
    parser.add_argument("weir_server")
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--round", type=int, default=None, help="only this one of the seed's")
    return parser.parse_args()


def play_rounds(servers, options):
    numbers = range(options.rounds) if options.round is None else [options.round]
    sent = 0
    for number in numbers:
        played = Round(servers, options.seed, number)
        try:
            played.play()
        except Mismatch as mismatch:
            print(f"MISMATCH in round {number}: replay it with --seed {options.seed}"
                  f" --round {number}\n", *played.log[-25:], mismatch, sep="\n")
            return False
        sent += len(played.log)
    print(f"{len(numbers)} rounds, {sent} requests alike", flush=True)
    return True


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped by SIGTERM"))
    options = parse_options()
    print(f"seed {options.seed}", flush=True)
    servers = [weir_server(os.path.abspath(options.weir_server), ["--storage", "memory"]),
               redis_server()]
    alike = False
    try:
        for server in servers:
            server.start()
        alike = compare_rows(servers) and play_rounds(servers, options)
    finally:
        stopped_well = [server.stop() for server in servers]
    return alike and stopped_well[0]


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
