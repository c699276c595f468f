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
constexpr uint64_t kSeedsForAllFaults = 500;  // every fault happens in so many worlds
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

bool run(uint64_t seed, bool lossy, bool shows_all, WorldMetrics* sum) {
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

void show(const char* engine, const WorldMetrics& sum) {
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  const OverAdmission::Result& admission = sum.admission;
  std::printf(
      "%s: %llu promotions, %llu turns and %llu reads released, %llu rewinds seen, %llu members "
      "looked "
      "after by a person, %llu turns lost, %llu void records, %llu shards without a member left; "
      "settled after %.1f s at most, %llu worlds after more than 9.5 s\n",
      engine, number(sum.promotions), number(sum.turns), number(sum.reads), number(sum.rewinds),
      number(sum.stops), number(sum.turns_lost), number(sum.void_records), number(sum.shards_ended),
      static_cast<double>(sum.settled_after_ns) / 1e9, number(sum.settled_late));
  std::printf(
      "    over-admission: %llu takes, %llu of them early, %llu lost; %llu keys above b + r T; "
      "%llu windows\n",
      number(admission.takes), number(admission.early), number(admission.lost),
      number(admission.keys_over), number(admission.windows));
}

void show_faults(const Counts& safe, const Counts& lossy) {
  std::printf("%-50s %12s %12s\n", "what went wrong", "keeps", "loses");
  for (size_t i = 0; i < static_cast<size_t>(Fault::kNumber); ++i) {
    const auto fault = static_cast<Fault>(i);
    std::printf("%-50s %12llu %12llu\n", name_of(fault),
                static_cast<unsigned long long>(safe.of(fault)),
                static_cast<unsigned long long>(lossy.of(fault)));
  }
}

// A fault that never happens tests nothing. Answers whether all did.
bool all_happened(Counts counts, const Counts& more) {
  counts.add(more);
  bool all = true;
  for (size_t i = 0; i < static_cast<size_t>(Fault::kNumber); ++i) {
    if (counts.of(static_cast<Fault>(i)) > 0) continue;
    std::printf("NEVER HAPPENED: %s\n", name_of(static_cast<Fault>(i)));
    all = false;
  }
  return all;
}

int run_all(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  WorldMetrics safe, lossy;
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
  show_faults(safe.faults, lossy.faults);
  const bool many = arguments.seeds >= kSeedsForAllFaults && !arguments.lossy_only;
  return many && !all_happened(safe.faults, lossy.faults) ? 1 : 0;
}

}  // namespace
}  // namespace weir::storage::replication

int main(int argc, char** argv) {
  using namespace weir::storage::replication;
  return run_all(parse(argc, argv));
}
