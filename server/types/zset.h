// Sorted sets: a collection (collection.h) whose elements are members with a score as their order.
// It is compact, Redis' listpack, while it has never had more than 128 members or a member of more
// than 64 bytes.
//
// The value of an element is empty, or "-" for a score of minus zero. Only a large set keeps that
// sign, as in Redis, whose compact form has only one zero. On disk: DO NOT CHANGE.
//
// Invariants
// 1. No score is NaN.
// 2. Members are ordered by score, then by their bytes; minus zero and zero are one score.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/types/collection.h"

namespace weir::server {

inline constexpr size_t kCompactZsetMembersMax = 128;
inline constexpr size_t kCompactZsetMemberBytesMax = 64;
// The value of an element. On disk: DO NOT CHANGE.
inline constexpr std::string_view kMinusZero = "-";

double score_of(const storage::Element& element);

// Answers a member's score; nothing if the member or the whole set is absent.
std::optional<double> score_of(const Collection& zset, std::string_view member);

// Puts a member, or gives it another score; the set is made if it is absent.
void put_score(Collection* zset, std::string_view member, double score);

// Neighbouring members: `count` of them from the rank `first` on, upwards or downwards. They all
// exist.
struct RankSpan {
  size_t first = 0;
  size_t count = 0;
  bool downwards = false;
};

// `visit` must not change the set.
void visit_span(const Collection& zset, const RankSpan& span,
                const std::function<void(const storage::Element&)>& visit);
// Erases a span. The caller removes a set that is left empty. REQUIRES: not span.downwards.
void erase_span(Collection* zset, const RankSpan& span);

// Replies members: their scores after them if asked for, which in RESP3 makes pairs.
class MembersReply {
 public:
  MembersReply(resp::ReplyWriter* reply, bool with_scores)
      : reply_(*reply), with_scores_(with_scores), in_pairs_(reply->protocol() >= 3) {}
  MembersReply& in_pairs(bool pairs) {
    in_pairs_ = pairs;
    return *this;
  }

  void begin(size_t members) const;
  void add(std::string_view member, double score) const;

 private:
  resp::ReplyWriter& reply_;
  bool with_scores_;
  bool in_pairs_;
};

}  // namespace weir::server
