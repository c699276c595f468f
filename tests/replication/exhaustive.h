// Every order in which a few things can happen to two members and their log: writes, heartbeats,
// reads, claims, answers, one append of unknown outcome, one failover of the engine, and one crash
// or power cut. States that were seen are not followed again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/replication/schedules.h"

namespace weir::storage::replication {

struct SearchLimits {
  size_t records_max = 6;  // after GENESIS and the first CLAIM
  size_t depth_max = 13;
  int writes_max = 2;  // of two turns each
  int heartbeats_max = 1;
  bool has_strange_records = true;
  uint64_t states_max = 1'000'000'000;
};

struct SearchResult {
  std::string violation;  // with the steps that lead to it; empty: none
  uint64_t states = 0;
  bool is_whole = true;  // states_max was not reached
};

// Searches with an engine that keeps what it acknowledged, and then with one that does not.
SearchResult search_exhaustively(const Flaws& flaws, const SearchLimits& limits = {});

}  // namespace weir::storage::replication
