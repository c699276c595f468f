// What servers, their operators and networks do.
#include "base/crc64.h"
#include "tests/nats/nats_fixture.h"

namespace weir::storage::nats {
namespace {

using NatsLogTest = NatsTest;

TEST_F(NatsLogTest, AMissingStreamIsAnErrorAndIsNotMade) {
  NatsOptions plain = options();
  plain.makes_shard = false;
  NatsLog* const log = connect(plain);
  EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kFailed);
  EXPECT_TRUE(log->trouble().needs_person);
  EXPECT_NE(log->trouble().text.find("--new-shard"), std::string::npos) << log->trouble().text;
  EXPECT_NE(api("INFO." + names_.log_stream()).find("10059"), std::string::npos);
  Head end;
  put(connect(), &end, "a");
  EXPECT_EQ(read_at_last(log, {}).records.size(), 1u) << "it is looked for again";
  EXPECT_EQ(log->trouble().text, "");
}

TEST_F(NatsLogTest, AStreamThatGoesIsMissed) {
  NatsOptions plain = options();
  plain.makes_shard = false;
  Head end;
  put(connect(), &end, "a");
  logs_.clear();
  NatsLog* const log = connect(plain);
  ASSERT_EQ(read(log, end).outcome, ReadOutcome::kRecords);
  api("DELETE." + names_.log_stream());
  EXPECT_EQ(append(log, end, "b").outcome, AppendOutcome::kUnknown);
  wait_until([&] { return log->trouble().needs_person; });
  EXPECT_EQ(read(log, end).outcome, ReadOutcome::kFailed);
}

TEST_F(NatsLogTest, Facts) {
  NatsLog* const log = connect();
  read(log, {});
  const replication::LogFacts facts = log->facts();
  EXPECT_EQ(facts.version, "2.15.2");
  EXPECT_EQ(facts.copies, 1u);
  EXPECT_EQ(facts.fsync, replication::LogFacts::Fsync::kUnknown);
  EXPECT_TRUE(facts.uses_parts);
  EXPECT_EQ(facts.weakness, "one server alone holds the stream");
}

TEST_F(NatsLogTest, AWeakStreamIsTakenOnlyIfThatIsSaid) {
  api("CREATE." + names_.log_stream(), R"({"name":")" + names_.log_stream() + R"(","subjects":[")" +
                                           names_.log_subjects() +
                                           R"("],"storage":"memory","discard":"new"})");
  NatsLog* const log = connect();
  EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kFailed);
  EXPECT_TRUE(log->trouble().needs_person);
  NatsOptions allowing = options();
  allowing.allows_weak_engine = true;
  NatsLog* const other = connect(allowing);
  Head end;
  put(other, &end, "a");
  EXPECT_NE(other->facts().weakness.find("storage is memory"), std::string::npos);
}

TEST_F(NatsLogTest, AStreamThatBecomesWeakIsTrouble) {
  NatsLog* const log = connect();
  Head end;
  put(log, &end, "a");
  const std::string of = R"({"name":")" + names_.log_stream() + R"(","subjects":[")" +
                         names_.log_subjects() + R"("],"storage":"file","discard":"old"})";
  api("UPDATE." + names_.log_stream(), of);
  wait_until([&] { return log->trouble().text.find("discard is old") != std::string::npos; });
  EXPECT_FALSE(log->trouble().needs_person);
  put(log, &end, "it goes on");
}

TEST_F(NatsLogTest, AServerThatIsAwayIsTrouble) {
  NatsOptions nowhere = options();
  nowhere.address = *parse_address("nats://127.0.0.1:1,127.0.0.1:2");
  NatsLog* const log = connect(nowhere);
  EXPECT_EQ(append(log, Head{}, "a").outcome, AppendOutcome::kRefused) << "it was not sent";
  EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kFailed);
  EXPECT_FALSE(log->trouble().needs_person);
  for (const char* const host : {"127.0.0.1:1: nobody listens", "127.0.0.1:2: nobody listens"})
    EXPECT_NE(log->trouble().text.find(host), std::string::npos) << log->trouble().text;
}

