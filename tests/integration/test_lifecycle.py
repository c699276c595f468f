"""Start, stop, signals, configuration files, and what is found again afterwards."""

import os
import shutil
import signal
import socket
import subprocess
import time

import harness


UNITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/debian")


class Units(harness.ServerTest):
    def test_systemd_finds_nothing_to_complain_of(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not installed (Debian: systemd)")
        for unit, named, exposed in (("weir.service", "weir.service", 20), ("weir.weir@.service", "weir@a.service", 20),
                                     ("weir.weir-backup.service", "weir-backup.service", 60),
                                     ("weir.weir-backup.timer", "weir-backup.timer", None)):
            with open(os.path.join(UNITS, unit), encoding="utf-8") as file:
                text = file.read().replace("/usr/bin/weir-server", harness.executable)
            text = text.replace("/usr/bin/weir-backup", os.path.join(UNITS, "../weir-backup"))
            path = self.write(named, text)
            for words in (["verify", "--man=no", path],
                          ["security", "--offline=yes", f"--threshold={exposed}", path]):
                if words[0] == "security" and exposed is None:
                    continue
                done = subprocess.run(["systemd-analyze", *words], text=True, check=False,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(done.returncode, 0, done.stdout)


class Start(harness.ServerTest):
    def test_version_and_help(self):
        for option, text in (("--version", "weir-server "), ("--help", "--port")):
            server = self.server()
            server.command = [harness.executable, option]
            code, out, err = server.spawn().wait()
            self.assertEqual((code, err), (0, ""))
            self.assertIn(text, out)

    def check_config(self, text):
        """The exit code of --check-config, and what it says."""
        server = self.server()
        server.command = [harness.executable, "--check-config", self.write("weir.conf", text),
                          "--dir", server.data]
        code, out, err = server.spawn().wait()
        self.assertFalse(os.path.exists(server.data), "it touches no data")
        return code, out + err

    def test_a_configuration_is_checked_without_a_start(self):
        self.assertEqual(self.check_config("port 1\nactivedefrag no\n"),
                         (0, "activedefrag no: accepted for Redis' sake, and means nothing here\n"
                             "the configuration is good\n"))

    def test_a_check_finds_what_a_start_would(self):
        policies = self.write("policies", "policy api GCRA nonsense\n")
        users = self.write("users", "user bob on +@nope\n")
        for text, wrong in (("prot 1\n", "weir.conf:1: unknown option 'prot'"),
                            ("user bob on +@nope\n", "weir.conf:1: user 'bob': rule '+@nope'"),
                            (f"aclfile {users}\n", "'+@nope'"),
                            (f"policies-file {policies}\n", f"{policies}:1: ")):
            code, said = self.check_config(text)
            self.assertEqual(code, 1, said)
            self.assertIn(wrong, said)
            self.assertEqual(said.count("\n"), 1, said)

    def test_the_log_says_what_started(self):
        server = self.memory_server(durability="always")
        first = server.log().splitlines()[0]
        for text in ("weir 0.", f"pid {server.process.pid}", f"port {server.port}",
                     f"data in {server.data}", "storage memory", "durability always"):
            self.assertIn(text, first)

    def test_a_peer_that_hangs_up_ends_nothing(self):
        """OpenSSL writes to a socket that the peer has closed, and raises SIGPIPE."""
        server = self.server().start()
        server.send_signal(signal.SIGPIPE)
        self.assertEqual(server.call("PING"), "PONG")

    def test_files_are_private_whatever_the_umask(self):
        before = os.umask(0)
        try:
            server = self.server(logfile=self.path("weir.log"), pidfile=self.path("pid"))
            server.is_ready = lambda: harness.servers.answers(server.port)  # log is the harness' file
            server.start()
        finally:
            os.umask(before)
        server.call("SET", "k", "v")
        server.call("SAVE")
        self.assertEqual(os.stat(self.path("pid")).st_mode & 0o777, 0o640)
        self.assertEqual(server.stop(), 0)  # so that no file goes while they are looked at
        made = [server.data, self.path("weir.log")]
        for folder, folders, files in os.walk(server.data):
            made += [os.path.join(folder, name) for name in folders + files]
        self.assertGreater(len(made), 10)
        for path in made:
            self.assertEqual(os.stat(path).st_mode & 0o027, 0, path)
        self.assertEqual(os.stat(server.data).st_mode & 0o777, 0o750)

    def test_secrets_that_everybody_may_read_are_told_of(self):
        users = self.write("users", "user default on nopass ~* &* +@all\n")
        os.chmod(users, 0o644)
        server = self.memory_server(aclfile=users)
        told = f"warning aclfile '{users}' is open to every user of this machine (mode 0644)"
        self.assertIn(told, server.log())
        server.call("ACL", "SAVE")  # keeps the mode, which is the operator's
        os.chmod(users, 0o640)
        self.assertNotIn("is open to every user", self.memory_server(aclfile=users).log())
        os.chmod(users, 0o644)
        code, said = self.check_config(f"aclfile {users}\n")
        self.assertEqual(code, 0)
        self.assertIn(told.removeprefix("warning "), said)

    def test_an_unknown_option(self):
        self.assert_start_fails(self.server("--prot", "1"), "prot")

    def test_a_bad_value(self):
        self.assert_start_fails(self.server(port=70000), "port must be between 0 and 65535")

    def test_a_bad_file(self):
        path = self.write("weir.conf", "# fine\ntimeout 5\nmaxclients none\n")
        server = self.server(config_file=path)
        self.assert_start_fails(server, f"{path}:3: maxclients")

    def test_a_missing_file(self):
        self.assert_start_fails(self.server(config_file=self.path("nosuch.conf")), "nosuch.conf")

    def test_the_command_line_wins_over_the_file(self):
        path = self.write("weir.conf", "port 1\ntimeout 5\nstorage memory\n")
        server = self.server(config_file=path).start()
        self.assertEqual(server.call("CONFIG", "GET", "timeout"), [b"timeout", b"5"])
        self.assertEqual(server.call("CONFIG", "GET", "port"), [b"port", b"%d" % server.port])

    def test_a_log_file_that_cannot_be_written(self):
        path = os.path.join(self.write("file", ""), "log")
        self.assert_start_fails(self.server(logfile=path), f"cannot open the log file '{path}'")

    def test_log_on_stderr(self):
        server = self.server(storage="memory", logfile="").spawn()
        self.assertIn(b"starting", server.process.stderr.readline())
        while b"ready to accept" not in server.process.stderr.readline():
            self.assertIsNone(server.process.poll())
        self.assertEqual(server.stop(), 0)

    def test_a_service_manager_is_told(self):
        path = self.path("notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(harness.PATIENCE_S)
            os.environ["NOTIFY_SOCKET"] = path
            try:
                server = self.memory_server(supervised="systemd")
            finally:
                del os.environ["NOTIFY_SOCKET"]
            self.assertTrue(manager.recv(4096).startswith(b"STATUS=opening the data in "))
            self.assertEqual(manager.recv(4096).split(b"\n")[0], b"READY=1")
            self.assertEqual(server.stop(), 0)
            self.assertEqual(manager.recv(4096).split(b"\n")[0], b"STOPPING=1")

    def test_a_long_opening_asks_systemd_for_more_time(self):
        server = self.server(write_back_interval_ms=3_600_000, wal_bytes_max="1gb",
                             supervised="systemd").start()
        for i in range(20):
            server.call("SET", f"key:{i}", "v" * 1_000_000)
        server.stop(signal.SIGKILL)
        path = self.path("notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(harness.PATIENCE_S)
            server.how["env"] = {**os.environ, "NOTIFY_SOCKET": path}
            server.start()
            heard = [manager.recv(4096).decode().split("\n") for _ in range(3)]
        self.assertRegex(heard[1][0], "^STATUS=reading the log: 2[0-9] MB$")
        self.assertRegex(heard[1][1], "^EXTEND_TIMEOUT_USEC=[34][0-9]000000$")
        self.assertEqual(heard[2][0], "READY=1")
        self.assertIn("reading the log: 2", server.log())

    def test_systemd_hears_that_the_loop_comes_round(self):
        path = self.path("notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(harness.PATIENCE_S)
            server = self.server(storage="memory", supervised="systemd")
            server.how["env"] = {**os.environ, "NOTIFY_SOCKET": path, "WATCHDOG_USEC": "30000000"}
            server.start()
            heard = [manager.recv(4096) for _ in range(4)]
            self.assertEqual(heard[2:], [b"WATCHDOG=1"] * 2)
            self.assertEqual(server.stop(), 0)

    def test_no_service_manager_is_told_unless_asked(self):
        path = self.path("notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.setblocking(False)
            os.environ["NOTIFY_SOCKET"] = path
            try:
                server = self.memory_server()
            finally:
                del os.environ["NOTIFY_SOCKET"]
            self.assertEqual(server.stop(), 0)
            with self.assertRaises(BlockingIOError):
                manager.recv(4096)

    def test_pid_file(self):
        path = self.path("pid")
        server = self.memory_server(pidfile=path)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(int(file.read()), server.process.pid)
        self.assertEqual(server.stop(), 0)
        self.assertFalse(os.path.exists(path))

    def test_config_rewrite(self):
        path = self.write("weir.conf", "# my server\nstorage memory\n\n# patience\ntimeout 5\n")
        server = self.server(config_file=path).start()
        with server.connect() as client:
            self.assertEqual(client.call("CONFIG", "SET", "timeout", "7", "hz", "20"), "OK")
            self.assertEqual(client.call("CONFIG", "REWRITE"), "OK")
        self.assertEqual(server.stop(), 0)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("# my server\n", text)
        self.assertIn("# patience\ntimeout 7\n", text)
        server = self.server(config_file=path).start()
        self.assertEqual(server.call("CONFIG", "GET", "timeout"), [b"timeout", b"7"])
        self.assertEqual(server.call("CONFIG", "GET", "hz"), [b"hz", b"20"])


class Stop(harness.ServerTest):
    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            server = self.memory_server()
            self.assertEqual(server.stop(number), 0)
            self.assertIn("stopping on " + number.name, server.log())

    def test_shutdown(self):
        for words in (("SHUTDOWN",), ("SHUTDOWN", "NOSAVE"), ("shutdown", "now")):
            server = self.memory_server()
            with server.connect() as client:
                client.send(harness.encode(*words))
                self.assert_closed(client)
            self.assertEqual(server.wait()[0], 0)

    def test_what_was_answered_is_there_after_sigterm(self):
        server = self.server(durability="no").start()
        count = 5000
        with server.connect() as client:
            client.send(b"".join(harness.encode("SET", f"k{i}", i) for i in range(count)))
            answered = 0
            for _ in range(count // 2):
                self.assertEqual(client.read(), "OK")
                answered += 1
            server.send_signal(signal.SIGTERM)
            try:
                while answered < count:
                    self.assertEqual(client.read(), "OK")
                    answered += 1
            except ConnectionError:
                pass
        self.assertEqual(server.wait()[0], 0)
        self.assertIn("everything is on disk", server.log())
        server.start()
        with server.connect() as client:
            client.send(b"".join(harness.encode("GET", f"k{i}") for i in range(answered)))
            self.assertEqual([client.read() for _ in range(answered)],
                             [b"%d" % i for i in range(answered)])

    def test_always_answers_what_it_took_on(self):
        server = self.server(durability="always").start()
        with server.connect() as client:
            self.assertEqual(client.call("SET", "a", "1"), "OK")
            client.send(harness.encode("SHUTDOWN"))
            self.assert_closed(client)
        self.assertEqual(server.wait()[0], 0)

    def test_sighup_reopens_the_log(self):
        server = self.memory_server()
        os.rename(server.log_path, self.path("log.1"))
        server.send_signal(signal.SIGHUP)
        harness.wait_until(lambda: "reload: log: done" in server.log(), "a new log")
        self.assertEqual(server.call("PING"), "PONG")
        with open(self.path("log.1"), encoding="utf-8") as file:
            self.assertNotIn("reload", file.read())


class Persistence(harness.ServerTest):
    def test_limits_continue_after_kill(self):
        server = self.server().start()
        words = ("CL.THROTTLE", "user:42", "15", "30", "60")
        self.assertEqual(server.call(*words), [0, 16, 15, -1, 2])
        for _ in range(15):
            server.call(*words)
        limited = server.call(*words)
        self.assertEqual(limited[0], 1)
        began = time.monotonic()
        server.stop(signal.SIGKILL)
        server.start()
        again = server.call("CL.THROTTLE", "user:42", "15", "30", "60", "0")
        passed_s = time.monotonic() - began
        # One permit comes back in two seconds: the elapsed time counts, and nothing else.
        self.assertLessEqual(again[2], limited[2] + passed_s / 2 + 1)
        self.assertGreaterEqual(again[2], limited[2])
        self.assertLessEqual(again[4], limited[4])
        self.assertGreaterEqual(again[4], limited[4] - passed_s - 1)

    def test_everything_answered_survives_kill(self):
        server = self.server().start()
        with server.connect() as client:
            client.call("SELECT", "3")
            client.send(b"".join(harness.encode("SET", f"k{i}", i) for i in range(2000)))
            for _ in range(2000):
                self.assertEqual(client.read(), "OK")
        server.stop(signal.SIGKILL)
        server.start()
        with server.connect() as client:
            client.call("SELECT", "3")
            self.assertEqual(client.call("DBSIZE"), 2000)
            self.assertEqual(client.call("GET", "k1999"), b"1999")

    def test_memory_storage_forgets_and_leaves_nothing(self):
        server = self.memory_server()
        server.call("SET", "a", "1")
        self.assertEqual(server.stop(), 0)
        self.assertFalse(os.path.exists(server.data))

    def test_a_data_directory_has_one_server(self):
        first = self.server().start()
        second = self.server(logfile="")
        code, _, err = second.spawn().wait()
        self.assertEqual(code, 1)
        self.assertIn("LOCK", err.upper())
        self.assertEqual(first.call("PING"), "PONG")

    def test_save_makes_a_directory_that_opens(self):
        server = self.server().start()
        started = server.call("LASTSAVE")
        server.call("SET", "a", "1")
        self.assertEqual(server.call("SAVE"), "OK")
        self.assertGreaterEqual(server.call("LASTSAVE"), started)
        server.call("SET", "a", "2")
        checkpoints = os.path.join(server.data, "checkpoints")
        self.assertEqual(len(os.listdir(checkpoints)), 1)
        copy = self.server(dir=os.path.join(checkpoints, os.listdir(checkpoints)[0]),
                           logfile=self.path("copy.log"))
        copy.log_path = self.path("copy.log")
        copy.start()
        self.assertEqual(copy.call("GET", "a"), b"1")
        self.assertEqual(server.call("GET", "a"), b"2")

    def test_bgsave(self):
        server = self.server().start()
        server.call("SET", "a", "1")
        self.assertEqual(server.call("BGSAVE"), "Background saving started")
        harness.wait_until(
            lambda: b"rdb_bgsave_in_progress:0" in server.call("INFO", "persistence"),
            "the checkpoint")
        self.assertIn(b"rdb_last_bgsave_status:ok", server.call("INFO", "persistence"))
        [name] = os.listdir(os.path.join(server.data, "checkpoints"))
        self.assertRegex(name, r"^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-turn-\d+$")
        self.assertIn(f"last_checkpoint:{name}\r\n".encode(), server.call("INFO", "storage"))

    def test_as_many_checkpoints_stay_as_the_option_says(self):
        server = self.server(checkpoint_keep=1).start()
        folder = os.path.join(server.data, "checkpoints")
        for name in ("1700000000000", "1700000000001.tmp", "mine"):
            os.makedirs(os.path.join(folder, name))
            with open(os.path.join(folder, name, "WEIR"), "w", encoding="utf-8") as file:
                file.write("what it is\n")
        for kept, stay in ((1, 1), (3, 2), (3, 3), (3, 3), (0, 4), (0, 5), (2, 2)):
            server.call("CONFIG", "SET", "checkpoint-keep", kept)
            server.call("INCR", "a")
            self.assertEqual(server.call("SAVE"), "OK")
            # What goes has lost its name, and is removed beside the turns.
            harness.wait_until(
                lambda: not any(name.endswith(".tmp") for name in os.listdir(folder)), "the removal")
            left = os.listdir(folder)
            self.assertIn("mine", left)
            self.assertEqual(len(left) - 1, stay, left)


if __name__ == "__main__":
    harness.main()
