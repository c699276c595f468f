#include "server/replication/shard_member.h"

#include <algorithm>
#include <utility>

#include "base/time_units.h"
#include "server/os/log.h"
#include "server/replication/member_words.h"

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
using storage::replication::SharedLog;

namespace {

constexpr int64_t kTroubleNs = 500 * kNsPerMs;
constexpr int64_t kTakeoverNs = 5 * kNsPerS;
constexpr int64_t kTakeoverRetryNs = 300 * kNsPerMs;

// Asks the member; the rest is the base's.
class ShardDurability final : public Durability {
 public:
  ShardDurability(const Config* config, storage::Keyspace* keys, const ShardMember* member)
      : Durability(config, keys), member_(*member) {}

  Coverage covers(const Told& told, int64_t steady_ns) const override {
    return member_.covers(told, steady_ns);
  }

 private:
  const ShardMember& member_;
};

}  // namespace

ShardMember::ShardMember(MemberPlan plan, std::unique_ptr<SharedLog> log, Clock* clock)
    : plan_(std::move(plan)),
      clock_(*clock),
      random_(plan_.seed),
      log_(std::move(log)),
      watched_log_(dynamic_cast<storage::WatchedLog*>(log_.get())),
      board_(dynamic_cast<storage::replication::Board*>(log_.get())),
      trimmer_(log_.get(), plan_.trim) {}

void ShardMember::set_watcher(storage::SocketWatcher* watcher) {
  if (watched_log_ != nullptr) watched_log_->set_watcher(watcher);
}

void ShardMember::on_socket_ready() { watched_log_->on_ready(clock_.boot_ns()); }

