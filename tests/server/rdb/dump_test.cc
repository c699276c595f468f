// DUMP and RESTORE where Redis cannot be asked: limiters, what is refused and in which words, every
// bit of a dump bent. Everything else is compared with Redis by tests/differential/moves.py.
#include <gmock/gmock.h>

#include <string>
#include <string_view>

#include "base/crc64.h"
#include "server/rdb/envelope.h"
#include "server/rdb/integers.h"
#include "storage/memtable/elements.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

using ::testing::StartsWith;

constexpr const char* kBadData = "-ERR Bad data format\r\n";
constexpr const char* kNotWhole = "-ERR DUMP payload version or checksum are wrong\r\n";
constexpr size_t kFooterBytes = 10;

std::string sealed(std::string body) {
  rdb::seal(&body);
  return body;
}

std::string sealed_as(std::string body, int version) {
  rdb::put_little_endian(&body, static_cast<uint64_t>(version), 2);
  rdb::put_little_endian(&body, crc64_redis(body), 8);
  return body;
}

class Dump : public LimiterTest {
 protected:
  std::string dump(std::string_view key) {
    const std::string reply = client_->call({"DUMP", key});
    const size_t begin = reply.find('\n') + 1;
    return reply.substr(begin, reply.size() - begin - 2);
  }
  std::string body(std::string_view key) {
    const std::string payload = dump(key);
    return payload.substr(0, payload.size() - kFooterBytes);
  }
  std::string restore(std::string_view key, std::string_view payload) {
    return client_->call({"RESTORE", key, "0", payload, "REPLACE"});
  }

  // One with a state alone, and those with lists beside it: grants, sub-windows, leases, bookings.
  void fill_with_limiters() {
    ask("RL.TAKE one GCRA 10/1m");
    ask("RL.TAKE log SLIDINGLOG 10/1m COST 3");
    ask("RL.TAKE many SLIDINGWINDOW 10/1m GCRA 20/1h FIXED 30/1d COST 2");
    ask("RL.TAKE lease CONCURRENCY 3 LEASE 1m");
    ask("RL.RESERVE booked GCRA 1/1s COST 1");
    ask("RL.RESERVE booked GCRA 1/1s COST 1");
  }
};

// Recorded from Redis 7.0.15.
TEST_F(Dump, HasTheBytesOfRedis) {
  using std::string_literals::operator""s;
  ask("SET string hello");
  ask("SET number -300");
  ask("RPUSH list a 1000");
  ask("SADD set 7 -70000");
  ask("HSET hash f v n 12");
  ask("ZADD zset 1.5 a 3 b");
  EXPECT_EQ(dump("string"), "\x00\x05hello\x0a\x00\x63\x72\xdf\x76\x65\x34\x20\x0a"s);
  EXPECT_EQ(dump("number"), "\x00\xc1\xd4\xfe\x0a\x00\xc6\xc4\x86\x23\xfe\xbe\xde\x2e"s);
  EXPECT_EQ(dump("list"),
            "\x12\x01\x02\x0d\x0d\x00\x00\x00\x02\x00\x81\x61\x02\xc3\xe8\x02\xff"
            "\x0a\x00\x7d\x50\xd8\xc9\x31\x9f\x32\x6a"s);
  EXPECT_EQ(dump("set"),
            "\x0b\x10\x04\x00\x00\x00\x02\x00\x00\x00\x90\xee\xfe\xff\x07\x00\x00\x00"
            "\x0a\x00\xba\xec\x73\x32\xca\xca\x10\x1a"s);
  EXPECT_EQ(dump("hash"),
            "\x10\x12\x12\x00\x00\x00\x04\x00\x81\x66\x02\x81\x76\x02\x81\x6e\x02\x0c"
            "\x01\xff\x0a\x00\x01\x36\x94\x81\xd3\x5b\x89\x74"s);
  EXPECT_EQ(dump("zset"),
            "\x11\x14\x14\x00\x00\x00\x04\x00\x81\x61\x02\x83\x31\x2e\x35\x04\x81\x62"
            "\x02\x03\x01\xff\x0a\x00\xe4\xdf\x12\xbe\x24\xfd\x83\x56"s);
}

