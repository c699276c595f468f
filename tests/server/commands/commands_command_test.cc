// COMMAND, and the facts it draws from the rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/command/command_facts.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class CommandCommand : public testing::Test {
 protected:
  std::string call(std::initializer_list<std::string_view> words) { return client_->call(words); }
  const Command& row(std::string_view name) { return *server_->executor().table().find(name); }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

// The bytes are Redis 7.0.15's.
TEST_F(CommandCommand, InfoOfGet) {
  EXPECT_EQ(call({"COMMAND", "INFO", "GET"}),
            "*1\r\n*10\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n*3\r\n"
            "+@read\r\n+@string\r\n+@fast\r\n*0\r\n*1\r\n*6\r\n$5\r\nflags\r\n*2\r\n+RO\r\n"
            "+access\r\n$12\r\nbegin_search\r\n*4\r\n$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n"
            "*2\r\n$5\r\nindex\r\n:1\r\n$9\r\nfind_keys\r\n*4\r\n$4\r\ntype\r\n$5\r\nrange\r\n"
            "$4\r\nspec\r\n*6\r\n$7\r\nlastkey\r\n:0\r\n$7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n"
            ":0\r\n*0\r\n");
}

TEST_F(CommandCommand, InfoOfGetInResp3) {
  call({"HELLO", "3"});
  EXPECT_EQ(call({"COMMAND", "INFO", "get"}),
            "*1\r\n*10\r\n$3\r\nget\r\n:2\r\n~2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n~3\r\n"
            "+@read\r\n+@string\r\n+@fast\r\n~0\r\n~1\r\n%3\r\n$5\r\nflags\r\n~2\r\n+RO\r\n"
            "+access\r\n$12\r\nbegin_search\r\n%2\r\n$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n"
            "%1\r\n$5\r\nindex\r\n:1\r\n$9\r\nfind_keys\r\n%2\r\n$4\r\ntype\r\n$5\r\nrange\r\n"
            "$4\r\nspec\r\n%3\r\n$7\r\nlastkey\r\n:0\r\n$7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n"
            ":0\r\n*0\r\n");
}

TEST_F(CommandCommand, InfoOfContainersAndOfNothing) {
  EXPECT_EQ(call({"COMMAND", "INFO", "nosuch", "config|nosuch", "get|x"}),
            "*3\r\n$-1\r\n$-1\r\n$-1\r\n");
  EXPECT_THAT(call({"COMMAND", "INFO", "config"}),
              StartsWith("*1\r\n*10\r\n$6\r\nconfig\r\n:-2\r\n*0\r\n:0\r\n:0\r\n:0\r\n*1\r\n"
                         "+@slow\r\n*0\r\n*0\r\n*5\r\n*10\r\n"));
  EXPECT_EQ(call({"COMMAND", "INFO", "CONFIG|GET"}),
            "*1\r\n*10\r\n$10\r\nconfig|get\r\n:-3\r\n*4\r\n+admin\r\n+noscript\r\n+loading\r\n"
            "+stale\r\n:0\r\n:0\r\n:0\r\n*3\r\n+@admin\r\n+@slow\r\n+@dangerous\r\n*0\r\n*0\r\n"
            "*0\r\n");
}

TEST_F(CommandCommand, CountListAndAllAgree) {
  const size_t count = server_->executor().table().all().size();
  EXPECT_EQ(call({"COMMAND", "COUNT"}), ":" + std::to_string(count) + "\r\n");
  const std::string head = "*" + std::to_string(count) + "\r\n*10\r\n";
  EXPECT_THAT(call({"COMMAND"}), StartsWith(head));
  EXPECT_THAT(call({"COMMAND", "INFO"}), StartsWith(head));
  EXPECT_THAT(call({"COMMAND", "DOCS"}),
              StartsWith("*" + std::to_string(2 * count) + "\r\n$3\r\nacl\r\n"));
  const size_t rows = server_->executor().table().count();
  EXPECT_THAT(call({"COMMAND", "LIST"}), StartsWith("*" + std::to_string(rows) + "\r\n"));
}

