// The table of a command's options: what is read, and which error comes first.
#include "server/command/option_table.h"

#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

struct Options {
  bool flag = false;
  bool other = false;
  std::string_view word;
  std::string_view pair;
};

Result<void, ErrorReplied> take_pair(Call& call, Args values, Options* options) {
  if (values[0] == values[1]) return reply_error(call, "ERR no pair");
  options->pair = values[1];
  return {};
}

constexpr OptionRow<Options> kTable[] = {
    {.word = "FLAG", .flag = &Options::flag},
    {.word = "OTHER", .flag = &Options::other, .fits = without<&Options::flag>},
    {.word = "WORD", .values = 1, .take = take_word<&Options::word>},
    {.word = "PAIR", .values = 2, .take = take_pair}};

class OptionTableTest : public ::testing::Test {
 protected:
  // Answers the error, or "" and fills read_.
  std::string read(std::vector<std::string_view> words) {
    return answer_of(std::move(words),
                     [this](Call& call) { return read_options(call, 1, kTable, &read_).ok(); });
  }

  // Answers the error, or "" and fills read_ and left_.
  std::string read_leading(std::vector<std::string_view> words) {
    return answer_of(std::move(words), [this](Call& call) {
      const auto left = read_leading_options(call, call.args.subspan(1), kTable, &read_);
      left_.clear();
      if (left) left_.assign(left->begin(), left->end());
      return left.ok();
    });
  }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
  Options read_;
  std::vector<std::string_view> left_;

 private:
  std::string answer_of(std::vector<std::string_view> words, auto read) {
    std::string output;
    resp::ReplyWriter reply(&output);
    static constexpr Command kCommand{.name = "test"};
    Call call{.host = *server_,
              .limiters = server_->limiters(),
              .session = client_->session(),
              .keys = server_->keys(),
              .reply = reply,
              .command = kCommand,
              .args = words,
              .database = 0,
              .now_ns = 0};
    read_ = {};
    const bool done = read(call);
    EXPECT_EQ(done, output.empty());
    return output;
  }
};

TEST_F(OptionTableTest, ReadsWordsInAnyCaseAndOrder) {
  EXPECT_EQ(read({"key"}), "");
  EXPECT_EQ(read({"key", "pair", "a", "b", "WORD", "flag", "OtheR", "Flag"}), "");
  EXPECT_TRUE(read_.flag && read_.other);
  EXPECT_EQ(read_.word, "flag");
  EXPECT_EQ(read_.pair, "b");
  EXPECT_EQ(read({"key", "WORD", "a", "WORD", "b"}), "");
  EXPECT_EQ(read_.word, "b") << "the last one counts";
}

TEST_F(OptionTableTest, AnswersTheFirstErrorFromTheLeft) {
  constexpr const char* kSyntax = "-ERR syntax error\r\n";
  EXPECT_EQ(read({"key", "NOSUCH"}), kSyntax);
  EXPECT_EQ(read({"key", "WORD"}), kSyntax) << "its value is missing";
  EXPECT_EQ(read({"key", "PAIR", "a"}), kSyntax);
  EXPECT_EQ(read({"key", "FLAG", "OTHER"}), kSyntax) << "the row forbids it";
  EXPECT_EQ(read({"key", "PAIR", "a", "a", "NOSUCH"}), "-ERR no pair\r\n");
  EXPECT_EQ(read({"key", "NOSUCH", "PAIR", "a", "a"}), kSyntax);
}

TEST_F(OptionTableTest, LeavesWhatIsNoOptionWhereTheCommandAsksForThat) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(read_leading({"key", "FLAG", "word", "a", "1", "FLAG"}), "");
  EXPECT_TRUE(read_.flag);
  EXPECT_EQ(read_.word, "a");
  EXPECT_EQ(left_, (Words{"1", "FLAG"})) << "an option after another word is none";
  EXPECT_EQ(read_leading({"key", "FLAG", "PAIR", "a"}), "");
  EXPECT_EQ(left_, (Words{"PAIR", "a"})) << "its value is missing";
  EXPECT_EQ(read_leading({"key", "FLAG", "OTHER"}), "");
  EXPECT_EQ(left_, Words{"OTHER"}) << "the row forbids it";
  EXPECT_EQ(read_leading({"key"}), "");
  EXPECT_TRUE(left_.empty());
  EXPECT_EQ(read_leading({"key", "PAIR", "a", "a", "1"}), "-ERR no pair\r\n");
}

}  // namespace
}  // namespace weir::server
