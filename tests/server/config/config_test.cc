// Configuration: the file, the command line, CONFIG GET and SET, and weir.conf itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "base/ascii.h"
#include "server/config/config_access.h"
#include "server/config/config_options.h"
#include "server/config/config_words.h"
#include "server/config/ignored_options.h"
#include "tests/server/config_fixture.h"

namespace weir::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST_F(ConfigTest, DefaultsWithoutArguments) {
  config_.port = 1;
  EXPECT_EQ(load({}), "");
  EXPECT_EQ(config_.port, 6379);
  EXPECT_THAT(config_.bind, ElementsAre("127.0.0.1"));
  EXPECT_EQ(config_.durability, DurabilityLevel::kEverysec);
  EXPECT_EQ(config_.config_file, "");
  EXPECT_TRUE(load_config(0, nullptr, &config_).ok());
}

TEST_F(ConfigTest, EveryDefaultIsInsideItsRange) {
  for (const Option& option : config_options()) {
    const std::string line = std::string(option.name) + ' ' + file_text(option, Config());
    EXPECT_EQ(load_text(line), "") << line;
    EXPECT_EQ(value_text(option, config_), value_text(option, Config()));
  }
}

TEST_F(ConfigTest, NamesAreUniqueLowerCaseAndFound) {
  std::set<std::string_view> names;
  for (const Option& option : config_options()) {
    for (std::string_view name : {option.name, option.alias}) {
      if (name.empty()) continue;
      EXPECT_TRUE(names.insert(name).second) << name;
      EXPECT_EQ(to_lower(name), name);
      EXPECT_EQ(find_option(to_upper(name)), &option);
    }
    EXPECT_FALSE(option.help.empty()) << option.name;
  }
}

TEST_F(ConfigTest, LaterWins) {
  std::string file = write("port 1\nport 2\ndatabases 3\n");
  EXPECT_EQ(load({file, "--port", "3", "--port", "4", "--bind", "127.0.0.1", "-::1"}), "");
  EXPECT_EQ(config_.port, 4);
  EXPECT_EQ(config_.databases, 3);
  EXPECT_THAT(config_.bind, ElementsAre("127.0.0.1", "-::1"));
  EXPECT_EQ(config_.config_file, file);
}

TEST_F(ConfigTest, SyntaxOfTheFile) {
  EXPECT_EQ(load_text("# comment\n\n   \t\r\n  PORT\t7000 \r\n"
                      "requirepass \"a \\\"b\\\" \\x41\\n\"\nlogfile 'it\\'s'\n"
                      "unixsocket \"\"\n\v\nbind * -::* fe80::1%eth0"),
            "");
  EXPECT_EQ(config_.port, 7000);
  EXPECT_EQ(config_.requirepass, "a \"b\" A\n");
  EXPECT_EQ(config_.logfile, "it's");
  EXPECT_THAT(config_.bind, ElementsAre("*", "-::*", "fe80::1%eth0"));
}

TEST_F(ConfigTest, KindsOfValues) {
  EXPECT_EQ(
      load_text("protected-mode NO\nloglevel Warning\nstorage MEMORY\nunixsocketperm 0750\n"
                "appendfsync always\nlua-time-limit 7\nbind \"\"\nslowlog-log-slower-than -1\n"
                "client-output-buffer-limit slave 1kb 2k 3 pubsub 4 5 6\n"
                "notify-keyspace-events xEKg\nsave \"\"\nappendonly yes\ndaemonize no\n"),
      "");
  EXPECT_FALSE(config_.protected_mode);
  EXPECT_EQ(config_.loglevel, LogLevel::kWarning);
  EXPECT_EQ(config_.storage, StorageForm::kMemory);
  EXPECT_EQ(config_.unixsocketperm, 0750);
  EXPECT_EQ(config_.durability, DurabilityLevel::kAlways);
  EXPECT_EQ(config_.busy_reply_threshold, 7);
  EXPECT_THAT(config_.bind, IsEmpty());
  EXPECT_EQ(config_.client_output_buffer_limit.replica, (OutputBufferLimit{1024, 2000, 3}));
  EXPECT_EQ(config_.client_output_buffer_limit.pubsub, (OutputBufferLimit{4, 5, 6}));
  EXPECT_EQ(config_.client_output_buffer_limit.normal, OutputBufferLimits().normal);
  EXPECT_EQ(config_.notify_keyspace_events, "gxKE");
}