TEST_F(CommandCommand, ListFilters) {
  EXPECT_EQ(call({"COMMAND", "LIST", "FILTERBY", "PATTERN", "PER*"}), "*1\r\n" + bulk("persist"));
  EXPECT_THAT(call({"COMMAND", "LIST", "FILTERBY", "PATTERN", "config*"}), StartsWith("*6\r\n"));
  EXPECT_THAT(call({"COMMAND", "LIST", "FILTERBY", "ACLCAT", "RATELIMIT"}),
              StartsWith("*17\r\n" + bulk("cl.throttle") + bulk("gcra") + bulk("increx")));
  EXPECT_EQ(call({"COMMAND", "LIST", "FILTERBY", "ACLCAT", "nosuch"}), "*0\r\n");
  EXPECT_EQ(call({"COMMAND", "LIST", "FILTERBY", "MODULE", "x"}), "*0\r\n");
  for (const auto& words : {std::initializer_list<std::string_view>{"COMMAND", "LIST", "x"},
                            {"COMMAND", "LIST", "FILTERBY", "x", "y"},
                            {"COMMAND", "LIST", "FILTERBY", "PATTERN", "x", "y"}}) {
    EXPECT_EQ(call(words), "-ERR syntax error\r\n");
  }
}

TEST_F(CommandCommand, Docs) {
  EXPECT_EQ(call({"COMMAND", "DOCS", "nosuch"}), "*0\r\n");
  EXPECT_EQ(call({"COMMAND", "DOCS", "CONFIG|GET"}),
            "*2\r\n$10\r\nconfig|get\r\n*8\r\n$7\r\nsummary\r\n" +
                bulk("Answers the options whose names fit, and their values.") +
                "$5\r\nsince\r\n$5\r\n2.0.0\r\n$5\r\ngroup\r\n$6\r\nserver\r\n$9\r\narguments\r\n"
                "*1\r\n*6\r\n$4\r\nname\r\n$9\r\nparameter\r\n$4\r\ntype\r\n$6\r\nstring\r\n"
                "$5\r\nflags\r\n*1\r\n+multiple\r\n");
  client_->call({"HELLO", "3"});
  const std::string docs = call({"COMMAND", "DOCS", "cl.throttle", "client"});
  EXPECT_THAT(docs, StartsWith("%2\r\n$11\r\ncl.throttle\r\n%4\r\n"));
  EXPECT_THAT(docs, HasSubstr("*5\r\n%3\r\n$4\r\nname\r\n$3\r\nkey\r\n$4\r\ntype\r\n$3\r\nkey\r\n"
                              "$14\r\nkey_spec_index\r\n:0\r\n"));
  EXPECT_THAT(docs, HasSubstr("$11\r\nsubcommands\r\n%"));
  EXPECT_THAT(docs, HasSubstr("$5\r\ntoken\r\n$2\r\nON\r\n"));
}

