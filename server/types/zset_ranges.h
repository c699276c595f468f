// Ranges of a sorted set, as commands name them: by rank, by score, by member. Finding one takes
// time logarithmic in the size of the set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "server/types/zset.h"

namespace weir::server {

// Sent to clients: DO NOT CHANGE.
inline constexpr std::string_view kNotAScoreRange = "ERR min or max is not a float";
inline constexpr std::string_view kNotALexRange = "ERR min or max not valid string range item";

// A range of ranks, both ends included; negative ranks count from the end.
struct RankRange {
  int64_t first = 0;
  int64_t last = 0;
};

struct ScoreRange {
  double min = 0;
  double max = 0;
  bool without_min = false;
  bool without_max = false;
};

struct LexEnd {
  enum class Kind { kBelowAll, kMember, kAboveAll };
  Kind kind = Kind::kMember;
  std::string_view member = {};
  bool excluded = false;
};

struct LexRange {
  LexEnd min;
  LexEnd max;
};

struct RangeText {
  std::string_view min;
  std::string_view max;
};

// Reads a range of scores; nothing if the text is none. A score is what strtod() finds in a C
// string, as in Redis: an empty text is 0, and leading spaces and whatever follows a NUL are
// accepted.
std::optional<ScoreRange> parse_score_range(const RangeText& text);
std::optional<LexRange> parse_lex_range(const RangeText& text);

// How many members of a range to leave out first, and how many to take then. A negative count takes
// all, a negative offset none.
struct RangeLimit {
  int64_t offset = 0;
  int64_t count = -1;
};

// Answers the members in a range. Downwards it begins with the highest: rank 0 is the last member.
RankSpan span_of(const Collection& zset, const RankRange& range, bool downwards = false);
RankSpan span_of(const Collection& zset, const ScoreRange& range, bool downwards = false);
// A range by member means little if members have different scores: then it is what Redis finds in a
// compact set, and in a large one what a binary search does.
RankSpan span_of(const Collection& zset, const LexRange& range, bool downwards = false,
                 const RangeLimit& limit = {});
RankSpan limited(const RankSpan& span, const RangeLimit& limit);

}  // namespace weir::server
