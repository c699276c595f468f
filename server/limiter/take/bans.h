// Bans of keys (algorithms/ban.h): what they mean to requests.
//
// A ban that runs denies every request of the key that asks for permits, whatever limits it names,
// but for FORCE. Denied requests change nothing then. It goes on to its end though the limit's BAN
// is changed or taken away; RL.RESET, and a change of the limit with RESET, lift it.
//
// What counts towards a ban are the denials of RL.TAKE and RL.MTAKE that are the limit's own: not
// those of SHADOW, of a queue or of another limit. Who waits (RL.ACQUIRE, RL.RESERVE) is not
// counted.
#pragma once

#include <optional>
#include <span>

#include "algorithms/take_all.h"
#include "server/limiter/take/answer.h"
#include "server/limiter/take/limiter.h"

namespace weir::server {

// Answers the ban that runs longest, of limits that neither their policy nor `limiting` has in
// shadow; nothing if none does.
std::optional<RunningBan> running_ban(Limiter& limiter, int64_t now_ns);
// Tells whether a ban denies the request.
std::optional<RunningBan> ban_against(Limiter& limiter, const LimiterRequest& request,
                                      int64_t now_ns);
// Counts the denials among the guards, which are those of the named limits. A ban that begins is
// published, counted and answered. Tells whether the limiter has to be saved.
bool count_denials(Call& call, Limiter& limiter, std::span<const algorithms::Guard> guards,
                   std::optional<RunningBan>* begun);
// Makes the answer one of a ban.
void show_ban(const RunningBan& ban, int64_t own_retry_ns, Answer* answer);

}  // namespace weir::server