TEST_F(CommandCommand, GetKeys) {
  EXPECT_EQ(call({"COMMAND", "GETKEYS", "get", "a"}), "*1\r\n" + bulk("a"));
  EXPECT_EQ(call({"COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"}),
            "*2\r\n" + bulk("a") + bulk("b"));
  EXPECT_EQ(call({"COMMAND", "GETKEYS", "del", "a", "b", "c"}),
            "*3\r\n" + bulk("a") + bulk("b") + bulk("c"));
  EXPECT_EQ(call({"COMMAND", "GETKEYS", "cl.throttle", "k", "1", "1", "1"}), "*1\r\n" + bulk("k"));
  EXPECT_EQ(call({"COMMAND", "GETKEYS", "memory", "usage", "k"}), "*1\r\n" + bulk("k"));
  EXPECT_EQ(call({"COMMAND", "GETKEYS", "nosuch", "a"}), "-ERR Invalid command specified\r\n");
  EXPECT_EQ(call({"COMMAND", "GETKEYS", "config", "x", "a"}), "-ERR Invalid command specified\r\n");
  EXPECT_EQ(call({"COMMAND", "GETKEYS", "echo", "a"}), "-ERR The command has no key arguments\r\n");
  EXPECT_EQ(call({"COMMAND", "GETKEYS", "get", "a", "b"}),
            "-ERR Invalid number of arguments specified for command\r\n");
  EXPECT_EQ(call({"COMMAND", "GETKEYSANDFLAGS", "get", "a"}),
            "*1\r\n*2\r\n$1\r\na\r\n*2\r\n+RO\r\n+access\r\n");
  EXPECT_EQ(call({"COMMAND", "GETKEYSANDFLAGS", "sort", "a", "BY", "STORE", "STORE", "b"}),
            "*2\r\n*2\r\n$1\r\na\r\n*2\r\n+RO\r\n+access\r\n*2\r\n$1\r\nb\r\n*2\r\n+OW\r\n"
            "+update\r\n");
  EXPECT_EQ(call({"COMMAND", "GETKEYSANDFLAGS", "smove", "a", "b", "m"}),
            "*2\r\n*2\r\n$1\r\na\r\n*3\r\n+RW\r\n+access\r\n+delete\r\n*2\r\n$1\r\nb\r\n*2\r\n"
            "+RW\r\n+insert\r\n");
  EXPECT_EQ(call({"COMMAND", "GETKEYS", "sintercard", "5", "a"}),
            "-ERR Invalid arguments specified for command\r\n");
  EXPECT_EQ(call({"COMMAND", "GETKEYS", "eval", "return 1", "0"}), "*0\r\n");
  EXPECT_EQ(call({"COMMAND", "GETKEYS", "spublish", "c", "m"}),
            "-ERR The command has no key arguments\r\n");
}

TEST_F(CommandCommand, Categories) {
  EXPECT_THAT(acl_categories(row("del")), ElementsAre("keyspace", "write", "slow"));
  EXPECT_THAT(acl_categories(row("ttl")), ElementsAre("keyspace", "read", "fast"));
  EXPECT_THAT(acl_categories(row("flushall")),
              ElementsAre("keyspace", "write", "slow", "dangerous"));
  EXPECT_THAT(acl_categories(row("info")), ElementsAre("slow", "dangerous"));
  EXPECT_THAT(acl_categories(row("shutdown")), ElementsAre("admin", "slow", "dangerous"));
  EXPECT_THAT(acl_categories(row("ping")), ElementsAre("fast", "connection"));
  EXPECT_THAT(acl_categories(row("time")), ElementsAre("fast"));
  EXPECT_THAT(acl_categories(row("cl.throttle")), ElementsAre("write", "ratelimit", "fast"));
  EXPECT_THAT(acl_categories(row("client")), ElementsAre("slow"));
}

TEST_F(CommandCommand, Flags) {
  EXPECT_THAT(flag_names(row("set")), ElementsAre("write", "denyoom"));
  EXPECT_THAT(flag_names(row("auth")),
              ElementsAre("noscript", "loading", "stale", "fast", "no_auth", "allow_busy"));
  EXPECT_THAT(flag_names(row("client")), IsEmpty());
}

TEST_F(CommandCommand, Refusals) {
  EXPECT_EQ(call({"COMMAND", "NOSUCH"}), "-ERR unknown subcommand 'NOSUCH'. Try COMMAND HELP.\r\n");
  EXPECT_EQ(call({"COMMAND", "COUNT", "x"}),
            "-ERR wrong number of arguments for 'command|count' command\r\n");
  EXPECT_EQ(call({"COMMAND", "GETKEYS"}),
            "-ERR wrong number of arguments for 'command|getkeys' command\r\n");
  EXPECT_THAT(call({"COMMAND", "HELP"}), HasSubstr("+GETKEYS command [arg [arg ...]]\r\n"));
}

}  // namespace
}  // namespace weir::server