TEST_F(Dump, RestoreGivesBackWhatWasThere) {
  ask("HSET hash z 1 a 2");
  ask("SADD words x 1");
  ask("RPUSH list b a b");
  ask("ZADD zset -0 a inf b 3 c");
  client_->call({"HSET", "large", "f", std::string(100, 'v'), "", ""});
  fill_with_limiters();
  for (const std::string_view key :
       {"hash", "words", "list", "zset", "large", "one", "log", "many", "lease", "booked"}) {
    const std::string payload = dump(key);
    EXPECT_EQ(restore("copy", payload), "+OK\r\n") << key;
    EXPECT_EQ(client_->call({"TYPE", "copy"}), client_->call({"TYPE", key}));
    EXPECT_EQ(client_->call({"OBJECT", "ENCODING", "copy"}),
              client_->call({"OBJECT", "ENCODING", key}));
    EXPECT_EQ(dump("copy"), payload) << key;
  }
}

TEST_F(Dump, ALimiterGoesOnWhereItWas) {
  fill_with_limiters();
  for (const std::string key : {"one", "log", "many", "lease", "booked"}) {
    const std::string info = ask("RL.INFO " + key);
    const std::string payload = dump(key);
    ask("DEL " + key);
    EXPECT_EQ(client_->call({"RESTORE", key, "60000", payload}), "+OK\r\n");
    EXPECT_EQ(ask("RL.INFO " + key), info);
  }
  EXPECT_EQ(ask("RL.TAKE log SLIDINGLOG 10/1m COST 8"), "[0, 10, 7, 60000, 60000, 0]");
  restart();
  EXPECT_EQ(ask("RL.TAKE log SLIDINGLOG 10/1m COST 7"), "[1, 10, 0, 0, 60000, 0]");
}

TEST_F(Dump, RefusesWhatIsBent) {
  ask("SADD s 1 2 30");
  const std::string bytes = dump("s");
  EXPECT_EQ(client_->call({"RESTORE", "s", "0", bytes}),
            "-BUSYKEY Target key name already exists.\r\n");
  EXPECT_EQ(client_->call({"RESTORE", "t", "-1", bytes}),
            "-ERR Invalid TTL value, must be >= 0\r\n");
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string bent = bytes;
    bent[at] = static_cast<char>(bent[at] ^ 1);
    EXPECT_EQ(restore("t", bent), kNotWhole);
    EXPECT_EQ(restore("t", bytes.substr(0, at)), kNotWhole);
  }
  EXPECT_EQ(ask("EXISTS t"), "0");
}

// With a checksum that is right, every bit: a value that is its own dump's, or an error and no key.
TEST_F(Dump, ChecksWhatTheChecksumDoesNot) {
  ask("HSET hash a 1 c 2");
  ask("ZADD zset 1.5 a 3 b");
  ask("RPUSH list a 1000");
  ask("SADD set 7 -70000");
  fill_with_limiters();
  for (const std::string_view key : {"hash", "zset", "list", "set", "one", "many", "booked"}) {
    const std::string whole = body(key);
    for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string bent = whole;
      bent[bit / 8] = static_cast<char>(bent[bit / 8] ^ 1 << bit % 8);
      client_->call({"DEL", "t"});
      const std::string reply = restore("t", sealed(bent));
      if (reply != "+OK\r\n") {
        EXPECT_THAT(reply, StartsWith("-ERR ")) << key << bit;
        EXPECT_EQ(ask("EXISTS t"), "0");
        continue;
      }
      const std::string again = dump("t");
      EXPECT_EQ(restore("u", again), "+OK\r\n") << key << bit;
      EXPECT_EQ(dump("u"), again) << key << bit;
    }
  }
}

TEST_F(Dump, SaysWhatItCannotRead) {
  const std::string text("\0\1a", 3);
  EXPECT_EQ(restore("t", sealed_as(text, 11)), "+OK\r\n");
  EXPECT_EQ(restore("t", sealed_as(text, 1)), "+OK\r\n");
  EXPECT_EQ(restore("t", sealed_as(text, 12)),
            "-ERR DUMP payload version or checksum are wrong: version 12, the newest known here is "
            "11\r\n");
  for (const char type : {15, 19, 21}) {
    EXPECT_EQ(restore("t", sealed(std::string(1, type) + "..")),
              "-ERR RESTORE of a stream is not supported\r\n");
  }
  EXPECT_EQ(restore("t", sealed("\x07..")),
            "-ERR RESTORE of a module's value is not supported\r\n");
  EXPECT_EQ(restore("t", sealed("")), kBadData);
  EXPECT_EQ(restore("t", sealed("\x63..")), kBadData);
  EXPECT_EQ(restore("t", sealed(text + "a")), kBadData);
  EXPECT_EQ(restore("t", sealed("w\x02")), kBadData);  // a limiter of a later form
}

