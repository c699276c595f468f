// Wakes one fault after the other, and sees each found by the methods that are named for it. Each
// schedule must be named for one.
//
//     shard_mutants [LETTER]
//
// It prints a table: which methods found which fault. With WEIR_SHARD_SEEDS=N it also counts in how
// many of N random worlds each fault shows.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "tests/replication/exhaustive.h"
#include "tests/replication/mutants/mutation.h"
#include "tests/replication/mutants/mutations.h"
#include "tests/replication/schedules.h"
#include "tests/replication/violation.h"
#include "tests/replication/world.h"

namespace weir::storage::replication {

char active_mutation = 0;

namespace {

constexpr size_t kDepthMax = 9;

EngineFlaws engine_flaws(char letter) {
  EngineFlaws flaws;
  flaws.compares_log_indexes = letter == 'a';
  flaws.ignores_condition = letter == 'e' || letter == 'f' || letter == 'F';
  return flaws;
}

ProcessFlaws process_flaws(char letter) {
  ProcessFlaws flaws;
  flaws.writes_by_turn = letter == 'b';
  flaws.forgets_turns = letter == 'w';
  flaws.takes_any_clock = letter == 'x';
  return flaws;
}

// One line of the table.
struct Row {
  std::string schedules, exhaustive, random, units;
};

// Answers what was violated; nothing if the schedule holds.
std::string run_one(const std::string& schedule, char letter) {
  try {
    run_schedule(schedule, {.engine = engine_flaws(letter), .process = process_flaws(letter)});
  } catch (const Violation& violation) {
    return violation.what();
  }
  return "";
}

// Deeper and deeper, so that the steps that are shown are the fewest.
std::string search(char letter, Row* row) {
  SearchLimits limits;
  limits.has_strange_records = letter == 'l';
  const Flaws flaws = {.engine = engine_flaws(letter), .process = process_flaws(letter)};
  uint64_t states = 0;
  for (limits.depth_max = 1; limits.depth_max <= kDepthMax; ++limits.depth_max) {
    const SearchResult result = search_exhaustively(flaws, limits);
    states += result.states;
    if (result.violation.empty()) continue;
    row->exhaustive =
        std::to_string(limits.depth_max) + " steps, " + std::to_string(states) + " states";
    return result.violation;
  }
  return "";
}

bool shows_in_world(const Mutation& mutation, uint64_t seed) {
  WorldOptions options;
  options.engine = engine_flaws(mutation.letter);
  options.process = process_flaws(mutation.letter);
  options.loses_acknowledged = mutation.lossy;
  try {
    World(seed, options).run();
  } catch (const Violation&) {
    return true;
  }
  return false;
}

bool search_at_random(const Mutation& mutation, Row* row) {
  const char* wanted = std::getenv("WEIR_SHARD_SEEDS");
  const uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : mutation.seeds;
  uint64_t shown = 0, tried = 0;
  while (tried < seeds && (wanted != nullptr || shown == 0)) {
    if (shows_in_world(mutation, ++tried)) ++shown;
  }
  row->random = std::to_string(shown) + " of " + std::to_string(tried) + " worlds";
  std::printf("   random: %s\n", row->random.c_str());
  return (shown > 0) == (mutation.random == Random::kFound);
}

bool fail_as_units(const std::string& filter) {
  testing::GTEST_FLAG(filter) = filter;
  return RUN_ALL_TESTS() != 0;
}

bool check(const Mutation& mutation, Row* row) {
  std::printf("%c: %s\n", mutation.letter, mutation.what);
  active_mutation = mutation.letter;
  bool found = true;
  for (const std::string& schedule : mutation.schedules) {
    const std::string violation = run_one(schedule, mutation.letter);
    std::printf(
        "   %s: %s\n", schedule.c_str(),
        violation.empty() ? "NOT FOUND" : violation.substr(0, violation.find('\n')).c_str());
    found = found && !violation.empty();
    row->schedules += (row->schedules.empty() ? "`" : ", `") + schedule + "`";
  }
  if (mutation.exhaustive) {
    const std::string violation = search(mutation.letter, row);
    std::printf("   exhaustive: %s\n", violation.empty() ? "NOT FOUND" : violation.c_str());
    found = found && !violation.empty();
  }
  if (mutation.random != Random::kNo) found = search_at_random(mutation, row) && found;
  for (const std::string& unit : mutation.units) {
    const bool fails = fail_as_units(unit);
    std::printf("   %s: %s\n", unit.c_str(), fails ? "fails" : "NOT FOUND");
    found = found && fails;
    row->units += (row->units.empty() ? "`" : ", `") + unit + "`";
  }
  active_mutation = 0;
  if (!found) std::printf("   NOT AS IT MUST BE\n");
  std::fflush(stdout);
  return found;
}

// The copy itself is right while every fault is asleep.
bool check_asleep() {
  bool holds = true;
  for (const Schedule& schedule : schedules()) {
    const std::string violation = run_one(schedule.name, 0);
    holds = holds && violation.empty();
    if (!violation.empty()) std::printf("%s: %s\n", schedule.name, violation.c_str());
  }
  if (fail_as_units("*")) {
    holds = false;
    std::printf("a unit test fails while every fault is asleep\n");
  }
  return holds;
}

// A schedule that nobody has seen fail is not a test.
bool check_schedules() {
  std::set<std::string> named;
  for (const Mutation& mutation : mutations()) {
    named.insert(mutation.schedules.begin(), mutation.schedules.end());
  }
  bool all = true;
  for (const Schedule& schedule : schedules()) {
    if (named.count(schedule.name) > 0) continue;
    std::printf("%s: no fault fails it\n", schedule.name);
    all = false;
  }
  return all;
}

int run(const char* letter) {
  bool all = check_asleep();
  std::string table =
      "| | fault | schedules | exhaustive | random | unit tests |\n|---|---|---|---|---|---|\n";
  for (const Mutation& mutation : mutations()) {
    if (letter != nullptr && mutation.letter != letter[0]) continue;
    Row row;
    all = check(mutation, &row) && all;
    table += std::string("| ") + mutation.letter + " | " + mutation.what + " | " + row.schedules +
             " | " + row.exhaustive + " | " + row.random + " | " + row.units + " |\n";
  }
  all = check_schedules() && all;
  std::printf("\n%s", table.c_str());
  return all ? 0 : 1;
}

}  // namespace
}  // namespace weir::storage::replication

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  return weir::storage::replication::run(argc > 1 ? argv[1] : nullptr);
}
