#include "tests/replication/process.h"

#include <algorithm>
#include <utility>

#include "tests/replication/violation.h"

namespace weir::storage::replication {

const char* name_of(Reason reason) {
  static constexpr const char* kNames[] = {"fenced",       "handed over", "impossible",
                                           "turns differ", "twin",        "rewound too far",
                                           "trimmed",      "damaged"};
  return kNames[static_cast<int>(reason)];
}

Process::Process(const ProcessOptions& options, std::shared_ptr<Disk> disk, Wire* wire,
                 Checker* checker, uint64_t seed, Instants now)
    : options_(options),
      disk_(std::move(disk)),
      wire_(wire),
      checker_(checker),
      random_(seed),
      now_(now) {
  load_state();
  MemberOptions member;
  member.records = {.shard = kShard,
                    .record_bytes_max = options.record_bytes_max,
                    .part_bytes_max = options.part_bytes_max};
  member.self = {.node = options.node,
                 .address = options.node + ":6379",
                 .incarnation = {random_.next(), random_.next()}};
  member.times = options.times;
  member.early_release_ns_max = options.early_release_ns_max;
  member_ = std::make_unique<Member>(member, disk_.get(), this, newest_instant_ns_);
}

void Process::load_state() {
  states_.assign(1, 0);
  newest_instant_ns_ = 0;
  for (const auto& [turn, bytes] : disk_->turns()) {
    if (turn != states_.size()) throw Violation(options_.node + " lacks a turn in its local log");
    states_.push_back(state_after(states_.back(), bytes));
    newest_instant_ns_ = turn_instant_ns(bytes);
  }
}

void Process::tick(Instants now) {
  now_ = now;
  member_->tick(now);
  settle();
}

void Process::deliver(const Appended& answer, Instants now) {
  now_ = now;
  member_->appended(answer, now);
  settle();
}

void Process::deliver(const Read& answer, Instants now) {
  now_ = now;
  member_->read(answer, now);
  settle();
}

bool Process::write(Instants now, int turns) {
  now_ = now;
  if (!member_->may_seal()) return false;
  for (int i = 0; i < turns; ++i) seal();
  member_->tick(now);
  settle();
  return true;
}

void Process::seal() {
  const uint64_t turn = newest_turn() + 1;
  std::string bytes = make_turn(instant_ns(), state(), random_.next());
  if (random_.one_in(20)) bytes.append(random_.below(100), 'x');
  states_.push_back(state_after(state(), bytes));
  if (sealed_.empty()) first_sealed_ = turn;
  sealed_.push_back(bytes);
  held_.push_back({.turn = turn});
  trace("seals turn " + std::to_string(turn));
  member_->sealed(turn, bytes);
}

bool Process::ask_to_read(Instants now) {
  now_ = now;
  if (!in_office_) return false;
  reads_.push_back({.shown_turn = newest_turn(), .released_before = checker_->released_turn()});
  settle();
  return true;
}

void Process::hand_over(const std::string& node, Instants now) {
  now_ = now;
  trace("is told to hand over to " + node);
  member_->hand_over(node, now);
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
  const uint64_t committed = member_->committed_turn();
  while (!held_.empty() && held_.front().turn <= committed) {
    const uint64_t turn = held_.front().turn;
    held_.pop_front();
    checker_->released(*this, turn, sealed_[turn - first_sealed_]);
  }
  while (!reads_.empty() && reads_.front().shown_turn <= committed &&
         member_->may_answer_reads(now_.boot_ns)) {
    checker_->read_released(*this, reads_.front().shown_turn, reads_.front().released_before);
    reads_.pop_front();
  }
  if (options_.early_release_ns_max == 0) return;
  for (HeldWrite& write : held_) {
    if (write.released_early || !member_->may_release_early(now_.boot_ns)) continue;
    write.released_early = true;
    checker_->released_early(write.turn, sealed_[write.turn - first_sealed_]);
  }
}

void Process::append(std::optional<Head> expected, std::string record) {
  const auto decoded = decode_record(record);
  static constexpr const char* kKinds[] = {"",     "GENESIS", "CLAIM",   "TURNS",
                                           "PART", "BEAT",    "HANDOVER"};
  std::string line = std::string("appends ") + kKinds[static_cast<int>(decoded->kind())];
  if (const auto* turns = std::get_if<Turns>(&decoded->body)) {
    line += " " + std::to_string(turns->first_turn) + "+" + std::to_string(turns->turns.size());
  }
  line += expected ? " after " + std::to_string(expected->position) : " without condition";
  trace(line);
  wire_->append(this, expected, std::move(record));
}

void Process::read(Head after, size_t bytes_max) { wire_->read(this, after, bytes_max); }

void Process::follow(const Batch& batch) {
  trace("follows turns " + std::to_string(batch.first_turn) + " to " +
        std::to_string(batch.last_turn()));
  disk_->write(batch, options_.flaws.writes_by_turn);
  for (size_t i = 0; i < batch.turns.size(); ++i) {
    const uint64_t turn = batch.first_turn + i;
    if (turn < states_.size()) continue;
    if (state_of_turn(batch.turns[i]) != state() || turn != states_.size()) {
      throw Violation("I10: " + options_.node + " applies turn " + std::to_string(turn) +
                      " to another state than it was executed on");
    }
    states_.push_back(state_after(state(), batch.turns[i]));
    newest_instant_ns_ = std::max(newest_instant_ns_, turn_instant_ns(batch.turns[i]));
  }
}

void Process::commit(const Batch& batch) {
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

void Process::restamp(const Stamp& stamp) { disk_->restamp(stamp); }

void Process::take_office(int64_t instant_ns) {
  trace("takes office with turn " + std::to_string(newest_turn()));
  if (in_office_) throw Violation("I5: " + options_.node + " takes an office that it has");
  office_instant_ns_ = std::max(instant_ns, newest_instant_ns_);
  office_boot_ns_ = now_.boot_ns;
  in_office_ = true;
  checker_->took_office(*this);
}

// As the server does it: what is not in the local log is gone, and so are those who wait.
void Process::lose_office(Reason reason) {
  trace(std::string("loses office: ") + name_of(reason));
  in_office_ = false;
  held_.clear();
  reads_.clear();
  sealed_.clear();
  load_state();
}

void Process::stop(Reason reason) {
  trace(std::string("stops: ") + name_of(reason));
  checker_->stopped(*this, name_of(reason), branch_);
}

int64_t Process::instant_ns() {
  newest_instant_ns_ =
      std::max(newest_instant_ns_, office_instant_ns_ + now_.boot_ns - office_boot_ns_);
  return newest_instant_ns_;
}

}  // namespace weir::storage::replication
