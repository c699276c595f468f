// Sessions that wait for a key to change or for an instant to come: blocked clients.
//
// A waiter stands in the queue of each of its keys, first come, first served, or in the order of
// ranks; one that waits for a departure stands in none (departures.h). It is tried when a command
// has touched one of them, or when its own `due_ns` has come; at its deadline it gives up.
//
// Invariants
// 1. A session waits for one thing at a time, runs nothing meanwhile, and is answered once: a
//    waiter that is done is taken out of all its queues.
// 2. No waiter that stands after a strict one in a queue is tried before the strict one is done.
// 3. Nothing here polls: next_ns() says when something has to be done.
// 4. Instants are the timeline's; nothing here reads a clock.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/string_hash.h"
#include "server/command/command.h"
#include "server/waiting/departures.h"
#include "server/waiting/queue_lengths.h"
#include "server/waiting/wait_metrics.h"

namespace weir::server {

inline constexpr int64_t kNotDue = INT64_MAX;

// A key that is waited for. All who stand in its queue share one copy of its name.
struct WaitKey {
  int database = 0;
  std::shared_ptr<const std::string> name;  // never null

  WaitKey(int number, std::shared_ptr<const std::string> key)
      : database(number), name(std::move(key)) {}
  WaitKey(int number, std::string_view key)
      : WaitKey(number, std::make_shared<const std::string>(key)) {}
  std::string_view key() const { return *name; }
};

// Of limiters, and no more than names here.
class QueuedRequest;
class Departure;

class Waiter {
 public:
  virtual ~Waiter() = default;

  // This waiter, if it waits to take from a limiter; else null. Others may stand in the same queue.
  virtual QueuedRequest* queued_request() { return nullptr; }
  // This waiter, if it waits for a departure, and for which; else null. It has no keys.
  virtual Departure* departure() { return nullptr; }
  virtual const DepartureName* departs() const { return nullptr; }

  // Tries again, as a command of the session. True: it has replied and is done.
  virtual bool try_again(Call& call) = 0;
  // Replies that the deadline has come.
  virtual void time_out(Call& call) = 0;
  // Called when the session is gone; runs as a command without a client to reply to.
  virtual void abandon(Call&) {}
  // True: invariant 2 holds for the waiters after this one.
  virtual bool strict() const { return false; }
  // True: CLIENT UNBLOCK may end the wait.
  virtual bool may_be_unblocked() const { return true; }
  // Answers how much memory the waiter takes beside what is said of every waiter below, its own
  // object included.
  virtual size_t own_bytes() const = 0;

  std::vector<WaitKey> keys;  // may be empty
  // In a queue, those who have a lower rank come first. 0: none, it stands where it came.
  int64_t rank = 0;
  // Waiters that want the same type of a key fail alike: when one has failed, those after it are
  // not tried. kNone: like no other.
  storage::Type wants = storage::Type::kNone;
  // What the session waits for next when this is done: nothing was replied yet.
  std::unique_ptr<Waiter> successor;
  int64_t deadline_ns = kNotDue;
  int64_t due_ns = kNotDue;  // try_again() sets it
  // While the waiter is tried: the key in whose queue it is tried; null if its instant has come.
  const WaitKey* touched = nullptr;
  // Set if CLIENT UNBLOCK has ended the wait, so that its deadline has come, if another session
  // waits in its place from now on, or if its keys are another server's now.
  enum class Unblocked : uint8_t { kNo, kAsTimeOut, kAsError, kSuperseded, kMoved };
  Unblocked unblocked = Unblocked::kNo;

  // Filled in by Server::wait().
  uint64_t session = 0;
  int64_t began_ns = 0;  // what follows another wait of the command began with that
  int database = 0;
  const Command* command = nullptr;
  std::vector<std::string> args;  // the request's arguments
  // The same, as a command takes them. They are many where it waits for many keys, and each of the
  // keys may try it.
  const std::vector<std::string_view>& arguments() {
    if (views_.empty()) views_.assign(args.begin(), args.end());
    return views_;
  }
  // Answers how much memory the wait takes, with its places in queues. A name that others wait for,
  // too, counts for each of them, since each may be the last to let go of it.
  size_t memory_bytes() const { return own_bytes() + places_bytes() + request_bytes(); }
  // Of that, what the request's arguments take, and how long they are.
  size_t request_bytes() const;
  size_t words_bytes() const;

 private:
  size_t places_bytes() const;

  std::vector<std::string_view> views_;
};

enum class Act { kTry, kTimeOut, kAbandon };
// Runs a waiter's turn to act as a command. Answers true if the waiter is done.
using RunWaiter = std::function<bool(Waiter& waiter, Act act)>;

class Waiting {
 public:
  bool empty() const { return waiters_.empty() && abandoned_.empty(); }
  size_t size() const { return waiters_.size(); }

