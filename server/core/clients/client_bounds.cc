#include "server/core/clients/client_bounds.h"

#include <algorithm>

#include "base/time_units.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

constexpr size_t kShareLeast = 64 << 20;  // bytes, where maxmemory-clients is a share
constexpr int64_t kUnauthenticatedUnsentMax = 64 << 10;

}  // namespace

size_t ClientBounds::configured_bytes_max() const {
  const int64_t given = config_.maxmemory_clients;
  if (given >= 0) return given == 0 ? SIZE_MAX : static_cast<size_t>(given);
  const size_t share = keys_.options().memory_bytes_max / 100 * static_cast<size_t>(-given);
  return std::max(share, kShareLeast);
}

void ClientBounds::evict() {
  while (exceeded()) {
    Session* largest = by_size_.largest();
    if (largest != nullptr && largest->dead()) {
      largest->kill_unsent();
      continue;
    }
    const size_t largest_bytes = largest == nullptr ? 0 : largest->kept().counted;
    const bool helps = largest != nullptr || bytes_ < bytes_max_;
    if (helps && shared_bytes() > largest_bytes) {
      shared_->give_up(bytes_ + shared_bytes() - bytes_max_);
      continue;
    }
    if (largest == nullptr) return;
    log_warning("Evicting client: id={} addr={} name={} with {} bytes (maxmemory-clients)",
                largest->id, largest->client().peer().address, largest->client().name(),
                largest_bytes);
    ++evicted_;
    sessions_.kill(largest);
    largest->kill_unsent();
  }
}

const OutputBufferLimit& ClientBounds::limit_of(const Session& session) const {
  const OutputBufferLimits& limits = config_.client_output_buffer_limit;
  return session.listening().is_told() ? limits.pubsub : limits.normal;
}

void ClientBounds::note_options() {
  bytes_max_ = configured_bytes_max();
  const int64_t hard = config_.client_output_buffer_limit.normal.hard_bytes;
  const size_t own = hard > 0 ? static_cast<size_t>(hard) : SIZE_MAX / 2;
  usual_reply_bytes_max_ = std::min({own, bytes_max_, SIZE_MAX / 2});
}

size_t ClientBounds::unusual_reply_bytes_max(const Session& session) const {
  const int64_t hard = limit_of(session).hard_bytes;
  const size_t own = hard > 0 ? static_cast<size_t>(hard) : SIZE_MAX / 2;
  return session.client().switches().no_evict ? own : std::min({own, bytes_max_, SIZE_MAX / 2});
}

void ClientBounds::kill_for_output(Session* session) {
  if (session->dead()) return;
  log_warning(
      "Client id={} addr={} laddr={} name={} closed for overcoming of output buffer limits: {} "
      "bytes wait to be read (client-output-buffer-limit, maxmemory-clients)",
      session->id, session->client().peer().address, session->client().peer().local_address,
      session->client().name(), session->replies().unsent_bytes());
  sessions_.kill(session);
  session->kill_unsent();
}

void ClientBounds::enforce_output_limit(Session* session, int64_t steady_ns) {
  const OutputBufferLimit& limit = limit_of(*session);
  const auto unsent = static_cast<int64_t>(session->replies().unsent_bytes());
  const bool too_much = (limit.hard_bytes > 0 && unsent > limit.hard_bytes) ||
                        (unsent > kUnauthenticatedUnsentMax && session->is_unauthenticated());
  const size_t soft_max = limit.soft_bytes > 0 ? static_cast<size_t>(limit.soft_bytes) : SIZE_MAX;
  const int64_t over_ns = session->replies().over_ns(soft_max, steady_ns);
  const bool too_long = over_ns > limit.soft_seconds * kNsPerS;
  if (too_much || too_long) kill_for_output(session);
}

}  // namespace weir::server
