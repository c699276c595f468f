#include "server/failover/member/shard_member.h"

#include <algorithm>
#include <utility>

#include "base/crc64.h"
#include "base/time_units.h"
#include "server/failover/member/member_metrics.h"
#include "server/failover/peers/member_words.h"
#include "server/os/log.h"
#include "server/report/metrics.h"

namespace weir::server {

using storage::Status;
using storage::replication::Member;
using storage::replication::MemberOptions;
using storage::replication::Role;

namespace {

constexpr int64_t kLeaveNs = kNsPerS;

// Asks the member; the rest is the base's.
class ShardDurability final : public Durability {
 public:
  ShardDurability(const Config* config, storage::Keyspace* keys, PrimaryReplies* replies)
      : Durability(config, keys), replies_(*replies) {}

  Coverage covers(const Told& told, int64_t steady_ns) const override {
    return replies_.covers(told, steady_ns);
  }
  int64_t early_wait_ns() const override { return replies_.early_wait_ns(); }
  bool let_out_early(const Told& told, uint64_t permits, int64_t steady_ns) override {
    return replies_.let_out_early(told, permits, steady_ns);
  }
  bool gives_up() const override { return replies_.gives_up(); }

 private:
  PrimaryReplies& replies_;
};

uint64_t settings_shard_of(const std::string& shard, const storage::ShardInstance& instance) {
  return crc64_xz(shard + " " + storage::instance_text(instance)) % UniqueIds::kShardsOfVersions;
}

// A primary that leaves is one until it has given the role away.
Role told_role(const Member& member, const Leaving& leaving) {
  return leaving.has_begun() && !member.is_primary() ? Role::kLeaving : member.role();
}

void look_for_log(LogAbsence* absence, bool is_promoted, int64_t lease_ns, Server* server) {
  const int64_t boot_ns = server->clock().boot_ns();
  const bool was_away = absence->is_away();
  absence->look(boot_ns);
  if (!is_promoted) return;
  if (absence->is_away() && !was_away)
    log_warning("the shared log does not answer: what has to wait for it is refused until it does");
  if (absence->outlasts(lease_ns, boot_ns)) server->shard_role().cut_listeners();
}

}  // namespace

ShardMember::ShardMember(MemberPlan plan, OpenedLog opened, Clock* clock)
    : plan_(std::move(plan)),
      clock_(*clock),
      random_(plan_.seed),
      port_({.plan = &plan_,
             .clock = clock,
             .random = &random_,
             .log = opened.log.get(),
             .trimmer = &trimmer_,
             .replies = &replies_,
             .stale_clients = &stale_clients_}),
      log_(std::move(opened.log)),
      watched_log_(opened.watched),
      registry_(opened.registry),
      trimmer_(log_.get(), plan_.trim),
      replies_(plan_.replies, clock),
      stale_clients_(plan_.replies.speaks_cluster),
      operator_requests_(plan_.pull.peers) {}

void ShardMember::set_watcher(storage::SocketWatcher* watcher) {
  if (watched_log_ != nullptr) watched_log_->set_watcher(watcher);
}

void ShardMember::on_socket_ready() { watched_log_->on_ready(clock_.boot_ns()); }

Replication ShardMember::replication() {
  const auto make_durability = [this](const Config* config, storage::Keyspace* keys) {
    keys_ = keys;
    port_.use(keys);
    return std::make_unique<ShardDurability>(config, keys, &replies_);
  };
  return {.log = this, .make_durability = make_durability, .membership = this, .instants = this};
}

Result<void, std::string> ShardMember::begin(Server* server) {
  server_ = server;
  port_.begin(server);
  const auto node = plan_.node();
  if (!node) return node.error();
  self_ = {.node = node->id,
           .address = plan_.address,
           .incarnation = {.high = random_.next(), .low = random_.next()}};
  if (const std::string weakness = log_->facts().weakness; !weakness.empty())
    log_warning("the shared log may lose what it has acknowledged: {}", weakness);
  begin_protocol();
  copies_ = std::make_unique<ShardCopies>(
      plan_.pull, server_, &clock_, [this]() -> Result<SnapshotPlace, std::string> {
        if (member_->role() == Role::kStopped)
          return "ERR this member of shard " + plan_.shard +
                 " has stopped: " + port_.stopped().because;
        if (!copies_->can_copy() || written_back_.log_index == 0)
          return std::string("ERR this member has no data of the shard that could be copied yet");
        return SnapshotPlace{.log_index = written_back_.log_index, .crc = written_back_.crc};
      });
  log_info("node {} is a member of shard {}, with turn {}; clients reach it at {}", self_.node,
           plan_.shard, keys_->turn(), plan_.address);
  if (plan_.make_watch) watch_ = plan_.make_watch(self_.node, [this] { return told_facts(); });
  if (watch_ != nullptr && plan_.make_settings_peers)
    settings_pull_ = std::make_unique<SettingsPull>(plan_.make_settings_peers(), &clock_);
  // A shard that has all slots is a cluster of its own, and a server before it was one.
  if (settings_pull_ != nullptr && plan_.slots != all_slots())
    settings_shard_ = settings_shard_of(plan_.shard, watch_->instance());
  act();
  return {};
}

void ShardMember::begin_protocol() {
  kept_ =
      std::make_unique<KeptTurns>(keys_, [this](const Status& failure) { plan_.fail(failure); });
  const storage::replication::LogFacts facts = log_->facts();
  MemberOptions options;
  options.records = {.shard = plan_.shard_checksum, .version = plan_.record_version};
  if (facts.uses_parts) options.records.part_bytes_max = facts.record_bytes_max;
  options.self = self_;
  options.times = plan_.times;
  options.append_interval_ns = plan_.append_interval_ns;
  options.early_release_ns_max = plan_.replies.early.age_ns_max;
  member_ = std::make_unique<Member>(options, kept_.get(), &port_, keys_->metrics().instant_ns);
  port_.begin_protocol(member_.get(), kept_->bookmarks());
  replies_.begin(member_.get());
}

// The store is closed, and opened anew with what was copied (main.cc puts it in place).
void ShardMember::adopt_copy() {
  port_.end_protocol();
  operator_requests_.give_up_taking();
  if (const Status status = server_->shard_role().demote(true); !status.ok())
    return plan_.fail(status);
  begin_protocol();
  copies_->adopted();
  log_warning("this member of shard {} goes on with the copied data, at turn {}", plan_.shard,
              keys_->turn());
}

void ShardMember::listen() {
  if (!member_) return;
  if (keys_->store_in_use().failed()) plan_.fail(server_->persistence().health.failure());
  log_->tick(clock_.boot_ns());
  port_.take_in(While::kBetweenTurns);
  settle();
  look_for_log(&replies_.absence(), port_.is_promoted(), plan_.times.lease_ns, server_);
  const std::string& primary = member_->log_state().primary().address;
  primary_teller_.look(plan_.shard, primary, &server_->messages().pubsub());
  stale_clients_.look(primary, primary == plan_.address, clock_.boot_ns(), server_);
}

void ShardMember::act() {
  if (!member_) return;
  settle();
  if (Leaving& leaving = operator_requests_.leaving(); clock_.boot_ns() >= leaving.next_ns()) {
    registry_.read_soon(clock_.boot_ns());
    leaving.look(members(), clock_.boot_ns());
    if (!port_.is_promoted()) leaving.end_search(clock_.boot_ns());
  }
  operator_requests_.act(member_.get(), port_.now());
  trouble_.look(*log_, clock_.boot_ns());
  copies_->given().begin_turn();
  const auto sources = [this] { return sources_of(registry_.view(facts()), self_.node); };
  if (port_.stopped().copies && copies_->has_copied(sources, random_.next())) adopt_copy();
  member_->tick(port_.now());
  port_.ask_to_read();
  settle();
  const int64_t now_ns = clock_.boot_ns();
  if (now_ns >= registry_.next_ns(told_role(*member_, operator_requests_.leaving()))) {
    digests_ = node_digests(server_->config(), server_->acl().users());
    registry_.write(facts(), now_ns);
  }
  if (serves() && trimmer_.due(now_ns))
    trimmer_.trim(written_back_, registry_.view(facts()), now_ns);
  if (watch_ != nullptr) watch_->act();
  if (settings_pull_ == nullptr) return;
  settings_pull_->act(*this, server_);
  settle();
}

void ShardMember::heartbeat() {
  if (!port_.is_promoted()) return;
  port_.enter_turn();
  // While a script runs, nobody watches the socket.
  if (watched_log_ != nullptr) {
    on_socket_ready();
  } else {
    log_->tick(clock_.boot_ns());
  }
  port_.take_in(While::kInATurn);
  member_->tick(port_.now(), While::kInATurn);
  port_.leave_turn();
}

void ShardMember::begin_to_leave() {
  operator_requests_.leaving().begin(port_.is_promoted(), plan_.replies.log_timeout_ns + kLeaveNs,
                                     clock_.boot_ns());
}

bool ShardMember::has_left() const {
  const Leaving& leaving = operator_requests_.leaving();
  if (!leaving.has_begun() || leaving.is_over(clock_.boot_ns())) return true;
  if (!port_.is_promoted()) return registry_.has_told_leaving();
  return leaving.has_nobody() && replies_.turns().count() == 0;
}

// What every event may have made possible.
void ShardMember::settle() {
  replies_.turns().seal(member_.get());
  replies_.settle();
  keys_->store_in_use()->keep_turns_from(member_->turns_needed_from());
  written_back_ = port_.written_back();
  if (port_.take_data_moved()) server_->timeline().synchronise();
}

int64_t ShardMember::next_ns() {
  if (!member_) return kNotDue;
  if (port_.has_answers()) return 0;
  int64_t at_ns = std::min({member_->next_deadline(), log_->next_deadline(),
                            registry_.next_ns(told_role(*member_, operator_requests_.leaving()))});
  at_ns = std::min({at_ns, operator_requests_.next_ns(), stale_clients_.next_ns()});
  if (watch_ != nullptr) at_ns = std::min(at_ns, watch_->next_ns());
  if (settings_pull_ != nullptr) at_ns = std::min(at_ns, settings_pull_->next_ns());
  if (port_.is_promoted())
    at_ns = std::min(at_ns, replies_.absence().next_deadline(plan_.times.lease_ns));
  const int64_t now_ns = clock_.boot_ns();
  return at_ns == INT64_MAX ? kNotDue : std::max(at_ns, now_ns) - now_ns;  // INT64_MIN: at once
}

std::string ShardMember::refusal() const {
  if (port_.stopped().copies && copies_->can_copy())
    return "MASTERDOWN this member of shard " + plan_.shard + " copies another member's data";
  if (member_->role() == Role::kStopped)
    return "MASTERDOWN this member of shard " + plan_.shard +
           " has stopped: " + port_.stopped().because;
  return "READONLY You can't write against a read only replica.";
}

// A turn that cannot be sealed at the moment waits; at a demotion it is dropped with the
// sealed ones.
Status ShardMember::append(uint64_t turn, std::string_view record) {
  if (!port_.is_promoted()) return Status::refused(refusal());
  const storage::replication::LogFacts facts = log_->facts();
  const size_t bytes_max =
      facts.uses_parts ? storage::replication::LogState::kPartsBytesMax : facts.record_bytes_max;
  if (record.size() > bytes_max) {
    return Status::refused("ERR a turn of " + std::to_string(record.size()) +
                           " bytes is larger than the shared log takes, which is " +
                           std::to_string(bytes_max));
  }
  replies_.turns().add(turn, record, member_.get());
  return {};
}

MemberView ShardMember::view() const {
  const storage::replication::LogState& log_state = member_->log_state();
  return {.cluster = plan_.cluster,
          .shard = plan_.shard,
          .node = self_.node,
          .state = port_.stopped().copies && copies_->can_copy()
                       ? "copying"
                       : std::string(words_of(member_->role())),
          .serves = serves(),
          .primary_address = log_state.primary().address,
          .primary_node = log_state.primary().node,
          .epoch = log_state.epoch().log_index,
          .log_index = log_state.head().log_index,
          .turn = keys_->turn(),
          .committed = port_.is_promoted() ? member_->let_out_turn() : keys_->logged_turn(),
          .stopped_because = port_.stopped().because,
          .settings_shard = settings_shard_};
}

storage::replication::MemberFacts ShardMember::facts() const {
  storage::replication::MemberFacts facts;
  facts.author = self_;
  facts.role = told_role(*member_, operator_requests_.leaving());
  facts.applied_turn = port_.is_promoted() ? member_->let_out_turn() : keys_->turn();
  facts.head = member_->log_state().head();
  facts.written_back_turn = port_.written_back_turn();
  facts.written_back_head = written_back_;
  facts.configuration_digest = digests_.configuration;
  facts.acl_digest = digests_.acl;
  const SnapshotPlace taken = copies_->given().oldest();
  facts.checkpoint_head = {.log_index = taken.log_index, .crc = taken.crc};
  return facts;
}

ShardFacts ShardMember::told_facts() {
  load_.sample(*server_, clock_.steady_ns());
  ShardFacts facts = facts_of_member(view(), members(), load_, keys_->size(0));
  const SettingsHead settings = server_->limiters().settings.head();
  facts.settings = settings.change;
  facts.settings_digest = digest_text_of(settings);
  return facts;
}

std::vector<MemberSeen> ShardMember::members() const {
  return registry_.members(facts(), member_->log_state().primary().node);
}

void ShardMember::write_metrics(MetricWriter& out) const {
  write_member_metrics({.view = view(),
                        .members = members(),
                        .metrics = member_->metrics(),
                        .log = log_->facts(),
                        .trimmed_up_to = trimmer_.trimmed_up_to()},
                       out);
  replies_.write_metrics(out);
  if (watch_ == nullptr) return;
  out.gauge({"loop_busy_ratio", "The share of the time that turns have taken of late."},
            load_.busy_ratio(), 3);
  watch_->write_metrics(out);
  write_settings_metrics(known_shards(), digest_text_of(server_->limiters().settings.head()), out);
}

Result<void, std::string> ShardMember::order(const MemberOrder& order) {
  if (order.kind == MemberOrder::Kind::kRejoin) return rejoin();
  if (order.kind != MemberOrder::Kind::kSwitchover && member_->is_primary())
    return std::string("ERR this member is the primary already");
  return operator_requests_.order(order, view(), members(), clock_.boot_ns());
}

Result<void, std::string> ShardMember::rejoin() {
  if (member_->role() != Role::kStopped)
    return "ERR only a member that has stopped rejoins, and this one is " +
           std::string(words_of(member_->role()));
  if (!copies_->can_copy())
    return std::string("ERR this member has no directory that another one's data could go to");
  copies_->keep_old_data();
  port_.copy_another();
  return {};
}

}  // namespace weir::server
