// The queue of a key: those who wait to take from it, first come, first served (acquire.h).
//
// While there is a queue, a request that would take is denied, so that it does not overtake. Where
// it would stand is told by a simulation of the queue's end, which the last in the queue carries
// along (queue_tail.h).
//
// Invariants
// 1. A look at the queue's end changes neither the key nor the simulation that is kept.
// 2. Only the last in a queue has a tail; who joins takes it over.
// 3. A tail that has entries, or that a look has made, is kept only until anything at the key
//    changes: a watch tells. A tail that somebody has joined and that has no entries outlives the
//    serving of those before it, because they are served as it has foreseen.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server/limiter/take/answer.h"
#include "server/limiter/take/queue_tail.h"
#include "server/waiting/waiting.h"

namespace weir::server {

// Tells whether anything at a key has changed since it was made.
class KeyWatch {
 public:
  explicit KeyWatch(Call& call, std::string_view key)
      : keys_(call.keys), id_(keys_.watches().add(call.look_up(key))) {}
  ~KeyWatch() { keys_.watches().remove(id_); }
  KeyWatch(const KeyWatch&) = delete;
  KeyWatch& operator=(const KeyWatch&) = delete;

  bool changed() const { return keys_.watches().changed(id_, keys_.running().now_ms()); }

 private:
  storage::Keyspace& keys_;
  storage::WatchId id_;
};

// One who waits to take.
class QueuedRequest : public Waiter {
 public:
  QueuedRequest(std::string_view key, LimiterRequest request)
      : key_(std::make_shared<const std::string>(key)), request_(std::move(request)) {}

  QueuedRequest* queued_request() override { return this; }
  bool strict() const override { return true; }
  // The tail counts as if it were here, because any who is the last in a queue may get it.
  size_t own_bytes() const override;

  const std::string& key() const { return *key_; }
  const std::shared_ptr<const std::string>& shared_key() const { return key_; }
  const LimiterRequest& request() const { return request_; }

  // The limiter once this request is served; the last in the queue may have it.
  struct Tail {
    std::unique_ptr<QueueTail> simulated;
    std::unique_ptr<KeyWatch> watch = nullptr;  // null: good until it is forgotten

    bool is_good() const { return simulated != nullptr && (!watch || !watch->changed()); }
  };
  Tail tail;

 private:
  std::shared_ptr<const std::string> key_;
  LimiterRequest request_;
};

// Tells whether a session waits to take from this key.
bool has_queue(Call& call, std::string_view key);
// Tells whether nobody in the key's queue has a lower rank.
bool is_next(Call& call, std::string_view key, int64_t rank);
// Null: nobody waits for the key under this ID.
QueuedRequest* find_in_queue(Call& call, std::string_view key, std::string_view id);
// How many may wait for a key that is asked for one limit; of n limits so many share it. What
// changes a key has its queue worked out anew, limit by limit.
inline constexpr size_t kQueueLimitsMax = 10'000;
// Tells whether one more may wait for the key with the limits that it has named.
bool has_room_in_queue(Call& call, Limiter& limiter);
// Tells whether the request has to stand in a queue: those who wait already come first.
bool must_queue(Call& call, std::string_view key, const LimiterRequest& request);

// Answers where a request would stand that joined the queue now. Only the request's costs matter:
// the limits are those that the limiter has named. REQUIRES: has_queue().
QueueTail::Place place_after_queue(Call& call, Limiter& limiter, const LimiterRequest& request);
// Denies a request that would stand there: remaining is 0, and retry_after is the wait until all
// before it and itself have been served. Nothing is counted.
Answer denial_at(const QueueTail::Place& place, int64_t now_ns);
Answer denial_after_queue(Call& call, Limiter& limiter, const LimiterRequest& request);

// Hands the tail over to one who joins now, with its request in it. REQUIRES: has_queue(), and the
// joining one is not in the queue yet.
void take_over_tail(Call& call, Limiter& limiter, QueuedRequest* joining);
// Forgets the tail, because something has happened that it did not foresee.
void forget_tail(Call& call, std::string_view key);

}  // namespace weir::server
