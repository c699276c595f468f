// Tables derived by hand: so long after the start, this cost, and what every field has to be.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "tests/algorithms/life.h"

namespace weir::algorithms::testing {

inline constexpr int64_t kSecond = kNsPerS;
inline constexpr int64_t kStartNs = 1'700'000'000 * kNsPerS;

struct Row {
  int64_t at_ns;
  int64_t cost;  // negative gives back
  Verdict expected;
};

inline void expect_table(const Limit& limit, const std::vector<Row>& rows) {
  State state = fresh_state(limit, kStartNs);
  MapEntries entries;
  int64_t lease_id = 0;
  for (const Row& row : rows) {
    const int64_t now_ns = kStartNs + row.at_ns;
    const Verdict verdict =
        row.cost < 0
            ? refund(limit, state, {.now_ns = now_ns, .permits = -row.cost, .entries = &entries})
            : decide(limit, state,
                     {.now_ns = now_ns,
                      .cost = row.cost,
                      .entries = &entries,
                      .lease_id = ++lease_id});
    EXPECT_EQ(verdict, row.expected) << "cost " << row.cost << " at " << row.at_ns;
  }
}

// The text of a refusal; empty if there is none.
inline std::string refusal(const LimitSpec& spec) {
  const auto limit = make_limit(spec);
  return limit ? "" : limit.error().text();
}

}  // namespace weir::algorithms::testing
