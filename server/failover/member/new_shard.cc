#include "server/failover/member/new_shard.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/time_units.h"
#include "server/acl/sha256.h"
#include "server/failover/member/foreign_keys.h"
#include "server/failover/member/shard_names.h"
#include "server/failover/shared_log/open_log.h"
#include "storage/format/codec.h"
#include "storage/replication/log_bookmark.h"
#include "storage/replication/shard_id.h"
#include "storage/rocks/rocks_directory.h"
#include "storage/store/newest_records.h"

namespace weir::server {

using storage::Status;
using storage::replication::Appended;
using storage::replication::Genesis;
using storage::replication::LogBookmark;

namespace {

// What a shard is made from.
struct Base {
  storage::DirectoryIdentity identity;
  uint64_t newest_turn = 0;
  std::array<char, 32> digest{};
};

// Over all records, the newest form of each, in their order: the same whatever is written back.
// `foreign` is shown each.
Status digest_of(storage::NewestRecords* records, ForeignKeys* foreign,
                 std::array<char, 32>* digest) {
  std::string sum(digest->size(), '\0');
  const Status status = records->visit([&](std::string_view key, std::string_view value) -> Status {
    storage::put_varint(&sum, key.size());
    sum.append(key).append(value);
    const auto next = acl::sha256(sum);
    sum.assign(reinterpret_cast<const char*>(next.data()), next.size());
    return foreign->take(key, value);
  });
  std::memcpy(digest->data(), sum.data(), digest->size());
  return status;
}

SlotRanges slots_of(const ShardPlan& plan) {
  return plan.founding ? plan.founding->find(plan.name)->slots : all_slots();
}

// A cluster has database 0 only, and what is in others' slots nobody would find here.
Status check_keys(const ShardPlan& plan, const ForeignKeys& foreign) {
  if (has_all_slots(slots_of(plan))) return {};
  const std::string where = "data directory " + plan.store.directory + " holds ";
  if (foreign.beside_database_0() != 0) {
    return Status::refused(where + std::to_string(foreign.beside_database_0()) +
                           " keys in databases other than 0, and a cluster has database 0 only");
  }
  if (foreign.count() == 0) return {};
  const auto other = std::find_if(
      plan.founding->shards().begin(), plan.founding->shards().end(),
      [&](const FoundedShard& shard) { return has_slot(shard.slots, foreign.example()); });
  return Status::refused(where + std::to_string(foreign.count()) +
                         " keys of slots that the founding text gives to other shards, as slot " +
                         std::to_string(foreign.example()) + " to '" + other->name + "'");
}

// Makes the directory where there is none.
Status look_at(const ShardPlan& plan, Base* base) {
  const storage::RocksOptions& options = plan.store;
  {
    storage::RocksDirectory directory(options.directory);
    bool fresh = false;
    Status status = directory.lock();
    if (status.ok()) status = directory.identify(&fresh, &base->identity);
    if (!status.ok() || base->identity.shard) return status;
  }
  const auto store = storage::make_rocks_store(options);
  storage::OpenReport opened;
  if (Status status = store->open(&opened); !status.ok()) return status;
  if (!opened.read_only.ok()) return opened.read_only;
  storage::NewestRecords records(store.get(), opened.written_back_turn, opened.instant_ns);
  if (Status status = records.read_log(); !status.ok()) return status;
  base->newest_turn = records.turn();
  ForeignKeys foreign(slots_of(plan), records.instant_ns());
  if (Status status = digest_of(&records, &foreign, &base->digest); !status.ok()) return status;
  if (Status status = check_keys(plan, foreign); !status.ok()) return status;
  storage::RocksDirectory directory(options.directory);
  bool fresh = false;
  return directory.identify(&fresh, &base->identity);
}

Genesis genesis_of(const ShardPlan& plan, const Base& base) {
  Genesis genesis{.shard_name = plan.name,
                  .hash_seed = base.identity.seed,
                  .databases = plan.databases,
                  .base = id_of_hex(base.identity.id),
                  .base_digest = base.digest,
                  .first_turn = base.newest_turn + 1};
  std::memcpy(genesis.cluster.data(), plan.random.data(), genesis.cluster.size());
  if (!plan.founding) return genesis;
  genesis.cluster = plan.founding->id();
  genesis.origin.slots = slots_of(plan);
  if (has_all_slots(genesis.origin.slots)) return genesis;
  genesis.origin.instance = {.ms = static_cast<uint64_t>(plan.clock->wall_ns() / kNsPerMs),
                             .random = plan.random[0]};
  return genesis;
}

// Answers how the log begins, after this has made it begin if it was empty.
Result<FoundGenesis, std::string> begin_log(const ShardPlan& plan, const Base& base) {
  WaitingLog log(plan.log, plan.clock);
  const auto found = read_genesis(&log);
  if (!found) return found.error();
  if (*found) return **found;
  const Genesis genesis = genesis_of(plan, base);
  const uint64_t shard = storage::replication::shard_checksum(genesis.cluster, genesis.shard_name);
  const Appended appended =
      log.append(storage::replication::Head{},
                 encode_record({.nonce = plan.random[2],
                                .shard = shard,
                                .epoch = {},
                                .version = storage::replication::record_version_of(genesis.origin)},
                               genesis));
  if (appended.outcome == Appended::Outcome::kDone) return FoundGenesis{appended.head, genesis};
  const std::string why = log.trouble().text;
  return "the shared log did not take the shard's first record" +
         (why.empty() ? "" : " (" + why + ")") + "; the same command may be given again";
}

Status join(const ShardPlan& plan, const FoundGenesis& found) {
  storage::RocksOptions options = plan.store;
  options.shard = shard_of(found.genesis);
  options.shard_step = storage::ShardStep::kJoin;
  const auto store = storage::make_rocks_store(options);
  storage::OpenReport opened;
  if (Status status = store->open(&opened); !status.ok()) return status;
  const LogBookmark bookmark{
      .head = found.head, .epoch = found.head, .next_turn = found.genesis.first_turn, .times = {}};
  const std::string bytes = encode_bookmark(bookmark);
  const Status status =
      store->append_batch({.first_turn = found.genesis.first_turn, .turns = {}, .bookmark = bytes});
  return status.ok() ? store->sync_now() : status;
}

Result<void, std::string> check_name(const ShardPlan& plan) {
  if (!storage::is_shard_name(plan.name))
    return "a shard's name is 1 to 64 letters, digits, '-', '_' and '.', got '" + plan.name + "'";
  if (!plan.founding || plan.founding->find(plan.name) != nullptr) return {};
  std::string names;
  for (const FoundedShard& shard : plan.founding->shards())
    names += (names.empty() ? "'" : ", '") + shard.name + "'";
  return "the founding text of cluster '" + plan.founding->name() + "' has the shards " + names +
         ", and none of the name '" + plan.name + "'";
}

// Whether the log was begun for the same cluster, by somebody who may have died since.
Result<void, std::string> check_begun(const ShardPlan& plan, const Base& base,
                                      const Genesis& genesis) {
  const std::string shard =
      "shard " + genesis.shard_name + " of cluster " + hex_of_id(genesis.cluster);
  if (genesis.base != id_of_hex(base.identity.id) || genesis.shard_name != plan.name) {
    return "the shared log is that of " + shard +
           " already; an empty directory joins it when a server is started with it";
  }
  if (plan.founding && genesis.cluster != plan.founding->id()) {
    return "the shared log is that of " + shard + " already, and the founding text makes cluster " +
           hex_of_id(plan.founding->id());
  }
  if (genesis.origin.slots != slots_of(plan)) {
    return "the shared log is that of " + shard +
           " already, which was founded with a part of the slots (" +
           slot_ranges_text(genesis.origin.slots) + "): --founding names the text";
  }
  if (genesis.first_turn != base.newest_turn + 1 || genesis.base_digest != base.digest) {
    return "data directory " + plan.store.directory +
           " has changed since it became the beginning of " + shard +
           "; a new shard needs an empty log";
  }
  return {};
}

}  // namespace

Result<void, std::string> make_shard(const ShardPlan& plan, std::string* said) {
  if (const auto named = check_name(plan); !named) return named;
  Base base;
  if (const Status status = look_at(plan, &base); !status.ok()) return status.message();
  const std::string& directory = plan.store.directory;
  if (base.identity.shard) {
    return "data directory " + directory + " belongs to shard " + base.identity.shard->name +
           " of cluster " + base.identity.shard->cluster + " already; --leave-shard takes it out";
  }
  const auto begun = begin_log(plan, base);
  if (!begun) return begun.error();
  const Genesis& genesis = begun->genesis;
  if (const auto is_ours = check_begun(plan, base, genesis); !is_ours) return is_ours;
  if (const Status status = join(plan, *begun); !status.ok()) return status.message();
  *said = "data directory " + directory + " is the beginning of shard " + genesis.shard_name +
          " of cluster " + hex_of_id(genesis.cluster) + ", up to turn " +
          std::to_string(base.newest_turn);
  if (plan.founding) *said += ", with the slots " + slot_ranges_text(genesis.origin.slots);
  return {};
}

Result<void, std::string> leave_shard(storage::RocksOptions options) {
  {
    storage::RocksDirectory directory(options.directory);
    storage::DirectoryIdentity identity;
    bool fresh = false;
    Status status = directory.lock_to_look();
    if (status.ok()) status = directory.identify(&fresh, &identity);
    if (!status.ok()) return status.message();
    if (fresh) return "data directory " + options.directory + " holds no data";
  }
  options.shard_step = storage::ShardStep::kLeave;
  const auto store = storage::make_rocks_store(options);
  storage::OpenReport opened;
  if (const Status status = store->open(&opened); !status.ok()) return status.message();
  return {};
}

}  // namespace weir::server
