// The expected outcomes were observed on redis-server 7.0.15, byte for byte.
#include "resp/request_parser.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace weir::resp {
namespace {

using Request = std::vector<std::string>;
using namespace std::string_literals;

// What a stream of bytes came to.
struct Outcome {
  std::vector<Request> requests;
  std::string error;        // of the parser, empty if none
  size_t unused_bytes = 0;  // left for a request that is not complete

  bool operator==(const Outcome&) const = default;
};

void PrintTo(const Outcome& outcome, std::ostream* out) {
  for (const Request& request : outcome.requests) {
    *out << "(";
    for (const std::string& arg : request) *out << testing::PrintToString(arg) << " ";
    *out << ") ";
  }
  *out << "error '" << outcome.error << "', " << outcome.unused_bytes << " bytes unused";
}

// A connection as a server has it: bytes are appended, requests taken from the front. The input is
// copied to memory of its exact size for each call, so that a sanitizer sees any look beyond it and
// any look at where it was before.
class Connection {
 public:
  explicit Connection(const RequestLimits& limits = {}) : limits_(limits) {}

  void receive(std::string_view bytes) {
    buffer_ += bytes;
    while (outcome_.error.empty() && step()) {
    }
    outcome_.unused_bytes = buffer_.size();
  }

  const Outcome& outcome() const { return outcome_; }
  const RequestParser& parser() const { return parser_; }

 private:
  bool step() {
    const std::unique_ptr<char[]> copy(new char[buffer_.size()]);
    buffer_.copy(copy.get(), buffer_.size());
    switch (parser_.parse({copy.get(), buffer_.size()}, limits_)) {
      case ParseStatus::kNeedMore:
        return false;
      case ParseStatus::kError:
        outcome_.error = parser_.error();
        return false;
      case ParseStatus::kRequest:
        break;
    }
    outcome_.requests.emplace_back(parser_.args().begin(), parser_.args().end());
    buffer_.erase(0, parser_.consumed());
    return true;
  }

  RequestLimits limits_;
  RequestParser parser_;
  std::string buffer_;
  Outcome outcome_;
};

Outcome outcome_of(std::string_view bytes, const RequestLimits& limits = {}) {
  Connection connection(limits);
  connection.receive(bytes);
  return connection.outcome();
}

std::string error_of(std::string_view bytes, const RequestLimits& limits = {}) {
  return outcome_of(bytes, limits).error;
}

const std::string kPipeline =
    "*5\r\n$11\r\nCL.THROTTLE\r\n$7\r\nuser:42\r\n$2\r\n15\r\n$2\r\n30\r\n$2\r\n60\r\n"
    "PING\r\n*0\r\n*-1\r\n\r\nSET k \"a b\\x00\"\n*2\r\n$4\r\nECHO\r\n$0\r\n\r\n"
    "*2\r\n$4\r\nECHO\r\n$12\r\n*1\r\n$1\r\n\0\xff\r\n\r\n"s;

TEST(RequestParserTest, TakesRequestsOfBothKindsFromOnePipeline) {
  const Outcome outcome = outcome_of(kPipeline);
  const std::vector<Request> expected = {{"CL.THROTTLE", "user:42", "15", "30", "60"},
                                         {"PING"},
                                         {},
                                         {},
                                         {},
                                         {"SET", "k", "a b\0"s},
                                         {"ECHO", ""},
                                         {"ECHO", "*1\r\n$1\r\n\0\xff\r\n"s}};
  EXPECT_EQ(outcome.requests, expected);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.unused_bytes, 0u);
}

TEST(RequestParserTest, EverySplitGivesTheSameRequests) {
  const Outcome whole = outcome_of(kPipeline);
  for (size_t first = 0; first <= kPipeline.size(); ++first) {
    for (size_t second = first; second <= kPipeline.size(); ++second) {
      Connection connection;
      connection.receive(kPipeline.substr(0, first));
      connection.receive(kPipeline.substr(first, second - first));
      connection.receive(kPipeline.substr(second));
      ASSERT_EQ(connection.outcome(), whole) << "split at " << first << " and " << second;
    }
  }
}

