#include "algorithms/lease_book.h"

#include <algorithm>

namespace weir::algorithms {
namespace {

int64_t chunk_end(const LogEntry& chunk) { return chunk.at_ns - chunk_key(0); }

// Adds with wrap-around, so that entries that make no sense do no harm.
int64_t plus(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) + uint64_t(b)); }
int64_t minus(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) - uint64_t(b)); }

}  // namespace

LeaseBook::LeaseBook(const State& state, Entries* entries)
    : entries_(entries), sum_(state.words[0]), latest_ns_(state.words[1]), tail_(state.words[2]) {}

// Finds the chunk of an instant. The tail counts as the chunk after the last.
size_t LeaseBook::chunk_of(int64_t at_ns) const {
  return std::min(entries_->lower_bound(chunk_key(at_ns)), chunks());
}

size_t LeaseBook::first_lease_of(size_t chunk) const {
  const size_t all = chunks();
  if (chunk == 0) return all;
  if (chunk > all) return entries_->size();
  return entries_->lower_bound(plus(chunk_end(entries_->entry(chunk - 1)), 1));
}

int64_t LeaseBook::sum_of(size_t chunk) const {
  return chunk == chunks() ? tail_ : entries_->entry(chunk).permits;
}

LeaseBook::Expired LeaseBook::expired_at(int64_t now_ns) const {
  Expired expired{.chunks = std::min(entries_->lower_bound(chunk_key(now_ns) + 1), chunks()),
                  .first = entries_->lower_bound(now_ns + 1)};
  for (size_t chunk = 0; chunk < expired.chunks; ++chunk) {
    expired.permits = plus(expired.permits, entries_->entry(chunk).permits);
  }
  for (size_t rank = first_lease_of(expired.chunks); rank < expired.first; ++rank) {
    expired.in_next = plus(expired.in_next, entries_->entry(rank).permits);
  }
  expired.permits = plus(expired.permits, expired.in_next);
  return expired;
}

int64_t LeaseBook::live_at(int64_t now_ns) const {
  if (entries_ == nullptr || entries_->size() == 0 || latest_ns_ <= now_ns) return 0;
  return std::clamp<int64_t>(minus(sum_, expired_at(now_ns).permits), 0,
                             std::max<int64_t>(0, sum_));
}

int64_t LeaseBook::back_at(int64_t now_ns, int64_t permits) const {
  const Expired expired = expired_at(now_ns);
  const size_t all = chunks();
  size_t chunk = expired.chunks, rank = expired.first;
  int64_t in_chunk = minus(sum_of(chunk), expired.in_next);
  while (chunk < all && permits > in_chunk) {
    permits = minus(permits, in_chunk);
    in_chunk = sum_of(++chunk);
    rank = first_lease_of(chunk);
  }
  const int64_t end_ns = chunk < all ? chunk_end(entries_->entry(chunk)) : latest_ns_;
  // Many leases may expire with the end itself: no need to look.
  for (; rank < entries_->size(); ++rank) {
    const LogEntry lease = entries_->entry(rank);
    permits = minus(permits, lease.permits);
    if (permits <= 0 || lease.at_ns >= end_ns) return lease.at_ns;
  }
  return latest_ns_;
}

void LeaseBook::add_to_chunk(size_t chunk, int64_t permits) {
  if (chunk == chunks()) {
    tail_ = plus(tail_, permits);
    return;
  }
  LogEntry entry = entries_->entry(chunk);
  entry.permits = plus(entry.permits, permits);
  entries_->put(entry);
}

void LeaseBook::add(const LogEntry& lease) {
  const size_t chunk = chunk_of(lease.at_ns);
  entries_->put(lease);
  add_to_chunk(chunk, lease.permits);
  sum_ = plus(sum_, lease.permits);
  latest_ns_ = std::max(latest_ns_, lease.at_ns);
  if (chunk < chunks() || leases_in(chunk) <= kChunkLeases) return;
  const int64_t key = chunk_key(latest_ns_);
  entries_->put({.id = key, .at_ns = key, .permits = tail_});
  tail_ = 0;
}

// Merges a chunk that is small into the next one, which may be the tail.
void LeaseBook::merge_if_small(size_t chunk) {
  if (chunk >= chunks() || leases_in(chunk) + leases_in(chunk + 1) > kChunkLeases) return;
  const LogEntry entry = entries_->entry(chunk);
  entries_->erase(entry.id);
  add_to_chunk(chunk, entry.permits);
}

void LeaseBook::remove(const LogEntry& lease) {
  const size_t chunk = chunk_of(lease.at_ns);
  entries_->erase(lease.id);
  add_to_chunk(chunk, minus(0, lease.permits));
  sum_ = minus(sum_, lease.permits);
  merge_if_small(chunk);
  if (chunk > 0) merge_if_small(chunk - 1);
  const size_t size = entries_->size();
  latest_ns_ = size == 0 ? 0 : std::max<int64_t>(0, entries_->entry(size - 1).at_ns);
}

void LeaseBook::prune(int64_t now_ns) {
  for (int pruned = 0; pruned < kLeasesPrunedMax; ++pruned) {
    const size_t oldest = chunks();
    if (oldest == entries_->size()) return;
    const LogEntry lease = entries_->entry(oldest);
    if (lease.at_ns > now_ns) return;
    remove(lease);
  }
}

}  // namespace weir::algorithms