// Beyond the end the server would remove everything, and give the next record another log index.
TEST_F(NatsLogTest, TrimmingEndsAtTheLastRecord) {
  NatsLog* const log = connect();
  log->trim(5);
  Head end;
  for (int i = 0; i < 3; ++i) put(log, &end, numbered(i));
  log->trim(1'000'000);
  wait_until([&] { return read(log, {}).outcome == ReadOutcome::kTrimmed; });
  put(log, &end, "after it");
  EXPECT_EQ(end.log_index, 4u);
}

TEST_F(NatsLogTest, AFullStreamTakesNothingAndIsTrouble) {
  NatsOptions small = options();
  small.bytes_max = 64 << 10;
  NatsLog* const log = connect(small);
  Head end;
  Appended last{.outcome = AppendOutcome::kDone, .head = {}};
  for (int i = 0; i < 20 && last.outcome == AppendOutcome::kDone; ++i) {
    last = append(log, end, std::string(8 << 10, 'x') + std::to_string(i));
    if (last.outcome == AppendOutcome::kDone) end = last.head;
  }
  EXPECT_EQ(last.outcome, AppendOutcome::kUnknown);
  EXPECT_NE(log->trouble().text.find("maximum bytes"), std::string::npos) << log->trouble().text;
  log->trim(end.log_index - 1);
  wait_until([&] { return read(log, {}).outcome == ReadOutcome::kTrimmed; });
  put(log, &end, "there is room");
  EXPECT_EQ(log->trouble().text, "");
}

// A record without the header of its checksum, or that names another predecessor.
TEST_F(NatsLogTest, AForeignMessageIsDamage) {
  NatsLog* const log = connect();
  Head end;
  put(log, &end, "a");
  const Head first = end;
  const std::string url = servers_.address();
  ask_once(url, names_.log_subject(1), "foreign");
  EXPECT_EQ(read(log, first).outcome, ReadOutcome::kDamaged);
}

TEST_F(NatsLogTest, ARecordThatFollowsAnotherThanItNamesIsDamage) {
  NatsLog* const log = connect();
  Head end;
  put(log, &end, "a");
  const Head first = end;
  put(log, &end, "b");
  Outgoing odd = nats::append(names_, Head{end.log_index, end.crc + (1ull << 32)}, 7, "c");
  odd.headers[0].second = hex_of(crc64_xz("c"));
  EXPECT_NE(ask_once(servers_.address(), odd.subject, odd.payload, odd.headers).find("\"seq\":3"),
            std::string::npos)
      << "its subject has the same end of a crc, and the server cannot tell";
  EXPECT_EQ(read(log, first).outcome, ReadOutcome::kDamaged);
}

TEST_F(NatsLogTest, ARegistry) {
  NatsLog* const one = connect();
  NatsLog* const two = connect();
  one->put("member one", std::string("\0\xff", 2));
  two->put("two", "facts");
  wait_until([&] { return one->snapshot().size() == 2 && two->snapshot().size() == 2; });
  one->put("large", std::string(replication::MemberRegistry::kFactsBytesMax + 1, 'x'));
  one->put("member one", "newer");
  const auto newest = [&] {
    for (const auto& entry : two->snapshot())
      if (entry.name == "member one") return entry.bytes;
    return std::string();
  };
  wait_until([&] { return newest() == "newer"; });
  for (const auto& entry : two->snapshot()) {
    EXPECT_GE(entry.age_ns, 0);
    EXPECT_LT(entry.age_ns, 20 * kNsPerS);
    EXPECT_NE(entry.name, "large") << "nobody's facts are so long";
  }
}

TEST_F(NatsLogTest, ALogIsAwayForAWhile) {
  NatsServer own(1);
  NatsOptions at_own = options();
  at_own.address = *parse_address(own.address());
  NatsLog* const log = connect(at_own);
  Head end;
  put(log, &end, "a");
  own.stop(0);
  EXPECT_EQ(append(log, end, "b").outcome, AppendOutcome::kUnknown);
  EXPECT_EQ(read(log, end).outcome, ReadOutcome::kFailed);
  own.start(0);
  put_at_last(log, &end, "b");
  own.pause(0, true);
  EXPECT_EQ(append(log, end, "c").outcome, AppendOutcome::kUnknown);
  own.pause(0, false);
  put_at_last(log, &end, "c");
  EXPECT_EQ(read_all(log).size(), 3u);
  logs_.clear();
}

}  // namespace
}  // namespace weir::storage::nats