TEST_F(ConfigTest, EveryNameOfEveryChoiceReadsBack) {
  for (const Option& option : config_options()) {
    const auto* choice = std::get_if<Choice>(&option.kind);
    if (choice == nullptr) continue;
    for (size_t i = 0; i < choice->names.size(); ++i) {
      std::string name(choice->names[i]);
      EXPECT_EQ(load({"--" + std::string(option.name), name}), "");
      EXPECT_EQ(choice->get(config_), i);
      EXPECT_EQ(value_text(option, config_), name);
    }
  }
  EXPECT_EQ(load({"--loglevel", "nothing", "--enable-debug-command", "local"}), "");
  EXPECT_EQ(config_.loglevel, LogLevel::kNothing);
  EXPECT_EQ(config_.enable_debug_command, DebugAccess::kLocal);
  EXPECT_EQ(load({"--durability", "no", "--supervised", "auto"}), "");
  EXPECT_EQ(config_.durability, DurabilityLevel::kNo);
  EXPECT_EQ(config_.supervised, Supervision::kAuto);
  EXPECT_EQ(load({"--storage-failure-policy", "memory"}), "");
  EXPECT_EQ(config_.storage_failure_policy, FailurePolicy::kMemory);
}

TEST_F(ConfigTest, Sizes) {
  const std::map<std::string, int64_t> sizes = {
      {"0", 0},           {"5", 5},
      {"7b", 7},          {"1k", 1000},
      {"1kb", 1024},      {"2M", 2000000},
      {"2mB", 2097152},   {"1g", 1000000000},
      {"3GB", 3LL << 30}, {"8589934591gb", 8589934591LL << 30}};
  for (const auto& [text, bytes] : sizes) EXPECT_EQ(parse_size(text), bytes) << text;
  for (const char* text : {"", "k", "1.5gb", "-1", "+1", "1 kb", "1kbb", "8589934592gb", "01",
                           "10%", "18446744073709551616", "0x10", "1tb"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
  EXPECT_EQ(format_size(0), "0");
  EXPECT_EQ(format_size(1 << 30), "1gb");
  EXPECT_EQ(format_size(1536 << 10), "1536kb");
  EXPECT_EQ(format_size(1000), "1000");
}

TEST_F(ConfigTest, ErrorsOfTheFile) {
  const std::map<std::string, std::string> errors = {
      {"\n\nport 70000\n", "weir.conf:3: port must be between 0 and 65535, got '70000'"},
      {"port x", "weir.conf:1: port must be between 0 and 65535, got 'x'"},
      {"port", "weir.conf:1: port takes one value, got 0"},
      {"port 1 2", "weir.conf:1: port takes one value, got 2"},
      {"requirepass my secret", "weir.conf:1: requirepass takes one value, got 2"},
      {"prot 1", "weir.conf:1: unknown option 'prot', did you mean 'port'?"},
      {"max-clients 1", "weir.conf:1: unknown option 'max-clients', did you mean 'maxclients'?"},
      {"nonsense 1", "weir.conf:1: unknown option 'nonsense'"},
      {"\"\" 1", "weir.conf:1: unknown option ''"},
      {"logfile \"a", "weir.conf:1: quotes are not closed, or not followed by a blank"},
      {"logfile 'a'b", "weir.conf:1: quotes are not closed, or not followed by a blank"},
      {"logfile \"a\\x00b\"",
       "weir.conf:1: logfile must be a path without NUL bytes, got 'a\\x00b'"},
      {"dir \"\"", "weir.conf:1: dir must be a path, got ''"},
      {"protected-mode maybe", "weir.conf:1: protected-mode must be yes or no, got 'maybe'"},
      {"storage disk", "weir.conf:1: storage must be one of rocksdb, memory, got 'disk'"},
      {"appendfsync often",
       "weir.conf:1: appendfsync must be one of always, everysec, no, got 'often'"},
      {"maxmemory 10%", "weir.conf:1: maxmemory must be a size of 0 or more, got '10%'"},
      {"turn-read-bytes-max 1kb",
       "weir.conf:1: turn-read-bytes-max must be a size between 4kb and 1gb, got '1kb'"},
      {"unixsocketperm 888", "weir.conf:1: unixsocketperm must be between 0 and 777, got '888'"},
      {"unixsocketperm 1000", "weir.conf:1: unixsocketperm must be between 0 and 777, got '1000'"},
      {"bind 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
       "weir.conf:1: bind must be at most 16 addresses, such as 127.0.0.1 -::1, got '1 2 3 4 5 6 7 "
       "8 9 10 11 12 13 14 15 16 17'"},
      {"bind a/b",
       "weir.conf:1: bind must be at most 16 addresses, such as 127.0.0.1 -::1, got 'a/b'"},
      {"client-output-buffer-limit normal 1 2",
       "weir.conf:1: client-output-buffer-limit must be normal, replica or pubsub, then hard "
       "limit, "
       "soft limit and seconds, got 'normal 1 2'"},
      {"notify-keyspace-events Kq",
       "weir.conf:1: notify-keyspace-events must be made of the characters Ag$lshzxeKEtmdnr, got "
       "'Kq'"},
      {"save 3600 1 300 100",
       "weir.conf:1: save must be '', got '3600 1 300 100': there are no snapshots to schedule, "
       "see "
       "durability and BGSAVE"},
      {"appendonly no",
       "weir.conf:1: appendonly must be 'yes', got 'no': every write is logged before it is "
       "answered, see durability"},
      {"include", "weir.conf:1: include takes one path"},
      {"include none.conf",
       "weir.conf:1: cannot read configuration file 'none.conf': No such file or directory"},
      {"include weir.conf", "weir.conf:1: include is nested too deep"},
  };
  for (const auto& [text, error] : errors) EXPECT_EQ(load_text(text), error);
}

TEST_F(ConfigTest, ErrorsOfTheCommandLine) {
  EXPECT_EQ(load({"--port", "70000"}),
            "command line: port must be between 0 and 65535, got '70000'");
  EXPECT_EQ(load({"--databses", "1"}),
            "command line: unknown option 'databses', did you mean 'databases'?");
  EXPECT_EQ(load({"--port"}), "command line: port takes one value, got 0");
  EXPECT_EQ(load({"--port=1"}), "command line: write --name value, without '=', got '--port=1'");
  EXPECT_EQ(load({write(""), "b.conf"}),
            "command line: expected an option such as --port 6379, got 'b.conf'");
  EXPECT_EQ(load({"--"}), "command line: unknown option ''");
  EXPECT_EQ(load({path("none")}),
            "cannot read configuration file 'none': No such file or directory");
  EXPECT_EQ(load({folder_.string()}),
            "cannot read configuration file '" + folder_.string() + "': it is a directory");
  EXPECT_EQ(load({write(std::string(2 << 20, '\n'))}),
            "cannot read configuration file 'weir.conf': it is longer than 1mb");
  EXPECT_EQ(load({"/dev/zero"}),
            "cannot read configuration file '/dev/zero': it is longer than 1mb");
}

TEST_F(ConfigTest, AnErrorLeavesTheConfigUntouched) {
  config_.port = 1;
  EXPECT_NE(load_text("port 5\nport x\n"), "");
  EXPECT_EQ(config_.port, 1);
}

TEST_F(ConfigTest, IncludeIsReadInPlaceAndFromItsOwnFolder) {
  std::filesystem::create_directory(folder_ / "d");
  write("port 2\ndatabases 2\ninclude b.conf\n", "d/a.conf");
  write("timeout 9\n", "d/b.conf");
  EXPECT_EQ(load_text("port 1\ninclude d/a.conf\ndatabases 3\ninclude none/*.conf\n"), "");
  EXPECT_EQ(config_.port, 2);
  EXPECT_EQ(config_.databases, 3);
  EXPECT_EQ(config_.timeout, 9);
  EXPECT_EQ(load_text("include d/*.conf\n"), "");
  EXPECT_EQ(config_.timeout, 9);
  EXPECT_EQ(load({"--include", path("d/b.conf")}), "");
  EXPECT_EQ(config_.timeout, 9);
  write("\nport x", "d/b.conf");
  EXPECT_EQ(load_text("include d/a.conf\n"),
            "d/b.conf:2: port must be between 0 and 65535, got 'x'");
}

TEST_F(ConfigTest, GetMatchesPatternsOnceInTableOrder) {
  EXPECT_THAT(config_get(config_, Views{"port", "PORT", "[bp]*rt", "bind"}),
              ElementsAre(Pair("bind", "127.0.0.1"), Pair("port", "6379")));
  EXPECT_THAT(config_get(config_, Views{"SLAVE-read-only"}),
              ElementsAre(Pair("slave-read-only", "yes")));
  EXPECT_THAT(config_get(config_, Views{"nothing", ""}), IsEmpty());
  EXPECT_EQ(get("client-output-buffer-limit"),
            "normal 268435456 67108864 60 slave 268435456 67108864 60 pubsub 33554432 8388608 60");
  EXPECT_EQ(get("unixsocketperm") + get("save"), "700");
  EXPECT_EQ(get("proto-max-bulk-len"), "536870912");
  auto all = config_get(config_, Views{"*"});
  size_t names = 0;
  for (const Option& option : config_options()) names += option.alias.empty() ? 1 : 2;
  for (const IgnoredOption& option : ignored_options()) names += option.alias.empty() ? 1 : 2;
  EXPECT_EQ(all.size(), names);
}

TEST_F(ConfigTest, SetChangesAndReports) {
  EXPECT_EQ(set({"TimeOut", "5", "maxmemory", "1kb", "appendfsync", "ALWAYS", "hz", "10"}), "OK");
  EXPECT_EQ(config_.timeout, 5);
  EXPECT_EQ(config_.maxmemory, 1024);
  EXPECT_EQ(config_.durability, DurabilityLevel::kAlways);
  EXPECT_THAT(changed_, ElementsAre("timeout", "maxmemory", "durability"));
  EXPECT_EQ(set({"client-output-buffer-limit", "normal 1mb 2mb 3  slave 0 0 0"}), "OK");
  EXPECT_EQ(config_.client_output_buffer_limit.normal, (OutputBufferLimit{1 << 20, 2 << 20, 3}));
  EXPECT_EQ(set({"requirepass", "two words"}), "OK");
  EXPECT_EQ(config_.requirepass, "two words");
  EXPECT_TRUE(config_set(&config_, Views{"timeout", "6"}).ok());
}

TEST_F(ConfigTest, SetAcceptsWhatFixedOptionsAre) {
  EXPECT_EQ(set({"save", "", "appendonly", "yes", "slave-read-only", "yes"}), "OK");
  EXPECT_THAT(changed_, IsEmpty());
  EXPECT_EQ(set({"appendonly", "no"}),
            "ERR CONFIG SET failed (possibly related to argument 'appendonly') - argument must be "
            "'yes': every write is logged before it is answered, see durability");
}

// Texts taken from redis-server 7.0.15 for the same arguments.
TEST_F(ConfigTest, SetErrorsAreRedis) {
  const std::string failed = "ERR CONFIG SET failed (possibly related to argument '";
  const std::vector<std::pair<Views, std::string>> errors = {
      {{}, "ERR wrong number of arguments for 'config|set' command"},
      {{"maxclients", "10", "maxclients"}, "ERR syntax error"},
      {{"foo", "1"}, "ERR Unknown option or number of arguments for CONFIG SET - 'foo'"},
      {{"timeout", "3", "foo", "4"},
       "ERR Unknown option or number of arguments for CONFIG SET - 'foo'"},
      {{"databases", "3", "foo", "4"}, failed + "databases') - can't set immutable config"},
      {{"timeout", "1", "TIMEOUT", "2"}, failed + "TIMEOUT') - duplicate parameter"},
      {{"timeout", "1", "timeout", "2", "foo", "1"}, failed + "timeout') - duplicate parameter"},
      {{"timeout", "x"}, failed + "timeout') - argument couldn't be parsed into an integer"},
      {{"timeout", "+5"}, failed + "timeout') - argument couldn't be parsed into an integer"},
      {{"timeout", "007"}, failed + "timeout') - argument couldn't be parsed into an integer"},
      {{"timeout", "-1"},
       failed + "timeout') - argument must be between 0 and 2147483647 inclusive"},
      {{"maxclients", "0"},
       failed + "maxclients') - argument must be between 1 and 4294967295 inclusive"},
      {{"proto-max-bulk-len", "1"},
       failed + "proto-max-bulk-len') - argument must be between 1048576 and 9223372036854775807 "
                "inclusive"},
      {{"slowlog-log-slower-than", "-2"},
       failed + "slowlog-log-slower-than') - argument must be between -1 and 9223372036854775807 "
                "inclusive"},
      {{"protected-mode", "foo"}, failed + "protected-mode') - argument must be 'yes' or 'no'"},
      {{"maxmemory", "1q"}, failed + "maxmemory') - argument must be a memory value"},
      {{"appendfsync", "x"},
       failed + "appendfsync') - argument(s) must be one of the following: always, everysec, no"},
      {{"client-output-buffer-limit", "normal 1 2"},
       failed + "client-output-buffer-limit') - Wrong number of arguments in buffer limit "
                "configuration."},
      {{"client-output-buffer-limit", "normal 1kb 2k 3 \""},
       failed + "client-output-buffer-limit') - Wrong number of arguments in buffer limit "
                "configuration."},
      {{"client-output-buffer-limit", "foo 1 2 3"},
       failed + "client-output-buffer-limit') - Invalid client class specified in buffer limit "
                "configuration."},
      {{"client-output-buffer-limit", "normal 1 2 -3"},
       failed + "client-output-buffer-limit') - Error in hard, soft or soft_seconds setting in "
                "buffer limit configuration."},
      {{"notify-keyspace-events", "q"},
       failed + "notify-keyspace-events') - Invalid event class character. Use "
                "'Ag$lshzxeKEtmdnr'."},
      {{"enable-debug-command", "yes"},
       failed + "enable-debug-command') - can't set immutable config"},
  };
  for (const auto& [pairs, error] : errors) EXPECT_EQ(set(pairs), error);
  EXPECT_EQ(set({"a\r\nb", "1"}),
            "ERR Unknown option or number of arguments for CONFIG SET - 'a  b'");
}

TEST_F(ConfigTest, SetIsAllOrNothing) {
  EXPECT_EQ(set({"maxmemory", "5mb", "timeout", "9999999999"}),
            "ERR CONFIG SET failed (possibly related to argument 'timeout') - argument must be "
            "between 0 and 2147483647 inclusive");
  EXPECT_EQ(config_.maxmemory, 0);
  EXPECT_THAT(changed_, IsEmpty());
}

TEST_F(ConfigTest, EventClassesInRedisOrder) {
  const std::map<std::string, std::string> classes = {
      {"KEA", "AKE"}, {"nmKE", "nKEm"},   {"g$lshzxetd", "A"},
      {"Am", "Am"},   {"xeKg$", "g$xeK"}, {"tdnezhslg", "glshzetdn"},
      {"", ""},       {"AmnKE", "AnKEm"}};
  for (const auto& [given, reported] : classes) {
    EXPECT_EQ(set({"notify-keyspace-events", given}), "OK");
    EXPECT_EQ(config_.notify_keyspace_events, reported);
  }
}

TEST_F(ConfigTest, QuotedWordsReadBack) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string word(random() % 12, ' ');
    for (char& c : word)
      c = static_cast<char>(random() % 3 == 0 ? "\"'\\ #x\n\v"[random() % 8] : random());
    EXPECT_THAT(split_words("x " + quote_word(word)), testing::Optional(ElementsAre("x", word)));
  }
}

