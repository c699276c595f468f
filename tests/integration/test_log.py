"""What a line of the log looks like: text or JSON, and for systemd's journal with its priority."""

import json
import os
import signal

import harness

TEXT = r"^(<\d>)?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d (debug|info|warning|error|critical) .+$"


class Formats(harness.ServerTest):
    def test_a_line_is_text(self):
        server = self.memory_server()
        self.assertEqual(server.stop(), 0)
        for line in server.log().splitlines():
            self.assertRegex(line, TEXT)

    def test_a_line_is_an_object_of_json(self):
        server = self.memory_server("--limiting", "shadow", logformat="json")
        server.call("EVAL", "redis.log(redis.LOG_WARNING, ARGV[1])", "0", 'a "b" \\ c\n\x01 {')
        self.assertEqual(server.stop(), 0)
        lines = [json.loads(line) for line in server.log().splitlines()]
        for line in lines:
            self.assertEqual(list(line)[:3], ["time", "level", "message"])
            self.assertRegex(f"{line['time']} {line['level']} x", TEXT)
        self.assertIn(["warning", 'script: a "b" \\ c\\x0a\\x01 {'],
                      [[line["level"], line["message"]] for line in lines])


class Journal(harness.ServerTest):
    def lines(self, is_journal, *options):
        """What a server says on stderr, which is the journal's or not."""
        path = self.path("stderr")
        with open(path, "wb") as file:
            status = os.fstat(file.fileno())
            other = 0 if is_journal else 1
            stream = f"{status.st_dev}:{status.st_ino + other}"
            server = self.server(*options, storage="memory", logfile="")
            server.is_ready = lambda: harness.servers.answers(server.port)
            server.how.update(stderr=file, env={**os.environ, "JOURNAL_STREAM": stream})
            server.start().call("EVAL", "redis.log(redis.LOG_WARNING, 'look')", "0")
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(harness.PATIENCE_S), 0)
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()

    def test_a_line_begins_with_its_priority(self):
        for options in ([], ["--logformat", "json"]):
            lines = self.lines(True, *options)
            self.assertEqual({line[:3] for line in lines}, {"<4>", "<6>"}, lines)
            [told] = [line for line in lines if "script: look" in line]
            self.assertTrue(told.startswith("<4>"), told)

    def test_nobody_else_sees_priorities(self):
        for line in self.lines(False):
            self.assertRegex(line, TEXT)
            self.assertNotIn("<", line[:3])

    def test_what_ends_a_start_is_an_error(self):
        path = self.path("stderr")
        with open(path, "wb") as file:
            status = os.fstat(file.fileno())
            server = self.server("--prot", "1")
            server.how.update(stderr=file, env={**os.environ, "JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"})
            server.spawn().process.wait(harness.PATIENCE_S)
        with open(path, encoding="utf-8") as file:
            self.assertRegex(file.read(), "^<3>weir-server: ")

    def test_a_file_has_no_priorities(self):
        """Though stderr is the journal's."""
        with open(self.path("stderr"), "wb") as file:
            status = os.fstat(file.fileno())
            server = self.server(storage="memory")
            server.how.update(stderr=file, env={**os.environ, "JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"})
            server.start().send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(harness.PATIENCE_S), 0)
        for line in server.log().splitlines():
            self.assertNotIn("<", line[:3])


if __name__ == "__main__":
    harness.main()
