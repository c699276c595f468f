// The queue of a key: those who wait to take from it, first come, first served (later/acquire.h).
//
// While there is a queue, a request that would take is denied, so that it does not overtake. Where
// it would stand is told by a simulation of the queue (simulated_queue.h), which all who stand in
// it share. Who joins at the end is added to it. It is worked out anew, request by request, when it
// is asked for after something that it has not foreseen; what nobody asks for costs nothing.
//
// Invariants
// 1. A look at the queue's end changes neither the key nor the simulation that is kept.
// 2. A simulation that is kept has all requests of the queue in it, and no others: one that joins
//    elsewhere than at the end, or ends without having been served, has it forgotten.
// 3. A simulation is kept until anything at the key changes: a watch tells. What it has foreseen,
//    the serving of those before it, is no such change: the watch is set anew then. Of one that has
//    entries it is one, since those lie over the key's own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/time_units.h"
#include "server/limiter/take/answer.h"
#include "server/limiter/take/simulated_queue.h"
#include "server/waiting/waiting.h"

namespace weir::server {

// Tells whether anything at a key has changed since it was made, later in the same script too, or
// was taken back.
class KeyWatch {
 public:
  explicit KeyWatch(Call& call, std::string_view key)
      : keys_(call.keys), id_(keys_.running().watch(call.look_up(key))) {}
  ~KeyWatch() { keys_.watches().remove(id_); }
  KeyWatch(const KeyWatch&) = delete;
  KeyWatch& operator=(const KeyWatch&) = delete;

  bool changed() const { return keys_.watches().changed(id_, keys_.running().now_ms()); }

 private:
  storage::Keyspace& keys_;
  storage::WatchId id_;
};

// The limiter once all in a queue have been served, if that is known.
struct KeptSimulation {
  static constexpr int64_t kLateMaxNs = 5 * kNsPerMs;

  std::unique_ptr<SimulatedQueue> simulated = nullptr;
  std::unique_ptr<KeyWatch> watch = nullptr;  // there is one with it
  // By how much those who were served came later than it has foreseen, in all. What they leave
  // behind is later by so much.
  int64_t late_ns = 0;

  bool is_good() const { return simulated != nullptr && !watch->changed(); }
  // Tells whether it is as good after the next in the queue was served.
  bool foresees_serving() const {
    return is_good() && late_ns <= kLateMaxNs && !simulated->has_entries();
  }
  void forget() { *this = {}; }
};

// One who waits to take.
class QueuedRequest : public Waiter {
 public:
  QueuedRequest(std::string_view key, LimiterRequest request)
      : key_(std::make_shared<const std::string>(key)), request_(std::move(request)) {}
  ~QueuedRequest() override {
    if (simulation != nullptr && !is_served) simulation->forget();
  }

  QueuedRequest* queued_request() override { return this; }
  bool strict() const override { return true; }
  // The simulation counts as if it were each one's own, because any of them may be the last who is
  // left.
  size_t own_bytes() const override;

  const std::string& key() const { return *key_; }
  const std::shared_ptr<const std::string>& shared_key() const { return key_; }
  const LimiterRequest& request() const { return request_; }

  std::shared_ptr<KeptSimulation> simulation;  // the queue's; null: it stands in none yet
  bool is_served = false;                      // it was granted, as a simulation foresees

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
// How many may wait for a key that is asked for one limit; of n limits so many share it. Who asks
// for a place after a change has the queue worked out anew, limit by limit.
inline constexpr size_t kQueueLimitsMax = 10'000;
// Tells whether one more may wait for the key with the limits that it has named.
bool has_room_in_queue(Call& call, Limiter& limiter);
// Tells whether the request has to stand in a queue: those who wait already come first.
bool must_queue(Call& call, std::string_view key, const LimiterRequest& request);

// Answers where a request would stand that joined the queue now. Only the request's costs matter:
// the limits are those that the limiter has named. REQUIRES: has_queue().
SimulatedQueue::Place place_after_queue(Call& call, Limiter& limiter,
                                        const LimiterRequest& request);
// Denies a request that would stand there: remaining is 0, and retry_after is the wait until all
// before it and itself have been served. Nothing is counted.
Answer denial_at(const SimulatedQueue::Place& place, int64_t now_ns);
Answer denial_after_queue(Call& call, Limiter& limiter, const LimiterRequest& request);

// Adds one who is about to join at the end to the simulation. REQUIRES: has_queue().
void join_simulation(Call& call, Limiter& limiter, QueuedRequest* joining);
// To be called of one who is about to join elsewhere, or who is the first.
void join_unforeseen(Call& call, QueuedRequest* joining);
// Forgets the simulation, because something has happened that it did not foresee.
void forget_simulation(Call& call, std::string_view key);

}  // namespace weir::server