TEST(RequestParserTest, ConsumedAndViewsPointIntoTheInput) {
  const std::string input = "*1\r\n$4\r\nPING\r\nrest";
  RequestParser parser;
  ASSERT_EQ(parser.parse(input, {}), ParseStatus::kRequest);
  EXPECT_EQ(parser.consumed(), input.size() - 4);
  ASSERT_EQ(parser.args().size(), 1u);
  EXPECT_EQ(parser.args()[0].data(), input.data() + 8);
}

TEST(RequestParserTest, ErrorsInRedisWords) {
  const std::string p = "ERR Protocol error: ";
  EXPECT_EQ(error_of("*x\r\n"), p + "invalid multibulk length");
  EXPECT_EQ(error_of("*\r\n"), p + "invalid multibulk length");
  EXPECT_EQ(error_of("* 1\r\n"), p + "invalid multibulk length");
  EXPECT_EQ(error_of("*+1\r\n"), p + "invalid multibulk length");
  EXPECT_EQ(error_of("*01\r\n$4\r\nPING\r\n"), p + "invalid multibulk length");
  EXPECT_EQ(error_of("*-0\r\nPING\r\n"), p + "invalid multibulk length");
  EXPECT_EQ(error_of("*2147483648\r\n"), p + "invalid multibulk length");
  EXPECT_EQ(error_of("*9223372036854775808\r\n"), p + "invalid multibulk length");
  EXPECT_EQ(error_of("*1\r\n$\r\n"), p + "invalid bulk length");
  EXPECT_EQ(error_of("*1\r\n$x\r\n"), p + "invalid bulk length");
  EXPECT_EQ(error_of("*1\r\n$-1\r\n"), p + "invalid bulk length");
  EXPECT_EQ(error_of("*1\r\n$04\r\nPING\r\n"), p + "invalid bulk length");
  EXPECT_EQ(error_of("*1\r\n$536870913\r\n"), p + "invalid bulk length");
  EXPECT_EQ(error_of("*1\r\nPING\r\n"), p + "expected '$', got 'P'");
  EXPECT_EQ(error_of("*3\r\n$3\r\nSET\r\n$1\r\na\r\n#1\r\n"), p + "expected '$', got '#'");
  EXPECT_EQ(error_of("*1\r\n\r\n"), p + "expected '$', got ' '");
  EXPECT_EQ(error_of("*1\rx\r\n"), p + "expected '$', got ' '");
  EXPECT_EQ(error_of("*1\r\n\xff\r\n"), p + "expected '$', got '\xff'");
  EXPECT_EQ(error_of("PING \"a\r\n"), p + "unbalanced quotes in request");
  EXPECT_EQ(error_of("PING \"a\"b\r\n"), p + "unbalanced quotes in request");
}

TEST(RequestParserTest, LenienceIsThatOfRedis) {
  const std::vector<Request> ping = {{"PING"}};
  EXPECT_EQ(outcome_of("*1\rX$4\rYPINGZZ").requests, ping);
  EXPECT_EQ(outcome_of("*1\r\n$4\r\nPINGXX").requests, ping);
  EXPECT_EQ(outcome_of("PING\n").requests, ping);
  EXPECT_EQ(outcome_of("*-99999999999\r\nPING\r\n").requests, (std::vector<Request>{{}, {"PING"}}));
  EXPECT_EQ(outcome_of("*2147483647\r\n"), (Outcome{{}, "", 13}));
  EXPECT_EQ(outcome_of("*1\r\n$536870912\r\n"), (Outcome{{}, "", 16}));
  EXPECT_EQ(outcome_of("*1\n$4\nPING\n"), (Outcome{{}, "", 11}));
  EXPECT_EQ(outcome_of("*1\r\nabc\r"), (Outcome{{}, "", 8}));
  EXPECT_EQ(outcome_of("*1\0\r\n$4\r\nPING\r\n"s), (Outcome{{}, "", 15}));
  EXPECT_EQ(outcome_of("*1\r\n\0004\r\nPING\r\n"s), (Outcome{{}, "", 14}));
  EXPECT_EQ(outcome_of("PI\0NG\r\nPING\r\n"s), (Outcome{{}, "", 13}));
}

