"""tools/soak: everything that searches at random, in turns, with fresh seeds, for as long as asked.

    tools/soak [--hours N] [--minutes N] [--parts NAME,NAME...] [--long-attacks] [--keep DIRECTORY]

Each turn runs one piece of one part, about a minute of it: crash (kill -9 under load), power (power cuts),
differential (beside redis-server), simulation (whole servers against a model), hostile (attacks), follow
(a second keyspace), shards (the protocol of failover), fuzz (every target). It needs what .ci/run builds.

Once a minute a line says what runs and what was done so far. A piece has failed if its program says so, if
it outlasts its limit, or if it does not say what it did. Its command, seed and output are kept, the run goes
on, and ends with a summary and a status other than 0.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import parts

ROOT = Path(__file__).resolve().parents[2]
LINE_EVERY_S = 60
PIECE_LIMIT_S = 1800
KILL_AFTER_S = 20
# A run of fewer minutes than there are parts has smaller pieces, so that each has its turn.
FULL_PIECES_FROM_MINUTES = 15
LAST_LINES = 15


def end(process):
    """A piece with all that it has started: it leads a session of its own."""
    for how, patience_s in ((signal.SIGTERM, KILL_AFTER_S), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, how)
            process.wait(patience_s)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


class Run:
    def __init__(self, chosen, minutes, keep, out=sys.stdout):
        self.parts = chosen
        self.keep = Path(keep)
        self.out = out
        self.share = min(1.0, minutes / FULL_PIECES_FROM_MINUTES)
        self.begin = time.monotonic()
        self.end = self.begin + minutes * 60
        self.next_line = self.begin + LINE_EVERY_S
        self.counts = Counter()
        self.pieces = Counter()
        self.failures = []

    def say(self, text):
        print(text, file=self.out, flush=True)

    def summary(self):
        done = ", ".join(f"{count:,} {name}" for name, count in self.counts.items()) or "nothing yet"
        return f"{done}; {len(self.failures)} failures"

    def line_when_due(self, name):
        if time.monotonic() < self.next_line:
            return
        self.next_line += LINE_EVERY_S
        minutes = (time.monotonic() - self.begin) / 60
        self.say(f"{time.strftime('%H:%M')} {minutes:4.0f} min  {name:<12}  {self.summary()}")

    def run_piece(self, part, output):
        """The piece's exit status, in words; empty if it is 0."""
        piece, process = self.piece, None
        try:
            process = subprocess.Popen(piece.command, cwd=ROOT, env=os.environ | piece.environment, stdout=output,
                                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
            begin = time.monotonic()
            while process.poll() is None:
                if time.monotonic() - begin > PIECE_LIMIT_S:
                    return f"outlasted its limit of {PIECE_LIMIT_S} s"
                try:
                    process.wait(1)
                except subprocess.TimeoutExpired:
                    self.line_when_due(part.name)
            return f"ended with status {process.returncode}" if process.returncode else ""
        except OSError as error:
            return f"could not be started: {error}"
        finally:
            if process is not None and process.poll() is None:
                end(process)

    def take_turn(self, part):
        seed = random.SystemRandom().randrange(1, 1 << 31)
        self.piece = part.piece(seed, self.share, self.pieces[part.name])
        folder = self.keep / f"{sum(self.pieces.values()) + 1:04d}-{part.name.replace(' ', '-')}"
        folder.mkdir(parents=True)
        self.pieces[part.name] += 1
        path = folder / "output"
        with path.open("wb") as output:
            wrong = self.run_piece(part, output)
        text = path.read_text(errors="replace")
        counts = part.count(text)
        self.counts.update(counts)
        if not wrong and not any(counts.values()):
            wrong = "did not say what it did"
        if wrong:
            self.keep_failure(part, seed, wrong, folder, text)
        else:
            path.unlink()
            folder.rmdir()

    def keep_failure(self, part, seed, wrong, folder, text):
        settings = [f"{name}={value}" for name, value in self.piece.environment.items()]
        command = " ".join([*settings, *self.piece.command])
        (folder / "command").write_text(command + "\n")
        (folder / "seed").write_text(f"{seed}\n")
        self.failures.append(f"{part.name} {wrong}: {command}\n    kept in {folder}")
        self.say(f"FAILED: {self.failures[-1]}")
        for line in text.splitlines()[-LAST_LINES:]:
            self.say("    | " + line)

    def run(self):
        turn = 0
        try:
            while time.monotonic() < self.end:
                self.take_turn(self.parts[turn % len(self.parts)])
                turn += 1
                if self.share < 1 and turn == len(self.parts):
                    break
        except KeyboardInterrupt:
            self.say("interrupted")
        return self.finish()

    def finish(self):
        minutes = (time.monotonic() - self.begin) / 60
        pieces = ", ".join(f"{count} {name}" for name, count in self.pieces.items())
        self.say(f"soak: {minutes:.0f} minutes; pieces: {pieces}")
        self.say(f"soak: {self.summary()}")
        for failure in self.failures:
            self.say(f"soak: FAILED: {failure}")
        return 1 if self.failures or not self.counts else 0


def missing(chosen):
    return sorted({need for part in chosen for need in part.needs if not (ROOT / need).exists()})


def chosen_parts(options):
    names = options.parts.split(",") if options.parts else [part.name for part in parts.ALL]
    known = {part.name: part for part in parts.ALL}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no such part: {', '.join(unknown)}; there are: {', '.join(known)}")
    return [known[name] for name in names] + ([parts.LONG_ATTACKS] if options.long_attacks else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=0)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--parts", default="")
    parser.add_argument("--long-attacks", action="store_true", help="the attacks in sizes that hurt, too")
    parser.add_argument("--keep", default=ROOT / "build/soak" / time.strftime("%Y-%m-%d-%H%M%S"),
                        help="where failures are kept")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    chosen = chosen_parts(options)
    if missing(chosen):
        sys.exit(f"not built: {', '.join(missing(chosen))}; see .ci/run build_release and build_sanitize")
    minutes = options.hours * 60 + options.minutes or 60
    print(f"soak: {minutes:g} minutes of {', '.join(part.name for part in chosen)};"
          f" what fails is kept in {options.keep}", flush=True)
    return Run(chosen, minutes, options.keep).run()
