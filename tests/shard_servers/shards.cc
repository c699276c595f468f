#include "tests/shard_servers/shards.h"

#include <gtest/gtest.h>

#include "resp/value.h"

namespace weir::server {
namespace {

constexpr int64_t kSilenceNs = 500 * kMs;
const std::string kClusterId(32, 'c');

class KeeperInMemory final : public ClusterKeeper {
 public:
  explicit KeeperInMemory(std::string* text) : text_(*text) {}
  std::string kept() override { return text_; }
  void keep(std::string text) override { text_ = std::move(text); }

 private:
  std::string& text_;
};

}  // namespace

// A member's questions to the others. Those that are on their way when it dies have no answer.
class ClusterOfShards::Link final : public Peers {
 public:
  Link(ClusterOfShards* cluster, size_t shard) : cluster_(*cluster), shard_(shard) {}

  void ask(PeerQuestion question, Then then, int64_t) override {
    for (const auto& [asked, other] : asked_) EXPECT_NE(asked->asked.lane, question.lane);
    asked_.emplace_back(cluster_.send(shard_, std::move(question)), std::move(then));
  }
  void deliver(int64_t) override {
    for (auto at = asked_.begin(); at != asked_.end();) {
      if (!at->first->is_over || cluster_.now_ns_ < at->first->due_ns) {
        ++at;
        continue;
      }
      const auto [question, then] = std::move(*at);
      at = asked_.erase(at);
      then(question->answer);
    }
  }
  bool is_asking() const override { return !asked_.empty(); }

