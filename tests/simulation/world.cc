#include "tests/simulation/world.h"

#include <algorithm>
#include <string>
#include <utility>

namespace weir::simulation {
namespace {

constexpr size_t kClientsMax = 12;

}  // namespace

void World::step() {
  // The turn is in no log yet, so a kill makes it certain: it never was.
  if (std::exchange(lost_track_, false)) return crash(Crash::kKill);
  clock_.pass(random_.between(0, 20'000));
  // Lost writes of a failed store show only if the crash comes before it is opened again.
  if (store_failed() && random_.one_in(100)) return crash(Crash::kPowerCut);
  const uint64_t what = random_.below(1000);
  if (what < 400) return send_bytes();
  if (what < 430) return send_one_with_failing_read();
  if (what < 480) return resume_sessions();
  if (what < 680) return end_turn();
  if (what < 800) return deliver_to_someone();
  if (what < 880) return clock_.advance();
  if (what < 920) return tick();
  if (what < 955) return step_store();
  if (what < 972) return come_and_go();
  if (what < 980) return queue_up();
  if (what < 990) return plan_fault();
  if (what < 995) return clock_.advance();
  if (what < 998 && random_.one_in(3)) crash(random_.any_of({Crash::kKill, Crash::kPowerCut}));
  if (what == 998 && random_.one_in(2)) stop();
  if (what == 999 && random_.one_in(4)) settle();
}

Client* World::any_client() {
  return clients_.empty() ? nullptr : clients_[random_.below(clients_.size())].get();
}

// The loop reads no socket while the server is behind, nor that of a session with requests left.
void World::send_bytes() {
  Client* client = any_client();
  if (client == nullptr || server_->keys().work().overloaded() || client->session->runnable())
    return;
  if (client->unsent.empty() || random_.one_in(3)) {
    for (uint64_t count = 1 + random_.below(random_.one_in(10) ? 40 : 6); count > 0; --count) {
      client->ask(maker_->make(&client->database_asked));
    }
  }
  const size_t size =
      random_.one_in(2) ? client->unsent.size() : 1 + random_.below(client->unsent.size());
  const std::string bytes = client->unsent.substr(0, size);
  client->unsent.erase(0, size);
  const uint64_t before = client->session->activity().commands();
  client->session->receive(bytes, 1 + random_.below(30));
  note_ran(client, client->session->activity().commands() - before, false);
}

// A single request, so that it is known which one met the failure.
void World::send_one_with_failing_read() {
  Client* client = any_client();
  if (client == nullptr || server_->keys().work().overloaded() || !faults_wanted_) return;
  // The look at who waits, or has left a queue, may be what meets the failure.
  if (tickets_.anybody_waits() || server_->waiting().anybody_ready(server_->timeline().now_ns()))
    return;
  if (!client->unsent.empty() || !client->to_run.empty()) return;
  client->ask(maker_->make(&client->database_asked));
  storage::MemoryFaults& faults = disk_->faults;
  uint64_t& fault = random_.one_in(4) ? faults.cursor : faults.get;
  fault = 1 + random_.below(2);
  const uint64_t before = client->session->activity().commands();
  client->session->receive(std::exchange(client->unsent, {}), 1);
  const bool read_failed = fault == 0;
  fault = 0;
  if (read_failed) trace("a read fails");
  note_ran(client, client->session->activity().commands() - before, read_failed);
}

void World::resume_sessions() {
  if (server_->keys().work().overloaded()) return;
  for (server::Session* session : server_->sessions().holds().take_runnable()) {
    const auto client = std::find_if(clients_.begin(), clients_.end(), [&](const auto& candidate) {
      return candidate->session == session;
    });
    const uint64_t before = session->activity().commands();
    session->resume(1 + random_.below(30));
    if (client == clients_.end()) continue;  // of tickets_
    note_ran(client->get(), session->activity().commands() - before, false);
  }
}

void World::end_turn() {
  const uint64_t failed_before = server_->report().stats.turns_failed;
  const bool store_was_failed = store_failed();
  server_->end_turn();
  note_turn(server_->report().stats.turns_failed != failed_before, store_was_failed);
  check_instant();
}

void World::deliver_to_someone() {
  Client* client = any_client();
  if (client == nullptr) return;
  const size_t bytes_max = random_.one_in(3) ? 1 + random_.below(100) : SIZE_MAX;
  deliver(client, client->never_reads ? 0 : bytes_max);
}

void World::deliver(Client* client, size_t bytes_max) {
  server::Session* session = client->session;
  if (session->dead()) return drop(client);
  std::string bytes;
  while (bytes.size() < bytes_max && !session->output().empty()) {
    const std::string_view piece = session->output().substr(0, bytes_max - bytes.size());
    bytes.append(piece);
    session->mark_sent(piece.size());
  }
  client->read(bytes, [this](const Request& request, const resp::Value& reply) {
    note_reply(request, reply);
  });
  if (session->closing() && session->replies().unsent_bytes() == 0) drop(client);
}

// Between turns, as the loop does.
void World::tick() {
  end_turn();
  const bool was_failed = store_failed();
  server_->tick();
  if (was_failed && !store_failed()) note_recovery();
  note_failure(was_failed);  // a step back of the wall clock is a turn of its own
  check_instant();
}

void World::step_store() {
  if (!server_->keys().store_in_use().is_open()) return;
  for (uint64_t count = 1 + random_.below(3); count > 0; --count) store().step();
}

void World::come_and_go() {
  if (clients_.empty() || (clients_.size() < kClientsMax && random_.one_in(2))) {
    connect();
  } else if (random_.one_in(2)) {
    drop(any_client());
  }
}

void World::queue_up() {
  if (server_->keys().work().overloaded() || !server_->keys().store_in_use().is_open()) return;
  tickets_.advance(*server_);
}

Client* World::connect() {
  const auto session = server_->connect({});
  if (!session) throw Violation("a client is refused: " + session.error());
  clients_.push_back(std::make_unique<Client>(*session));
  clients_.back()->never_reads = random_.one_in(10);
  return clients_.back().get();
}

void World::drop(Client* client) {
  server_->disconnect(client->session);
  std::erase_if(clients_, [&](const auto& candidate) { return candidate.get() == client; });
}

void World::plan_fault() {
  if (!faults_wanted_) return;
  storage::MemoryFaults& faults = disk_->faults;
  const uint64_t when = 1 + random_.below(4);
  switch (random_.below(8)) {
    case 0:
      faults.append_lost = when;
      break;
    case 1:
      faults.append_kept = when;
      break;
    case 2:
      faults.sync = when;
      break;
    case 3:
    case 4:
      faults.write_back = when;
      break;
    case 5:
      faults.disk_full = true;
      break;
    default:
      faults.disk_full = false;
  }
}

}  // namespace weir::simulation
