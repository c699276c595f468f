#include "base/trace_parent.h"

#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kParent = "00f067aa0ba902b7";
const std::string kValid = "00-" + kTrace + "-" + kParent + "-01";

TEST(TraceParent, HasItsParts) {
  const auto parsed = parse_trace_parent(kValid);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->trace_id, kTrace);
  EXPECT_EQ(parsed->parent_id, kParent);
  EXPECT_TRUE(parsed->is_sampled);
  EXPECT_FALSE(parse_trace_parent("00-" + kTrace + "-" + kParent + "-00")->is_sampled);
  EXPECT_FALSE(parse_trace_parent("00-" + kTrace + "-" + kParent + "-fe")->is_sampled);
  EXPECT_TRUE(parse_trace_parent("00-" + kTrace + "-" + kParent + "-ff")->is_sampled);
}

TEST(TraceParent, OfALaterVersionMayHaveMore) {
  const std::string later = "cc" + kValid.substr(2);
  EXPECT_TRUE(parse_trace_parent(later));
  EXPECT_TRUE(parse_trace_parent(later + "-what-else"));
  EXPECT_FALSE(parse_trace_parent(later + "what-else"));
  EXPECT_FALSE(parse_trace_parent(kValid + "-what-else"));
  EXPECT_FALSE(parse_trace_parent(later + "-" + std::string(kTraceParentBytesMax, 'a')));
}

TEST(TraceParent, IsRefusedWhateverIsWrong) {
  for (size_t size = 0; size < kValid.size(); ++size)
    EXPECT_FALSE(parse_trace_parent(kValid.substr(0, size))) << size;
  for (size_t at = 0; at < kValid.size(); ++at) {
    for (const char c : {'g', 'A', ' ', '+', '_'}) {
      std::string other = kValid;
      other[at] = c;
      EXPECT_FALSE(parse_trace_parent(other)) << other;
    }
  }
  for (const std::string& other :
       {"ff" + kValid.substr(2), "00-" + std::string(32, '0') + "-" + kParent + "-01",
        "00-" + kTrace + "-" + std::string(16, '0') + "-01", kValid + " ", " " + kValid})
    EXPECT_FALSE(parse_trace_parent(other)) << other;
}

}  // namespace
}  // namespace weir
