#include "storage/shared_logs/nats/maintenance.h"

#include <algorithm>
#include <utility>

#include "base/time_units.h"
#include "storage/shared_logs/nats/requests.h"

namespace weir::storage::nats {
namespace {

constexpr int64_t kLookNs = 2 * kNsPerS;
constexpr int64_t kAllowedNs = 3 * kNsPerS;
constexpr int64_t kTrimAgainNs = kNsPerS;
constexpr size_t kLooksMax = 1000;  // at entries, whoever has put them

}  // namespace

std::vector<replication::RegistryEntry> Maintenance::registry(int64_t now_ns) const {
  std::vector<replication::RegistryEntry> registry = registry_;
  for (replication::RegistryEntry& entry : registry)
    entry.age_ns += std::max<int64_t>(now_ns - registry_read_ns_, 0);
  return registry;
}

void Maintenance::trim(uint64_t up_to) { trim_up_to_ = std::max(trim_up_to_, up_to); }

void Maintenance::begin(const StreamInfo& info) {
  info_ = info;
  is_stream_gone_ = is_looking_ = is_trimming_ = is_putting_ = false;
  look_at_ns_ = trim_at_ns_ = 0;
}

void Maintenance::step(int64_t now_ns) {
  now_ns_ = now_ns;
  // Facts that do not arrive are put anew by their member soon.
  for (auto& [name, facts] : std::exchange(unwritten_, {})) {
    is_putting_ = true;
    calls_.ask(put_facts(names_, name, std::move(facts)), kAllowedNs,
               [this](const Reply&) { is_putting_ = false; });
  }
  if (!is_looking_ && now_ns >= look_at_ns_) {
    is_looking_ = true;
    calls_.ask(get_info(names_.log_stream()), kAllowedNs,
               [this](const Reply& reply) { take_info(reply); });
  }
  if (!is_trimming_ && trim_up_to_ > 0 && now_ns >= trim_at_ns_) {
    is_trimming_ = true;
    calls_.ask(get_info(names_.log_stream()), kAllowedNs, [this](const Reply& reply) {
      const auto info = stream_info(reply.text);
      if (info) info_ = *info;
      if (info) return purge();
      is_trimming_ = false;
      trim_at_ns_ = now_ns_ + kTrimAgainNs;
    });
  }
}

int64_t Maintenance::next_deadline() const {
  if (!unwritten_.empty()) return 0;
  int64_t next = is_looking_ ? INT64_MAX : look_at_ns_;
  if (!is_trimming_ && trim_up_to_ > 0) next = std::min(next, trim_at_ns_);
  return next;
}

void Maintenance::take_info(const Reply& reply) {
  const auto info = stream_info(reply.text);
  is_stream_gone_ = !info && info.error().code == kNoStream;
  if (!info) return end_registry(false);
  info_ = *info;
  registry_read_.clear();
  looked_at_ = 0;
  read_registry(1);
}

void Maintenance::read_registry(uint64_t from) {
  calls_.ask(get_message(names_.registry_stream(), from), kAllowedNs,
             [this](const Reply& reply) { take_entry(reply); });
}

void Maintenance::take_entry(const Reply& reply) {
  const auto entry = message(reply.text);
  if (!entry) return end_registry(entry.error().code == kNoMessage);
  const std::string prefix = names_.registry_prefix();
  const bool is_of_registry = entry->subject.starts_with(prefix) &&
                              entry->data.size() <= replication::MemberRegistry::kFactsBytesMax;
  std::string name =
      is_of_registry ? name_of(std::string_view(entry->subject).substr(prefix.size())) : "";
  if (!name.empty() && name.size() <= replication::MemberRegistry::kNameBytesMax) {
    registry_read_.push_back({.name = std::move(name),
                              .bytes = entry->data,
                              .age_ns = std::max<int64_t>(info_.now_ns - entry->time_ns, 0)});
  }
  if (++looked_at_ >= kLooksMax || entry->sequence == UINT64_MAX) return end_registry(true);
  read_registry(entry->sequence + 1);
}

void Maintenance::end_registry(bool is_whole) {
  is_looking_ = false;
  look_at_ns_ = now_ns_ + kLookNs;
  if (!is_whole) return;
  registry_ = std::exchange(registry_read_, {});
  registry_read_ns_ = now_ns_;
}

void Maintenance::purge() {
  const uint64_t up_to = trim_up_to_;
  const uint64_t before = up_to < info_.last_sequence ? up_to + 1 : info_.last_sequence;
  if (before <= 1) {
    trim_up_to_ = 0;
    is_trimming_ = false;
    return;
  }
  calls_.ask(nats::purge(names_.log_stream(), before), kAllowedNs,
             [this, up_to](const Reply& reply) {
               is_trimming_ = false;
               if (!done(reply.text)) {
                 trim_at_ns_ = now_ns_ + kTrimAgainNs;
               } else if (trim_up_to_ == up_to) {
                 trim_up_to_ = 0;
               }
             });
}

}  // namespace weir::storage::nats
