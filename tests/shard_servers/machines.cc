#include "tests/shard_servers/machines.h"

#include <gtest/gtest.h>

#include <utility>

#include "storage/replication/record.h"
#include "storage/replication/shard_id.h"

namespace weir::server {

using storage::replication::Genesis;

namespace {

constexpr storage::HashSeed kSeed = {11, 22};

Genesis genesis_of(const std::string& shard) {
  Genesis genesis;
  genesis.shard_name = shard;
  genesis.hash_seed = {11, 22};
  genesis.databases = 2;
  return genesis;
}

}  // namespace

uint64_t Machines::checksum() const {
  return storage::replication::shard_checksum(genesis_of(settings_.shard).cluster, settings_.shard);
}

Machines::Machines(uint64_t seed, size_t nodes, const MemberSettings& settings)
    : random_(seed),
      network_(&agenda_, &engine_, &random_, &counts_),
      registry_(&agenda_, &random_),
      settings_(settings) {
  set_log_level(LogLevel::kNothing);
  network_.set_typical_delay(random_.between(100'000, 3'000'000));
  if (settings_.trims) trim_bytes_ = static_cast<uint64_t>(random_.between(500, 20'000));
  const std::string first = encode_record(
      {.nonce = random_.next(), .shard = checksum(), .epoch = {}}, genesis_of(settings_.shard));
  engine_.append(engine_.leader(), storage::replication::Head{}, first);
  engine_.make_durable(engine_.leader(), 1);
  for (size_t i = 0; i < nodes; ++i) {
    auto node = std::make_unique<Node>();
    node->name = std::string(39, '0') + std::to_string(settings_.first_node + i);
    node->clock = std::make_unique<NodeClock>(&agenda_, random_.between(1, 1000) * kSecond,
                                              random_.between(-400, 400) * kMs);
    node->disk = storage::make_memory_disk(kSeed);
    node->disk->steady_ns = [clock = node->clock.get()] { return clock->steady_ns(); };
    nodes_.push_back(std::move(node));
    start(nodes_.back().get());
  }
}

void Machines::wipe(Node* node) { node->disk = storage::make_memory_disk(kSeed); }

void Machines::start(Node* node) {
  MemberPlan plan;
  plan.cluster = std::string(32, 'c');
  plan.shard = settings_.shard;
  plan.shard_checksum = checksum();
  plan.address = node->name.substr(39) + ":6379";
  plan.times = settings_.times;
  plan.append_interval_ns = settings_.append_interval_ns;
  plan.replies = settings_.replies;
  plan.replies.speaks_cluster = settings_.speaks_cluster;
  plan.seed = random_.next();
  plan.trim = {.retained_bytes = trim_bytes_, .bytes_max = trim_bytes_ + trim_bytes_ / 4};
  plan.node = [node]() -> Result<NodeFile, std::string> {
    NodeFile file;
    file.id = node->name;
    return file;
  };
  plan.slots = settings_.slots;
  plan.make_settings_peers = settings_.make_settings_peers;
  if (settings_.make_watch) plan.make_watch = settings_.make_watch(node);
  plan.on_failure = [](const std::string& why) { ADD_FAILURE() << why; };
  auto log = std::make_unique<SimLogWithRegistry>(&network_, &node->link, &registry_);
  SimLogWithRegistry* const registry = log.get();
  node->member = std::make_unique<ShardMember>(
      std::move(plan), OpenedLog{.log = std::move(log), .registry = registry, .watched = nullptr},
      node->clock.get());
  Config config;
  config.databases = 2;
  config.script_time_limit_ms = 0;
  config.cluster_enabled = settings_.speaks_cluster;
  config.write_back_interval_ms = random_.between(20, 2'000);
  const auto make_store = [node] {
    auto store = std::make_unique<storage::MemoryStore>(node->disk);
    node->store = store.get();
    return store;
  };
  node->server = std::make_unique<Server>(config, node->clock.get(), make_store, command_lists(),
                                          Seeds{.choices = random_.next(), .ids = {1, ++life_}},
                                          node->member->replication());
  const storage::Status opened = node->server->open();
  ASSERT_TRUE(opened.ok()) << opened.message();
}

}  // namespace weir::server
