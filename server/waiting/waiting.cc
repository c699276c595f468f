#include "server/waiting/waiting.h"

#include <algorithm>

#include "base/check.h"
#include "base/heap_bytes.h"

namespace weir::server {
namespace {

const std::deque<Waiter*> kNobody;

// A queue begins with two blocks of std::deque's, of 64 and 512 bytes. The heap grows by half a
// kilobyte more for each than its parts add up to.
constexpr size_t kQueueBytes = hash_node_bytes<std::pair<const WaitKey, std::deque<Waiter*>>>() +
                               block_bytes(64) + 2 * block_bytes(512) + sizeof(bool);
// A waiter's entry in the list of all, its timer, and its part of what notes lengths and
// beginnings.
constexpr size_t kEntryBytes = tree_node_bytes<std::pair<const uint64_t, Waiter*>>() +
                               tree_node_bytes<std::pair<int64_t, Waiter*>>() + 64;

// Thousands may leave a queue at once. Where all in it have ranks, they are in the order of these.
std::deque<Waiter*>::const_iterator place_in(const std::deque<Waiter*>& queue,
                                             const Waiter* waiter) {
  const auto comes_before = [](const Waiter* other, int64_t rank) { return other->rank < rank; };
  const auto place = std::lower_bound(queue.begin(), queue.end(), waiter->rank, comes_before);
  if (place != queue.end() && *place == waiter) return place;
  return std::find(queue.begin(), queue.end(), waiter);
}

}  // namespace

size_t Waiter::places_bytes() const {
  constexpr size_t kNameHead = 48;  // of a shared name, before its bytes
  size_t bytes = kEntryBytes + heap_bytes(keys);
  if (departs() != nullptr) bytes += Departures::kBytes;
  for (const WaitKey& key : keys)
    bytes += kQueueBytes + block_bytes(kNameHead) + heap_bytes(*key.name);
  return bytes;
}

size_t Waiter::request_bytes() const {
  return heap_bytes(args) + block_bytes(args.size() * sizeof(std::string_view));
}

size_t Waiter::words_bytes() const {
  size_t bytes = 0;
  for (const std::string& word : args) bytes += word.size();
  return bytes;
}

void Waiting::add(std::unique_ptr<Waiter> added) {
  Waiter* waiter = added.get();
  const bool is_new = waiters_.emplace(waiter->session, std::move(added)).second;
  WEIR_REQUIRE(is_new);  // a session that waits runs no command
  begun_.push_back(waiter->session);
  metrics_.note_begin(waiter->command);
  for (WaitKey& key : waiter->keys) {
    const auto queue = queues_.try_emplace(key).first;
    key.name = queue->first.name;
    enter_queue(waiter, &queue->second.waiters);
  }
  const DepartureName* name = waiter->departs();
  if (name != nullptr && departures_.add(*name, waiter)) lengths_.note(0, 1);
  start_timer(waiter);
}

// A strict waiter that somebody comes before now is tried when he is done, not when it was due.
void Waiting::enter_queue(Waiter* waiter, std::deque<Waiter*>* queue) {
  auto next = queue->end();
  for (auto at = queue->end(); waiter->rank != 0 && at != queue->begin();) {
    const int64_t rank = (*--at)->rank;
    if (rank > waiter->rank) next = at;
    if (rank != 0 && rank < waiter->rank) break;
  }
  if (next != queue->end() && (*next)->strict()) {
    timers_.erase(timer_of(*next));
    (*next)->due_ns = kNotDue;
    start_timer(*next);
  }
  queue->insert(next, waiter);
  lengths_.note(queue->size() - 1, queue->size());
}

void Waiting::note_end(const Waiter& waiter, WaitEnd end) {
  metrics_.note_end(waiter.command, end, now_ns_ - waiter.began_ns);
}

void Waiting::start_timer(Waiter* waiter) {
  const Timer timer = timer_of(waiter);
  if (timer.at_ns != kNotDue) timers_.insert(timer);
}

// Takes a waiter out of all queues. Those who stood after it are looked at again.
std::unique_ptr<Waiter> Waiting::take(Waiter* waiter) {
  timers_.erase(timer_of(waiter));
  leave_queues(waiter);
  const auto held = waiters_.find(waiter->session);
  std::unique_ptr<Waiter> taken = std::move(held->second);
  waiters_.erase(held);
  return taken;
}

void Waiting::leave_queues(Waiter* waiter) {
  for (const WaitKey& key : waiter->keys) {
    const auto queue = queues_.find(key);
    if (queue == queues_.end()) continue;
    std::deque<Waiter*>& waiters = queue->second.waiters;
    const size_t before = waiters.size();
    if (const auto place = place_in(waiters, waiter); place != waiters.end()) waiters.erase(place);
    lengths_.note(before, waiters.size());
    if (waiters.empty()) {
      queues_.erase(queue);
    } else {
      mark_ready(key, &queue->second);
    }
  }
  const DepartureName* name = waiter->departs();
  if (name != nullptr && departures_.remove(*name, waiter)) lengths_.note(1, 0);
}

void Waiting::remove(uint64_t session) {
  const auto found = waiters_.find(session);
  if (found != waiters_.end()) abandoned_.push_back(take(found->second.get()));
}

void Waiting::forget(uint64_t session) {
  const auto found = waiters_.find(session);
  if (found != waiters_.end()) metrics_.note_none(take(found->second.get())->command);
}

std::vector<std::unique_ptr<Waiter>> Waiting::take_all() {
  abandoned_.clear();
  ready_.clear();
  std::vector<std::unique_ptr<Waiter>> all;
  all.reserve(waiters_.size());
  while (!waiters_.empty()) {
    all.push_back(take(waiters_.begin()->second.get()));
    metrics_.note_none(all.back()->command);
  }
  ready_.clear();  // those who stood after somebody are gone, too
  begun_.clear();
  return all;
}

const Waiter* Waiting::of_session(uint64_t session) const {
  const auto found = waiters_.find(session);
  return found == waiters_.end() ? nullptr : found->second.get();
}

const std::deque<Waiter*>& Waiting::queue(int database, std::string_view key) const {
  if (queues_.empty()) return kNobody;
  const auto found = queues_.find(KeyView(database, key));
  return found == queues_.end() ? kNobody : found->second.waiters;
}

Departure* Waiting::departure(const DepartureName& name) const {
  Waiter* const waiter = departures_.find(name);
  return waiter == nullptr ? nullptr : waiter->departure();
}

void Waiting::mark_ready(const WaitKey& key, Queue* queue) {
  if (queue->ready) return;
  queue->ready = true;
  ready_.push_back(key);
}

void Waiting::signal(int database, std::string_view key) {
  if (queues_.empty()) return;
  const auto found = queues_.find(KeyView(database, key));
  if (found != queues_.end()) mark_ready(found->first, &found->second);
}

void Waiting::signal_departure(const DepartureName& name) {
  if (const Waiter* waiter = departures_.mark_ready(name))
    ready_.push_back(Departing{.session = waiter->session});
}

void Waiting::signal_all() {
  for (auto& [key, queue] : queues_) mark_ready(key, &queue);
  departures_.mark_all_ready(
      [this](const Waiter& waiter) { ready_.push_back(Departing{.session = waiter.session}); });
}

bool Waiting::try_one(Waiter* waiter, const WaitKey* touched, const RunWaiter& run) {
  timers_.erase(timer_of(waiter));
  waiter->due_ns = kNotDue;
  waiter->touched = touched;
  const bool done = run(*waiter, Act::kTry);
  waiter->touched = nullptr;
  start_timer(waiter);
  if (!done) return false;
  const std::unique_ptr<Waiter> ended = take(waiter);
  if (ended->successor == nullptr) {
    note_end(*ended, WaitEnd::kServed);
    return true;
  }
  metrics_.note_none(ended->command);
  ended->successor->session = ended->session;
  ended->successor->began_ns = ended->began_ns;
  ended->successor->database = ended->database;
  ended->successor->command = ended->command;
  ended->successor->args = std::move(ended->args);
  add(std::move(ended->successor));
  return true;
}

void Waiting::serve_queue(const WaitKey& key, const RunWaiter& run) {
  if (const auto found = queues_.find(key); found != queues_.end()) found->second.ready = false;
  auto failed = storage::Type::kNone;
  for (size_t at = 0;;) {
    const auto found = queues_.find(key);
    if (found == queues_.end() || at >= found->second.waiters.size()) return;
    Waiter* waiter = found->second.waiters[at];
    const storage::Type wants = waiter->wants;
    if (wants != storage::Type::kNone && wants == failed) {
      ++at;
      continue;
    }
    const bool strict = waiter->strict();
    if (try_one(waiter, &key, run)) continue;  // the next waiter has moved up
    if (strict) return;
    failed = wants;
    ++at;
  }
}

void Waiting::serve_departure(Departing ready, const RunWaiter& run) {
  const auto found = waiters_.find(ready.session);
  if (found == waiters_.end()) return;
  Waiter* const waiter = found->second.get();
  const DepartureName* name = waiter->departs();
  if (name != nullptr && departures_.take_ready(*name, waiter)) try_one(waiter, nullptr, run);
}

// Stops when a waiter's action has made others ready: they come before those whose time is up.
void Waiting::serve_due(int64_t now_ns, const RunWaiter& run) {
  while (next_ns() <= now_ns && ready_.empty()) {
    Waiter* waiter = timers_.begin()->waiter;
    const bool expired = waiter->deadline_ns <= now_ns;
    if (waiter->due_ns <= now_ns) {
      if (try_one(waiter, nullptr, run)) continue;
    }
    if (!expired) continue;
    run(*waiter, Act::kTimeOut);
    const bool by_another = waiter->unblocked != Waiter::Unblocked::kNo;
    note_end(*take(waiter), by_another ? WaitEnd::kUnblocked : WaitEnd::kTimedOut);
  }
}

void Waiting::serve(int64_t now_ns, const RunWaiter& run) {
  now_ns_ = now_ns;
  do {
    while (!abandoned_.empty()) {
      const std::unique_ptr<Waiter> gone = std::move(abandoned_.back());
      abandoned_.pop_back();
      note_end(*gone, WaitEnd::kLeft);
      run(*gone, Act::kAbandon);
    }
    while (!ready_.empty()) {
      const Ready next = std::move(ready_.front());
      ready_.pop_front();
      if (const auto* key = std::get_if<WaitKey>(&next)) {
        serve_queue(*key, run);
      } else {
        serve_departure(std::get<Departing>(next), run);
      }
    }
    serve_due(now_ns, run);
  } while (anybody_ready(now_ns));
}

void Waiting::end_moved(const std::function<bool(Waiter&)>& is_moved) {
  for (const auto& [session, waiter] : waiters_) {
    const bool waits = waiter->unblocked == Waiter::Unblocked::kNo;
    if (waits && is_moved(*waiter)) end(waiter.get(), Waiter::Unblocked::kMoved);
  }
}

// The waiter leaves its queues at once, so that nothing that happens from here on serves it.
bool Waiting::unblock(uint64_t session, Waiter::Unblocked how) {
  const auto found = waiters_.find(session);
  if (found == waiters_.end() || !found->second->may_be_unblocked()) return false;
  if (found->second->unblocked != Waiter::Unblocked::kNo) return false;
  end(found->second.get(), how);
  return true;
}

void Waiting::end(Waiter* waiter, Waiter::Unblocked how) {
  timers_.erase(timer_of(waiter));
  leave_queues(waiter);
  waiter->keys.clear();
  waiter->unblocked = how;
  waiter->due_ns = kNotDue;
  waiter->deadline_ns = 0;
  start_timer(waiter);
}

}  // namespace weir::server
