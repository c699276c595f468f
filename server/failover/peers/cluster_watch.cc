#include "server/failover/peers/cluster_watch.h"

#include <algorithm>
#include <utility>

#include "base/one_line.h"
#include "base/time_units.h"
#include "server/os/log.h"
#include "server/report/metrics.h"

namespace weir::server {
namespace {

// No shard has this name.
const std::string kSeedsLane;
// Facts of one's own shard are made anew so often, for the map. They take some microseconds.
constexpr int64_t kTellEveryNs = 100 * kNsPerMs;
// An answer that is on its way is looked for so often.
constexpr int64_t kLookNs = 5 * kNsPerMs;
// What is due waits so long at most.
constexpr int64_t kGridNs = 50 * kNsPerMs;
// Of what a peer has answered, in a line of the log.
constexpr size_t kFailureBytesMax = 200;

double seconds_of(int64_t ns) { return static_cast<double>(ns) / static_cast<double>(kNsPerS); }

uint64_t watch_wall_ms(Clock& clock) { return static_cast<uint64_t>(clock.wall_ns() / kNsPerMs); }

// Why facts are not believed, as the end of a sentence.
std::string_view why_not_believed(ClusterFacts::Heard why) {
  using Heard = ClusterFacts::Heard;
  switch (why) {
    case Heard::kTaken:
      return "";
    case Heard::kOtherCluster:
      return "it is of another cluster";
    case Heard::kOlderInstance:
      return "the shard was made anew since";
    case Heard::kInstanceAhead:
      return "its shard was made an hour or more ahead of this machine's clock";
    case Heard::kFarVersion:
      return "its slots have changed more often than can be";
    case Heard::kTooManyShards:
      return "as many shards are known as may be; WEIR SHARD FORGET makes room";
    case Heard::kTooManySlotless:
      return "many shards without slots are known; WEIR SHARD FORGET makes room";
  }
  return "";
}

}  // namespace

ClusterWatch::ClusterWatch(WatchPlan plan, const ClusterFacts::Self& self,
                           std::unique_ptr<Peers> peers, std::unique_ptr<ClusterKeeper> keeper,
                           Clock* clock, Own own)
    : plan_(std::move(plan)),
      self_(self),
      keeper_(std::move(keeper)),
      clock_(*clock),
      own_(std::move(own)),
      known_(self),
      began_ns_(clock->boot_ns()),
      peers_(std::move(peers)) {
  if (keeper_ == nullptr) return;
  kept_ = keeper_->kept();
  if (kept_.empty()) return;
  if (const auto file = parse_cluster_file(kept_); file) {
    known_.restore(*file, watch_wall_ms(clock_));
  } else {
    log_warning("the file CLUSTER is not used, and written anew: {}", file.error());
  }
}

ShardFacts ClusterWatch::facts() {
  ShardFacts facts = own_();
  facts.cluster = self_.cluster;
  facts.shard = self_.shard;
  facts.node = self_.node;
  facts.instance = plan_.instance;
  facts.slots = plan_.slots;
  const int64_t now_ns = clock_.boot_ns();
  for (ToldMember& member : facts.members) {
    if (member.node != self_.node) continue;
    member.tls_port = plan_.tls_port;
    member.hostname = plan_.hostname;
  }
  (void)known_.hear(facts, now_ns);
  // What the others have told of themselves is passed on.
  for (const KnownMember& known : known_.members_of(self_.shard, now_ns)) {
    for (ToldMember& member : facts.members) {
      if (member.node != known.told.node) continue;
      member.tls_port = known.told.tls_port;
      member.hostname = known.told.hostname;
    }
  }
  // Who is known to all is asked often.
  if (others_revision_ != known_.revision()) {
    others_revision_ = known_.revision();
    others_ = known_.addresses(now_ns);
  }
  facts.others = others_;
  return facts;
}

void ClusterWatch::hear(const ShardFacts& facts) {
  if (facts.node == self_.node) return hear_same_node(facts);
  const auto heard = known_.hear(facts, clock_.boot_ns(), watch_wall_ms(clock_));
  if (heard != ClusterFacts::Heard::kTaken) return refuse(heard, facts);
  if (unheard_.erase(facts.shard) > 0) log_info("shard {} is heard again", facts.shard);
}

// It hears itself, if a seed is its own address. Another one has a copy of its directory.
void ClusterWatch::hear_same_node(const ShardFacts& facts) {
  const ToldMember* const own = told_.teller();
  const std::string address = facts.teller()->address();
  if (own == nullptr || (facts.shard == self_.shard && address == own->address())) return;
  if (same_node_ != address) {
    log_warning(
        "{}, of shard {}, calls itself by the id of this member: it has a copy of its directory. "
        "Stop it, delete its file NODE, and start it again",
        address.empty() ? "a server" : address, facts.shard);
  }
  same_node_ = address;
  same_node_at_ns_ = clock_.boot_ns();
}

std::string ClusterWatch::same_node_at() const {
  const bool is_late =
      same_node_at_ns_ == INT64_MIN || clock_.boot_ns() - same_node_at_ns_ >= kUnheardNs;
  return is_late ? std::string() : same_node_;
}

// One line for each reason, since who is refused asks again and again.
void ClusterWatch::refuse(ClusterFacts::Heard why, const ShardFacts& facts) {
  ++refused_;
  if (!told_of_.insert(why).second) return;
  log_warning("what member {} of shard {} of cluster {} tells is ignored: {}",
              facts.teller()->address(), facts.shard, facts.cluster, why_not_believed(why));
}

Result<void, std::string> ClusterWatch::forget(std::string_view shard, Forget how) {
  if (shard == self_.shard) return std::string("ERR this member is of that shard");
  const std::vector<KnownShard> all = shards();
  const auto known =
      std::ranges::find_if(all, [&](const KnownShard& one) { return one.name == shard; });
  if (known == all.end()) return std::string("ERR no shard of that name is known here");
  if (how == Forget::kIfGone && known->heard_ns < kUnheardNs)
    return "ERR a member of that shard was heard " + std::to_string(known->heard_ns / kNsPerMs) +
           " ms ago; with FORCE it is forgotten until it is heard again";
  if (how == Forget::kIfGone && !known->slots.empty())
    return std::string(
        "ERR that shard is shown for slots, which have no address without it; FORCE forgets it");
  (void)known_.forget(shard, clock_.boot_ns());
  failures_.erase(known->name);
  unheard_.erase(known->name);
  keep_at_ns_ = look_at_ns_ = INT64_MIN;
  return {};
}

void ClusterWatch::take(const std::string& lane, const Peers::Answer& answer) {
  AskPlan& plan = plans_.at(lane);
  const int64_t now_ns = clock_.boot_ns();
  const auto facts =
      answer ? read_shard_facts(*answer) : Result<ShardFacts, std::string>(answer.error());
  if (!facts) {
    failures_[lane] = one_line(facts.error().substr(0, kFailureBytesMax));
    return plan.failed(now_ns);
  }
  const bool is_right = lane == kSeedsLane || facts->shard == lane;
  plan.answered(is_right && facts->serves && facts->cluster == self_.cluster, now_ns);
  hear(*facts);
}

void ClusterWatch::ask(const std::string& lane, AskPlan::Wants wants,
                       const std::vector<std::string>& addresses) {
  const int64_t now_ns = clock_.boot_ns();
  const auto address = plans_.try_emplace(lane, wants).first->second.next(addresses, now_ns);
  if (!address) return;
  peers_->ask(
      {.lane = lane, .address = *address, .words = {"WEIR", "FACTS", shard_facts_bytes(told_)}},
      [this, lane](const Peers::Answer& answer) { take(lane, answer); }, now_ns);
}

void ClusterWatch::tell_of_itself() {
  told_ = facts();
  tell_at_ns_ = clock_.boot_ns() + kTellEveryNs;
  if (told_.serves && !served_)
    for (auto& [lane, plan] : plans_) plan.ask_all();
  served_ = told_.serves;
}

void ClusterWatch::ask_all() {
  const int64_t now_ns = clock_.boot_ns();
  // Addresses are made where somebody is to be asked, and not with each look.
  const auto is_due = [&](const std::string& lane) {
    const auto plan = plans_.find(lane);
    return plan == plans_.end() || plan->second.next_ns() <= now_ns;
  };
  for (const std::string& shard : known_.other_shards()) {
    if (is_due(shard)) ask(shard, AskPlan::Wants::kThePrimary, known_.addresses_of(shard, now_ns));
  }
  if (is_due(self_.shard))
    ask(self_.shard, AskPlan::Wants::kAll, known_.addresses_of(self_.shard, now_ns));
  if (now_ns < seeds_at_ns_) return;
  if (known_.is_whole()) seeds_at_ns_ = now_ns + kSeedsEveryNs;
  ask(kSeedsLane, AskPlan::Wants::kAll, plan_.seeds);
}

void ClusterWatch::act() {
  const int64_t now_ns = clock_.boot_ns();
  if (now_ns < look_at_ns_) return;
  peers_->deliver(now_ns);
  if (now_ns >= tell_at_ns_) tell_of_itself();
  ask_all();
  if (now_ns >= keep_at_ns_) {
    keep_at_ns_ = now_ns + kKeepEveryNs;
    tell_of_silence();
    keep();
  }
  look_at_ns_ = now_ns + (peers_->is_asking() ? kLookNs : kGridNs);
}

void ClusterWatch::keep() {
  if (keeper_ == nullptr || kept_revision_ == known_.revision()) return;
  kept_revision_ = known_.revision();
  std::string text = cluster_file_text(known_.file(clock_.boot_ns()));
  if (text == kept_) return;
  kept_ = text;
  keeper_->keep(std::move(text));
}

int64_t ClusterWatch::since(int64_t told_ns) const {
  return std::min(told_ns, clock_.boot_ns() - began_ns_);
}

void ClusterWatch::tell_of_silence() {
  for (const KnownShard& shard : shards()) {
    if (shard.is_own || since(shard.heard_ns) < kUnheardNs || unheard_.contains(shard.name))
      continue;
    unheard_.insert(shard.name);
    log_warning("nothing is heard of shard {}: {}", shard.name, failures_[shard.name]);
  }
}

void ClusterWatch::write_metrics(MetricWriter& out) const {
  out.counter(
      {"cluster_facts_refused", "Facts that other members told and that were not believed."},
      refused_);
  constexpr MetricTable kShardMetrics{"shard", "cluster_shard_"};
  for (const KnownShard& shard : shards()) {
    out.row(kShardMetrics, shard.name, [&] {
      out.gauge({"heard", "How long ago a member of the shard was heard of, or the start.",
                 MetricUnit::kSeconds},
                seconds_of(since(shard.heard_ns)), 3);
      out.gauge({"served", "How long ago a primary of the shard told that it serves, or the start.",
                 MetricUnit::kSeconds},
                seconds_of(since(shard.served_ns)), 3);
    });
  }
}

}  // namespace weir::server
