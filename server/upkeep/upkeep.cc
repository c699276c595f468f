#include "server/upkeep/upkeep.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "server/config/config.h"
#include "server/os/clock.h"
#include "server/os/log.h"
#include "server/upkeep/check.h"
#include "server/upkeep/import.h"
#include "server/upkeep/restore.h"

namespace weir::server {
namespace {

int fail(const std::string& message) {
  std::fprintf(stderr, "weir-server: %s\n", message.c_str());
  return 1;
}

// Whether all is well. What is there goes to standard output.
bool tell(const CheckReport& report) {
  for (const std::string& line : report.lines) std::printf("%s\n", line.c_str());
  for (const std::string& line : report.notes) std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  for (const std::string& line : report.damage) fail(line);
  return report.damage.empty();
}

int check(int argc, char** argv, std::span<const Commands> families) {
  if (argc != 2) return fail("usage: weir-server --check DIR");
  SystemClock clock;
  Progress progress(&clock);
  if (!tell(check_data(argv[1], families, &clock, &progress))) return 1;
  std::printf("all of it is whole\n");
  return 0;
}

int restore(int argc, char** argv, std::span<const Commands> families) {
  if (argc < 3) return fail("usage: weir-server --restore CHECKPOINT (--dir DIR | weir.conf)");
  const std::string source = argv[1];
  Config config;
  if (const auto loaded = load_config(argc - 1, argv + 1, &config); !loaded)
    return fail(loaded.error().message);
  if (const auto fits = check_target(source, config.dir); !fits) return fail(fits.error());
  SystemClock clock;
  Progress progress(&clock);
  if (!tell(check_data(source, families, &clock, &progress))) return fail("nothing was restored");
  if (const auto restored = restore_data(source, config.dir, &progress); !restored)
    return fail(restored.error() + "; what is in " + config.dir +
                " is no data: remove it before the next attempt");
  std::printf("restored to %s\n", config.dir.c_str());
  return 0;
}

struct Mode {
  const char* word;
  int (*run)(int argc, char** argv, std::span<const Commands> families);
};
constexpr Mode kModes[] = {{"--check", check}, {"--restore", restore}, {"--import", run_import}};

}  // namespace

std::optional<int> run_upkeep(int argc, char** argv, std::span<const Commands> families) {
  for (const Mode& mode : kModes) {
    if (argc < 2 || std::strcmp(argv[1], mode.word) != 0) continue;
    // What the parts would log is in what they answer, too.
    if (const auto started = start_log("/dev/null", LogLevel::kError); !started)
      return fail(started.error());
    return mode.run(argc - 1, argv + 1, families);
  }
  return std::nullopt;
}

const char* upkeep_usage() {
  return "       weir-server --check DIR\n"
         "       weir-server --restore CHECKPOINT (--dir DIR | weir.conf)\n"
         "       weir-server --import redis://[user:password@]host[:port][/db] [option ...]\n";
}

}  // namespace weir::server
