#include "tests/replication/exhaustive.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace weir::storage::replication {
namespace {

// WEIR_SHARD_DEPTH asks for a longer search.
TEST(Exhaustive, NoOrderOfAFewEventsBreaksAnInvariant) {
  SearchLimits limits;
  limits.depth_max = 7;
  if (const char* depth = std::getenv("WEIR_SHARD_DEPTH")) {
    limits.depth_max = std::strtoull(depth, nullptr, 10);
  }
  const SearchResult result = search_exhaustively({}, limits);
  EXPECT_EQ(result.violation, "");
  EXPECT_TRUE(result.is_whole);
  std::printf("%llu states\n", static_cast<unsigned long long>(result.states));
}

}  // namespace
}  // namespace weir::storage::replication
