#include "server/types/zset_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

namespace weir::server {
namespace {

struct ScoreEnd {
  double score;
  bool excluded;
};

std::optional<ScoreEnd> parse_score_end(std::string_view text) {
  const bool excluded = text.starts_with('(');
  const std::string number(text.substr(excluded ? 1 : 0));
  char* end = nullptr;
  const double score = std::strtod(number.c_str(), &end);
  if (*end != '\0' || std::isnan(score)) return std::nullopt;
  return ScoreEnd{score, excluded};
}

std::optional<LexEnd> parse_lex_end(std::string_view text) {
  const char sign = text.empty() ? '\0' : text[0];
  if (sign == '(' || sign == '[') return LexEnd{.member = text.substr(1), .excluded = sign == '('};
  const bool alone = text.size() == 1 || (text.size() > 1 && text[1] == '\0');
  if (!alone) return std::nullopt;
  if (sign == '-') return LexEnd{.kind = LexEnd::Kind::kBelowAll};
  if (sign == '+') return LexEnd{.kind = LexEnd::Kind::kAboveAll};
  return std::nullopt;
}

bool is_above(std::string_view member, const LexEnd& min) {
  if (min.kind != LexEnd::Kind::kMember) return min.kind == LexEnd::Kind::kBelowAll;
  return min.excluded ? member > min.member : member >= min.member;
}

bool is_below(std::string_view member, const LexEnd& max) {
  if (max.kind != LexEnd::Kind::kMember) return max.kind == LexEnd::Kind::kAboveAll;
  return max.excluded ? member < max.member : member <= max.member;
}

bool is_empty(const LexRange& range) {
  if (range.min.kind != range.max.kind) return range.min.kind > range.max.kind;
  if (range.min.kind != LexEnd::Kind::kMember) return true;
  return range.min.member > range.max.member ||
         (range.min.member == range.max.member && (range.min.excluded || range.max.excluded));
}

RankSpan span_between(size_t begin, size_t end, bool downwards) {
  if (begin >= end) return {};
  return {.first = downwards ? end - 1 : begin, .count = end - begin, .downwards = downwards};
}

// Answers how many members are below the range or, with `after`, not above it.
size_t rank_of_end(const storage::Elements& elements, const LexEnd& end, bool after) {
  if (end.kind == LexEnd::Kind::kBelowAll) return 0;
  if (end.kind == LexEnd::Kind::kAboveAll) return elements.size();
  std::string bound(end.member);
  if (end.excluded != after) bound.push_back('\0');  // the next member that there can be
  return elements.lower_bound(elements.at(0).order, bound);
}

// Searches as if the members were in order, although they are not.
template <typename Holds>
size_t searched_rank(const storage::Elements& elements, Holds holds) {
  size_t begin = 0;
  size_t end = elements.size();
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    holds(elements.at(middle).member) ? begin = middle + 1 : end = middle;
  }
  return begin;
}

// Walks one member after the other, from the first that is in the range: members of different
// scores are in no order. Members that an offset leaves out need not be in the range.
RankSpan walked_span(const storage::Elements& elements, const LexRange& range, bool downwards,
                     uint64_t offset) {
  const size_t last = elements.size() - 1;
  const auto member_at = [&](size_t step) {
    return elements.at(downwards ? last - step : step).member;
  };
  const auto reached = [&](std::string_view member) {
    return downwards ? is_below(member, range.max) : is_above(member, range.min);
  };
  const auto goes_on = [&](std::string_view member) {
    return downwards ? is_above(member, range.min) : is_below(member, range.max);
  };
  if (!is_above(elements.at(last).member, range.min)) return {};
  if (!is_below(elements.at(0).member, range.max)) return {};
  size_t begin = 0;
  while (begin <= last && !reached(member_at(begin))) ++begin;
  if (begin > last || !goes_on(member_at(begin)) || offset > last - begin) return {};
  begin += offset;
  size_t end = begin;
  while (end <= last && goes_on(member_at(end))) ++end;
  if (begin == end) return {};
  return {.first = downwards ? last - begin : begin, .count = end - begin, .downwards = downwards};
}

}  // namespace

std::optional<ScoreRange> parse_score_range(const RangeText& text) {
  const auto min = parse_score_end(text.min);
  const auto max = parse_score_end(text.max);
  if (!min || !max) return std::nullopt;
  return ScoreRange{.min = min->score,
                    .max = max->score,
                    .without_min = min->excluded,
                    .without_max = max->excluded};
}

std::optional<LexRange> parse_lex_range(const RangeText& text) {
  const auto min = parse_lex_end(text.min);
  const auto max = parse_lex_end(text.max);
  if (!min || !max) return std::nullopt;
  return LexRange{.min = *min, .max = *max};
}

RankSpan span_of(const Collection& zset, const RankRange& range, bool downwards) {
  const auto size = static_cast<int64_t>(zset.size());
  const int64_t first = std::max<int64_t>(range.first < 0 ? range.first + size : range.first, 0);
  const int64_t last = std::min(range.last < 0 ? range.last + size : range.last, size - 1);
  if (first > last) return {};
  return {.first = static_cast<size_t>(downwards ? size - 1 - first : first),
          .count = static_cast<size_t>(last - first + 1),
          .downwards = downwards};
}

RankSpan span_of(const Collection& zset, const ScoreRange& range, bool downwards) {
  if (!zset.exists()) return {};
  const storage::Elements elements = zset.elements();
  const uint64_t min = storage::order_of_double(range.min);
  const uint64_t max = storage::order_of_double(range.max);
  return span_between(range.without_min ? elements.upper_bound(min) : elements.lower_bound(min),
                      range.without_max ? elements.lower_bound(max) : elements.upper_bound(max),
                      downwards);
}

RankSpan span_of(const Collection& zset, const LexRange& range, bool downwards,
                 const RangeLimit& limit) {
  if (!zset.exists() || is_empty(range)) return {};
  const storage::Elements elements = zset.elements();
  if (elements.at(0).order == elements.at(elements.size() - 1).order) {
    return limited(span_between(rank_of_end(elements, range.min, false),
                                rank_of_end(elements, range.max, true), downwards),
                   limit);
  }
  if (zset.is_compact()) {
    return limited(walked_span(elements, range, downwards, static_cast<uint64_t>(limit.offset)),
                   {.count = limit.count});
  }
  return limited(
      span_between(
          searched_rank(elements, [&](auto member) { return !is_above(member, range.min); }),
          searched_rank(elements, [&](auto member) { return is_below(member, range.max); }),
          downwards),
      limit);
}

RankSpan limited(const RankSpan& span, const RangeLimit& limit) {
  const auto offset = static_cast<uint64_t>(limit.offset);  // a negative offset leaves out all
  if (offset >= span.count) return {};
  RankSpan rest = span;
  rest.first = span.downwards ? span.first - offset : span.first + offset;
  rest.count = span.count - offset;
  if (limit.count >= 0) rest.count = std::min(rest.count, static_cast<size_t>(limit.count));
  return rest;
}

}  // namespace weir::server
