"""What tests of --import share: the program, beside sources and a weir that is filled."""

import os
import shutil
import subprocess

import harness
from support.servers import Redis


class Importing(harness.ServerTest):
    def setUp(self):
        super().setUp()
        if shutil.which("redis-server") is None:
            self.skipTest("redis-server is not installed (Debian: redis-server)")
        self.sources = []

    def tearDown(self):
        for source in self.sources:
            source.kill()
        super().tearDown()

    def redis(self, *options):
        source = Redis(self.path(f"redis-{len(self.sources)}"), *options)
        self.sources.append(source)
        return source.start()

    def spawn(self, weir, url, *options, environment=None):
        words = [harness.executable, "--import", url, "--import-into", f"redis://127.0.0.1:{weir.port}", *options]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env={**os.environ, **(environment or {})})

    def run_import(self, weir, url, *options, environment=None):
        """(exit code, standard output, standard error)"""
        process = self.spawn(weir, url, *options, environment=environment)
        out, err = process.communicate(timeout=harness.PATIENCE_S)
        return process.returncode, out, err
