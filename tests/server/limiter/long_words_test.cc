// A word that is too long is told by its length. All but the beginning of such a word is memory
// that cannot be read here: to search, hash, copy or show more of it ends the test with a signal,
// whatever it would cost. The same holds for words after those that a request may have.
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "server/command/command_errors.h"
#include "server/command/command_facts.h"
#include "server/limiter/policy/request.h"
#include "tests/server/example_requests.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

constexpr size_t kReadable = 64 << 10;  // a word that is shown, or compared, ends long before
constexpr size_t kReplyBytesMax = 2048;

// Memory of which only the beginning is there.
class Guarded {
 public:
  explicit Guarded(size_t readable)
      : begin_(static_cast<char*>(::mmap(nullptr, kBytes, PROT_NONE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    EXPECT_NE(begin_, MAP_FAILED);
    EXPECT_EQ(::mprotect(begin_, readable, PROT_READ | PROT_WRITE), 0);
  }
  ~Guarded() { ::munmap(begin_, kBytes); }
  Guarded(const Guarded&) = delete;

  char* begin() const { return begin_; }

 private:
  static constexpr size_t kBytes = 128 << 20;
  char* const begin_;
};

// What is tried, for whoever reads that the test has ended by a signal.
char g_tried[512];

void tell_what_was_read(int number) {
  constexpr std::string_view kSaid = "more than the beginning was read of a word of: ";
  (void)!::write(STDERR_FILENO, kSaid.data(), kSaid.size());
  (void)!::write(STDERR_FILENO, g_tried, std::strlen(g_tried));
  (void)!::write(STDERR_FILENO, "\n", 1);
  std::signal(number, SIG_DFL);
}

bool is_of_limiters(const Command& command) {
  for (const std::string_view category : acl_categories(command)) {
    if (category == "ratelimit" || category == "ratelimitadmin") return true;
  }
  return false;
}

class LongWords : public ::testing::Test {
 protected:
  LongWords() {
    for (const int number : {SIGSEGV, SIGBUS}) std::signal(number, tell_what_was_read);
    server_.connect()->call({"ACL", "SETUSER", "shop", "on", ">x", "+@all", "~k*", "~a*b*c*",
                             "policy~a*a*", "policy~x*"});
    server_.connect()->call({"RL.POLICY", "SET", "x", "10/1h"});
  }

  // Runs a request of words that lie where they are.
  std::string execute(Args args, std::string_view user) {
    std::unique_ptr<FakeClient>& client = clients_[user];
    if (client == nullptr || client->closed() || client->session().wait_state().waiting()) {
      client = server_.connect();
      if (user != "default") client->call({"AUTH", user, "x"});
    }
    client->session().join_turn();
    server_->executor().execute(client->session(), args);
    server_.run_turns();
    return client->take();
  }

  // Makes the word that is long: what it is otherwise, and then the filling.
  void fill(const std::string& word, std::string_view filling) {
    std::memcpy(word_.begin(), word.data(), word.size());
    for (size_t at = word.size(); at < kReadable; at += filling.size())
      std::memcpy(word_.begin() + at, filling.data(), std::min(filling.size(), kReadable - at));
  }

  // Answers what comes of a request in which one word is the long one, with so many bytes.
  std::string ask_with_long(const Words& words, size_t place, size_t bytes, std::string_view user) {
    std::string tried(user);
    for (size_t i = 0; i < words.size(); ++i)
      tried += i == place ? " (" + words[i] + "...)" : " " + words[i];
    std::snprintf(g_tried, sizeof g_tried, "%s", tried.c_str());
    std::vector<std::string_view> args(words.begin(), words.end());
    args[place] = {word_.begin(), bytes};
    return execute(args, user);
  }

  void expect_refusal(const std::string& reply) {
    // To look up what cannot be there is no error.
    const bool is_refusal = reply.starts_with('-') || reply == "$-1\r\n" || reply == ":0\r\n" ||
                            reply == "*0\r\n" || reply == "_\r\n";
    EXPECT_TRUE(is_refusal) << g_tried << ": " << reply.substr(0, 200);
    EXPECT_LT(reply.size(), kReplyBytesMax) << g_tried;
    ++tried_;
  }

  // Makes each word of a request long, in several ways.
  void expect_refusals(const Words& words, size_t first) {
    for (size_t place = first; place < words.size(); ++place) {
      for (const std::string& filling : fillings_) {
        fill(words[place], filling);
        for (const size_t bytes : {size_t{1} << 20, size_t{64} << 20}) {
          for (const std::string_view user : {"default", "shop"})
            expect_refusal(ask_with_long(words, place, bytes, user));
        }
      }
    }
  }

  static std::string repeated(std::string_view text) {
    std::string filling;
    while (filling.size() < kReadable) filling += text;
    return filling;
  }

  FakeServer server_;
  Guarded word_{kReadable};
  const std::vector<std::string> fillings_ = {repeated("1"), repeated(",1"), repeated("a"),
                                              repeated("/"), repeated(".."), repeated(" ")};
  std::map<std::string_view, std::unique_ptr<FakeClient>> clients_;
  size_t tried_ = 0;
};

TEST_F(LongWords, OfCommandsOfLimiters) {
  for (const Command& command : runnable_commands()) {
    if (!is_of_limiters(command)) continue;
    for (const Words& words : example_requests(command))
      expect_refusals(words, command.is_subcommand() ? 2 : 1);
  }
  EXPECT_GT(tried_, 5000u);
}

TEST_F(LongWords, OfLimits) {
  for (const algorithms::Algorithm* algorithm : algorithms::all_algorithms()) {
    for (const Words& limits : example_limits(*algorithm)) {
      expect_refusals(Words{"RL.TAKE", "k"} + limits, 2);
      expect_refusals(Words{"RL.MTAKE", "1", "k", "EACH"} + limits, 4);
      expect_refusals(Words{"RL.POLICY", "SET", "x"} + limits, 3);
    }
  }
  for (const Words& rate : {Words{"10/1h"}, Words{"10", "PER", "hour"}})
    expect_refusals(Words{"RL.TAKE", "k"} + rate, 2);
}

TEST_F(LongWords, OfWhatClientsSayOfThemselves) {
  for (const Words& words :
       {Words{"AUTH", "shop", "x"}, Words{"HELLO", "3"}, Words{"HELLO", "3", "AUTH", "shop", "x"},
        Words{"HELLO", "3", "SETNAME", "x"}, Words{"SELECT", "1"}, Words{"CLIENT", "SETNAME", "x"},
        Words{"CLIENT", "SETINFO", "LIB-NAME", "x"}, Words{"CLIENT", "NONE"}, Words{"NONE", "x"}}) {
    expect_refusals(words, words[0] == "NONE" ? 0 : 1);
  }
  server_.connect()->call({"CONFIG", "SET", "requirepass", "x"});
  expect_refusals({"AUTH", "x"}, 1);
}

// Whatever a command does with a key.
TEST_F(LongWords, OfKeys) {
  for (const Command& command : runnable_commands()) {
    for (const Words& words : example_requests(command)) {
      const std::vector<std::string_view> args(words.begin(), words.end());
      if (!has_keys(command) || !arity_fits(command, args.size())) continue;
      for (const KeyReference& key : find_keys(command, args)) {
        fill(words[key.position], fillings_.front());
        for (const std::string_view user : {"default", "shop"}) {
          EXPECT_EQ(
              ask_with_long(words, key.position, 64 << 20, user),
              "-ERR a key may have at most 65536 bytes (key-bytes-max), got one of 67108864\r\n")
              << g_tried;
          ++tried_;
        }
      }
    }
  }
  EXPECT_GT(tried_, 300u);
}

// As many words as a request may have, and then such as cannot be read.
TEST_F(LongWords, ThatAreTooMany) {
  constexpr size_t kCount = 1'000'000;
  for (const Words& words :
       {Words{"RL.TAKE", "k", "10/1h"}, Words{"RL.TAKE", "k", "POLICY", "x"},
        Words{"RL.TAKE", "k", "POLICY", "aaaa"}, Words{"RL.PEEK", "k", "10/1h", "AS", "x"},
        Words{"RL.RESERVE", "k", "10/1h", "COST", "1"},
        Words{"RL.ACQUIRE", "k", "10/1h", "TIMEOUT", "1"}, Words{"RL.INFO", "k"},
        Words{"CL.THROTTLE", "k", "1", "1", "1"}, Words{"GCRA", "k", "1", "1", "1"},
        Words{"INCREX", "k", "BYINT", "1"}, Words{"THROTTLE", "k", "1", "1", "1"}}) {
    const size_t readable = (words.size() + kRequestWordsMax) * sizeof(std::string_view);
    const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const Guarded memory((readable + page) / page * page);
    auto* args = reinterpret_cast<std::string_view*>(memory.begin());
    for (size_t i = 0; i < words.size() + kRequestWordsMax; ++i)
      args[i] =
          i < words.size() ? words[i] : words[words.size() - 1 - i % (words.size() > 3 ? 2 : 1)];
    std::snprintf(g_tried, sizeof g_tried, "%s, very often", words[0].c_str());
    for (const std::string_view user : {"default", "shop"}) {
      const std::string reply = execute({args, kCount}, user);
      EXPECT_EQ(reply.substr(0, 1), "-") << g_tried;
      EXPECT_LT(reply.size(), kReplyBytesMax) << g_tried;
    }
  }
}

using Costs = LimiterTest;

TEST_F(Costs, AreAtMostOneForEachLimitOfEachKey) {
  std::string costs = "1";
  for (size_t i = 1; i < kCostsMax; ++i) costs += ",1";
  EXPECT_EQ(ask("RL.TAKE k 10/1h COST " + costs),
            "(error ERR COST must be one number, or one for each of the 1 limits, got 256)");
  const std::string too_many =
      "(error ERR COST takes at most 256 numbers, one for each limit of each key)";
  EXPECT_EQ(ask("RL.TAKE k 10/1h COST " + costs + ",1"), too_many);
  EXPECT_EQ(ask("RL.TAKE k 10/1h COST " + costs + "," + costs), too_many);
}

TEST_F(Costs, OfTheLargestKindAreTakenForAllLimits) {
  std::string costs = "1000000000000";
  for (size_t i = 1; i < kCostsMax; ++i) costs += ",1000000000000";
  const auto parsed = parse_costs("COST", costs);
  ASSERT_TRUE(parsed.ok()) << parsed.error();
  EXPECT_EQ(parsed->size(), kCostsMax);
  EXPECT_EQ(parsed->back(), 1'000'000'000'000);
  EXPECT_EQ(parse_costs("COST", costs + ",1").error(),
            "ERR COST takes at most 256 numbers, one for each limit of each key");
}

TEST_F(Costs, GroupsAreAtMostOneForEachKey) {
  std::string request = "RL.MTAKE 1 k";
  for (int i = 0; i < 17; ++i) request += " EACH 10/1h";
  EXPECT_EQ(ask(request),
            "(error ERR syntax error: EACH stands once for each key, at most 16 times)");
}

}  // namespace
}  // namespace weir::server
