// Runs random worlds of a shard.
//
//     shard_simulation                      as many seeds as ctest has time for
//     shard_simulation --first N --seeds M  these; WEIR_SHARD_SEEDS=M likewise
//     shard_simulation --seed N [--lossy 1] that one, with all that happens as lines
//
// A seed runs twice: with an engine that keeps what it acknowledged, and with one that does not.
// On a violation it prints the seed and the last that happened, and exits 1.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>

#include "tests/replication/violation.h"
#include "tests/replication/world.h"

namespace weir::storage::replication {
namespace {

constexpr uint64_t kSeeds = 1000;
constexpr size_t kLinesShown = 120;

struct Arguments {
  uint64_t first = 1;
  uint64_t seeds = kSeeds;
  bool shows_all = false;
  bool lossy_only = false;
};

void show_end(uint64_t seed, const WorldOptions& options) {
  std::deque<std::string> lines;
  try {
    World world(seed, options);
    world.set_trace([&](const std::string& line) {
      lines.push_back(line);
      if (lines.size() > kLinesShown) lines.pop_front();
    });
    world.run();
  } catch (const Violation&) {
  }
  for (const std::string& line : lines) std::printf("    %s\n", line.c_str());
}

bool run(uint64_t seed, bool lossy, bool shows_all, WorldFigures* sum) {
  WorldOptions options;
  options.loses_acknowledged = lossy;
  try {
    World world(seed, options);
    if (shows_all) {
      world.set_trace([](const std::string& line) { std::printf("%s\n", line.c_str()); });
    }
    sum->add(world.run());
    return true;
  } catch (const Violation& violation) {
    const auto number = static_cast<unsigned long long>(seed);
    std::printf("seed %llu: VIOLATION\n%s\nthe last that happened:\n", number, violation.what());
    if (!shows_all) show_end(seed, options);
    std::printf("%s\nreplay with: shard_simulation --seed %llu%s\n", violation.what(), number,
                lossy ? " --lossy 1" : "");
    return false;
  }
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  if (const char* seeds = std::getenv("WEIR_SHARD_SEEDS")) {
    arguments.seeds = std::strtoull(seeds, nullptr, 10);
  }
  for (int i = 1; i + 1 < argc; i += 2) {
    const uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--first") == 0) arguments.first = value;
    if (std::strcmp(argv[i], "--seeds") == 0) arguments.seeds = value;
    if (std::strcmp(argv[i], "--lossy") == 0) arguments.lossy_only = value != 0;
    if (std::strcmp(argv[i], "--seed") == 0) {
      arguments.first = value;
      arguments.seeds = 1;
      arguments.shows_all = true;
    }
  }
  return arguments;
}

void show(const char* engine, const WorldFigures& sum) {
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "%s: %llu offices, %llu turns and %llu reads released, %llu rewinds, %llu snapshots, "
      "%llu turns lost, %llu early ones lost, %llu void records; settled after %.1f s at most, "
      "%llu worlds after more than 9.5 s\n",
      engine, number(sum.offices), number(sum.turns), number(sum.reads), number(sum.rewinds),
      number(sum.snapshots), number(sum.turns_lost), number(sum.early_turns_lost),
      number(sum.void_records), static_cast<double>(sum.settled_after_ns) / 1e9,
      number(sum.settled_late));
}

int run_all(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  WorldFigures safe, lossy;
  for (uint64_t i = 0; i < arguments.seeds; ++i) {
    const uint64_t seed = arguments.first + i;
    if (!arguments.lossy_only && !run(seed, false, arguments.shows_all, &safe)) return 1;
    if (arguments.shows_all && !arguments.lossy_only) continue;
    if (!run(seed, true, arguments.shows_all, &lossy)) return 1;
  }
  show("engine that keeps what it acknowledged", safe);
  show("engine that does not", lossy);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%llu seeds, %.1f s\n", static_cast<unsigned long long>(arguments.seeds),
              took.count());
  return 0;
}

}  // namespace
}  // namespace weir::storage::replication

int main(int argc, char** argv) {
  using namespace weir::storage::replication;
  return run_all(parse(argc, argv));
}
