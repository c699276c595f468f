"""Clients through switchovers: how long a request takes, with all that it has to do again."""

import threading
import time

from members import HOST
from resp import Client, Refused


class Asker(threading.Thread):
    """Sends so many requests a second; one that is refused or cut off is sent to the other member until
    it is granted, and has taken as long as all of that."""

    def __init__(self, members, primary, per_second, number):
        super().__init__(daemon=True)
        self.members = members
        self.at = members.index(primary)
        self.interval_s = 1 / per_second
        self.key = f"move:{number}"
        self.took_s = []
        self.ended = False

    def granted(self, client):
        try:
            client = client or Client(HOST, self.members[self.at].port, timeout_s=5)
            client.ask("RL.TAKE", self.key, "FIXED", "1000000000/3650d")
            return client, True
        except (Refused, OSError):
            if client:
                client.close()
            self.at = (self.at + 1) % len(self.members)
            time.sleep(0.005)
            return None, False

    def run(self):
        client, due_s = None, time.monotonic()
        while not self.ended:
            begin_s = time.monotonic()
            done = False
            while not done:
                client, done = self.granted(client)
            self.took_s.append(time.monotonic() - begin_s)
            due_s += self.interval_s
            time.sleep(max(0.0, due_s - time.monotonic()))


def switch_over(members, primary_of):
    """Makes a switchover, and answers when the other member serves."""
    primary = primary_of()
    other = next(member for member in members if member is not primary)
    node = other.ask("SENTINEL", "MYID")
    while primary_of() is not other:
        try:
            if primary_of() is primary:
                primary.ask("WEIR", "SWITCHOVER", node)
        except (OSError, Refused):
            pass  # its clients are sent away when it has gone; a member that has just begun is not known yet
        time.sleep(0.01)


def through_switchovers(members, primary_of, moves, per_second, callers=20):
    """The seconds of each request, in order of size."""
    askers = [Asker(members, primary_of(), per_second / callers, number) for number in range(callers)]
    for asker in askers:
        asker.start()
    for _ in range(moves):
        time.sleep(1.5)
        switch_over(members, primary_of)
    time.sleep(1)
    for asker in askers:
        asker.ended = True
    for asker in askers:
        asker.join(10)
    return sorted(took for asker in askers for took in asker.took_s)
