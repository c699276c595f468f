// The model beside the server: what each command, turn, reply and recovery must have done.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/world.h"

namespace weir::simulation {
namespace {

// Below this a difference between the clocks is no step to the server; and it may let them drift
// apart by as much every second.
constexpr int64_t kUnseenStepNs = 2 * kNsPerMs;
constexpr int64_t kUnseenDriftPpm = 1200;

std::string words_of(const Request& request) {
  std::string words;
  for (const std::string& arg : request.args) words += arg.substr(0, 30) + " ";
  for (char& c : words) c = c < ' ' || c > '~' ? '.' : c;
  return words;
}

Expected run_in_model(const Request& request, const Step& step) {
  if (request.is_wrong) return error("");
  return find_in_model(request.args[0])(step);
}

}  // namespace

// The first `commands` of what the client has asked were run just now.
void World::note_ran(Client* client, uint64_t commands, bool read_failed) {
  const int64_t now_ns = server_->timeline().now_ns();
  const bool denied = server_->persistence().health.writes_denied();
  const auto take_one = [&]() -> Request& {
    if (client->to_run.empty()) throw Violation("the server runs what nobody asked for");
    client->unanswered.push_back(client->to_run.front());
    client->to_run.pop_front();
    return *client->unanswered.back();
  };
  const bool ran_any = commands > 0;
  for (; commands > 0; --commands) {
    Request& request = take_one();
    turn_.push_back(client->unanswered.back());
    ++requests_run_;
    request.ran = true;
    const std::vector<std::string_view> words(request.args.begin(), request.args.end());
    const server::Command* row = server_->executor().table().resolve(words);
    const uint32_t data = server::kReads | server::kWrites;
    request.depends_on_data = row != nullptr && row->has(data);
    if (row != nullptr && row->has(server::kWrites | server::kTellsOfHealth) && denied) {
      request.expected = error(request.is_wrong ? "" : "MISCONF ");
    } else if (read_failed) {
      request.expected = error("MISCONF ");
    } else {
      if (request.is_audited) audit_.ran(request.args[1], std::stoll(request.args[5]));
      request.expected = run_in_model(
          request, {live_, request.args, &client->database, now_ns, &server_->timeline().wall()});
    }
    trace(std::to_string(client->session->id) + " runs " + words_of(request) + "-> " +
          request.expected.description());
    if (request.args[0] == "QUIT") client->to_run.clear();
  }
  // Of the last one nobody knows whether it was taken back, because its reply was too long.
  lost_track_ |= ran_any && client->session->dead();
  if (client->session->closing() && !client->session->dead() && !client->to_run.empty() &&
      client->to_run.front()->breaks_protocol) {
    take_one().expected = error("ERR Protocol error");
  }
  check_instant();
}

// The turn has ended. Failed: the server says that it could not be committed.
void World::note_turn(bool failed, bool store_was_failed) {
  if (failed && !denies()) throw Violation("a turn fails although memory goes on");
  note_failure(store_was_failed);
  if (failed) {
    trace("the turn fails");
    forget_failed_turn();
  } else if (live_ != turn_begin_) {
    const uint64_t server_turn = store_failed() ? History::kNoTurn : server_->keys().turn();
    history_.add(live_, server_turn, server_->keys().running().now_ns());
  }
  const bool lasts = denies() ? !store_was_failed && !failed : !store_failed();
  for (const RequestPointer& request : turn_) {
    if (lasts && request->depends_on_data) vouch(request.get());
  }
  turn_.clear();
  turn_begin_ = live_;
}

void World::note_failure(bool store_was_failed) {
  if (store_was_failed || !store_failed()) return;
  trace("the store has failed");
  ++storage_failures_;
}

void World::vouch(Request* request) const {
  request->vouches_for = history_.newest();
  request->vouches_for_power_cut = server_->config().durability == server::DurabilityLevel::kAlways;
  request->storage_failures_seen = storage_failures_;
}

// Whether it is in the log nobody knows; memory is as it was, and all of it is answered by errors.
void World::forget_failed_turn() {
  if (live_ != turn_begin_) {
    Model maybe = std::exchange(live_, turn_begin_);
    const History::Point before = history_.point(history_.newest());
    history_.add(std::move(maybe), History::kNoTurn, server_->keys().running().now_ns());
    history_.add(before.model, History::kNoTurn, before.instant_ns);
  }
  for (const RequestPointer& request : turn_) {
    if (request->depends_on_data) request->expected = error("");
  }
}

void World::note_reply(const Request& request, const resp::Value& reply) {
  if (request.is_audited && !reply.is_error()) {
    const int64_t permits = std::stoll(request.args[5]);
    reply.elements[0].integer == 0 ? audit_.allowed(request.args[1], permits)
                                   : audit_.denied(request.args[1], permits);
  }
  if (!request.vouches_for || reply.is_error()) return;
  // Where memory goes on without the disk, a reply may have left before its sync, and before its
  // record was in the log.
  const bool synced = denies() || request.storage_failures_seen == storage_failures_;
  if (!synced && disk_->appends_late) return;
  history_.vouch(*request.vouches_for, request.vouches_for_power_cut && synced);
}

// The server has opened its store again without a crash.
void World::note_recovery() {
  trace("the store works again");
  while (store().appended_turn() < server_->keys().logged_turn()) {
    if (!store().step()) return;  // it has failed again
  }
  const Inspection found = inspect(*disk_);
  const int64_t now_ms = server_->timeline().now_ns() / kNsPerMs;
  if (denies()) return check_found(found, Crash::kKill);
  if (const std::string lost = difference(live_, found.model, now_ms); !lost.empty()) {
    throw Violation("memory went on, and the disk did not get all of it:\n" + lost);
  }
  history_.add(live_, server_->keys().turn(), server_->keys().running().now_ns());
  history_.vouch(history_.newest(), false);
}

// Goes on from what was found, if it may be so.
void World::check_found(const Inspection& found, Crash crash) {
  const int64_t now_ns = server_->timeline().now_ns();
  const auto points = history_.find(found.model, crash, now_ns / kNsPerMs);
  if (points.empty()) throw Violation(describe_mismatch(found, crash));
  std::string wrong;
  for (const History::Point* point : points) {
    wrong = now_ns < point->instant_ns
                ? "time runs back: " + std::to_string(now_ns) + " after a crash, " +
                      std::to_string(point->instant_ns) + " before it"
                : "";
    for (int i = 0; i < kDatabases && wrong.empty(); ++i) {
      wrong = wrong_size(point->model, i, found.sizes[static_cast<size_t>(i)], false);
    }
    if (!wrong.empty()) continue;
    live_ = turn_begin_ =
        with_expired_of(found.model, found.instant_ns / kNsPerMs, point->model, now_ns / kNsPerMs);
    // Which of them it is nobody knows, so only the earliest instant is certain to be remembered.
    int64_t instant_ns = point->instant_ns;
    for (const History::Point* other : points) instant_ns = std::min(instant_ns, other->instant_ns);
    return history_.begin(live_, server_->keys().turn(), instant_ns);
  }
  throw Violation(wrong);
}

std::string World::describe_mismatch(const Inspection& found, Crash crash) const {
  const int64_t now_ms = server_->timeline().now_ns() / kNsPerMs;
  const uint64_t oldest = history_.oldest_possible(crash);
  return "what is found is no state that it may be; beside the newest (" +
         std::to_string(history_.newest()) + "):\n" +
         difference(history_.newest_model(), found.model, now_ms) +
         "beside the oldest that it may be (" + std::to_string(oldest) + "):\n" +
         difference(history_.point(oldest).model, found.model, now_ms);
}

// `counted_anew`: enough time has passed for the server to notice what expired unseen.
std::string World::wrong_size(const Model& model, int database, uint64_t size,
                              bool counted_anew) const {
  const Database& contents = model.databases[static_cast<size_t>(database)];
  const int64_t now_ms = server_->timeline().now_ns() / kNsPerMs;
  auto [least, most] = contents.size_bounds(now_ms);
  if (counted_anew) least = contents.live(now_ms), most = contents.records.size();
  if (size >= least && size <= most) return {};
  return "DBSIZE of database " + std::to_string(database) + " is " + std::to_string(size) +
         ", expected " + std::to_string(least) + " to " + std::to_string(most);
}

void World::check_instant() {
  const int64_t now_ns = server_->timeline().now_ns();
  const int64_t steady_ns = clock_.steady_ns();
  ahead_of_steady_ns_max_ = std::max(ahead_of_steady_ns_max_, clock_.wall_ns() - steady_ns);
  const int64_t open_for_ns = steady_ns - opened_steady_ns_;
  const int64_t unseen_ns = kUnseenStepNs + open_for_ns / 1'000'000 * kUnseenDriftPpm;
  if (now_ns < last_instant_ns_) {
    throw Violation("time runs back by " + std::to_string(last_instant_ns_ - now_ns) + " ns");
  }
  if (const int64_t ahead_ns = now_ns - ahead_of_steady_ns_max_ - steady_ns; ahead_ns > unseen_ns) {
    throw Violation("time is ahead of every clock by " + std::to_string(ahead_ns) + " ns");
  }
  if (const int64_t late_ns = opened_ns_ + open_for_ns - now_ns; late_ns > unseen_ns) {
    throw Violation("time has stood still for " + std::to_string(late_ns) + " ns");
  }
  last_instant_ns_ = now_ns;
}

}  // namespace weir::simulation