TEST(RequestParserTest, LineLengthIsBounded) {
  const std::string p = "ERR Protocol error: ";
  const std::string ones(65536, '1'), letters(65536, 'a'), zeros(70000, '\0');
  EXPECT_EQ(error_of("*" + ones.substr(1)), "");
  EXPECT_EQ(error_of("*" + ones), p + "too big mbulk count string");
  EXPECT_EQ(error_of("*1\r\n$" + ones.substr(1)), "");
  EXPECT_EQ(error_of("*1\r\n$" + ones), p + "too big bulk count string");
  EXPECT_EQ(error_of("*1\r\nx" + ones), p + "too big bulk count string");
  EXPECT_EQ(error_of(letters), "");
  EXPECT_EQ(error_of(letters + "a"), p + "too big inline request");
  EXPECT_EQ(error_of("*1" + zeros), p + "too big mbulk count string");
  EXPECT_EQ(outcome_of(letters + "\n").requests, std::vector<Request>{{letters}});
  EXPECT_EQ(error_of("a" + letters + "\n"), p + "too big inline request");
}

TEST(RequestParserTest, LimitsAreThoseGiven) {
  const RequestLimits limits = {
      .bulk_bytes_max = 4, .multibulk_count_max = 2, .inline_bytes_max = 6};
  EXPECT_EQ(error_of("*2\r\n$4\r\nECHO\r\n$1\r\nx\r\n", limits), "");
  EXPECT_EQ(error_of("*3\r\n", limits), "ERR Protocol error: invalid multibulk length");
  EXPECT_EQ(error_of("*1\r\n$5\r\n", limits), "ERR Protocol error: invalid bulk length");
  EXPECT_EQ(error_of("PING a\r\n", limits), "ERR Protocol error: too big inline request");
  EXPECT_EQ(error_of("PING a\n", limits), "");
  EXPECT_EQ(error_of("*1\r\n$10\r\n0123456789\r\n", {.inline_bytes_max = 2}),
            "ERR Protocol error: too big bulk count string");
  // The bound on a line counts before the number in it, however the bytes are cut.
  for (const std::string& stream : {"*1000000\r\n"s, "*1\r\n$1000000\r\n"s}) {
    Connection slow(limits);
    for (const char c : stream) slow.receive({&c, 1});
    EXPECT_EQ(slow.outcome().error, error_of(stream, limits));
    EXPECT_NE(slow.outcome().error.find("too big"), std::string::npos);
  }
}

TEST(RequestParserTest, UnauthenticatedRequestsAreSmall) {
  const RequestLimits limits = {.authenticated = false};
  EXPECT_EQ(error_of("*10\r\n", limits), "");
  EXPECT_EQ(error_of("*11\r\n", limits), "ERR Protocol error: unauthenticated multibulk length");
  EXPECT_EQ(error_of("*1\r\n$16384\r\n", limits), "");
  EXPECT_EQ(error_of("*1\r\n$16385\r\n", limits),
            "ERR Protocol error: unauthenticated bulk length");
  EXPECT_EQ(error_of("*2147483648\r\n", limits), "ERR Protocol error: invalid multibulk length");
  EXPECT_EQ(error_of("*1\r\n$536870913\r\n", limits), "ERR Protocol error: invalid bulk length");
  EXPECT_EQ(outcome_of("*1\r\n$4\r\nPING\r\n", limits).requests, std::vector<Request>{{"PING"}});
}