TEST_F(Dump, RefusesTwinsAndWrongOrder) {
  using std::string_literals::operator""s;
  const std::string twins =
      "\x11\0\0\0\x04\0\x81"
      "a\x02\x01\x01\x81"
      "a\x02\x02\x01\xff"s;
  const std::string falling =
      "\x11\0\0\0\x04\0\x81"
      "a\x02\x02\x01\x81"
      "b\x02\x01\x01\xff"s;
  const std::string rising =
      "\x11\0\0\0\x04\0\x81"
      "a\x02\x01\x01\x81"
      "b\x02\x02\x01\xff"s;
  const std::string size(1, static_cast<char>(rising.size()));
  for (const std::string& body : {"\x02\x02\x01"
                                  "a\x01"
                                  "a"s,
                                  "\x04\x02\x01"
                                  "a\x01"
                                  "1\x01"
                                  "a\x01"
                                  "2"s,
                                  "\x03\x02\x01"
                                  "a\x01"
                                  "1\x01"
                                  "a\x01"
                                  "2"s,
                                  "\x10" + size + twins, "\x11" + size + twins,
                                  "\x11" + size + falling, "\x14" + size + twins}) {
    EXPECT_EQ(restore("t", sealed(body)), kBadData) << int{body[0]};
  }
  EXPECT_EQ(restore("t", sealed("\x11" + size + rising)), "+OK\r\n");
  EXPECT_EQ(restore("t", sealed("\x10" + size + falling)), "+OK\r\n");
}

// What a few bytes announce is not believed.
// A limiter with one entry ends with its order (8 bytes), its id (1 + 8) and its value (1 + 1).
std::string with_order(std::string body, uint64_t order) {
  std::string bytes;
  rdb::put_little_endian(&bytes, order, 8);
  return body.replace(body.size() - 19, 8, bytes);
}

TEST_F(Dump, RefusesInstantsThatNoEntryCanHave) {
  fill_with_limiters();
  const std::string log = body("log"), lease = body("lease");
  const auto try_order = [&](const std::string& whole, int64_t at_ns) {
    return restore("t", sealed(with_order(whole, storage::order_of_integer(at_ns))));
  };
  for (const std::string& whole : {log, lease}) {
    EXPECT_EQ(try_order(whole, 0), "+OK\r\n");
    EXPECT_EQ(try_order(whole, INT64_MAX), kBadData);
    EXPECT_EQ(try_order(whole, -1), kBadData);
  }
  EXPECT_EQ(try_order(log, INT64_MIN), kBadData);
  EXPECT_EQ(try_order(lease, INT64_MIN), "+OK\r\n");  // the sum of a chunk of leases
}

TEST_F(Dump, TakesNoMemoryForPromises) {
  using std::string_literals::operator""s;
  const std::string endless = "\x81\x7f\xff\xff\xff\xff\xff\xff\xff"s;
  for (const char type : {0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14, 16, 17, 18, 20}) {
    EXPECT_EQ(restore("t", sealed(std::string(1, type) + endless)), kBadData);
    EXPECT_EQ(restore("t", sealed(std::string(1, type) + endless + "a")), kBadData);
  }
  EXPECT_EQ(restore("t", sealed("\0\xc3\x01"s + endless + "a")), kBadData);
  EXPECT_EQ(restore("t", sealed("\0\xc3\x01\x80\x10\x00\x00\x00\x00"s)), kBadData);
  EXPECT_EQ(restore("t", sealed("w\x01"s + endless)), kBadData);
}

TEST_F(Dump, RestoreSetsTheExpiry) {
  ask("SADD s 1");
  const std::string bytes = dump("s");
  client_->call({"RESTORE", "t", "5000", bytes});
  EXPECT_EQ(ask("PTTL t"), "5000");
  client_->call({"RESTORE", "t", "4102444800000", bytes, "ABSTTL", "REPLACE"});
  EXPECT_EQ(ask("PEXPIRETIME t"), "4102444800000");
  client_->call({"RESTORE", "t", "1000", bytes, "ABSTTL", "REPLACE"});
  EXPECT_EQ(ask("EXISTS t"), "0");
}

// In a script a command that fails is not taken back: nothing may have been written before.
TEST_F(Dump, ARefusedValueLeavesTheOldOne) {
  ask("SET k old");
  const std::string bent = sealed(
      "\x01\x02\x01"
      "a\x7f");
  client_->call({"EVAL", "return redis.pcall('RESTORE', 'k', 0, ARGV[1], 'REPLACE')", "0", bent});
  EXPECT_EQ(ask("GET k"), "\"old\"");
}

}  // namespace
}  // namespace weir::server
