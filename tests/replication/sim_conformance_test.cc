// The simulated engine is a SharedLog as the real ones are.
#include <map>

#include "tests/replication/conformance.h"
#include "tests/replication/sim_log.h"

namespace weir::storage::replication {
namespace {

class SimLogEngine : public LogEngine {
 public:
  explicit SimLogEngine(EngineFlaws flaws = {}) : flaws_(flaws) {}

  std::unique_ptr<SharedLog> connect(const std::string& name) override {
    Shard& shard = shard_of(name);
    shard.links.push_back(std::make_unique<Link>());
    shard.links.back()->branch = shard.engine.leader();
    return std::make_unique<SimLog>(&shard.network, shard.links.back().get());
  }
  void pass() override { agenda_.pass(10'000'000); }
  int64_t boot_ns() override { return agenda_.now_ns(); }

  bool lose_next_request() override { return arrange(Fate::kRequestLost); }
  bool lose_next_answer() override { return arrange(Fate::kAnswerLost); }
  bool delay_next_request() override { return arrange(Fate::kArrivesLate); }
  bool lose_records(const std::string& name, size_t count) override {
    Shard& shard = shard_of(name);
    shard.engine.fail_over(shard.engine.size(shard.engine.leader()) - count);
    for (const auto& link : shard.links) link->branch = shard.engine.leader();
    return true;
  }
  bool damage(const std::string& name, uint64_t log_index) override {
    shard_of(name).engine.damage(shard_of(name).engine.leader(), log_index);
    return true;
  }
  bool remove(const std::string& name, uint64_t log_index) override {
    shard_of(name).engine.remove(shard_of(name).engine.leader(), log_index);
    return true;
  }

 private:
  struct Shard {
    Shard(EngineFlaws flaws, Agenda* agenda, simulation::Random* random, Counts* counts)
        : engine(flaws), network(agenda, &engine, random, counts) {
      network.be_quiet();
    }

    SimEngine engine;
    SimNetwork network;
    std::vector<std::unique_ptr<Link>> links;
  };

  Shard& shard_of(const std::string& name) {
    auto& shard = shards_[name];
    if (!shard) shard = std::make_unique<Shard>(flaws_, &agenda_, &random_, &counts_);
    return *shard;
  }
  bool arrange(Fate fate) {
    for (const auto& [name, shard] : shards_) shard->network.arrange(fate);
    return true;
  }

  EngineFlaws flaws_;
  Agenda agenda_;
  simulation::Random random_{1};
  Counts counts_;
  std::map<std::string, std::unique_ptr<Shard>> shards_;
};

INSTANTIATE_TEST_SUITE_P(Engines, Conformance,
                         testing::Values(LogEngineFactory{
                             "Simulated", [] { return std::make_unique<SimLogEngine>(); }}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weir::storage::replication