TEST_F(ConfigTest, JunkIsRefusedInOneLine) {
  std::mt19937 random(3);
  const Views pieces = {"port",       "bind",
                        " ",          "\n",
                        "\"",         "'",
                        "\\x",        "save",
                        "#",          "client-output-buffer-limit",
                        "normal 1 1", "99999999999999999999",
                        "gb",         "-",
                        "dir"};
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (size_t n = random() % 20; n > 0; --n) {
      text += random() % 3 == 0 ? std::string(1, static_cast<char>(random()))
                                : std::string(pieces[random() % pieces.size()]);
    }
    const std::string error = load_text(text);
    EXPECT_EQ(error.find_first_of("\r\n"), std::string::npos) << error;
    EXPECT_LT(error.size(), 400u);
    std::vector<const char*> argv = {"weir-server", "--port", text.c_str(), text.c_str()};
    auto refused = load_config(4, argv.data(), &config_);
    EXPECT_FALSE(refused.ok());
    const std::string answer = set({text, text, "port", text});
    EXPECT_EQ(answer.find_first_of("\r\n"), std::string::npos);
  }
}

TEST_F(ConfigTest, UsageNamesEveryOption) {
  const std::string usage = config_usage();
  EXPECT_THAT(usage, HasSubstr("  --port  (between 0 and 65535; default 6379) TCP port; "));
  for (const Option& option : config_options()) {
    EXPECT_THAT(usage, HasSubstr("  --" + std::string(option.name) + "  ("));
  }
}

}  // namespace
}  // namespace weir::server
