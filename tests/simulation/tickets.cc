#include "tests/simulation/tickets.h"

#include <utility>

#include "base/time_units.h"
#include "tests/simulation/request.h"
#include "tests/simulation/violation.h"

namespace weir::simulation {
namespace {

// Of the minute for which a place is kept.
constexpr int64_t kKeptNs = 55 * kNsPerS;
constexpr int kTurnsMax = 200;

}  // namespace

void Tickets::open(server::Server& server, Line* line) {
  *line = {.session = server.connect({}).value()};
  say(line, {"SELECT", std::to_string(kTicketDatabase)});
}

void Tickets::say(Line* line, const std::vector<std::string>& words) {
  line->session->receive(encode(words), 10);
}

void Tickets::stand(server::Server& server, Line* line, const std::string& id) {
  open(server, line);
  say(line, {"RL.ACQUIRE", key(), "FIXED", "1/3650d", "TIMEOUT", "0", "ID", id});
}

bool Tickets::read(Line* line) {
  server::Session* session = line->session;
  if (session->dead() || session->closing()) return false;
  while (!session->output().empty()) {
    line->received += session->output();
    session->mark_sent(session->output().size());
  }
  resp::Value value;
  size_t size = 0;
  while (resp::decode(line->received, &value, &size) == resp::DecodeStatus::kValue) {
    line->received.erase(0, size);
    if (value.is_error()) return false;
    line->replies.push_back(std::exchange(value, {}));
  }
  return true;
}

int64_t Tickets::seen_waiting(Line* line) {
  if (line->replies.empty()) return -1;
  const std::vector<resp::Value> info = std::move(line->replies.back().elements);
  line->replies.clear();
  for (size_t i = 0; i + 1 < info.size(); i += 2) {
    if (info[i].text == "waiting") return info[i + 1].integer;
  }
  return -1;
}

void Tickets::leave(server::Server& server) {
  for (Line* line : {&watcher_, &first_, &second_}) {
    if (line->session != nullptr) server.disconnect(line->session);
    *line = {};
  }
  stage_ = Stage::kNobody;
}

void Tickets::advance(server::Server& server) {
  if (stage_ == Stage::kNobody) {
    ++queues_;
    open(server, &watcher_);
    say(&watcher_, {"RL.TAKE", key(), "FIXED", "1/3650d"});
    stage_ = Stage::kTaken;
    return;
  }
  for (Line* line : {&watcher_, &first_, &second_}) {
    if (line->session != nullptr && !read(line)) return leave(server);
  }
  if (stage_ == Stage::kTaken) {
    if (watcher_.replies.size() < 2) return;
    watcher_.replies.clear();
    stand(server, &first_, "first");
    say(&watcher_, {"RL.INFO", key()});
    stage_ = Stage::kFirst;
    return;
  }
  if (stage_ == Stage::kKnown) return;
  const int64_t waiting = seen_waiting(&watcher_);
  if (waiting < 0) return;
  if (waiting == 2) {
    stage_ = Stage::kKnown;
    known_ns_ = server.timeline().now_ns();
    return;
  }
  if (waiting == 1 && stage_ == Stage::kFirst) {
    stand(server, &second_, "second");
    stage_ = Stage::kSecond;
  }
  say(&watcher_, {"RL.INFO", key()});
}

void Tickets::check_after_crash(server::Server& server, bool may_lose,
                                const std::function<void()>& turn) {
  watcher_ = first_ = second_ = {};
  const bool was_known = std::exchange(stage_, Stage::kNobody) == Stage::kKnown;
  if (!was_known || may_lose || server.timeline().now_ns() - known_ns_ > kKeptNs) return;
  const auto until = [&](const std::string& what, const std::function<bool()>& is_so) {
    for (int turns = 0; turns < kTurnsMax; ++turns) {
      turn();
      for (Line* line : {&watcher_, &first_, &second_}) {
        if (!read(line)) throw Violation(key() + ": a connection ends or an error comes");
      }
      if (is_so()) return;
    }
    throw Violation(key() + ": " + what);
  };
  const auto granted = [](const Line& line) {
    return line.replies.size() == 2 && line.replies[1].elements[0].integer == 1;
  };
  open(server, &watcher_);
  stand(server, &second_, "second");
  stand(server, &first_, "first");
  until("two do not stand again where they stood", [&] {
    const int64_t waiting = seen_waiting(&watcher_);
    if (waiting != 2) say(&watcher_, {"RL.INFO", key()});
    return waiting == 2;
  });
  say(&watcher_, {"RL.REFUND", key(), "1"});
  until("who came first is not granted first", [&] {
    if (second_.replies.size() > 1) throw Violation(key() + ": who came later is granted first");
    return granted(first_);
  });
  say(&watcher_, {"RL.REFUND", key(), "1"});
  until("who came later is never granted", [&] { return granted(second_); });
  ++queues_checked_;
  leave(server);
}

}  // namespace weir::simulation