TEST(RequestParserTest, AnErrorStaysUntilReset) {
  RequestParser parser;
  ASSERT_EQ(parser.parse("*x\r\n", {}), ParseStatus::kError);
  EXPECT_EQ(parser.parse("*x\r\nPING\r\n", {}), ParseStatus::kError);
  EXPECT_EQ(parser.error(), "ERR Protocol error: invalid multibulk length");
  EXPECT_EQ(parser.consumed(), 0u);
  parser.reset();
  EXPECT_EQ(parser.parse("PING\r\n", {}), ParseStatus::kRequest);
  ASSERT_EQ(parser.parse("PI\0NG\n"s, {.inline_bytes_max = 5}), ParseStatus::kError);
  parser.reset();
  EXPECT_EQ(parser.parse("PING\r\n", {}), ParseStatus::kRequest);
}

TEST(RequestParserTest, LosingBytesThatWereToBeKeptIsAnError) {
  RequestParser parser;
  ASSERT_EQ(parser.parse("*2\r\n$4\r\nECHO\r\n$5\r\nhel", {}), ParseStatus::kNeedMore);
  EXPECT_EQ(parser.parse("*2\r\n", {}), ParseStatus::kError);
  EXPECT_EQ(parser.error(), "ERR Protocol error: bytes of a request were lost");
}

// Feeds `stream` byte by byte without copying it; returns the parser's work.
uint64_t work_byte_by_byte(std::string_view stream) {
  RequestParser parser;
  size_t start = 0;
  for (size_t end = 1; end <= stream.size(); ++end) {
    if (parser.parse(stream.substr(start, end - start), {}) == ParseStatus::kRequest) {
      start += parser.consumed();
    }
  }
  return parser.work();
}

TEST(RequestParserTest, WorkIsLinearHoweverSmallThePieces) {
  std::string many = "*100000\r\n";
  for (int i = 0; i < 100000; ++i) many += "$4\r\nabcd\r\n";
  const std::string one = "*1\r\n$1000000\r\n" + std::string(1000000, 'x') + "\r\n";
  const std::string line(60000, 'a'), header = "*" + std::string(60000, '1');
  const std::string hidden = "*1" + std::string(60000, '\0');
  for (const std::string& stream : {many, one, line, header, hidden, line + "\n"}) {
    EXPECT_LE(work_byte_by_byte(stream), 4 * stream.size()) << stream.substr(0, 20);
  }
}

TEST(RequestParserTest, WorkIsLinearInOneLongPipeline) {
  for (const std::string& request : {"PING\r\n"s, "*1\r\n$4\r\nPING\r\n"s, "*0\r\n"s, "\n"s}) {
    std::string stream;
    for (int i = 0; i < 5000; ++i) stream += request;
    RequestParser parser;
    std::string_view rest = stream;
    while (parser.parse(rest, {}) == ParseStatus::kRequest) rest.remove_prefix(parser.consumed());
    EXPECT_TRUE(rest.empty());
    EXPECT_LE(parser.work(), 4 * stream.size()) << request;
  }
}

TEST(RequestParserTest, RandomDamageNeverDependsOnSplits) {
  std::mt19937 random(20240229);
  constexpr std::string_view kBytes("*$\r\n0129-+ \"'\\x\0z", 18);
  for (int round = 0; round < 20000; ++round) {
    std::string stream = kPipeline;
    for (unsigned damage = random() % 6; damage > 0; --damage) {
      const size_t at = random() % stream.size();
      switch (random() % 3) {
        case 0:
          stream[at] = kBytes[random() % kBytes.size()];
          break;
        case 1:
          stream.erase(at, 1 + random() % 3);
          break;
        default:
          stream.insert(at, 1, kBytes[random() % kBytes.size()]);
      }
    }
    Connection pieces;
    for (size_t at = 0; at < stream.size();) {
      const size_t size = 1 + random() % 40;
      pieces.receive(std::string_view(stream).substr(at, size));
      at += size;
    }
    Outcome whole = outcome_of(stream), split = pieces.outcome();
    // After an error nobody reads what is left.
    if (!whole.error.empty()) whole.unused_bytes = split.unused_bytes = 0;
    ASSERT_EQ(split, whole) << testing::PrintToString(stream);
  }
}

}  // namespace
}  // namespace weir::resp
