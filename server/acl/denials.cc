#include "server/acl/denials.h"

#include <algorithm>
#include <utility>

#include "base/time_units.h"
#include "server/report/metrics.h"

namespace weir::server::acl {
namespace {

constexpr std::array<std::string_view, kReasons> kReasonNames = {
    "command", "key", "channel", "auth", "ratelimitadmin", "inline", "policy"};
constexpr std::array<std::string_view, 3> kContextNames = {"toplevel", "multi", "lua"};

constexpr int64_t kAlikeForMs = kMsPerMinute;
constexpr std::ptrdiff_t kLookedAt = 10;  // entries that a new one may be like

bool are_alike(const Denied& known, const Denied& added) {
  return known.reason == added.reason && known.context == added.context &&
         known.object == added.object && known.user == added.user &&
         added.at_ms - known.at_ms <= kAlikeForMs;
}

}  // namespace

std::string_view reason_name(Reason reason) { return kReasonNames[static_cast<size_t>(reason)]; }

std::string_view context_name(Context context) {
  return kContextNames[static_cast<size_t>(context)];
}

void Denials::add(Denied denied, size_t entries_max) {
  ++counts_[static_cast<size_t>(denied.reason)];
  denied.first_at_ms = denied.at_ms;
  const auto end =
      entries_.begin() + std::min(kLookedAt, static_cast<std::ptrdiff_t>(entries_.size()));
  const auto known = std::find_if(entries_.begin(), end,
                                  [&](const Denied& one) { return are_alike(one, denied); });
  if (known != end) {
    denied.id = known->id;
    denied.count = known->count + 1;
    denied.first_at_ms = known->first_at_ms;
    entries_.erase(known);
    entries_.push_front(std::move(denied));
    return;  // a bound that has become smaller holds for new entries only
  }
  denied.id = next_id_++;
  entries_.push_front(std::move(denied));
  while (entries_.size() > entries_max) entries_.pop_back();
}

void Denials::write_metrics(MetricWriter& out) const {
  const auto count = [this](Reason reason) { return counts_[static_cast<size_t>(reason)]; };
  out.counter({"acl_access_denied_auth", "Log-ins that were denied."}, count(Reason::kAuth));
  out.counter({"acl_access_denied_cmd", "Requests denied for their command."},
              count(Reason::kCommand));
  out.counter({"acl_access_denied_key", "Requests denied for a key."}, count(Reason::kKey));
  out.counter({"acl_access_denied_channel", "Requests denied for a channel."},
              count(Reason::kChannel));
  out.counter(
      {"acl_access_denied_limits", "Requests denied for FORCE, a written limit or a policy."},
      count(Reason::kAdmin) + count(Reason::kInline) + count(Reason::kPolicy));
}

}  // namespace weir::server::acl