 private:
  ClusterOfShards& cluster_;
  const size_t shard_;
  std::list<std::pair<std::shared_ptr<Question>, Then>> asked_;
};

ShardOfCluster::ShardOfCluster(uint64_t seed, size_t nodes, const MemberSettings& settings)
    : Machines(seed, nodes, settings) {
  network_.be_quiet();
}

ShardOfCluster::~ShardOfCluster() {
  for (const auto& node : nodes_) stop_process(node.get());
}

void ShardOfCluster::pass_one_ms() {
  agenda_.pass(kMs);
  for (const auto& node : nodes_)
    if (is_up(node.get())) turn(node.get(), [] {});
}

Node* ShardOfCluster::primary() const {
  for (const auto& node : nodes_)
    if (is_up(node.get()) && node->member->serves()) return node.get();
  return nullptr;
}

std::vector<Node*> ShardOfCluster::nodes() const {
  std::vector<Node*> all;
  for (const auto& node : nodes_) all.push_back(node.get());
  return all;
}

Node* ShardOfCluster::find(const std::string& address) const {
  for (const auto& node : nodes_)
    if (node->name.substr(39) + ":6379" == address) return node.get();
  return nullptr;
}

ClusterOfShards::ClusterOfShards(uint64_t seed, size_t shards, size_t members) : random_(seed) {
  for (size_t at = 0; at < shards; ++at) {
    MemberSettings settings;
    settings.speaks_cluster = true;
    settings.shard = name_of(at);
    settings.first_node = at * members;
    const int share = kSlots / static_cast<int>(shards);
    const int first = static_cast<int>(at) * share;
    const int last = at + 1 == shards ? kSlots - 1 : first + share - 1;
    settings.slots = {{first, last}};
    settings.make_settings_peers = [this, at] { return std::make_unique<Link>(this, at); };
    WatchPlan plan{.cluster = kClusterId, .instance = {.ms = 1, .random = at}};
    plan.slots = {{.slots = {first, last}, .version = 1}};
    for (size_t other = 0; other < shards; ++other) {
      if (other != at) plan.seeds.push_back(std::to_string(other * members) + ":6379");
    }
    settings.make_watch = [this, at, plan](Node* node) -> decltype(MemberPlan::make_watch) {
      WatchPlan own = plan;
      own.hostname = "host-" + node->name.substr(39);
      own.tls_port = 7000;
      if (!has_seeds_) own.seeds.clear();
      return [this, at, own, node](const std::string& name, ClusterWatch::Own facts) {
        const ClusterFacts::Self self{.cluster = kClusterId, .shard = name_of(at), .node = name};
        return std::make_unique<ClusterWatch>(own, self, std::make_unique<Link>(this, at),
                                              std::make_unique<KeeperInMemory>(&kept_[name]),
                                              node->clock.get(), std::move(facts));
      };
    };
    shards_.push_back(std::make_unique<ShardOfCluster>(seed + at, members, settings));
  }
}

ClusterOfShards::~ClusterOfShards() {
  for (const auto& question : questions_)
    if (question->session != nullptr) end(question.get(), std::string("the end"));
}

void ClusterOfShards::pass(int64_t ns) {
  for (const int64_t end_ns = now_ns_ + ns; now_ns_ < end_ns;) {
    now_ns_ += kMs;
    for (const auto& shard : shards_) shard->pass_one_ms();
    for (auto at = questions_.begin(); at != questions_.end();) {
      step(at->get());
      at = (*at)->is_over ? questions_.erase(at) : std::next(at);
    }
  }
}

size_t ClusterOfShards::shard_at(const std::string& address) const {
  for (size_t at = 0; at < shards_.size(); ++at)
    if (shards_[at]->find(address) != nullptr) return at;
  return shards_.size();
}

std::shared_ptr<ClusterOfShards::Question> ClusterOfShards::send(size_t from,
                                                                 PeerQuestion question) {
  auto sent = std::make_shared<Question>();
  sent->asked = std::move(question);
  sent->from = from;
  sent->asked_at_ns = now_ns_;
  sent->due_ns = now_ns_ + delay_ns();
  questions_.push_back(sent);
  return sent;
}

void ClusterOfShards::end(Question* question, Peers::Answer answer) {
  if (question->session != nullptr)
    question->to->server->disconnect(std::exchange(question->session, nullptr));
  question->is_over = true;
  question->answer = std::move(answer);
}

void ClusterOfShards::begin(Question* question) {
  const size_t to = shard_at(question->asked.address);
  Node* const node = to < shards_.size() ? shards_[to]->find(question->asked.address) : nullptr;
  if (node == nullptr || !node->server) return end(question, std::string("connection refused"));
  const auto session = node->server->connect(FakeServer::local_peer());
  if (!session) return end(question, session.error());
  question->to = node;
  question->session = *session;
  std::string bytes = "*" + std::to_string(question->asked.words.size()) + "\r\n";
  for (const std::string& word : question->asked.words)
    bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  question->session->receive(bytes, 1024);
}

void ClusterOfShards::look_for_reply(Question* question) {
  Session& session = *question->session;
  while (!session.output().empty()) {
    question->reply.append(session.output());
    session.mark_sent(session.output().size());
  }
  resp::Value value;
  size_t used = 0;
  if (resp::decode(question->reply, &value, &used) != resp::DecodeStatus::kValue) return;
  question->due_ns = now_ns_ + delay_ns();
  end(question, value.is_error() ? Peers::Answer(value.text) : Peers::Answer(std::move(value)));
}

void ClusterOfShards::step(Question* question) {
  if (now_ns_ - question->asked_at_ns >= kSilenceNs) return end(question, std::string("silent"));
  const size_t to = shard_at(question->asked.address);
  if (cut_.contains(std::minmax(question->from, to))) return;
  const Node* const node =
      to < shards_.size() ? shards_[to]->find(question->asked.address) : nullptr;
  if (node != nullptr && node->server && !shards_[to]->is_up(node)) return;  // stopped
  if (question->session != nullptr) return look_for_reply(question);
  if (now_ns_ >= question->due_ns) begin(question);
}

void ClusterOfShards::kill(size_t shard, Node* node) {
  for (const auto& question : questions_)
    if (question->to == node && question->session != nullptr)
      end(question.get(), std::string("reset"));
  shards_[shard]->kill(node);
}

void ClusterOfShards::cut(size_t one, size_t other, bool is_cut) {
  const std::pair<size_t, size_t> link = std::minmax(one, other);
  if (is_cut) {
    cut_.insert(link);
  } else {
    cut_.erase(link);
  }
}

const ClusterFacts& ClusterOfShards::known(const Node* node) {
  return static_cast<ClusterWatch*>(node->member->facts_exchange())->known();
}

std::string ClusterOfShards::primaries_at(const Node* node) const {
  std::string text;
  for (const KnownShard& shard : known(node).shards(node->clock->boot_ns())) {
    const KnownMember* const primary = shard.primary();
    text += shard.name + "=" + (primary == nullptr ? "" : primary->told.address()) + " ";
  }
  return text;
}

std::string ClusterOfShards::primaries() const {
  std::string text;
  for (size_t at = 0; at < shards_.size(); ++at) {
    const Node* const primary = shards_[at]->primary();
    text +=
        name_of(at) + "=" + (primary == nullptr ? "" : primary->name.substr(39) + ":6379") + " ";
  }
  return text;
}

bool ClusterOfShards::all_agree() const {
  for (const auto& shard : shards_) {
    for (const Node* node : shard->nodes()) {
      if (!shard->is_up(node)) continue;
      if (primaries_at(node) != primaries() || !known(node).is_whole()) return false;
    }
  }
  return true;
}

std::string ClusterOfShards::ask(size_t shard, Node* node, const std::vector<std::string>& words) {
  Question question;
  question.asked = {.lane = "", .address = node->name.substr(39) + ":6379", .words = words};
  question.from = shard;
  begin(&question);
  while (!question.is_over) {
    pass(kMs);
    if (question.session != nullptr) look_for_reply(&question);
  }
  return question.answer ? resp::to_string(*question.answer) : question.answer.error();
}

}  // namespace weir::server
