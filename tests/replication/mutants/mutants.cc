// Wakes one fault after the other, and sees each found by the methods that are named for it.
//
//     shard_mutants [LETTER]
//
// It also counts in how many random worlds each fault shows, with WEIR_SHARD_SEEDS seeds.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/replication/exhaustive.h"
#include "tests/replication/mutants/mutation.h"
#include "tests/replication/schedules.h"
#include "tests/replication/violation.h"
#include "tests/replication/world.h"

namespace weir::storage::replication {

char active_mutation = 0;

namespace {

constexpr size_t kDepthMax = 9;

enum class Random {
  kNo,     // it is not looked for there
  kFound,  // some of `seeds` show it
  kClean,  // none may
};

struct Mutation {
  char letter;
  const char* what;
  std::vector<std::string> schedules;
  bool exhaustive = false;
  Random random = Random::kNo;
  uint64_t seeds = 0;  // at most
  bool lossy = false;
  std::string units = {};  // a filter of unit tests, all of which must fail
};

const Mutation kMutations[] = {
    {'a',
     "positions instead of identities",
     {"rewind_to_same_position"},
     true,
     Random::kFound,
     2000},
    {'b', "one write per turn", {"power_cut_inside_a_record"}, true, Random::kFound, 200},
    {'c',
     "office without appending again",
     {"owner_and_primary_die_standby_ahead"},
     true,
     Random::kFound,
     200,
     true},
    {'d', "reads after HANDOVER was sent", {"handover_then_read"}, false, Random::kFound, 2000},
    {'e', "the engine ignores the condition", {}, false, Random::kFound, 200},
    {'f', "no condition and no epoch rule", {}, false, Random::kFound, 200},
    {'F', "no condition and no turn numbers", {}, false, Random::kFound, 200},
    {'g', "a shortcut by node id", {"twin_of_a_node"}, false, Random::kFound, 1000},
    {'h', "committed by reading", {"visible_row_then_promotion"}, true},
    {'i', "a lease longer than the count", {"lease_longer_than_count"}},
    {'I', "a count by the own option only", {"mixed_failover_after"}},
    {'j', "an operator's claim without waiting", {"operator_claim_then_read"}},
    {'k', "the Fold not reset at a fence", {"fence_with_fold_ahead"}, false, Random::kFound, 500},
    {'K', "accepted turns forgotten at healing", {"heal_with_accepted_unacked"}},
    {'l', "void for everything not valid", {"unknown_record_version"}, true},
    {'m',
     "turns appended again with other bytes",
     {"owner_and_primary_die_standby_ahead"},
     false,
     Random::kNo,
     0,
     false,
     "Member.TurnsAppendedAgainHaveTheSameBytes"},
    {'n',
     "no epoch rule, with the condition",
     {},
     false,
     Random::kClean,
     100,
     false,
     "FoldTest.RecordsOfAnOlderEpochAreVoid"},
    {'o', "no wait when the own claim was lost", {"own_claim_lost_then_read"}},
    {'p',
     "a claim over a lost epoch is impossible",
     {"operator_claim_on_a_rewound_log"},
     false,
     Random::kFound,
     500,
     true},
    {'q', "the oldest stamp replaced", {"oldest_stamp_is_kept"}, false, Random::kFound, 500, true},
    {'r',
     "a standby's own pause counts",
     {},
     false,
     Random::kNo,
     0,
     false,
     "Silence.OwnPausesCountLittle"},
    {'u',
     "a failed read does not count anew",
     {},
     false,
     Random::kNo,
     0,
     false,
     "Silence.StartsAgain"},
    {'s', "reads without a lease", {}, false, Random::kFound, 500},
};

EngineFlaws engine_flaws(char letter) {
  EngineFlaws flaws;
  flaws.compares_positions = letter == 'a';
  flaws.ignores_condition = letter == 'e' || letter == 'f' || letter == 'F';
  return flaws;
}

ProcessFlaws process_flaws(char letter) {
  ProcessFlaws flaws;
  flaws.writes_by_turn = letter == 'b';
  return flaws;
}

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
std::string search(char letter) {
  SearchLimits limits;
  limits.has_strange_records = letter == 'l';
  const Flaws flaws = {.engine = engine_flaws(letter), .process = process_flaws(letter)};
  for (limits.depth_max = 1; limits.depth_max <= kDepthMax; ++limits.depth_max) {
    const SearchResult result = search_exhaustively(flaws, limits);
    if (!result.violation.empty()) return result.violation;
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

bool search_at_random(const Mutation& mutation) {
  const char* wanted = std::getenv("WEIR_SHARD_SEEDS");
  const uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : mutation.seeds;
  uint64_t shown = 0, tried = 0;
  while (tried < seeds && (wanted != nullptr || shown == 0)) {
    if (shows_in_world(mutation, ++tried)) ++shown;
  }
  std::printf("   random: %llu of %llu seeds\n", static_cast<unsigned long long>(shown),
              static_cast<unsigned long long>(tried));
  return (shown > 0) == (mutation.random == Random::kFound);
}

bool fail_as_units(const std::string& filter) {
  testing::GTEST_FLAG(filter) = filter;
  return RUN_ALL_TESTS() != 0;
}

bool check(const Mutation& mutation) {
  std::printf("%c: %s\n", mutation.letter, mutation.what);
  active_mutation = mutation.letter;
  bool found = true;
  for (const std::string& schedule : mutation.schedules) {
    const std::string violation = run_one(schedule, mutation.letter);
    std::printf(
        "   %s: %s\n", schedule.c_str(),
        violation.empty() ? "NOT FOUND" : violation.substr(0, violation.find('\n')).c_str());
    found = found && !violation.empty();
  }
  if (mutation.exhaustive) {
    const std::string violation = search(mutation.letter);
    std::printf("   exhaustive: %s\n", violation.empty() ? "NOT FOUND" : violation.c_str());
    found = found && !violation.empty();
  }
  if (mutation.random != Random::kNo) found = search_at_random(mutation) && found;
  if (!mutation.units.empty()) {
    const bool fails = fail_as_units(mutation.units);
    std::printf("   %s: %s\n", mutation.units.c_str(), fails ? "fails" : "NOT FOUND");
    found = found && fails;
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

int run(const char* letter) {
  bool all = check_asleep();
  for (const Mutation& mutation : kMutations) {
    if (letter == nullptr || mutation.letter == letter[0]) all = check(mutation) && all;
  }
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
