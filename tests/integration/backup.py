"""What tests of checkpoints and data directories share: a filled server, its folder byte by byte."""

import hashlib
import os
import pty
import signal
import subprocess

import harness

LIBRARY = "#!lua name=lib\nredis.register_function('f', function() return 1 end)\n"


def run(*words, **options):
    """(exit code, standard output, standard error)"""
    done = subprocess.run([harness.executable, *words], text=True, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=harness.PATIENCE_S, **options)
    return done.returncode, done.stdout, done.stderr


def on_terminal(*words):
    """The exit code of a program whose standard error is a terminal, and what that shows."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=theirs)
    os.close(theirs)
    text = b""
    try:
        while piece := os.read(ours, 65536):
            text += piece
    except OSError:  # how Linux says that nobody has the other end any more
        pass
    os.close(ours)
    return process.wait(harness.PATIENCE_S), text.decode()


def picture(folder):
    """Every byte and every time of change in a folder."""
    found = {}
    for path, _, names in os.walk(folder):
        found[path] = os.stat(path).st_mtime_ns
        for name in names:
            file = os.path.join(path, name)
            with open(file, "rb") as data:
                found[file] = (hashlib.sha256(data.read()).hexdigest(), os.stat(file).st_mtime_ns,
                               os.stat(file).st_mode)
    return found


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 0x40]))


class BackupTest(harness.ServerTest):
    def fill(self, client):
        for words in (("SET", "s", "v"), ("SET", "soon", "v", "PX", 1), ("HSET", "h", "f", "v"),
                      ("RPUSH", "l", "a", "b"), ("SADD", "set", *range(300)), ("RPUSH", "long", *range(300)),
                      ("ZADD", "z", 1.5, "m"), ("RL.TAKE", "u", "100/1h"),
                      ("RL.TAKE", "w", "SLIDINGLOG", "9/1h", "FIXED", "9/1d"),
                      ("RL.RESERVE", "b", "GCRA", "1/1m", "BURST", 3),
                      ("RL.POLICY", "SET", "api", "10/1s", "BURST", 9), ("EVAL", "return 1", 0),
                      ("FUNCTION", "LOAD", LIBRARY), ("SELECT", 3), ("SET", "other", "v"),
                      ("SELECT", 0)):
            client.call(*words)

    def checkpoint(self, server):
        self.assertEqual(server.call("SAVE"), "OK")
        folder = os.path.join(server.data, "checkpoints")
        return os.path.join(folder, sorted(os.listdir(folder))[-1])

    def stopped(self, number=signal.SIGKILL, **options):
        """A server's data after its end, with files of the state and a log after them."""
        server = self.server(write_back_interval_ms=50, **options).start()
        with server.connect() as client:
            self.fill(client)
            harness.wait_until(lambda: b"unwritten_entries:0\r" in client.call("INFO", "storage"),
                               "the write-back")
            client.call("CONFIG", "SET", "write-back-interval-ms", 3600000)
            for at in range(200):
                client.call("SET", f"late:{at}", "x" * 200)
            client.call("SREM", "set", *range(300))
            client.call("DEL", "long")
        server.stop(number)
        return server

    def assert_damaged(self, folder, *texts):
        before = picture(folder)
        code, out, err = run("--check", folder)
        self.assertEqual(code, 1, out + err)
        for text in texts:
            self.assertIn(text, err)
        self.assertNotIn("all of it is whole", out)
        self.assertEqual(picture(folder), before)