  // REQUIRES: the waiter's session does not wait yet.
  void add(std::unique_ptr<Waiter> waiter);
  // Called when the session is gone. The next serve() gives back what the waiter has to give back.
  void remove(uint64_t session);
  // Called when the session does not wait after all, because what its command did is taken back.
  void forget(uint64_t session);
  // Called when the data is another's: nobody waits any more, and nothing is given back. Answers
  // those who have waited.
  std::vector<std::unique_ptr<Waiter>> take_all();
  const Waiter* of_session(uint64_t session) const;
  // Answers the sessions that began to wait since the last call, or to wait for something else.
  // Their commands may have taken permits in this turn, so a turn that fails fails them too.
  std::vector<uint64_t> take_begun() { return std::exchange(begun_, {}); }

  // What was waited for, and how many stand in the longest queue. A departure is a queue of one.
  const WaitMetrics& metrics() const { return metrics_; }
  void reset_metrics() { metrics_.reset(); }
  size_t queues() const { return queues_.size() + departures_.size(); }
  size_t longest_queue() const { return lengths_.longest(); }

  // The queue of a key, from its head; empty if no session waits for it.
  const std::deque<Waiter*>& queue(int database, std::string_view key) const;
  // Who waits for a departure; null: nobody does.
  Departure* departure(const DepartureName& name) const;

  // Called when a command has touched a key, or all keys if it is not known which.
  void signal(int database, std::string_view key);
  // Called when there is something to tell who waits for the departure, if anybody does.
  void signal_departure(const DepartureName& name);
  void signal_all();

  // Tries the waiters that signals and instants have made ready, until none is ready.
  void serve(int64_t now_ns, const RunWaiter& run);
  bool anybody_ready(int64_t now_ns) const {
    return !ready_.empty() || !abandoned_.empty() || next_ns() <= now_ns;
  }
  // Answers the next instant at which serve() has something to do; kNotDue.
  int64_t next_ns() const { return timers_.empty() ? kNotDue : timers_.begin()->at_ns; }

  // For CLIENT UNBLOCK: the next serve() ends the wait. False: the session does not wait, or not in
  // a way that may be ended.
  bool unblock(uint64_t session, Waiter::Unblocked how);
  // The next serve() ends the waiter's wait, because another session has taken over its place.
  void supersede(Waiter* waiter) { end(waiter, Waiter::Unblocked::kSuperseded); }
  // The next serve() ends the waits that are no longer this server's.
  void end_moved(const std::function<bool(Waiter&)>& is_moved);

 private:
  // What a key is found by, without a copy of it.
  struct KeyView {
    int database;
    std::string_view key;

    KeyView(int number, std::string_view name) : database(number), key(name) {}
    KeyView(const WaitKey& of) : KeyView(of.database, of.key()) {}
    bool operator==(const KeyView&) const = default;
  };
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(const KeyView& key) const {
      return StringHash()(key.key) * 31 + static_cast<size_t>(key.database);
    }
  };
  struct KeyEqual {
    using is_transparent = void;
    bool operator()(const KeyView& a, const KeyView& b) const { return a == b; }
  };
  struct Queue {
    std::deque<Waiter*> waiters;
    bool ready = false;
  };
  using Queues = std::unordered_map<WaitKey, Queue, KeyHash, KeyEqual>;
  // If two timers have one instant, the waiter that is due comes before the one that gives up.
  struct Timer {
    int64_t at_ns;
    bool gives_up;
    Waiter* waiter;

    auto operator<=>(const Timer&) const = default;
  };
  using Timers = std::set<Timer>;
  // What is to be tried: a queue, or the session that waits for a departure.
  struct Departing {
    uint64_t session;
  };
  using Ready = std::variant<WaitKey, Departing>;

  static Timer timer_of(Waiter* waiter) {
    const bool gives_up = waiter->deadline_ns < waiter->due_ns;
    return {gives_up ? waiter->deadline_ns : waiter->due_ns, gives_up, waiter};
  }
  void start_timer(Waiter* waiter);
  void enter_queue(Waiter* waiter, std::deque<Waiter*>* queue);
  void leave_queues(Waiter* waiter);
  void end(Waiter* waiter, Waiter::Unblocked how);
  std::unique_ptr<Waiter> take(Waiter* waiter);
  void note_end(const Waiter& waiter, WaitEnd end);
  bool try_one(Waiter* waiter, const WaitKey* touched, const RunWaiter& run);
  void serve_queue(const WaitKey& key, const RunWaiter& run);
  void serve_due(int64_t now_ns, const RunWaiter& run);
  void serve_departure(Departing ready, const RunWaiter& run);
  void mark_ready(const WaitKey& key, Queue* queue);

  std::map<uint64_t, std::unique_ptr<Waiter>> waiters_;  // by session
  std::vector<std::unique_ptr<Waiter>> abandoned_;
  std::vector<uint64_t> begun_;
  Queues queues_;
  Departures departures_;
  std::deque<Ready> ready_;
  Timers timers_;
  WaitMetrics metrics_;
  int64_t now_ns_ = 0;  // of the last serve()
  QueueLengths lengths_;
};

}  // namespace weir::server
