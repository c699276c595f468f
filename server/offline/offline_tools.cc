#include "server/offline/offline_tools.h"

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/cluster/founding.h"
#include "server/config/config_access.h"
#include "server/core/disk/make_store.h"
#include "server/failover/member/new_shard.h"
#include "server/failover/shared_log/open_log.h"
#include "server/offline/check.h"
#include "server/offline/import.h"
#include "server/offline/restore.h"
#include "server/os/clock.h"
#include "server/os/log.h"
#include "server/os/plain_file.h"
#include "server/os/random.h"

namespace weir::server {
namespace {

int say_and_fail(const std::string& message) {
  std::fprintf(stderr, "weir-server: %s\n", message.c_str());
  return 1;
}

// Whether all is well. What is there goes to standard output.
bool tell(const CheckReport& report) {
  for (const std::string& line : report.lines) std::printf("%s\n", line.c_str());
  for (const std::string& line : report.notes) std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  for (const std::string& line : report.damage) say_and_fail(line);
  return report.damage.empty();
}

int check(int argc, char** argv, std::span<const Commands> lists) {
  if (argc != 2) return say_and_fail("usage: weir-server --check DIR");
  SystemClock clock;
  Progress progress(&clock);
  if (!tell(check_data(argv[1], lists, &clock, &progress))) return 1;
  std::printf("all of it is whole\n");
  return 0;
}

int restore(int argc, char** argv, std::span<const Commands> lists) {
  if (argc < 3)
    return say_and_fail("usage: weir-server --restore CHECKPOINT (--dir DIR | weir.conf)");
  const std::string source = argv[1];
  Config config;
  if (const auto loaded = load_config(argc - 1, argv + 1, &config); !loaded)
    return say_and_fail(loaded.error().message);
  if (const auto fits = check_target(source, config.dir); !fits) return say_and_fail(fits.error());
  SystemClock clock;
  Progress progress(&clock);
  if (!tell(check_data(source, lists, &clock, &progress)))
    return say_and_fail("nothing was restored");
  if (const auto restored = restore_data(source, config.dir, &progress); !restored)
    return say_and_fail(restored.error() + "; what is in " + config.dir +
                        " is no data: remove it before the next attempt");
  std::printf("restored to %s\n", config.dir.c_str());
  return 0;
}

Result<Founding, std::string> read_founding(const std::string& path) {
  std::string text;
  if (const auto read = read_plain_file(path, kFoundingBytesMax, "256kb", &text); !read)
    return read.error();
  return Founding::parse(text, path);
}

int new_shard(int argc, char** argv, std::span<const Commands>) {
  const bool is_founded = argc > 3 && std::strcmp(argv[3], "--founding") == 0;
  const int words = is_founded ? 4 : 2;  // before those of the configuration
  if (argc < words + 2)
    return say_and_fail(
        "usage: weir-server --new-shard LOG NAME [--founding FILE] (--dir DIR | weir.conf)");
  std::optional<Founding> founding;
  if (is_founded) {
    auto read = read_founding(argv[4]);
    if (!read) return say_and_fail(read.error());
    founding = std::move(*read);
  }
  Config config;
  if (const auto loaded = load_config(argc - words, argv + words, &config); !loaded)
    return say_and_fail(loaded.error().message);
  const auto opened =
      open_shared_log(argv[1], {.shard = argv[2],
                                .password_file = config.log_password_file,
                                .log_timeout_ns = config.log_timeout_ms * kNsPerMs,
                                .makes_shard = true,
                                .bytes_max = 2 * static_cast<uint64_t>(config.log_bytes_max),
                                .allows_weak_engine = config.log_allow_weak_engine});
  if (!opened) return say_and_fail(opened.error());
  SystemClock clock;
  const Seeds seeds = Seeds::fresh();
  std::string said;
  const ShardPlan plan{.store = rocks_options(config, storage::kOpenTablesMin),
                       .name = argv[2],
                       .databases = static_cast<uint64_t>(config.databases),
                       .log = opened->log.get(),
                       .clock = &clock,
                       .random = {seeds.ids[0], seeds.ids[1], seeds.choices},
                       .founding = std::move(founding)};
  if (const auto made = make_shard(plan, &said); !made) return say_and_fail(made.error());
  std::printf("%s\n", said.c_str());
  return 0;
}

int out_of_shard(int argc, char** argv, std::span<const Commands>) {
  if (argc < 2) return say_and_fail("usage: weir-server --leave-shard (--dir DIR | weir.conf)");
  Config config;
  if (const auto loaded = load_config(argc, argv, &config); !loaded)
    return say_and_fail(loaded.error().message);
  if (const auto left = leave_shard(rocks_options(config, storage::kOpenTablesMin)); !left)
    return say_and_fail(left.error());
  std::printf("data directory %s belongs to no shard any more\n", config.dir.c_str());
  return 0;
}

struct Mode {
  const char* word;
  int (*run)(int argc, char** argv, std::span<const Commands> lists);
};
constexpr Mode kModes[] = {{"--check", check},
                           {"--restore", restore},
                           {"--import", run_import},
                           {"--new-shard", new_shard},
                           {"--leave-shard", out_of_shard}};

}  // namespace

std::optional<int> run_offline_tool(int argc, char** argv, std::span<const Commands> lists) {
  for (const Mode& mode : kModes) {
    if (argc < 2 || std::strcmp(argv[1], mode.word) != 0) continue;
    // What the parts would log is in what they answer, too.
    if (const auto started = start_log("/dev/null", LogLevel::kError); !started)
      return say_and_fail(started.error());
    return mode.run(argc - 1, argv + 1, lists);
  }
  return std::nullopt;
}

const char* offline_tools_usage() {
  return "       weir-server --check DIR\n"
         "       weir-server --restore CHECKPOINT (--dir DIR | weir.conf)\n"
         "       weir-server --new-shard LOG NAME [--founding FILE] (--dir DIR | weir.conf)\n"
         "       weir-server --leave-shard (--dir DIR | weir.conf)\n"
         "       weir-server --import redis://[user:password@]host[:port][/db] [option ...]\n";
}

}  // namespace weir::server
