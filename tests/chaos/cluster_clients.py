"""Clients of a cluster: each asks for keys of one shard, begins at a member of any, and goes where it is led.

One in two asks for the map when the member that it knows does not answer, as most libraries do; the others ask again
wherever they come to. Now and then each forgets what it knows, so that members are asked for slots of
other shards all the time.
"""

import re
import time

from clients import READER_PACE_S, Caller, Callers, Reader
from members import PORT, Client, Refused

MOVED = re.compile(r"MOVED \d+ ([0-9.]+):\d+$")
LED_MAX = 20          # then the request is given up
LED_PATIENCE = 5      # as often most libraries go where they are led
FORGETS_SHARE = 0.02  # of requests


class ClusterCaller(Caller):
    """`hosts` are those of all members of all shards."""

    def __init__(self, hosts, path, number, pace_s, seed, tag, slot):
        super().__init__(hosts, path, number, pace_s, seed, tag)
        self.everybody = hosts
        self.slot = slot
        self.asks_for_map = number % 2 == 0
        self.way = []        # hosts that this request was sent to, so far
        self.led_times = []  # of each request that was answered, or given up since it was led on too often
        self.long_ways = []  # of those that were led on more often than clients put up with

    def turn(self):
        if self.client and self.rng.random() < FORGETS_SHARE:
            self.go_on()
        super().turn()

    def request(self, kind, key, token):
        self.way = [self.host]
        while True:
            try:
                value = super().request(kind, key, token)
            except Refused as refused:
                led_to = MOVED.match(str(refused))
                if led_to is None:
                    raise
                if len(self.way) > LED_MAX:
                    self.note_way(key)
                    raise
                self.turn_to(led_to[1], refused)
                self.way.append(self.host)
            else:
                self.note_way(key)
                return value

    def note_way(self, key):
        led = len(self.way) - 1
        self.led_times.append(led)
        if led > LED_PATIENCE:
            self.long_ways.append(f"{time.monotonic_ns()} {key} {' '.join(self.way)}")

    def turn_to(self, host, refused):
        """Where it is led; who is not there has done nothing."""
        self.client.close()
        self.client = None
        if host == self.avoids:
            raise refused
        self.host = host
        if not self.connect():
            raise refused

    def connect(self):
        if self.host == self.avoids:
            self.host = self.rng.choice([host for host in self.everybody if host != self.avoids])
        try:
            self.client = Client((self.host, PORT), 0.5)
            self.client.socket.settimeout(self.timeout_s)
            return True
        except OSError:
            self.client = None
            self.host = self.anybody()
            return False

    def go_on(self, refused=False):
        del refused
        if self.client:
            self.client.close()
        self.client = None
        self.host = self.anybody()

    def anybody(self):
        """One member of any shard, or whom it shows."""
        host = self.rng.choice(self.everybody)
        return self.shown_by(host) or host if self.asks_for_map else host

    def shown_by(self, host):
        try:
            with Client((host, PORT), 0.5) as client:
                for first, last, primary, *_ in client.call("CLUSTER", "SLOTS"):
                    if first <= self.slot <= last:
                        return primary[0].decode()
        except (OSError, Refused):
            pass
        return None


def callers_of_shard(hosts, own, folder, args, number, tag, slot):
    """Of the shard of that number, whose members have the hosts `own`."""
    count = max(2, args.clients // 2)
    pace_s = args.pace_ms / 1000 * count * args.shards
    seed = args.seed * 1000 + number * 100
    return Callers([ClusterCaller(hosts, f"{folder}/client-{number}-{one}.journal", number * 10 + one, pace_s, seed + one,
                                  tag, slot) for one in range(count)],
                   [Reader([host], f"{folder}/reader-{number}-{one}.journal", number * 10 + one, READER_PACE_S * args.shards,
                           seed + 50 + one, tag) for one, host in enumerate(own)])
