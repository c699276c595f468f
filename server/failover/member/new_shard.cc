#include "server/failover/member/new_shard.h"

#include <cstring>
#include <utility>

#include "server/acl/sha256.h"
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
Status digest_of(storage::NewestRecords* records, std::array<char, 32>* digest) {
  std::string sum(digest->size(), '\0');
  const Status status = records->visit([&](std::string_view key, std::string_view value) -> Status {
    storage::put_varint(&sum, key.size());
    sum.append(key).append(value);
    const auto next = acl::sha256(sum);
    sum.assign(reinterpret_cast<const char*>(next.data()), next.size());
    return {};
  });
  std::memcpy(digest->data(), sum.data(), digest->size());
  return status;
}

// Makes the directory where there is none.
Status look_at(const storage::RocksOptions& options, Base* base) {
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
  if (Status status = digest_of(&records, &base->digest); !status.ok()) return status;
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
                 encode_record({.nonce = plan.random[2], .shard = shard, .epoch = {}}, genesis));
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

}  // namespace

Result<void, std::string> make_shard(const ShardPlan& plan, std::string* said) {
  if (!storage::is_shard_name(plan.name))
    return "a shard's name is 1 to 64 letters, digits, '-', '_' and '.', got '" + plan.name + "'";
  Base base;
  if (const Status status = look_at(plan.store, &base); !status.ok()) return status.message();
  const std::string& directory = plan.store.directory;
  if (base.identity.shard) {
    return "data directory " + directory + " belongs to shard " + base.identity.shard->name +
           " of cluster " + base.identity.shard->cluster + " already; --leave-shard takes it out";
  }
  const auto begun = begin_log(plan, base);
  if (!begun) return begun.error();
  const Genesis& genesis = begun->genesis;
  const std::string shard =
      "shard " + genesis.shard_name + " of cluster " + hex_of_id(genesis.cluster);
  if (genesis.base != id_of_hex(base.identity.id) || genesis.shard_name != plan.name) {
    return "the shared log is that of " + shard +
           " already; an empty directory joins it when a server is started with it";
  }
  if (genesis.first_turn != base.newest_turn + 1 || genesis.base_digest != base.digest) {
    return "data directory " + directory + " has changed since it became the beginning of " +
           shard + "; a new shard needs an empty log";
  }
  if (const Status status = join(plan, *begun); !status.ok()) return status.message();
  *said = "data directory " + directory + " is the beginning of " + shard + ", up to turn " +
          std::to_string(base.newest_turn);
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
