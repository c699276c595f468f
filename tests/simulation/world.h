// A whole server, its disk, its clock and its clients in one thread, everything that happens drawn
// from one seed.
//
// The server runs as the event loop would run it: sessions take bytes, the turn ends, replies
// leave, chores run between turns. Beside it the model runs the same commands in the same order.
// Any difference that a promise forbids is a Violation:
//
//  1. Each reply is the model's, in order, one for each request.
//  2. After a crash the data is one of the model's states, no older than a client was told of:
//     after SIGKILL always, after a power cut with durability always, else up to the last sync.
//  3. Limiters that never refill: acknowledged <= charged <= acknowledged + unknown (audit.h).
//  4. Instants never run back, over crashes too, nor ahead of what the clocks ever said, and they
//     pass as fast as the steady clock.
//  5. Places in a queue that a client was told of are there after a crash (tickets.h).
//  6. When the faults end, the server works again, catches up, comes to rest, and keeps nothing
//     that it need not.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/core/run/server.h"
#include "storage/memory/memory_store.h"
#include "tests/simulation/audit.h"
#include "tests/simulation/bad_clock.h"
#include "tests/simulation/client.h"
#include "tests/simulation/history.h"
#include "tests/simulation/inspection.h"
#include "tests/simulation/request_maker.h"
#include "tests/simulation/tickets.h"

namespace weir::simulation {

class World {
 public:
  explicit World(uint64_t seed);
  ~World();

  // Throws a Violation.
  void run(uint64_t steps);
  // Each thing that happens, as a line.
  void set_trace(std::function<void(const std::string&)> trace) { trace_ = std::move(trace); }
  uint64_t requests_run() const { return requests_run_; }
  uint64_t crashes() const { return crashes_; }
  uint64_t queues() const { return tickets_.queues_checked(); }

 private:
  // world.cc: what happens
  void step();
  void send_bytes();
  void send_one_with_failing_read();
  void resume_sessions();
  void end_turn();
  void deliver_to_someone();
  void tick();
  void step_store();
  void come_and_go();
  void queue_up();
  void plan_fault();

  // world_check.cc: what must be so
  void note_ran(Client* client, uint64_t commands, bool read_failed);
  void note_turn(bool failed, bool store_was_failed);
  void note_failure(bool store_was_failed);
  void forget_failed_turn();
  void note_reply(const Request& request, const resp::Value& reply);
  void note_recovery();
  void check_instant();
  void check_found(const Inspection& found, Crash crash);
  std::string describe_mismatch(const Inspection& found, Crash crash) const;
  std::string wrong_size(const Model& model, int database, uint64_t size, bool counted_anew) const;
  void vouch(Request* request) const;

  // world_life.cc: starts, crashes and the end of faults
  void open(Crash crash);
  server::Config any_config();
  void crash(Crash crash);
  bool may_lose_acknowledged(Crash crash) const;
  void stop();
  void settle();
  void rest(int rounds);
  void wait_until_idle();
  void demand_writes_work();
  void demand_no_leftovers() const;
  void demand_sizes();

  storage::MemoryStore& store() {
    return static_cast<storage::MemoryStore&>(*server_->keys().store_in_use());
  }
  bool store_failed() const { return server_->keys().store_in_use().failed(); }
  bool denies() const {
    return server_->config().storage_failure_policy == server::FailurePolicy::kDeny;
  }
  Client* any_client();
  Client* connect();
  void deliver(Client* client, size_t bytes_max);
  void drop(Client* client);
  void trace(const std::string& line) {
    if (trace_) trace_(line);
  }

  Random random_;
  BadClock clock_;
  std::shared_ptr<storage::MemoryDisk> disk_;
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<RequestMaker> maker_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::function<void(const std::string&)> trace_;

  Model live_;                        // what the server must show now
  Model turn_begin_;                  // live_ when the running turn began
  std::vector<RequestPointer> turn_;  // run in it
  History history_;
  Audit audit_;
  Tickets tickets_;
  uint64_t storage_failures_ = 0;
  uint64_t storage_failures_at_open_ = 0;
  bool faults_wanted_ = true;
  bool lost_track_ = false;  // of what the running turn has changed
  int64_t last_instant_ns_ = 0;
  int64_t ahead_of_steady_ns_max_ = 0;  // how far instants may be ahead of the steady clock
  int64_t opened_ns_ = 0;               // the first instant, and the steady clock then
  int64_t opened_steady_ns_ = 0;
  uint64_t requests_run_ = 0;
  uint64_t crashes_ = 0;
};

}  // namespace weir::simulation
