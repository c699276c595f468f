#include "server/failover/member/cluster_watch_of.h"

#include <cstring>
#include <filesystem>
#include <utility>

#include "base/ascii.h"
#include "server/cluster/setting_item.h"
#include "server/failover/peers/peer.h"
#include "server/failover/peers/peer_threads.h"
#include "server/os/log.h"
#include "server/os/plain_file.h"
#include "server/os/replace_file.h"
#include "storage/store/worker_thread.h"

namespace weir::server {
namespace {

// An answer is facts and little else.
// A page may have a large library.
constexpr int64_t kSettingsExchangeMs = 1'500;
constexpr size_t kAnswerBytesMax = kFactsBytesMax + 4096;

class FileKeeper final : public ClusterKeeper {
 public:
  explicit FileKeeper(std::string path) : path_(std::move(path)) {}

  std::string kept() override {
    std::error_code error;
    if (!std::filesystem::exists(path_, error)) return "";
    std::string text;
    if (const auto read = read_plain_file(path_, kClusterFileBytesMax, "2mb", &text); read)
      return text;
    else
      log_warning("{}", read.error());
    return "";
  }
  void keep(std::string text) override {
    worker_.post([path = path_, text = std::move(text)] {
      if (const int failed = replace_file(path, text, Links::kAreReplaced); failed != 0)
        log_warning("cannot write {}: {}", path, std::strerror(failed));
    });
  }

 private:
  const std::string path_;
  storage::WorkerThread worker_;
};

WatchPlan watch_plan_of(const Config& config, const storage::ShardIdentity& shard) {
  WatchPlan plan{.cluster = shard.cluster, .instance = shard.origin.instance};
  for (const SlotRange& range : shard.origin.slots) plan.slots.push_back({.slots = range});
  plan.hostname = config.cluster_announce_hostname;
  if (config.port != 0 && config.tls_port != 0) {
    const bool is_announced = config.cluster_announce_tls_port != 0;
    plan.tls_port =
        static_cast<int>(is_announced ? config.cluster_announce_tls_port : config.tls_port);
  }
  for (const std::string_view seed : split_at_spaces(config.cluster_seeds))
    plan.seeds.emplace_back(seed);
  return plan;
}

}  // namespace

std::unique_ptr<ClusterKeeper> cluster_file_in(const std::string& directory) {
  return std::make_unique<FileKeeper>(directory + "/CLUSTER");
}

decltype(MemberPlan::make_watch) cluster_watch_of(const Config& config,
                                                  const storage::ShardIdentity& shard,
                                                  Clock* clock) {
  const RedisClient::Patience patience{.silence_ms = AskPlan::kSilenceNs / kNsPerMs,
                                       .exchange_ms = AskPlan::kSilenceNs / kNsPerMs,
                                       .exchange_bytes = kAnswerBytesMax};
  return [plan = watch_plan_of(config, shard), access = peer_access(config), patience, clock,
          name = shard.name, dir = config.dir](const std::string& node, ClusterWatch::Own own) {
    const ClusterFacts::Self self{
        .cluster = plan.cluster, .shard = name, .node = node, .instance = plan.instance};
    return std::make_unique<ClusterWatch>(plan, self,
                                          std::make_unique<PeerThreads>(access, patience, clock),
                                          cluster_file_in(dir), clock, std::move(own));
  };
}

decltype(MemberPlan::make_settings_peers) settings_peers_of(const Config& config, Clock* clock) {
  const RedisClient::Patience patience{.silence_ms = AskPlan::kSilenceNs / kNsPerMs,
                                       .exchange_ms = kSettingsExchangeMs,
                                       .exchange_bytes = kPageAnswerBytesMax};
  return [access = peer_access(config), patience, clock] {
    return std::make_unique<PeerThreads>(access, patience, clock);
  };
}

}  // namespace weir::server
