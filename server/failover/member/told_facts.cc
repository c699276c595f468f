#include "server/failover/member/told_facts.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "base/time_units.h"

namespace weir::server {
namespace {

constexpr double kPermille = 1000;

// Zeros: it has not told.
std::string digest_text(const std::array<char, 32>& digest) {
  if (digest == std::array<char, 32>()) return "";
  std::array<uint8_t, 32> bytes{};
  std::transform(digest.begin(), digest.end(), bytes.begin(),
                 [](char c) { return static_cast<uint8_t>(c); });
  return hex_text(bytes);
}

ToldMember told_member(const MemberSeen& seen) {
  return {.node = seen.node,
          .host = seen.port == 0 ? "" : seen.host,
          .port = seen.host.empty() ? 0 : seen.port,
          .state = seen.state,
          .is_primary = seen.is_primary,
          .turn = seen.turn,
          .lag_turns = seen.lag_turns,
          .age_ms = seen.is_self ? 0 : seen.age_ms,
          .configuration = digest_text(seen.configuration),
          .acl = digest_text(seen.acl)};
}

}  // namespace

void ToldLoad::sample(Server& server, int64_t steady_ns) {
  const VerdictCounts& verdicts = server.limiters().verdicts;
  decisions_.sample(steady_ns, verdicts.of(Outcome::kAllowed) + verdicts.of(Outcome::kDenied));
  turns_ns_.sample(steady_ns, server.report().turns.sum_ns());
}

double ToldLoad::busy_ratio() const {
  return std::min(turns_ns_.per_second() / static_cast<double>(kNsPerS), 1.0);
}

uint64_t ToldLoad::busy_permille() const { return static_cast<uint64_t>(busy_ratio() * kPermille); }

// This one and the primary first, if there are more than may be told of.
ShardFacts facts_of_member(const MemberView& view, const std::vector<MemberSeen>& members,
                           const ToldLoad& load, uint64_t keys) {
  ShardFacts facts;
  facts.serves = view.serves;
  facts.claim = view.epoch;
  facts.decisions_per_s = load.decisions_per_s();
  facts.busy_permille = load.busy_permille();
  facts.keys = keys;
  for (const MemberSeen& seen : members) {
    ToldMember member = told_member(seen);
    if (!seen.is_self && !check_member(member)) continue;
    if (seen.is_self) member.turn = view.turn;
    const bool comes_first = seen.is_self || seen.is_primary;
    facts.members.insert(comes_first ? facts.members.begin() : facts.members.end(), member);
  }
  if (facts.members.size() > kMembersMax) facts.members.resize(kMembersMax);
  return facts;
}

}  // namespace weir::server
