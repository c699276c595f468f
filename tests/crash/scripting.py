"""Bodies of scripts and libraries of functions.

- A body whose SCRIPT LOAD was acknowledged runs by its name ever after, until SCRIPT FLUSH; then never again.
- Libraries are as some prefix of the commands left them (prefix.py), and what they hold runs.
- What a script does that is ended by SCRIPT KILL, or by the kill of the server, has not happened: here that is to empty a
  database which another load then looks at.
"""

import hashlib
import random
import threading
import time

import generations
import mixed
import prefix
from support.resp import Refused

LIBRARIES = 5
OWN = "#!lua name=crash\n" + mixed.FUNCTION + "\n" + generations.FUNCTION + "\n-- cycle %d"
ENDLESS = "redis.call('FLUSHDB') redis.call('RPUSH', KEYS[1], 'poison') while true do end"


def name_of(body):
    return hashlib.sha1(body).hexdigest()


class Libraries(prefix.Client):
    """A library is the number that its function answers, and a comment that makes some of them long."""

    def __init__(self, rng):
        super().__init__("libraries", rng, {})

    def op(self):
        library, number = "library%d" % self.rng.randrange(LIBRARIES), self.rng.randrange(10**6)
        if library in self.ahead and self.rng.random() < 0.3:
            requests, change = [["FUNCTION", "DELETE", library]], lambda state: state.pop(library)
        else:
            code = "#!lua name=%s\nredis.register_function('f_%s', function() return %d end) --%s" % (
                library, library, number, "x" * self.rng.choice([0, 0, 50000]))
            requests, change = [["FUNCTION", "LOAD", "REPLACE", code]], lambda state: state.update({library: number})
        change(self.ahead)
        return requests, change

    def read(self, connection):
        listed = [reply[1].decode() for reply in connection.call("FUNCTION", "LIST", "LIBRARYNAME", "library*")]
        return {library: connection.call("FCALL", "f_" + library, 0) for library in listed}


class Load:
    def __init__(self, rng):
        self.rng = random.Random(rng.random())
        self.libraries = Libraries(random.Random(rng.random()))
        self.loaded = []  # bodies that must be known
        self.flushed = []  # bodies that must not
        self.bodies = 0
        self.cycle = 0

    def threads(self, connect):
        return [threading.Thread(target=work, args=(connect,)) for work in (self.libraries.run, self.load_scripts)]

    def load_scripts(self, connect):
        try:
            connection = connect()
            while True:
                self.bodies += 1
                body = b"return %d --" % self.bodies + b"x" * self.rng.choice([0, 0, 0, 3000])
                assert connection.call("SCRIPT", "LOAD", body).decode() == name_of(body)
                self.loaded.append(body)
        except ConnectionError:
            return

    def prepare(self, connection):
        """Before the clients of a cycle begin."""
        if self.cycle == 0:
            connection.call("SCRIPT", "LOAD", mixed.SCRIPT)
        listed = connection.call("FUNCTION", "LIST", "LIBRARYNAME", "crash", "WITHCODE")
        codes = [library[-1].decode() for library in listed]
        assert codes == ([OWN % (self.cycle - 1)] if self.cycle > 0 else []), "libraries: %r" % codes
        assert connection.call("FUNCTION", "LOAD", "REPLACE", OWN % self.cycle) == b"crash"
        if self.cycle % 7 == 6:
            connection.call("SCRIPT", "FLUSH")
            connection.call("SCRIPT", "LOAD", mixed.SCRIPT)
            self.flushed, self.loaded = self.loaded, []
        self.cycle += 1

    def kill_script(self, connection, connect):
        """As the only one that asks for anything, since all others would be told that the server is busy."""
        connection.call_all([["CONFIG", "SET", "busy-reply-threshold", 1],
                             ["CONFIG", "SET", "script-time-limit-ms", 600000]])
        self.run_endless(connect)
        while not self.was_killed(connect(timeout_s=1)):
            pass
        error = str(self.runner.reply())
        assert "SCRIPT KILL" in error, error
        self.runner.close()
        connection.call_all([["CONFIG", "SET", "busy-reply-threshold", 5000],
                             ["CONFIG", "SET", "script-time-limit-ms", 500]])

    @staticmethod
    def was_killed(killer):
        """Whoever asks in the turn that begins the script hears nothing before it ends."""
        try:
            return killer.call("SCRIPT", "KILL") == "OK"
        except Refused as error:
            assert "NOTBUSY" in str(error), error
        except TimeoutError:
            pass
        return False

    def run_endless(self, connect):
        self.runner = connect()
        self.runner.send_all([["EVAL", ENDLESS, 1, "poison"]])
        time.sleep(0.05)

    def summary(self):
        return "%d bodies, %d changes of libraries" % (self.bodies, self.libraries.done)

    def check(self, connection):
        for bodies, known in ((self.loaded, 1), (self.flushed, 0)):
            replies = connection.call("SCRIPT", "EXISTS", *[name_of(body) for body in bodies]) if bodies else []
            assert replies.count(known) == len(bodies), "of %d bodies %d are %s" % (
                len(bodies), len(bodies) - replies.count(known), "lost" if known else "back")
        for body in self.rng.sample(self.loaded, min(5, len(self.loaded))):
            expected = int(body.split(b" ")[1])
            assert connection.call("EVALSHA", name_of(body), 0) == expected
        self.libraries.check(connection)
