#include "server/core/run/waiting_sessions.h"

#include <optional>

#include "base/time_units.h"
#include "server/core/clients/sessions.h"
#include "server/core/run/cluster.h"
#include "server/core/shard/shard_role.h"
#include "server/os/clock.h"
#include "server/session/session.h"

namespace weir::server {
namespace {

constexpr int64_t kWaiterRetryNs = 10 * kNsPerMs;  // of a waiter that write-back holds up

}  // namespace

void WaitingSessions::serve() {
  needs_.waiting->serve(needs_.timeline->now_ns(),
                        [this](Waiter& waiter, Act what) { return act(waiter, what); });
}

// A waiter whose session is gone can still give back what was taken for it, so it acts in the name
// of a session without a client.
bool WaitingSessions::act(Waiter& waiter, Act act) {
  std::optional<Session> nobody;
  Session* session = needs_.sessions->find_session(waiter.session);
  if (session != nullptr && session->dead()) session = nullptr;
  if (session == nullptr) act = Act::kAbandon;
  if (act == Act::kAbandon) {
    session = &nobody.emplace(&needs_.sessions->host(), waiter.session, Peer());
    session->client().select(waiter.database);
  } else {
    session->join_turn();
  }
  storage::Keyspace& keys = *needs_.keys;
  running_.begin(needs_.timeline->now_ns());
  const size_t reply_begin = session->replies().savepoint();
  const std::vector<std::string_view>& args = waiter.arguments();
  Call call{.host = *needs_.host,
            .limiters = *needs_.limiters,
            .session = *session,
            .keys = keys,
            .reply = session->replies().writer(),
            .command = *waiter.command,
            .args = args,
            .database = session->client().database(),
            .now_ns = keys.running().now_ns()};
  bool done = true;
  call.work().charge_probes(waiter.touched != nullptr ? 1 : args.size());
  running_.bound_reply(session);
  const auto try_once = [&] {
    running_.attempt(*session, session->replies().writer(),
                     [&] { act_once(call, &waiter, act, &done); });
  };
  needs_.messages->tracking().follow(call, try_once);
  while (keys.failure().code() == storage::Status::Code::kNotYet) {
    running_.take_back_for_retry(reply_begin, &session->replies());
    waiter.successor.reset();
    running_.begin(call.now_ns);
    needs_.messages->tracking().follow(call, try_once);
  }
  session->replies().unbound();
  if (act == Act::kTry &&
      running_.take_back_for_retry(reply_begin, &session->replies()) != Hold::kNone) {
    waiter.successor.reset();
    waiter.due_ns = call.now_ns + kWaiterRetryNs;
    return false;
  }
  if (!keys.failure().ok()) {  // the error is the answer
    waiter.successor.reset();
    done = true;
  }
  running_.settle(*session, *waiter.command, reply_begin);
  if (!done || nobody || session->dead()) return done;
  if (waiter.successor != nullptr) {  // which waits with the same request
    session->wait_state().begin({.all = waiter.successor->memory_bytes() + waiter.request_bytes(),
                                 .words = waiter.words_bytes()});
    session->count_bytes();
  } else {
    session->end_wait(needs_.shard_role->early_permits(*waiter.command));
  }
  return true;
}

void WaitingSessions::act_once(Call& call, Waiter* waiter, Act act, bool* done) {
  if (act == Act::kTry) *done = waiter->try_again(call);
  const bool as_moved = waiter->unblocked == Waiter::Unblocked::kMoved;
  const bool in_error = waiter->unblocked == Waiter::Unblocked::kAsError || as_moved;
  if (act == Act::kTimeOut && !in_error) waiter->time_out(call);
  if (act == Act::kAbandon || in_error) waiter->abandon(call);
  if (act == Act::kTimeOut && in_error)
    call.reply.error(as_moved ? cluster_.moved_error(call.session, call.command, call.args)
                              : "UNBLOCKED client unblocked via CLIENT UNBLOCK");
}

}  // namespace weir::server
