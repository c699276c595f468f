// Sessions that wait for a key to change or for an instant to come: blocked clients.
//
// A waiter stands in the queue of each of its keys, first come, first served. It is tried when a
// command has touched one of them, or when its own `due_ns` has come; at its deadline it gives up.
//
// Invariants
// 1. A session waits for one thing at a time, runs nothing meanwhile, and is answered once.
// 2. Behind a strict waiter nobody in its queue is tried before it is done.
// 3. Nothing here polls: next_ns() says when something has to be done.
// 4. Instants are the timeline's; this reads no clock.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/command.h"

namespace weir::server {

inline constexpr int64_t kNotDue = INT64_MAX;

struct WaitKey {
  int database = 0;
  std::string key;

  bool operator==(const WaitKey&) const = default;
};

class Waiter {
 public:
  virtual ~Waiter() = default;

  // Runs as a command of the session's. True: it has replied and is done.
  virtual bool try_again(Call& call) = 0;
  // Replies that the deadline has come.
  virtual void time_out(Call& call) = 0;
  // The session is gone; runs as a command without anybody to reply to.
  virtual void abandon(Call&) {}
  // Invariant 2.
  virtual bool strict() const { return false; }
  // CLIENT UNBLOCK may end it.
  virtual bool may_be_unblocked() const { return true; }

  std::vector<WaitKey> keys;  // may be empty
  // Waiters that want the same of a key fail alike: behind one that has failed the others are not
  // tried. kNone: like nobody.
  storage::Type wants = storage::Type::kNone;
  // What the session waits for next, when this is done: then nothing was replied yet.
  std::unique_ptr<Waiter> successor;
  int64_t deadline_ns = kNotDue;
  int64_t due_ns = kNotDue;  // try_again() sets it
  // While it is tried: the key in whose queue that is; null where its instant has come.
  const WaitKey* touched = nullptr;
  // CLIENT UNBLOCK has ended it, so its deadline has come.
  enum class Unblocked : uint8_t { kNo, kAsTimeOut, kAsError };
  Unblocked unblocked = Unblocked::kNo;

  // Filled in by Server::wait().
  uint64_t session = 0;
  int database = 0;
  const Command* command = nullptr;
  std::vector<std::string> args;  // of the request
};

// Whoever can run a waiter's turn to act: the executor.
class WaiterRunner {
 public:
  enum class Act { kTry, kTimeOut, kAbandon };
  virtual ~WaiterRunner() = default;
  // True: the waiter is done.
  virtual bool act(Waiter& waiter, Act act) = 0;
};

class Waiting {
 public:
  bool empty() const { return waiters_.empty() && abandoned_.empty(); }
  size_t size() const { return waiters_.size(); }

  // REQUIRES: the waiter's session does not wait yet.
  void add(std::unique_ptr<Waiter> waiter);
  // The session is gone. What it has to give back is given back by the next serve().
  void remove(uint64_t session);
  // It does not wait after all: what its command did is taken back.
  void forget(uint64_t session);
  const Waiter* of_session(uint64_t session) const;

  // The queue of a key, from its head; empty where nobody waits.
  const std::deque<Waiter*>& queue(int database, std::string_view key) const;

  // A command has touched a key, or nobody knows which keys.
  void signal(int database, std::string_view key);
  void signal_all();

  // Tries whom signals and instants have made ready, until nobody is.
  void serve(int64_t now_ns, WaiterRunner& runner);
  bool anybody_ready(int64_t now_ns) const {
    return !ready_.empty() || !abandoned_.empty() || next_ns() <= now_ns;
  }
  // The next instant at which serve() has something to do; kNotDue.
  int64_t next_ns() const { return timers_.empty() ? kNotDue : timers_.begin()->at_ns; }

  // CLIENT UNBLOCK: the next serve() ends the wait. False: it does not wait, or not so.
  bool unblock(uint64_t session, Waiter::Unblocked how);

 private:
  // What a key is looked up by, without a copy of it.
  struct KeyView {
    int database;
    std::string_view key;

    KeyView(int number, std::string_view name) : database(number), key(name) {}
    KeyView(const WaitKey& of) : database(of.database), key(of.key) {}
    bool operator==(const KeyView&) const = default;
  };
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(const KeyView& key) const {
      return std::hash<std::string_view>()(key.key) * 31 + static_cast<size_t>(key.database);
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
  // Of two at one instant the one that is due comes before the one that gives up.
  struct Timer {
    int64_t at_ns;
    bool gives_up;
    Waiter* waiter;

    auto operator<=>(const Timer&) const = default;
  };
  using Timers = std::set<Timer>;

  static Timer timer_of(Waiter* waiter) {
    const bool gives_up = waiter->deadline_ns < waiter->due_ns;
    return {gives_up ? waiter->deadline_ns : waiter->due_ns, gives_up, waiter};
  }
  void start_timer(Waiter* waiter);
  void leave_queues(Waiter* waiter);
  std::unique_ptr<Waiter> take(Waiter* waiter);
  bool try_one(Waiter* waiter, const WaitKey* touched, WaiterRunner& runner);
  void serve_queue(const WaitKey& key, WaiterRunner& runner);
  void serve_due(int64_t now_ns, WaiterRunner& runner);
  void mark_ready(const WaitKey& key, Queue* queue);

  std::map<uint64_t, std::unique_ptr<Waiter>> waiters_;  // by session
  std::vector<std::unique_ptr<Waiter>> abandoned_;
  Queues queues_;
  std::deque<WaitKey> ready_;
  Timers timers_;
};

}  // namespace weir::server
