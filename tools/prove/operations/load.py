"""Load that is counted: callers of a site, and clients that know what was acknowledged."""

import collections
import http.client
import threading

from harness import encode

LIMIT = 1_000_000  # of a key; nothing is denied


def call_site(port, callers, requests):
    """Each caller sends so many requests; counts the statuses of all, and denials without a time."""
    statuses = collections.Counter()
    lock = threading.Lock()

    def call():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for _ in range(requests):
            connection.request("GET", "/some/path")
            answer = connection.getresponse()
            answer.read()
            complete = answer.status != 429 or "Retry-After" in answer.headers
            with lock:
                statuses[answer.status if complete else "429 without Retry-After"] += 1
        connection.close()

    threads = [threading.Thread(target=call) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


class Takers:
    """Clients that take from keys of their own, several requests at a time."""

    def __init__(self, connect, clients=4, keys=50, pipeline=10):
        self.sent = [[0] * keys for _ in range(clients)]
        self.acknowledged = [[0] * keys for _ in range(clients)]
        self.pipeline = pipeline
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self.take, args=(connect, number))
                        for number in range(clients)]
        for thread in self.threads:
            thread.start()

    def take(self, connect, number):
        sent, acknowledged = self.sent[number], self.acknowledged[number]
        with connect() as client:
            at = 0
            while not self.ends.is_set():
                batch = [(at + step) % len(sent) for step in range(self.pipeline)]
                at = (at + self.pipeline) % len(sent)
                for key in batch:
                    sent[key] += 1
                client.send(b"".join(request("RL.TAKE", number, key) for key in batch))
                for key in batch:
                    client.read()
                    acknowledged[key] += 1

    def now(self):
        return [list(counts) for counts in self.acknowledged]

    def total(self):
        return sum(map(sum, self.acknowledged))

    def end(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()

    def stored(self, client):
        """How much of each key was taken, by a server's word."""
        found = []
        for number, counts in enumerate(self.acknowledged):
            client.send(b"".join(request("RL.PEEK", number, key, "COST", "0")
                                 for key in range(len(counts))))
            found.append([LIMIT - client.read()[2] for _ in counts])
        return found


def request(command, number, key, *more):
    return encode(command, f"k:{number}:{key}", "FIXED", f"{LIMIT}/1d", *more)
