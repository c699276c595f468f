#include "server/types/zset.h"

#include <cmath>

#include "base/check.h"

namespace weir::server {
namespace {

bool needs_large(const Collection& zset, std::string_view member) {
  return member.size() > kCompactZsetMemberBytesMax || zset.size() >= kCompactZsetMembersMax;
}

}  // namespace

double score_of(const storage::Element& element) {
  return element.value == kMinusZero ? -0.0 : storage::double_of_order(element.order);
}

std::optional<double> score_of(const Collection& zset, std::string_view member) {
  const auto element = zset.find(member);
  return element ? std::optional(score_of(*element)) : std::nullopt;
}

void put_score(Collection* zset, std::string_view member, double score) {
  WEIR_REQUIRE(!std::isnan(score));
  if (zset->is_compact() && needs_large(*zset, member) && !zset->find(member)) zset->make_large();
  const bool minus_zero = score == 0 && std::signbit(score) && !zset->is_compact();
  zset->create_if_absent().put(member, storage::order_of_double(score),
                               minus_zero ? kMinusZero : std::string_view());
}

void visit_span(const Collection& zset, const RankSpan& span,
                const std::function<void(const storage::Element&)>& visit) {
  if (span.count == 0) return;
  const auto counted = [&visit, left = span.count](const storage::Element& element) mutable {
    visit(element);
    return --left > 0;
  };
  if (span.downwards) return zset.walk_back_from(span.first, counted);
  zset.walk_from(span.first, counted);
}

void erase_span(Collection* zset, const RankSpan& span) {
  WEIR_REQUIRE(!span.downwards);
  zset->erase_ranks(span.first, span.count);
}

void MembersReply::begin(size_t members) const {
  reply_.array(static_cast<int64_t>(with_scores_ && !in_pairs_ ? 2 * members : members));
}

void MembersReply::add(std::string_view member, double score) const {
  if (with_scores_ && in_pairs_) reply_.array(2);
  reply_.bulk(member);
  if (with_scores_) reply_.real(score);
}

}  // namespace weir::server
