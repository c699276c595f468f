// weir-server: reads the configuration, opens the data, serves until told to stop. What it does in
// place of that (--check and the like) is in offline/.
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "server/commands/command_lists.h"
#include "server/config/config_access.h"
#include "server/config/config_faults.h"
#include "server/config/config_options.h"
#include "server/config/memory_share.h"
#include "server/config/secret_files.h"
#include "server/core/clients/descriptors.h"
#include "server/core/disk/make_store.h"
#include "server/core/disk/run_mark.h"
#include "server/core/run/server.h"
#include "server/failover/copies/snapshot_pull.h"
#include "server/failover/member/join_shard.h"
#include "server/net/daemon.h"
#include "server/offline/offline_tools.h"
#include "server/os/clock.h"
#include "server/os/crash_report.h"
#include "server/os/heap.h"
#include "server/os/log.h"
#include "server/os/memory_limit.h"
#include "server/os/service_manager.h"
#include "server/os/time_zones.h"
#include "server/otlp/settings.h"
#include "server/tls/tls_context.h"

namespace weir::server {
namespace {

int fail(const std::string& message) {
  const std::string priority(stderr_priority(EventLevel::kError));
  std::fprintf(stderr, "%sweir-server: %s\n", priority.c_str(), message.c_str());
  return 1;
}

void write_pid_file(const std::string& path) {
  if (!path.empty()) std::ofstream(path) << getpid() << "\n";
}

// What is written (data, copies of it, users, the log) holds what clients have stored, so nobody
// but the owner and the group of a file reads it, whoever has started the server.
void keep_files_private() {
  constexpr mode_t kWithheld = S_IWGRP | S_IRWXO;
  ::umask(::umask(0) | kWithheld);
}

void warn_of_open_secrets(const Config& config) {
  for (const std::string& line : open_secrets(config)) log_warning("{}", line);
}

// Says what bounds the memory, since a bound of somebody else's ends the process without a word.
void tell_memory(const Config& config) {
  const MemoryLimit limit = memory_limit();
  const bool is_set = config.maxmemory > 0;
  log_info(
      "maxmemory {}{}: the process may have {} bytes ({})", maxmemory_bytes(config, limit.bytes),
      is_set ? "" : ", half of what the store and the program leave", limit.bytes, limit.source);
  for (const std::string& fault : config_faults(config, limit.bytes)) log_warning("{}", fault);
}

// What is known of a configuration when its users and certificates have been read.
std::vector<std::string> faults_when_open(Server& server) {
  std::vector<std::string> faults;
  const Config& config = server.config();
  if (!config.requirepass.empty() && !server.acl().asks_for_login())
    faults.emplace_back("requirepass is set, and the user default has nopass, which prevails");
  const auto& tls = server.sessions().tls().context();
  if (tls != nullptr && tls->not_after_s() < server.clock().wall_ns() / kNsPerS)
    faults.push_back("tls-cert-file " + config.tls_cert_file + ": " + tls->describe_certificate());
  return faults;
}

int fail_to_start(const std::string& message) {
  log_critical("cannot start: {}", message);
  return 1;
}

// At once, with whatever the process was doing: nothing that is left to do may count.
void end_process(const std::string& why) {
  log_critical("{}; the process ends", why);
  flush_log();
  std::_Exit(1);
}

// What a member has copied becomes its data before that is opened, again or for the first time.
void put_copy_in_place(const std::string& directory) {
  if (const auto put = install_snapshot(directory); !put) end_process(put.error());
}

// Says how the run before this one has ended, unless it ended as it should. Of a run that has ended
// itself because of an error, only its log says why.
void tell_last_end(const UncleanEnd& last) {
  log_warning("the last run did not end cleanly ({}): {}", last.run.empty() ? "unknown" : last.run,
              last.crash.empty() ? "it left no line of a crash, so it was killed, the machine has "
                                   "stopped, or its log says why it ended"
                                 : last.crash);
}

// Serves until it is told to stop; answers the process' exit code.
int run_daemon(Server* server, boost::asio::io_context* io, otlp::Settings exports) {
  Daemon daemon(server, io, std::move(exports));
  if (const auto listens = daemon.listen(); !listens) {
    log_critical("{}", listens.error());
    return 1;
  }
  ask_what_runs(
      [](const void* executor) { return static_cast<const Executor*>(executor)->running_name(); },
      &server->executor());
  const Config& config = server->config();
  std::optional<RunMark> mark;
  if (config.storage == StorageForm::kRocksdb) {
    const auto last = mark.emplace(config.dir).begin(server->clock().wall_ns() / kNsPerS);
    keep_crash_line_in(mark->descriptor());
    if (last) tell_last_end(*last);
  }
  write_pid_file(config.pidfile);
  const int code = daemon.run();
  if (!config.pidfile.empty()) unlink(config.pidfile.c_str());
  keep_crash_line_in(-1);
  if (mark && code == 0) mark->end();
  ask_what_runs(nullptr, nullptr);
  return code;
}

int serve(Config config) {
  std::signal(SIGHUP, SIG_IGN);   // until the daemon answers it; nothing has been read that is old
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that a peer may have closed
  Descriptors descriptors(config);
  if (!descriptors.enough()) return fail(descriptors.enough().error());
  config.maxclients = descriptors.clients_max();
  if (const auto started = start_log(config.logfile, config.loglevel, config.logformat); !started)
    return fail(started.error());
  const auto text_of = [&config](std::string_view option) {
    return value_text(*find_option(option), config);
  };
  log_info("weir {} starting: build {}, pid {}, port {}, data in {}, storage {}, durability {}",
           weir_version(), build_id(), getpid(), config.port, config.dir, text_of("storage"),
           text_of("durability"));
  if (!descriptors.warning().empty()) log_warning("{}", descriptors.warning());
  warn_of_open_secrets(config);
  tell_memory(config);
  if (const auto checked = check_place(config); !checked) return fail_to_start(checked.error());
  auto exports = otlp::read_settings(std::getenv);
  if (!exports) return fail_to_start(exports.error());
  const ServiceManager manager(config.supervised != Supervision::kNo);
  manager.status("opening the data in " + config.dir);
  log_info("{} time zones", system_zones().names().size());
  SystemClock clock;
  boost::asio::io_context io(1);
  const auto wake = [&io] { boost::asio::post(io, [] {}); };
  const Seeds seeds = Seeds::fresh();
  const auto tell = [&manager](const std::string& line, int64_t within_ns) {
    manager.starting(line, within_ns);
  };
  Joined joined;
  if (!config.log.empty()) {
    auto joins = join_shard(config, &clock, seeds.choices + 1, end_process, tell);
    if (!joins) return fail_to_start(joins.error());
    joined = std::move(*joins);
  }
  Replication replication;
  if (joined.member) replication = joined.member->replication();
  const auto shard = joined.member ? std::optional(joined.store) : std::nullopt;
  Server server(
      config, &clock,
      [&] {
        if (shard) put_copy_in_place(config.dir);
        return make_store(config, descriptors.open_tables_max(), wake, shard);
      },
      joined.member ? shard_command_lists() : command_lists(), seeds, replication);
  server.sessions().set_descriptors(&descriptors);
  if (const storage::Status status = server.open(tell); !status.ok())
    return fail_to_start(status.message());
  for (const std::string& fault : faults_when_open(server)) log_warning("{}", fault);
  return run_daemon(&server, &io, std::move(*exports));
}

// Reads what a start would read but the data, and says what is wrong with it.
int check_config(int argc, const char* const* argv) {
  Config config;
  if (const auto loaded = load_config(argc, argv, &config); !loaded)
    return fail(loaded.error().message);
  if (const auto started = start_log("", LogLevel::kWarning); !started)
    return fail(started.error());
  if (!config.log.empty()) {
    if (const auto checked = check_member_options(config); !checked) return fail(checked.error());
  }
  std::vector<std::string> faults = config_faults(config, memory_limit().bytes);
  if (auto checked = check_place(config); !checked) faults.push_back(checked.error());
  if (const auto exports = otlp::read_settings(std::getenv); !exports)
    faults.push_back(exports.error());
  config.storage = StorageForm::kMemory;
  SystemClock clock;
  Server server(
      config, &clock, [&] { return make_store(config, 0, [] {}); }, command_lists());
  if (const storage::Status status = server.open(); !status.ok()) return fail(status.message());
  for (const std::string& fault : faults_when_open(server)) faults.push_back(fault);
  warn_of_open_secrets(config);
  for (const std::string& fault : faults) (void)fail(fault);
  if (!faults.empty()) return 1;
  for (const auto& [name, value] : config.ignored) {
    std::printf("%s %s: accepted for Redis' sake, and means nothing here\n", name.c_str(),
                value.c_str());
  }
  std::printf("the configuration is good\n");
  return 0;
}

int main_in_namespace(int argc, char** argv) {
  set_weir_version(built_version());
  report_crashes();
  keep_files_private();
  if (argc > 1 && (std::strcmp(argv[1], "--version") == 0 || std::strcmp(argv[1], "-v") == 0)) {
    std::printf("weir-server %s (serves the commands of Redis %s)\n",
                std::string(weir_version()).c_str(), std::string(kRedisVersion).c_str());
    return 0;
  }
  if (argc > 1 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    std::printf(
        "usage: weir-server [weir.conf] [--option value ...]\n"
        "       weir-server --check-config [weir.conf] [--option value ...]\n%s\n%s",
        offline_tools_usage(), config_usage().c_str());
    return 0;
  }
  if (argc > 1 && std::strcmp(argv[1], "--check-config") == 0)
    return check_config(argc - 1, argv + 1);
  if (const auto done = run_offline_tool(argc, argv, command_lists())) return *done;
  prepare_heap();
  Config config;
  if (const auto loaded = load_config(argc, argv, &config); !loaded)
    return fail(loaded.error().message);
  return serve(config);
}

}  // namespace
}  // namespace weir::server

int main(int argc, char** argv) { return weir::server::main_in_namespace(argc, argv); }
