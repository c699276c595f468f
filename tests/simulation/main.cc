// Runs the simulation.
//
//     simulation [--seeds N]          the fixed seeds 1 to N, of which there are 30
//     simulation --first M --seeds N  N seeds from M on
//     simulation --fresh N            N seeds that no run has had
//     simulation --seed N [--steps M] that one
//     WEIR_SEED=N simulation          likewise
//
// On a violation it runs the seed once more, prints the last things that happened, and exits 1.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <string>

#include "base/string_hash.h"
#include "server/os/log.h"
#include "tests/simulation/world.h"

namespace weir::simulation {
namespace {

constexpr uint64_t kFixedSeeds = 30;
constexpr uint64_t kSteps = 50'000;
constexpr size_t kLinesShown = 60;

struct Options {
  uint64_t seed = 0;
  bool has_seed = false;
  uint64_t first = 1;
  uint64_t seeds = kFixedSeeds;
  uint64_t fresh = 0;
  uint64_t steps = kSteps;
  size_t lines = kLinesShown;
};

void show_end(uint64_t seed, const Options& options) {
  std::deque<std::string> lines;
  try {
    World world(seed);
    world.set_trace([&](const std::string& line) {
      lines.push_back(line);
      if (lines.size() > options.lines) lines.pop_front();
    });
    world.run(options.steps);
  } catch (const Violation&) {
  }
  for (const std::string& line : lines) std::printf("    %s\n", line.c_str());
}

bool run(uint64_t seed, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  std::printf("seed %llu ... ", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  std::string wrong;
  uint64_t requests = 0, crashes = 0, queues = 0;
  try {
    World world(seed);
    world.run(options.steps);
    requests = world.requests_run();
    crashes = world.crashes();
    queues = world.queues();
  } catch (const Violation& violation) {
    wrong = violation.what();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (wrong.empty()) {
    std::printf("%llu requests, %llu crashes, %llu queues, %.1f s\n",
                static_cast<unsigned long long>(requests), static_cast<unsigned long long>(crashes),
                static_cast<unsigned long long>(queues), took.count());
    return true;
  }
  std::printf("VIOLATION\n%s\nthe last that happened:\n", wrong.c_str());
  show_end(seed, options);
  std::printf("%s\nreplay with: simulation --seed %llu --steps %llu\n", wrong.c_str(),
              static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(options.steps));
  return false;
}

Options parse(int argc, char** argv) {
  Options options;
  if (const char* seed = std::getenv("WEIR_SEED")) {
    options.has_seed = true;
    options.seed = std::strtoull(seed, nullptr, 10);
  }
  for (int i = 1; i + 1 < argc; i += 2) {
    const uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--seed") == 0) {
      options.has_seed = true;
      options.seed = value;
    } else if (std::strcmp(argv[i], "--first") == 0) {
      options.first = value;
    } else if (std::strcmp(argv[i], "--seeds") == 0) {
      options.seeds = value;
    } else if (std::strcmp(argv[i], "--fresh") == 0) {
      options.fresh = value;
    } else if (std::strcmp(argv[i], "--steps") == 0) {
      options.steps = value;
    } else if (std::strcmp(argv[i], "--lines") == 0) {
      options.lines = value;
    }
  }
  return options;
}

int main_in_namespace(int argc, char** argv) {
  const Options options = parse(argc, argv);
  server::set_log_level(server::LogLevel::kNothing);
  process_hash_key = {};  // so that a seed repeats the order in which tables are walked, too
  if (options.has_seed) return run(options.seed, options) ? 0 : 1;
  for (uint64_t i = 0; i < options.fresh; ++i) {
    if (!run(std::random_device()(), options)) return 1;
  }
  if (options.fresh > 0) return 0;
  for (uint64_t i = 0; i < options.seeds; ++i) {
    if (!run(options.first + i, options)) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace weir::simulation

int main(int argc, char** argv) { return weir::simulation::main_in_namespace(argc, argv); }
