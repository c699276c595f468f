// WAITAOF: waits until everything written before it survives a power cut: until it is on this
// machine's disk, or in a shard in the shared log, from where the standbys take it.
//
// Invariants
// 1. The answer is true for every command that was run before it, on any connection.
// 2. While a session waits, the store is looked at every kLookNs; otherwise never.
#include <memory>

#include "base/heap_bytes.h"
#include "base/time_units.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/commands/command_lists.h"
#include "server/commands/standbys.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

constexpr int64_t kLookNs = 5 * kNsPerMs;

void reply_synced(Call& call, bool synced, uint64_t turn) {
  call.reply.array(2);
  call.reply.integer(synced ? 1 : 0);
  call.reply.integer(standbys_with(call, turn));
}

bool has_log(const storage::StoreInUse& store) { return store.is_open() && !store.failed(); }

bool is_synced(Call& call, uint64_t turn) {
  if (is_in_shard(call)) return is_committed(call, turn);
  const storage::StoreInUse& store = call.keys.store_in_use();
  return has_log(store) && store->sync_state().synced_turn >= turn;
}

// With durability `no` only WAITAOF asks for a sync.
void start_sync_if_nobody_does(Call& call, uint64_t turn) {
  storage::StoreInUse& store = call.keys.store_in_use();
  const bool is_ours = server_of(call).config().durability == DurabilityLevel::kNo &&
                       has_log(store) && call.keys.turn() >= turn;
  if (is_ours && !store->sync_state().running) store->start_sync();
}

class SyncWaiter : public Waiter {
 public:
  explicit SyncWaiter(uint64_t turn) : turn_(turn) {}

  bool try_again(Call& call) override {
    if (!is_synced(call, turn_)) {
      start_sync_if_nobody_does(call, turn_);
      due_ns = call.now_ns + kLookNs;
      return false;
    }
    reply_synced(call, true, turn_);
    return true;
  }
  void time_out(Call& call) override { reply_synced(call, is_synced(call, turn_), turn_); }
  size_t own_bytes() const override { return block_bytes(sizeof(*this)); }

 private:
  uint64_t turn_;
};

void waitaof(Call& call) {
  const auto local = integer_argument(call, call.args[1]);
  if (!local) return;
  if (*local < 0 || *local > 1)
    return call.reply.error("ERR value is out of range, value must between 0 and 1");
  if (!positive_argument(call, call.args[2])) return;
  const auto timeout_ms = resp::parse_int64(call.args[3]);
  if (!timeout_ms || *timeout_ms > (kNotDue - call.now_ns) / kNsPerMs)
    return call.reply.error("ERR timeout is not an integer or out of range");
  if (*timeout_ms < 0) return call.reply.error("ERR timeout is negative");
  const uint64_t turn = turn_of_now(call);
  const bool synced = is_synced(call, turn);
  if (synced || *local == 0 || !call.session.wait_state().permitted())
    return reply_synced(call, synced, turn);
  auto waiter = std::make_unique<SyncWaiter>(turn);
  waiter->due_ns = call.now_ns + kLookNs;
  if (*timeout_ms > 0) waiter->deadline_ns = call.now_ns + *timeout_ms * kNsPerMs;
  call.host.wait(call, std::move(waiter));
}

constexpr Command kWaitaofCommands[] = {
    {.name = "waitaof",
     .arity = 4,
     .flags = kNoScript | kBlocking,
     .group = "generic",
     .categories = "connection",
     .usage = "numlocal:integer numreplicas timeout",
     .summary =
         "Waits until all that was written before it survives a power cut, in a shard that of "
         "its primary; answers whether it does, and how many standbys there are.",
     .since = "7.2.0",
     .run = waitaof},
};

}  // namespace

Commands waitaof_commands() { return kWaitaofCommands; }

}  // namespace weir::server
