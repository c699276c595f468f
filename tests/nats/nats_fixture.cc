#include "tests/nats/nats_fixture.h"

namespace weir::storage::nats {
namespace {

std::string next_shard() {
  static int shards = 0;
  return "test" + std::to_string(++shards);
}

}  // namespace

NatsTest::NatsTest(NatsServer* servers)
    : servers_(*servers), shard_(next_shard()), names_(shard_) {}

NatsTest::~NatsTest() {
  logs_.clear();
  api("DELETE." + names_.log_stream());
  api("DELETE." + names_.registry_stream());
}

NatsOptions NatsTest::options() const {
  return {.address = *parse_address(servers_.address()),
          .shard = shard_,
          .password_file = "",
          .makes_shard = true,
          .bytes_max = 64 << 20};
}

NatsLog* NatsTest::connect(const NatsOptions& options) {
  logs_.push_back(std::make_unique<NatsLog>(options));
  driver_.watch(logs_.back().get());
  return logs_.back().get();
}

void NatsTest::pass() {
  driver_.pass(nullptr);
  for (const auto& log : logs_) log->tick(now_ns());
}

void NatsTest::wait_until(const std::function<bool()>& done, int64_t ns_max) {
  const int64_t end = now_ns() + ns_max;
  bool is_done = done();
  for (; !is_done && now_ns() < end; is_done = done()) pass();
  ASSERT_TRUE(is_done) << "in vain";
}

void NatsTest::wait_ns(int64_t ns) {
  const int64_t end = now_ns() + ns;
  while (now_ns() < end) pass();
}

Appended NatsTest::append(NatsLog* log, std::optional<Head> expected, const std::string& record) {
  const auto got = std::make_shared<std::optional<Appended>>();
  log->append(expected, record, [got](const Appended& answer) { *got = answer; });
  wait_until([&] { return got->has_value(); });
  return got->value_or(Appended{});
}

Read NatsTest::read(NatsLog* log, const Head& after, size_t bytes_max) {
  const auto got = std::make_shared<std::optional<Read>>();
  log->read(after, bytes_max, [got](Read answer) { *got = std::move(answer); });
  wait_until([&] { return got->has_value(); });
  return got->value_or(Read{});
}

void NatsTest::put(NatsLog* log, Head* end, const std::string& record) {
  const Appended answer = append(log, *end, record);
  ASSERT_EQ(answer.outcome, AppendOutcome::kDone) << log->trouble().text;
  *end = answer.head;
}

void NatsTest::put_at_last(NatsLog* log, Head* end, const std::string& record) {
  while (!HasFatalFailure()) {
    const Appended answer = append(log, *end, record);
    if (answer.outcome == AppendOutcome::kDone) {
      *end = answer.head;
      return;
    }
    const Read found = read_at_last(log, *end);
    ASSERT_EQ(found.outcome, ReadOutcome::kRecords) << "what was acknowledged is there";
    if (found.records.empty()) continue;
    ASSERT_EQ(found.records.size(), 1u) << "it is stored once";
    ASSERT_EQ(found.records[0].bytes, record);
    *end = found.records[0].head;
    return;
  }
}

Read NatsTest::read_at_last(NatsLog* log, const Head& after) {
  Read got;
  wait_until([&] { return (got = read(log, after)).outcome != ReadOutcome::kFailed; });
  return got;
}

std::vector<replication::Record> NatsTest::read_all(NatsLog* log) {
  std::vector<replication::Record> records;
  while (true) {
    const Read part = read_at_last(log, records.empty() ? Head{} : records.back().head);
    EXPECT_EQ(part.outcome, ReadOutcome::kRecords);
    records.insert(records.end(), part.records.begin(), part.records.end());
    if (part.at_end || part.records.empty()) return records;
  }
}

}  // namespace weir::storage::nats
