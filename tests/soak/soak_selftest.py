#!/usr/bin/env python3
"""Tests of the long run: what a part did is read from its output, and a part that fails makes it fail."""

import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import parts  # noqa: E402
import soak  # noqa: E402

# Each part's output as its program prints it, and what it counts.
OUTPUTS = {
    "crash": ("crash: seed 5\ncrash: 25 cycles, 7 starts killed, slowest start 0.312 s; mixed 40\n", {"kills": 30}),
    "power": ("[ RUN      ] PowerLoss.A\npower cuts: 12\n[ RUN      ] PowerLoss.B\npower cuts: 30\n",
              {"power cuts": 42}),
    "differential": ("seed 4\nstorage memory: 500 commands alike in 1.0 s, 0 reads of what was not in memory\n"
                     "storage rocksdb: 120 commands alike in 1.0 s, 9 reads\n", {"commands alike": 620}),
    "simulation": ("seed 7 ... 33118 requests, 107 crashes, 1.2 s\nseed 8 ... 10 requests, 3 crashes, 1.5 s\n",
                   {"simulated commands": 33128, "simulated crashes": 110}),
    "hostile": ("attack   worst PING\n68 attacks in 118 s, 0 unexpected: none\n", {"attacks": 68}),
    "follow": ("turns followed: 5000\n[       OK ]\n", {"turns followed": 5000}),
    "shards": ("engine that keeps\n200 seeds, 3.1 s\n", {"shard worlds": 200}),
    "fuzz": ("a_fuzz: 3 inputs to begin with\nstat::number_of_executed_units: 100\n"
             "stat::number_of_executed_units: 23\n", {"fuzz inputs": 123}),
}


def part_that(program, name="planted"):
    """A part that runs a line of Python, and counts what it prints."""
    return parts.Part(name, [], lambda seed, share, turn: parts.Piece([sys.executable, "-c", program]),
                      lambda output: parts.counted(done=parts.numbers(r"did (\d+)", output)))


class Counting(unittest.TestCase):
    def test_every_part_is_read(self):
        self.assertEqual({part.name for part in parts.ALL}, set(OUTPUTS))
        for part in parts.ALL:
            output, counts = OUTPUTS[part.name]
            self.assertEqual(part.count(output), counts, part.name)

    def test_what_says_nothing_counts_nothing(self):
        for part in parts.ALL:
            self.assertFalse(part.count("Segmentation fault\n"), part.name)

    def test_a_seed_reaches_every_piece_that_draws(self):
        for part in parts.ALL:
            piece = part.piece(4711, 0.1, 0)
            self.assertIn("4711", [*piece.command, *piece.environment.values()], part.name)


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-soak-")
        self.addCleanup(folder.cleanup)
        self.keep = Path(folder.name)

    def run_parts(self, *chosen, minutes=0.001):
        out = io.StringIO()
        run = soak.Run(list(chosen), minutes, tempfile.mkdtemp(dir=self.keep), out)
        run.end = run.begin + 3600  # each part has its turn
        return run.run(), out.getvalue()

    def test_what_passes_is_summed_and_leaves_nothing(self):
        status, out = self.run_parts(part_that("print('did 3')"), part_that("print('did 4')", "other"))
        self.assertEqual(status, 0)
        self.assertIn("pieces: 1 planted, 1 other", out)
        self.assertIn("soak: 7 done; 0 failures", out)
        self.assertEqual(list(self.keep.glob("*/*")), [])

    def test_one_that_fails_fails_the_run_and_is_kept(self):
        status, out = self.run_parts(part_that("print('did 3'); raise SystemExit(9)"), part_that("print('did 4')"))
        self.assertEqual(status, 1)
        self.assertIn("FAILED: planted ended with status 9", out)
        self.assertIn("soak: 7 done; 1 failures", out)  # the run has gone on
        kept = next(self.keep.glob("*/*"))
        self.assertEqual((kept / "output").read_text(), "did 3\n")
        self.assertIn("SystemExit(9)", (kept / "command").read_text())
        self.assertTrue((kept / "seed").read_text().strip().isdigit())

    def test_one_that_says_nothing_has_failed(self):
        for program in ("print('all is well')", "print('did 0')"):
            status, out = self.run_parts(part_that(program))
            self.assertEqual(status, 1)
            self.assertIn("did not say what it did", out)

    def test_one_that_hangs_is_ended(self):
        with mock.patch.object(soak, "PIECE_LIMIT_S", 0):
            status, out = self.run_parts(part_that("print('did 1', flush=True); import signal; signal.pause()"))
        self.assertEqual(status, 1)
        self.assertIn("outlasted its limit", out)

    def test_one_that_cannot_be_started_has_failed(self):
        part = part_that("")
        part.piece = lambda *_: parts.Piece(["/nonexistent/program"])
        status, out = self.run_parts(part)
        self.assertEqual(status, 1)
        self.assertIn("could not be started", out)

    def test_a_line_says_how_far_it_is(self):
        out = io.StringIO()
        with mock.patch.object(soak, "LINE_EVERY_S", 0):
            run = soak.Run([], 1, self.keep, out)
        run.counts["kills"] = 1234
        run.line_when_due("crash")
        self.assertRegex(out.getvalue(), r"^\d\d:\d\d +0 min  crash +1,234 kills; 0 failures\n$")
        quiet = io.StringIO()
        soak.Run([], 1, self.keep, quiet).line_when_due("crash")
        self.assertEqual(quiet.getvalue(), "")


if __name__ == "__main__":
    unittest.main()
