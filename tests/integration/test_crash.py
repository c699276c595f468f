"""What a crash leaves in the log and on stderr, and what the next start says of the last end."""

import json
import os
import re
import shutil
import signal
import subprocess

import harness

RUNNING = "the last run did not end cleanly"
NO_LINE = "it left no line of a crash, so it was killed, the machine has stopped, or its log says why it ended"


class Crashes(harness.ServerTest):
    def debugged(self, **options):
        return self.server("--enable-debug-command", "yes", **options).start()

    def crash(self, server, *requests, code=-signal.SIGSEGV):
        """What it says in the log and on stderr."""
        with server.connect() as client:
            client.send(b"".join(harness.encode(*words) for words in requests))
            self.assert_closed(client)
        ended, _, err = server.wait()
        self.assertEqual(ended, code, err)
        log = re.findall(r"(?m)^\S+ critical crash: (.*)$", server.log())
        self.assertEqual(log, re.findall(r"(?m)^\S+ critical crash: (.*)$", err))
        return log

    def assert_frames(self, log, function):
        """The frames are the program's, from `function` to main."""
        frames = [re.fullmatch(r"frame (\d+): ([\w.+-]+?)\+(0x[0-9a-f]+)(?: \((.+)\))?", line).groups() for line in log
                  if line.startswith("frame ")]
        self.assertEqual([int(frame[0]) for frame in frames], list(range(len(frames))))
        own = [frame for frame in frames if frame[1] == "weir-server"]
        self.assertGreater(len(own), 4, log)
        if shutil.which("addr2line") is None:
            return
        # A frame's number is that of what follows the call, which after a call that never returns is another function.
        calls = [hex(int(frame[2], 16) - 1) for frame in own]
        names = subprocess.run(["addr2line", "-Cfi", "-e", harness.executable, *calls], text=True,
                               check=True, stdout=subprocess.PIPE, timeout=harness.PATIENCE_S).stdout
        self.assertIn(function, names)

    def test_a_write_to_nowhere(self):
        server = self.debugged()
        server.call("SET", "secret", "secret")
        shown = subprocess.run([harness.executable, "--version"], text=True, check=True, capture_output=True,
                               timeout=harness.PATIENCE_S).stdout.split()[1]
        log = self.crash(server, ["DEBUG", "SEGFAULT"])
        self.assertRegex(log[0], rf"^signal 11 \(SIGSEGV\), no such address: 0x0; weir {re.escape(shown)}, "
                                 rf"build [0-9a-f]{{40}}, pid {server.process.pid}$")
        self.assertEqual(log[1], "the command that ran is debug")
        self.assert_frames(log, "debug")
        self.assertNotIn("SEGFAULT", server.log())  # no arguments, which may be secrets
        server.start()
        self.assertRegex(server.log(), rf" warning {RUNNING} \(weir \S+, pid \d+, since \S+Z\): signal 11 \(SIGSEGV\) "
                                       r"at \S+; the command that ran is debug\n")
        self.assertEqual(server.call("GET", "secret"), b"secret")
        self.assertEqual(server.stop(), 0)
        self.assertNotIn(RUNNING, server.start().log())

    def test_a_stack_without_room(self):
        log = self.crash(self.debugged(), ["DEBUG", "STACK-OVERFLOW"])
        self.assertRegex(log[0], r"^signal 11 \(SIGSEGV\), the stack has no room left: 0x")
        self.assert_frames(log, "use_up_stack")

    def test_a_check_that_does_not_hold(self):
        log = self.crash(self.debugged(), ["DEBUG", "PANIC"], code=-signal.SIGABRT)
        self.assertRegex(log[0], r"^signal 6 \(SIGABRT\), sent by itself; ")
        self.assertRegex(log[2], r"debug\.cc:\d+: bug: call\.args\.empty\(\) does not hold$")
        self.assert_frames(log, "end_on_broken_check")

    def test_in_a_transaction_the_inner_command_is_told(self):
        log = self.crash(self.debugged(), ["MULTI"], ["DEBUG", "SEGFAULT"], ["EXEC"])
        self.assertEqual(log[1], "the command that ran is debug")

    def test_a_signal_of_another_process(self):
        server = self.server().start()
        server.send_signal(signal.SIGBUS)
        ended, _, _ = server.wait()
        self.assertEqual(ended, -signal.SIGBUS)
        self.assertIn(f"crash: signal 7 (SIGBUS), sent by process {os.getpid()}; ", server.log())
        self.assertIn("crash: no command ran\n", server.log())

    def test_json(self):
        server = self.debugged(logformat="json")
        with server.connect() as client:
            client.send(harness.encode("DEBUG", "SEGFAULT"))
            self.assert_closed(client)
        self.assertEqual(server.wait()[0], -signal.SIGSEGV)
        lines = [json.loads(line) for line in server.log().splitlines()]
        told = [line for line in lines if line["message"].startswith("crash: ")]
        self.assertGreater(len(told), 6)
        for line in told:
            self.assertEqual((list(line), line["level"]), (["time", "level", "message"], "critical"))
            self.assertEqual(line["time"][10:11] + line["time"][19:20], "T.")


class Ends(harness.ServerTest):
    def test_one_that_was_killed(self):
        server = self.server().start()
        server.stop(signal.SIGKILL)
        server.start()
        self.assertRegex(server.log(), rf"warning {RUNNING} \(weir \S+, pid \d+, since \S+\): {NO_LINE}\n")
        self.assertEqual(server.stop(), 0)
        self.assertFalse(os.path.exists(os.path.join(server.data, "RUNNING")))

    def test_a_mark_that_nobody_could_write(self):
        server = self.server().start()
        server.stop()
        with open(os.path.join(server.data, "RUNNING"), "w", encoding="utf-8"):
            pass
        self.assertIn(f"{RUNNING} (unknown): {NO_LINE}\n", server.start().log())

    def test_a_start_that_fails_is_no_run(self):
        first = self.memory_server()
        server = self.server(port=first.port)
        self.assertEqual(server.spawn().wait()[0], 1)
        second = self.server().start()
        self.assertEqual(second.data, server.data)
        self.assertNotIn(RUNNING, second.log())

    def test_a_checkpoint_has_no_mark(self):
        server = self.server().start()
        server.call("SAVE")
        [name] = os.listdir(os.path.join(server.data, "checkpoints"))
        self.assertNotIn("RUNNING", os.listdir(os.path.join(server.data, "checkpoints", name)))
        self.assertIn("RUNNING", os.listdir(server.data))


if __name__ == "__main__":
    harness.main()