Replication ShardMember::replication() {
  const auto make_durability = [this](const Config* config, storage::Keyspace* keys) {
    keys_ = keys;
    return std::make_unique<ShardDurability>(config, keys, this);
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
  begin_protocol();
  copies_ = std::make_unique<ShardCopies>(
      plan_.pull, server_, &clock_, [this]() -> Result<SnapshotPlace, std::string> {
        if (member_->role() == Role::kStopped)
          return "ERR this member of shard " + plan_.shard + " has stopped: " + stopped_because_;
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
  kept_ = std::make_unique<KeptTurns>(keys_, [this](const Status& failure) { fail(failure); });
  const storage::replication::LogFacts facts = log_->facts();
  MemberOptions options;
  options.records = {.shard = plan_.shard_checksum};
  if (facts.uses_parts) options.records.part_bytes_max = facts.record_bytes_max;
  options.self = self_;
  options.times = plan_.times;
  options.append_interval_ns = plan_.append_interval_ns;
  trail_ = storage::replication::StampTrail(kept_->stamps());
  member_ = std::make_unique<Member>(options, kept_.get(), static_cast<Port*>(this),
                                     keys_->figures().instant_ns);
}

// The store is closed, and opened anew with what was copied (main.cc puts it in place).
void ShardMember::adopt_copy() {
  ++life_;
  answers_.clear();
  unsealed_.clear();
  read_asked_.reset();
  takeover_.reset();
  is_too_late_ = false;
  stopped_because_.clear();
  if (const Status status = server_->persistence().office.lose(); !status.ok()) return fail(status);
  begin_protocol();
  data_moved_ = true;
  copies_->adopted();
  spdlog::warn("this member of shard {} goes on with the copied data, at turn {}", plan_.shard,
               keys_->turn());
}

Instants ShardMember::now() const {
  return {.boot_ns = clock_.boot_ns(), .wall_ns = clock_.wall_ns()};
}

void ShardMember::fail(const Status& failure) {
  plan_.on_failure("the store of a shard's member has failed: " + failure.message());
}

void ShardMember::listen() {
  if (!member_) return;
  if (keys_->store_in_use().failed()) fail(server_->persistence().health.failure());
  log_->tick(clock_.boot_ns());
  while (!answers_.empty()) {
    const auto answer = std::move(answers_.front());
    answers_.pop_front();
    answer();
  }
  settle();
}

void ShardMember::act() {
  if (!member_) return;
  settle();
  claim_for_operator();
  tell_trouble();
  copies_->given().begin_turn();
  const auto sources = [this] { return sources_of(board_.view(facts()), self_.node); };
  if (is_too_late_ && copies_->has_copied(sources, random_.next())) adopt_copy();
  member_->tick(now());
  ask_to_read();
  settle();
  const int64_t now_ns = clock_.boot_ns();
  if (now_ns >= board_.next_ns(member_->role())) board_.write(facts(), now_ns);
  // Before the board was read once, nobody else is known.
  if (serves() && trimmer_.due(now_ns) && board_.was_read(self_.node))
    trimmer_.trim(written_back_, board_.view(facts()), now_ns);
}

void ShardMember::tell_trouble() {
  const int64_t now_ns = clock_.boot_ns();
  if (now_ns < look_for_trouble_at_ns_) return;
  look_for_trouble_at_ns_ = now_ns + kTroubleNs;
  const storage::replication::LogTrouble trouble = log_->trouble();
  if (trouble.text == told_trouble_) return;
  told_trouble_ = trouble.text;
  told_trouble_.empty() ? spdlog::info("the shared log answers again")
                        : spdlog::warn("the shared log: {}", told_trouble_);
}

void ShardMember::claim_for_operator() {
  if (!takeover_ || member_->role() == Role::kClaiming) return;
  const int64_t now_ns = clock_.boot_ns();
  if (member_->owns() || now_ns > takeover_->until_ns) return takeover_.reset();
  if (now_ns < takeover_->next_ns) return;
  takeover_->next_ns = now_ns + kTakeoverRetryNs;
  member_->claim_by_operator(now());
}

// What every event may have made possible.
void ShardMember::settle() {
  while (!unsealed_.empty() && member_->may_seal()) {
    member_->sealed(unsealed_.front().turn, unsealed_.front().record);
    unsealed_.pop_front();
  }
  keys_->store_in_use()->keep_turns_from(member_->turns_needed_from());
  written_back_ = trail_.reached(keys_->figures().written_back_turn);
  if (std::exchange(data_moved_, false)) server_->timeline().synchronise();
}

int64_t ShardMember::next_ns() {
  if (!member_) return kNotDue;
  if (!answers_.empty()) return 0;
  int64_t at_ns =
      std::min({member_->next_deadline(), log_->next_deadline(), board_.next_ns(member_->role())});
  if (takeover_) at_ns = std::min(at_ns, takeover_->next_ns);
  return at_ns == INT64_MAX ? kNotDue : std::max<int64_t>(at_ns - clock_.boot_ns(), 0);
}

std::string ShardMember::refusal() const {
  if (is_too_late_ && copies_->can_copy())
    return "MASTERDOWN this member of shard " + plan_.shard + " copies another member's data";
  if (member_->role() == Role::kStopped)
    return "MASTERDOWN this member of shard " + plan_.shard + " has stopped: " + stopped_because_;
  return "READONLY You can't write against a read only replica.";
}

int64_t ShardMember::instant_ns() {
  const int64_t newest_ns = keys_->figures().instant_ns;
  return office_ ? std::max(office_->at(now()), newest_ns) : newest_ns;
}

// A turn that cannot be sealed at the moment waits; if the office is lost, it is dropped with the
// sealed ones.
Status ShardMember::append(uint64_t turn, std::string_view record) {
  if (!office_) return Status::refused(refusal());
  const storage::replication::LogFacts facts = log_->facts();
  if (!facts.uses_parts && record.size() > facts.record_bytes_max) {
    return Status::refused("ERR a turn of " + std::to_string(record.size()) +
                           " bytes is larger than the shared log takes, which is " +
                           std::to_string(facts.record_bytes_max));
  }
  if (unsealed_.empty() && member_->may_seal()) {
    member_->sealed(turn, record);
  } else {
    unsealed_.push_back({.turn = turn, .record = std::string(record)});
  }
  return {};
}

Coverage ShardMember::covers(const Told& told, int64_t steady_ns) const {
  if (!told.touched_data || !office_) return {.covered = true};
  if (told.turn > member_->committed_turn()) return {};
  const int64_t boot_ns = clock_.boot_ns();
  const int64_t ended_ns = boot_ns - (steady_ns - told.ended_ns);
  return {.covered = member_->may_answer_reads(boot_ns) || member_->acknowledged_since(ended_ns)};
}

void ShardMember::append(std::optional<Head> expected, std::string record) {
  const size_t bytes = record.size();
  log_->append(expected, std::move(record), [this, bytes, life = life_](const Appended& came) {
    if (life != life_) return;
    answers_.push_back([this, came, bytes] {
      if (came.outcome == Appended::Outcome::kDone) trimmer_.note(came.head.position, bytes);
      member_->appended(came, now());
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
    answers_.push_back([this, came = std::move(came)] {
      for (const storage::replication::Record& record : came.records) trimmer_.note(record);
      member_->read(came, now());
    });
  });
}

void ShardMember::follow(const Batch& batch) {
  const std::string stamp = encode_stamp(batch.stamp);
  const Status status =
      keys_->follow({.first_turn = batch.first_turn, .turns = batch.turns, .stamp = stamp});
  data_moved_ = true;
  trail_.note(batch.first_turn, batch.stamp);
  if (!status.ok()) fail(status);
}

void ShardMember::commit(const Batch& batch) {
  const std::string stamp = encode_stamp(batch.stamp);
  const Status status =
      keys_->follow({.first_turn = batch.first_turn, .turns = batch.turns, .stamp = stamp});
  trail_.note(batch.first_turn, batch.stamp);
  if (!status.ok()) fail(status);
}

// A stamp alone stands with the turn before the next one.
void ShardMember::restamp(const Stamp& stamp) {
  const std::string bytes = encode_stamp(stamp);
  const TurnBatch batch{.first_turn = stamp.next_turn, .turns = {}, .stamp = bytes};
  trail_.note(stamp.next_turn, stamp);
  if (const Status status = keys_->store_in_use()->append_batch(batch); !status.ok()) fail(status);
}

void ShardMember::take_office(int64_t instant_ns) {
  office_.emplace(std::max(instant_ns, keys_->figures().instant_ns), now());
  server_->timeline().synchronise();
  spdlog::warn("this is the owner of shard {} from turn {} on, epoch {}", plan_.shard,
               keys_->turn() + 1, member_->fold().epoch().position);
  server_->persistence().office.take();
}

void ShardMember::lose_office(Reason reason) {
  spdlog::warn(
      "this is not the owner of shard {} any more: {}; {} turns that were not committed are "
      "dropped",
      plan_.shard, words_of(reason), keys_->turn() - keys_->logged_turn());
  unsealed_.clear();
  office_.reset();
  if (const Status status = server_->persistence().office.lose(); !status.ok()) fail(status);
}

void ShardMember::stop(Reason reason) {
  stopped_because_ = words_of(reason);
  is_too_late_ = reason == Reason::kTrimmed;
  spdlog::critical("this member of shard {} has stopped and follows no more: {}", plan_.shard,
                   stopped_because_);
}

uint64_t ShardMember::written_back_turn() const { return keys_->figures().written_back_turn; }

Result<void, std::string> ShardMember::hand_over(const std::string& node) {
  if (!serves()) return std::string("ERR this member is not the owner of its shard");
  if (node == self_.node) return std::string("ERR this member is the owner already");
  answers_.push_back([this, node] { member_->hand_over(node, now()); });
  return {};
}

Result<void, std::string> ShardMember::take_over() {
  if (office_) return std::string("ERR this member is the owner already");
  if (member_->role() == Role::kStopped) return "ERR this member has stopped: " + stopped_because_;
  const int64_t now_ns = clock_.boot_ns();
  takeover_ = Takeover{.until_ns = now_ns + kTakeoverNs, .next_ns = now_ns};
  return {};
}

}  // namespace weir::server
