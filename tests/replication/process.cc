#include "tests/replication/process.h"

#include <algorithm>
#include <utility>

#include "tests/replication/violation.h"

namespace weir::storage::replication {

const char* name_of(Reason reason) {
  static constexpr const char* kNames[] = {"fenced",       "switched over", "impossible",
                                           "turns differ", "twin",          "rewound too far",
                                           "trimmed",      "damaged",       "bad turns"};
  return kNames[static_cast<int>(reason)];
}

Process::Process(const ProcessOptions& options, std::shared_ptr<Disk> disk, Wire* wire,
                 Checker* checker, uint64_t seed, Instants now)
    : options_(options),
      disk_(std::move(disk)),
      wire_(wire),
      checker_(checker),
      random_(seed),
      now_(now),
      early_(options.early),
      trimming_(options.trimming) {
  load_state();
  MemberOptions member;
  member.records = {.shard = kShard,
                    .version = options.record_version,
                    .record_bytes_max = options.record_bytes_max,
                    .part_bytes_max = options.part_bytes_max};
  member.self = {.node = options.node,
                 .address = options.node + ":6379",
                 .incarnation = {random_.next(), random_.next()}};
  member.times = options.times;
  member.early_release_ns_max = options.early.age_ns_max;
  member_ = std::make_unique<Member>(member, disk_.get(), this, newest_instant_ns_);
}

void Process::load_state() {
  const Base& base = disk_->base();
  base_turn_ = base.turn;
  states_.assign(1, base.state);
  newest_instant_ns_ = base.newest_instant_ns;
  for (const auto& [turn, bytes] : disk_->turns()) {
    if (turn <= base_turn_) continue;
    if (turn != newest_turn() + 1)
      throw Violation(options_.node + " lacks a turn in its local log");
    apply(turn, bytes);
  }
}

void Process::apply(uint64_t turn, const std::string& bytes) {
  if (state_of_turn(bytes) != state() || turn != newest_turn() + 1) {
    throw Violation("I10: " + options_.node + " applies turn " + std::to_string(turn) +
                    " to another state than it was executed on");
  }
  State next = states_.back();
  next.sum = state_after(next.sum, bytes);
  next.limits.apply(take_of(bytes), turn_instant_ns(bytes));
  states_.push_back(next);
  newest_instant_ns_ = std::max(newest_instant_ns_, turn_instant_ns(bytes));
}

void Process::tick(Instants now) {
  now_ = now;
  if (options_.runs_long && random_.one_in(2)) member_->tick(now, While::kInATurn);
  member_->tick(now);
  settle();
}

void Process::deliver(const Appended& answer, Instants now) {
  now_ = now;
  if (answer.outcome == Appended::Outcome::kDone) {
    trimming_.note(answer.head.log_index, last_record_.size());
  }
  const bool is_long = options_.runs_long && random_.one_in(2);
  if (!is_long || !member_->appended(answer, now, While::kInATurn)) member_->appended(answer, now);
  settle();
}

void Process::deliver(const Read& answer, Instants now) {
  now_ = now;
  for (const Record& record : answer.records) {
    trimming_.note(record.head.log_index, record.bytes.size());
  }
  member_->read(answer, now);
  settle();
}

bool Process::write(Instants now, int turns) {
  now_ = now;
  if (!member_->may_seal() || uncommitted_bytes() >= options_.uncommitted_bytes_max) return false;
  for (int i = 0; i < turns; ++i) seal();
  member_->tick(now);
  settle();
  return true;
}

// Some turns take permits, where there are any.
void Process::seal() {
  const uint64_t turn = newest_turn() + 1;
  const int64_t instant = instant_ns();
  Take take{.key = random_.below(4), .permits = 1 + random_.below(3)};
  if (take.key == Limits::kKeys || !states_.back().limits.allows(take, instant)) {
    take = {.key = Limits::kKeys, .permits = 0};
  }
  std::string bytes = make_turn(instant, state(), payload_of(take, random_.next()));
  if (random_.one_in(20)) bytes.append(random_.below(100), 'x');
  const uint64_t before = state();
  apply(turn, bytes);
  checker_->sealed(*this, before, state(), instant);
  if (sealed_.empty()) first_sealed_ = turn;
  sealed_.push_back(bytes);
  held_.push_back({.turn = turn,
                   .take = take,
                   .sealed_boot_ns = now_.boot_ns,
                   .sealed_real_ns = checker_->now_ns()});
  trace("seals turn " + std::to_string(turn));
  member_->sealed(turn, bytes);
}

size_t Process::uncommitted_bytes() const {
  size_t bytes = 0;
  for (const HeldWrite& write : held_) bytes += sealed_[write.turn - first_sealed_].size();
  return bytes;
}

bool Process::ask_to_read(Instants now) {
  now_ = now;
  if (!is_promoted_) return false;
  reads_.push_back({.shown_turn = newest_turn(), .released_before = checker_->released_turn()});
  settle();
  return true;
}

void Process::switch_over(const std::string& node, Instants now) {
  now_ = now;
  trace("is told to switch over to " + node);
  member_->switch_over(node, now);
  settle();
}

void Process::claim_by_operator(Instants now) {
  now_ = now;
  trace("is told to claim");
  member_->claim_by_operator(now);
  settle();
}

void Process::change_times(const Times& times, Instants now) {
  now_ = now;
  options_.times = times;
  member_->change_times(times, now);
  settle();
}

// Lets replies go: of writes when their turn is committed, of reads when the lease runs too.
void Process::settle() {
  const uint64_t committed = member_->let_out_turn();
  early_.committed(committed);
  while (!held_.empty() && held_.front().turn <= committed) {
    const HeldWrite write = held_.front();
    held_.pop_front();
    const std::string& bytes = sealed_[write.turn - first_sealed_];
    checker_->released(*this, write.turn, bytes);
    if (!write.released_early)
      checker_->granted({promotion_, write.turn, write.sealed_real_ns, false}, bytes);
  }
  while (!reads_.empty() && reads_.front().shown_turn <= committed &&
         member_->may_answer_reads(now_.boot_ns)) {
    checker_->read_released(*this, reads_.front().shown_turn, reads_.front().released_before);
    reads_.pop_front();
  }
  if (options_.early.age_ns_max > 0 && member_->may_release_early(now_.boot_ns)) release_early();
}

void Process::release_early() {
  const size_t bytes = uncommitted_bytes();
  for (HeldWrite& write : held_) {
    const uint64_t permits = write.take.permits;
    const bool is_due = now_.boot_ns - write.sealed_boot_ns >= options_.commit_wait_ns;
    if (write.released_early || permits == 0 || !is_due) continue;
    if (!early_.allows(permits, bytes, now_.boot_ns)) return;
    early_.released(write.turn, permits, write.sealed_boot_ns);
    write.released_early = true;
    checker_->granted({promotion_, write.turn, write.sealed_real_ns, true},
                      sealed_[write.turn - first_sealed_]);
  }
}

void Process::write_back() {
  const uint64_t newest = disk_->newest_turn();
  const uint64_t turn = is_promoted_ ? std::min(member_->let_out_turn(), newest) : newest;
  std::optional<LogBookmark> found;
  for (const LogBookmark& bookmark : disk_->bookmarks()) {
    if (bookmark.turn() <= turn) found = bookmark;
  }
  if (!found || found->turn() < base_turn_) return;
  Base base{.bookmark = *found,
            .turn = found->turn(),
            .state = states_[found->turn() - base_turn_],
            .newest_instant_ns = newest_instant_ns_};
  const uint64_t needed = options_.flaws.forgets_turns ? UINT64_MAX : member_->turns_needed_from();
  const uint64_t kept = base.turn - std::min(base.turn, options_.turns_kept);
  disk_->write_back(base, std::min(kept, needed - std::min<uint64_t>(needed, 1)),
                    options_.bookmarks_kept);
}

uint64_t Process::trim_up_to(const RegistryView& registry) const {
  if (!member_->may_seal()) return 0;
  return trimming_.up_to(disk_->base().bookmark.head.log_index, registry);
}

MemberFacts Process::facts() const {
  MemberFacts facts;
  facts.author = {.node = options_.node, .address = options_.node + ":6379", .incarnation = {}};
  facts.role = member_->role();
  facts.applied_turn = newest_turn();
  facts.head = member_->log_state().head();
  facts.written_back_turn = disk_->base().turn;
  facts.written_back_head = disk_->base().bookmark.head;
  return facts;
}

void Process::append(std::optional<Head> expected, std::string record) {
  const auto decoded = decode_record(record);
  static constexpr const char* kKinds[] = {"",     "GENESIS",   "CLAIM",     "TURNS",
                                           "PART", "HEARTBEAT", "SWITCHOVER"};
  std::string line = std::string("appends ") + kKinds[static_cast<int>(decoded->kind())];
  if (const auto* turns = std::get_if<Turns>(&decoded->body)) {
    line += " " + std::to_string(turns->first_turn) + "+" + std::to_string(turns->turns.size());
  }
  line += expected ? " after " + std::to_string(expected->log_index) : " without condition";
  trace(line);
  if (std::exchange(cold_claims_, member_->metrics().cold_claims) < cold_claims_) {
    checker_->claimed_cold(std::get<Claim>(decoded->body).instant_ns);
  }
  last_record_ = record;
  wire_->append(this, expected, std::move(record));
}

void Process::read(Head after, size_t bytes_max) {
  last_read_after_ = after;
  wire_->read(this, after, bytes_max);
}

bool Process::follow(const Batch& batch) {
  trace("follows turns " + std::to_string(batch.first_turn) + " to " +
        std::to_string(batch.last_turn()));
  disk_->write(batch, options_.flaws.writes_by_turn);
  for (size_t i = 0; i < batch.turns.size(); ++i) {
    const uint64_t turn = batch.first_turn + i;
    if (turn > newest_turn()) apply(turn, batch.turns[i]);
  }
  return true;
}

void Process::write_committed(const Batch& batch) {
  for (size_t i = 0; i < batch.turns.size(); ++i) {
    const uint64_t turn = batch.first_turn + i;
    const bool is_new = !sealed_.empty() && turn >= first_sealed_;
    checker_->committed(*this, turn, batch.turns[i],
                        is_new ? &sealed_[turn - first_sealed_] : nullptr);
  }
  trace("commits turns " + std::to_string(batch.first_turn) + " to " +
        std::to_string(batch.last_turn()));
  if (batch.first_turn > disk_->newest_turn() + 1) {
    throw Violation(options_.node + " commits a turn without those before it");
  }
  disk_->write(batch, options_.flaws.writes_by_turn);
}

void Process::replace_bookmark(const LogBookmark& bookmark) { disk_->replace_bookmark(bookmark); }

void Process::promote(int64_t instant_ns) {
  trace("is promoted with turn " + std::to_string(newest_turn()));
  if (is_promoted_) throw Violation("I5: " + options_.node + " is promoted and is the primary");
  clock_.emplace(std::max(instant_ns, newest_instant_ns_), now_);
  is_promoted_ = true;
  promotion_ = checker_->promoted(*this);
}

// As the server does it: what is not in the local log is gone, and so are those who wait.
void Process::demote(Reason reason) {
  trace(std::string("is demoted: ") + name_of(reason));
  is_promoted_ = false;
  early_.lose();
  held_.clear();
  reads_.clear();
  sealed_.clear();
  load_state();
}

void Process::stop(Reason reason) {
  trace(std::string("stops: ") + name_of(reason));
  stop_reason_ = reason;
  checker_->stopped(*this, reason, branch_);
}

int64_t Process::instant_ns() {
  const int64_t instant = options_.flaws.takes_any_clock ? now_.wall_ns : clock_->at(now_);
  newest_instant_ns_ = std::max(newest_instant_ns_, instant);
  return newest_instant_ns_;
}

}  // namespace weir::storage::replication
