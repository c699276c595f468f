#include "server/failover/member/shard_member.h"

#include <algorithm>
#include <utility>

#include "base/time_units.h"
#include "server/core/shard/successor.h"
#include "server/failover/peers/member_words.h"
#include "server/os/log.h"

namespace weir::server {

using storage::Status;
using storage::TurnBatch;
using storage::replication::Appended;
using storage::replication::Instants;
using storage::replication::Member;
using storage::replication::MemberOptions;
using storage::replication::OfficeClock;
using storage::replication::Read;
using storage::replication::Role;

namespace {

constexpr int64_t kLeaveNs = kNsPerS;

// Asks the member; the rest is the base's.
class ShardDurability final : public Durability {
 public:
  ShardDurability(const Config* config, storage::Keyspace* keys, OwnerReplies* replies)
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
  OwnerReplies& replies_;
};

Instants now(Clock* clock) { return {.boot_ns = clock->boot_ns(), .wall_ns = clock->wall_ns()}; }

void fail(const MemberPlan& plan, const Status& failure) {
  plan.on_failure("the store of a shard's member has failed: " + failure.message());
}

void look_for_log(LogAbsence* absence, bool in_office, int64_t lease_ns, Server* server) {
  const int64_t boot_ns = server->clock().boot_ns();
  const bool was_away = absence->is_away();
  absence->look(boot_ns);
  if (!in_office) return;
  if (absence->is_away() && !was_away)
    spdlog::warn(
        "the shared log does not answer: what has to wait for it is refused until it does");
  if (absence->outlasts(lease_ns, boot_ns)) server->office().cut_listeners();
}

}  // namespace

ShardMember::ShardMember(MemberPlan plan, OpenedLog opened, Clock* clock)
    : plan_(std::move(plan)),
      clock_(*clock),
      random_(plan_.seed),
      log_(std::move(opened.log)),
      watched_log_(opened.watched),
      board_(opened.board),
      trimmer_(log_.get(), plan_.trim),
      replies_(plan_.replies, clock),
      wishes_(plan_.pull.peers) {}

void ShardMember::set_watcher(storage::SocketWatcher* watcher) {
  if (watched_log_ != nullptr) watched_log_->set_watcher(watcher);
}

void ShardMember::on_socket_ready() { watched_log_->on_ready(clock_.boot_ns()); }

Replication ShardMember::replication() {
  const auto make_durability = [this](const Config* config, storage::Keyspace* keys) {
    keys_ = keys;
    return std::make_unique<ShardDurability>(config, keys, &replies_);
  };
  return {.log = this, .make_durability = make_durability, .membership = this, .instants = this};
}

Result<void, std::string> ShardMember::begin(Server* server) {
  server_ = server;
  const auto node = plan_.node();
  if (!node) return node.error();
  self_ = {.node = node->id,
           .address = plan_.address,
           .incarnation = {.high = random_.next(), .low = random_.next()}};
  if (const std::string weakness = log_->facts().weakness; !weakness.empty())
    spdlog::warn("the shared log may lose what it has acknowledged: {}", weakness);
  begin_protocol();
  copies_ = std::make_unique<ShardCopies>(
      plan_.pull, server_, &clock_, [this]() -> Result<SnapshotPlace, std::string> {
        if (member_->role() == Role::kStopped)
          return "ERR this member of shard " + plan_.shard + " has stopped: " + stopped_.because;
        if (!copies_->can_copy() || written_back_.position == 0)
          return std::string("ERR this member has no data of the shard that could be copied yet");
        return SnapshotPlace{.position = written_back_.position, .crc = written_back_.crc};
      });
  spdlog::info("node {} is a member of shard {}, with turn {}; clients reach it at {}", self_.node,
               plan_.shard, keys_->turn(), plan_.address);
  act();
  return {};
}

void ShardMember::begin_protocol() {
  kept_ =
      std::make_unique<KeptTurns>(keys_, [this](const Status& failure) { fail(plan_, failure); });
  const storage::replication::LogFacts facts = log_->facts();
  MemberOptions options;
  options.records = {.shard = plan_.shard_checksum};
  if (facts.uses_parts) options.records.part_bytes_max = facts.record_bytes_max;
  options.self = self_;
  options.times = plan_.times;
  options.append_interval_ns = plan_.append_interval_ns;
  options.early_release_ns_max = plan_.replies.early.age_ns_max;
  trail_ = storage::replication::StampTrail(kept_->stamps());
  member_ = std::make_unique<Member>(options, kept_.get(), static_cast<Port*>(this),
                                     keys_->figures().instant_ns);
  replies_.begin(member_.get());
}

// The store is closed, and opened anew with what was copied (main.cc puts it in place).
void ShardMember::adopt_copy() {
  ++life_;
  answers_.clear();
  read_asked_.reset();
  wishes_.give_up_taking();
  stopped_ = {};
  if (const Status status = server_->office().lose(true); !status.ok()) return fail(plan_, status);
  begin_protocol();
  data_moved_ = true;
  copies_->adopted();
  spdlog::warn("this member of shard {} goes on with the copied data, at turn {}", plan_.shard,
               keys_->turn());
}

void ShardMember::listen() {
  if (!member_) return;
  if (keys_->store_in_use().failed()) fail(plan_, server_->persistence().health.failure());
  log_->tick(clock_.boot_ns());
  while (!answers_.empty()) {
    const auto answer = std::move(answers_.front());
    answers_.pop_front();
    (void)answer(While::kBetweenTurns);
  }
  settle();
  look_for_log(&replies_.absence(), office_.has_value(), plan_.times.lease_ns, server_);
  const std::string& owner = member_->fold().owner().address;
  owner_teller_.look(plan_.shard, owner, &server_->messages().pubsub());
  stale_clients_.look(owner, owner == plan_.address, clock_.boot_ns(), server_);
}

void ShardMember::act() {
  if (!member_) return;
  settle();
  wishes_.act(member_.get(), self_.node, now(&clock_));
  trouble_.look(*log_, clock_.boot_ns());
  copies_->given().begin_turn();
  const auto sources = [this] { return sources_of(board_.view(facts()), self_.node); };
  if (stopped_.copies && copies_->has_copied(sources, random_.next())) adopt_copy();
  member_->tick(now(&clock_));
  ask_to_read();
  settle();
  const int64_t now_ns = clock_.boot_ns();
  if (now_ns >= board_.next_ns(member_->role())) {
    digests_ = node_digests(server_->config(), server_->acl().users());
    board_.write(facts(), now_ns);
  }
  if (serves() && trimmer_.due(now_ns)) trimmer_.trim(written_back_, board_.view(facts()), now_ns);
}

void ShardMember::beat() {
  if (!office_) return;
  is_in_turn_ = true;
  // While a script runs, nobody watches the socket.
  if (watched_log_ != nullptr) {
    on_socket_ready();
  } else {
    log_->tick(clock_.boot_ns());
  }
  while (!answers_.empty() && answers_.front()(While::kInATurn)) answers_.pop_front();
  member_->tick(now(&clock_), While::kInATurn);
  is_in_turn_ = false;
}

void ShardMember::begin_to_leave() {
  const std::vector<MemberSeen> all = members();
  const MemberSeen* const successor = successor_of(all);
  std::string to = successor == nullptr ? wishes_.other_owner() : successor->node;
  wishes_.leave(clock_.boot_ns() + plan_.replies.log_timeout_ns + kLeaveNs, std::move(to));
}

bool ShardMember::has_left() const {
  return !office_ || wishes_.has_left(replies_.turns().count(), clock_.boot_ns());
}

// What every event may have made possible.
void ShardMember::settle() {
  replies_.turns().seal(member_.get());
  replies_.settle();
  keys_->store_in_use()->keep_turns_from(member_->turns_needed_from());
  written_back_ = trail_.reached(keys_->figures().written_back_turn);
  if (std::exchange(data_moved_, false)) server_->timeline().synchronise();
}

int64_t ShardMember::next_ns() {
  if (!member_) return kNotDue;
  if (!answers_.empty()) return 0;
  int64_t at_ns =
      std::min({member_->next_deadline(), log_->next_deadline(), board_.next_ns(member_->role())});
  at_ns = std::min({at_ns, wishes_.next_ns(), stale_clients_.next_ns()});
  if (office_) at_ns = std::min(at_ns, replies_.absence().next_deadline(plan_.times.lease_ns));
  return at_ns == INT64_MAX ? kNotDue : std::max<int64_t>(at_ns - clock_.boot_ns(), 0);
}

std::string ShardMember::refusal() const {
  if (stopped_.copies && copies_->can_copy())
    return "MASTERDOWN this member of shard " + plan_.shard + " copies another member's data";
  if (member_->role() == Role::kStopped)
    return "MASTERDOWN this member of shard " + plan_.shard + " has stopped: " + stopped_.because;
  return "READONLY You can't write against a read only replica.";
}

int64_t ShardMember::instant_ns() {
  if (is_in_turn_) return keys_->running().now_ns();
  const int64_t newest_ns = keys_->figures().instant_ns;
  return office_ ? std::max(office_->at(now(&clock_)), newest_ns) : newest_ns;
}

// A turn that cannot be sealed at the moment waits; if the office is lost, it is dropped with the
// sealed ones.
Status ShardMember::append(uint64_t turn, std::string_view record) {
  if (!office_) return Status::refused(refusal());
  const storage::replication::LogFacts facts = log_->facts();
  const size_t bytes_max =
      facts.uses_parts ? storage::replication::Fold::kPartsBytesMax : facts.record_bytes_max;
  if (record.size() > bytes_max) {
    return Status::refused("ERR a turn of " + std::to_string(record.size()) +
                           " bytes is larger than the shared log takes, which is " +
                           std::to_string(bytes_max));
  }
  replies_.turns().add(turn, record, member_.get());
  return {};
}

void ShardMember::append(std::optional<Head> expected, std::string record) {
  const size_t bytes = record.size();
  replies_.absence().sent(clock_.boot_ns());
  log_->append(expected, std::move(record), [this, bytes, life = life_](const Appended& came) {
    if (life != life_) return;
    answers_.push_back([this, came, bytes](While when) {
      if (!member_->appended(came, now(&clock_), when)) return false;
      if (came.outcome != Appended::Outcome::kDone) return true;
      trimmer_.note(came.head.position, bytes);
      replies_.absence().acknowledged();
      return true;
    });
  });
}

void ShardMember::read(Head after, size_t bytes_max) {
  read_asked_ = ReadAsked{.after = after, .bytes_max = bytes_max};
  ask_to_read();
}

// A standby that cannot write back as fast as it reads, reads later.
void ShardMember::ask_to_read() {
  if (!read_asked_ || (!office_ && keys_->work().overloaded())) return;
  const ReadAsked asked = *std::exchange(read_asked_, std::nullopt);
  log_->read(asked.after, asked.bytes_max, [this, life = life_](Read came) {
    if (life != life_) return;
    answers_.push_back([this, came = std::move(came)](While when) {
      if (when == While::kInATurn) return false;
      for (const storage::replication::Record& record : came.records) trimmer_.note(record);
      member_->read(came, now(&clock_));
      return true;
    });
  });
}

// A turn that is refused says nothing of the own store: it would be refused after each restart.
bool ShardMember::follow(const Batch& batch) {
  const std::string stamp = encode_stamp(batch.stamp);
  const Status status =
      keys_->follow({.first_turn = batch.first_turn, .turns = batch.turns, .stamp = stamp});
  if (status.is_refusal()) {
    bad_turn_ = status.message();
    return false;
  }
  data_moved_ = true;
  trail_.note(batch.first_turn, batch.stamp);
  if (!status.ok()) fail(plan_, status);
  return true;
}

void ShardMember::commit(const Batch& batch) {
  const std::string stamp = encode_stamp(batch.stamp);
  const Status status =
      keys_->follow({.first_turn = batch.first_turn, .turns = batch.turns, .stamp = stamp});
  trail_.note(batch.first_turn, batch.stamp);
  if (!status.ok()) fail(plan_, status);
}

// A stamp alone stands with the turn before the next one.
void ShardMember::restamp(const Stamp& stamp) {
  const std::string bytes = encode_stamp(stamp);
  const TurnBatch batch{.first_turn = stamp.next_turn, .turns = {}, .stamp = bytes};
  trail_.note(stamp.next_turn, stamp);
  if (const Status status = keys_->store_in_use()->append_batch(batch); !status.ok())
    fail(plan_, status);
}

void ShardMember::take_office(int64_t instant_ns) {
  office_.emplace(std::max(instant_ns, keys_->figures().instant_ns), now(&clock_));
  replies_.take_office();
  server_->timeline().synchronise();
  spdlog::warn("this is the owner of shard {} from turn {} on, epoch {}", plan_.shard,
               keys_->turn() + 1, member_->fold().epoch().position);
  server_->office().take();
}

void ShardMember::lose_office(Reason reason) {
  spdlog::warn(
      "this is not the owner of shard {} any more: {}; {} turns that were not committed are "
      "dropped",
      plan_.shard, words_of(reason), keys_->turn() - keys_->logged_turn());
  const uint64_t lost = replies_.lose_office();
  if (lost > 0) spdlog::warn("clients were told of {} permits in them", lost);
  office_.reset();
  if (const Status status = server_->office().lose(); !status.ok()) fail(plan_, status);
  stale_clients_.office_lost(clock_.boot_ns(), server_);
}

void ShardMember::stop(Reason reason) {
  stopped_ = {.because = std::string(words_of(reason)), .copies = reason == Reason::kTrimmed};
  if (reason == Reason::kBadTurns) stopped_.because += ": " + bad_turn_;
  spdlog::critical("this member of shard {} has stopped and follows no more: {}", plan_.shard,
                   stopped_.because);
}

uint64_t ShardMember::written_back_turn() const { return keys_->figures().written_back_turn; }

Result<void, std::string> ShardMember::order(const MemberOrder& order) {
  if (order.kind == MemberOrder::Kind::kRejoin) return rejoin();
  if (order.kind != MemberOrder::Kind::kHandOver && member_->owns())
    return std::string("ERR this member is the owner already");
  return wishes_.order(order, view(), members(), clock_.boot_ns());
}

Result<void, std::string> ShardMember::rejoin() {
  if (member_->role() != Role::kStopped)
    return "ERR only a member that has stopped rejoins, and this one is " +
           std::string(words_of(member_->role()));
  if (!copies_->can_copy())
    return std::string("ERR this member has no directory that another one's data could go to");
  copies_->keep_old_data();
  stopped_.copies = true;
  return {};
}

}  // namespace weir::server
