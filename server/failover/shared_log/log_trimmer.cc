#include "server/failover/shared_log/log_trimmer.h"

#include <utility>

#include "server/os/log.h"

namespace weir::server {

using storage::replication::Head;
using storage::replication::Record;
using storage::replication::RegistryView;
using storage::replication::Role;

void LogTrimmer::note(const Record& record) {
  trimming_.note(record.head.log_index, record.bytes.size());
}

void LogTrimmer::trim(const Head& own, const RegistryView& registry, int64_t boot_ns) {
  next_ns_ = boot_ns + kEveryNs;
  const uint64_t up_to = trimming_.up_to(own.log_index, registry);
  if (up_to <= trimmed_up_to_) return;
  trimmed_up_to_ = up_to;
  log_.trim(up_to);
  name_the_late(registry);
}

// A reader proves by the record it has read last that it stands in this log.
void LogTrimmer::name_the_late(const RegistryView& registry) {
  const std::set<std::string> before = std::exchange(late_, {});
  for (const RegistryView::Seen& seen : registry.members()) {
    const auto& facts = seen.facts;
    if (facts.role == Role::kStopped) continue;
    if (facts.head.log_index > trimmed_up_to_) continue;
    late_.insert(facts.author.node);
    if (before.contains(facts.author.node)) continue;
    log_warning(
        "member {} at {} is at log index {} of the shared log, which is longer than log-bytes-max "
        "and is not kept for it any more; it has to copy another member's data",
        facts.author.node, facts.author.address, facts.head.log_index);
  }
}

}  // namespace weir::server
