// The file of owners: what it says, and what is wrong with it.
#include "server/cluster/topology.h"

#include <gtest/gtest.h>

#include <string>

#include "server/cluster/node_file.h"

namespace weir::server {
namespace {

std::string error_of(std::string_view text) {
  const auto read = Topology::parse(text, "F");
  return read ? "" : read.error();
}

TEST(Topology, SaysWhoHasWhat) {
  const auto read = Topology::parse(
      "# owners\n\n  epoch 7\r\nb 10.0.0.2:6380 8192-16383\na [::1]:6379 0-99\na [::1]:6379 "
      "101-8191\nc host.example:1 100-100\n",
      "F");
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->epoch(), 7);
  ASSERT_EQ(read->owners().size(), 3u);
  const Owner& first = read->owners()[0];
  EXPECT_EQ(first.name + " " + first.host, "a ::1");
  EXPECT_EQ(first.port, 6379);
  EXPECT_EQ(first.ranges, (std::vector<SlotRange>{{0, 99}, {101, 8191}}));
  EXPECT_EQ(read->owners()[1].name, "c");
  EXPECT_EQ(read->owner_of(100), 1u);
  EXPECT_EQ(read->owner_of(101), 0u);
  EXPECT_EQ(read->owner_of(16383), 2u);
}

TEST(Topology, NamesTheLineAndWhatIsWrong) {
  EXPECT_EQ(error_of(""), "F: there is no line 'epoch N'");
  EXPECT_EQ(error_of("epoch 1\n"), "F: nobody has the slots 0-16383");
  EXPECT_EQ(error_of("epoch 1\na h:1 0-9\nb h:2 20-16383\n"), "F: nobody has the slots 10-19");
  EXPECT_EQ(error_of("epoch 1\na h:1 5-9\nb h:2 20-16383\n"),
            "F: nobody has the slots 0-4 (15 in all)");
  EXPECT_EQ(error_of("epoch 1\na h:1 0-9\nb h:2 9-16383\n"), "F:3: slot 9 belongs to 'a' already");
  EXPECT_EQ(error_of("epoch 1\na h:1 0-9\na h:2 10-16383\n"),
            "F:3: 'a' has another address in a line before");
  EXPECT_EQ(error_of("epoch 1\na h:1 0-9\nb h:1 10-16383\n"),
            "F:3: 'a' has this address in a line before");
  EXPECT_EQ(error_of("epoch 1\nepoch 2\n"), "F:2: there is an epoch already, 1");
  EXPECT_EQ(error_of("epoch 1\nepoch 2 jump\n"), "F:2: there is an epoch already, 1");
  EXPECT_EQ(error_of("epoch 0\n"),
            "F:1: an epoch is a whole number from 1 to 9007199254740992, got '0'");
  EXPECT_EQ(error_of("a h:1 0-16384\n"),
            "F:1: slots are first-last, within 0 and 16383, got '0-16384'");
  EXPECT_EQ(error_of("a h:1 9-8\n"), "F:1: slots are first-last, within 0 and 16383, got '9-8'");
  EXPECT_EQ(error_of("a h:1 7\n"), "F:1: slots are first-last, within 0 and 16383, got '7'");
  for (const char* address : {"h", "h:0", "h:65536", ":1", "::1:7", "[]:7", "h:x", "h@:1"}) {
    EXPECT_EQ(
        error_of("a " + std::string(address) + " 0-1\n"),
        "F:1: an address is host:port or [IPv6 address]:port, got '" + std::string(address) + "'");
  }
  EXPECT_EQ(error_of("a/b h:1 0-1\n"),
            "F:1: a name is up to 64 letters, digits, '-', '_' and '.', got 'a/b'");
  EXPECT_EQ(error_of("a h:1\n"),
            "F:1: expected 'name host:port first-last' or 'epoch N', got 'a h:1'");
  EXPECT_EQ(error_of("\x01\x02\n"),
            "F:1: expected 'name host:port first-last' or 'epoch N', got '?\?'");
}

TEST(Topology, AnOwnerMayHaveAPortForTls) {
  const auto read = Topology::parse(
      "epoch 1\na h:1 0-9 tls-port=11\na h:1 20-16383 tls-port=11\nb h:2 10-19\n", "F");
  ASSERT_TRUE(read.ok()) << read.error();
  const Owner& first = read->owners()[0];
  EXPECT_EQ(first.tls_port, 11);
  EXPECT_EQ(first.port_for(true), 11);
  EXPECT_EQ(first.port_for(false), 1);
  EXPECT_EQ(read->owners()[1].port_for(true), 2);
  const auto without = Topology::parse("epoch 1\na h:1 0-9\na h:1 20-16383\nb h:2 10-19\n", "F");
  EXPECT_NE(read->digest(), without->digest());
  EXPECT_EQ(without->digest(), "35e962b8f284439c");
  for (const char* word : {"tls-port=0", "tls-port=65536", "tls-port=", "tls-port=x", "11"}) {
    EXPECT_EQ(error_of("a h:1 0-9 " + std::string(word) + "\n"),
              "F:1: after the slots there is nothing or 'tls-port=N', N from 1 to 65535, got '" +
                  std::string(word) + "'");
  }
  EXPECT_EQ(error_of("epoch 1\na h:1 0-9\na h:1 10-16383 tls-port=11\n"),
            "F:3: 'a' has another tls-port in a line before");
  EXPECT_EQ(error_of("epoch 1\na h:1 0-9 tls-port=11\nb h:2 10-16383 tls-port=11\n"),
            "F:3: 'a' has this tls-port in a line before");
  EXPECT_EQ(error_of("epoch 1\na h:1 0-9 tls-port=2\nb h:2 10-16383\n"),
            "F:3: 'a' has this tls-port in a line before");
  EXPECT_EQ(error_of("epoch 1\na h:1 0-9\nb h:2 10-16383 tls-port=1\n"),
            "F:3: 'a' has this address in a line before");
}

TEST(Topology, TheDigestIsOfWhatIsSaid) {
  const auto one = Topology::parse("epoch 1\na h:1 0-9\na h:1 10-16383\n", "F");
  const auto same = Topology::parse("a h:1 0-16383\n# so\nepoch 1\n", "F");
  const auto other = Topology::parse("epoch 2\na h:1 0-16383\n", "F");
  EXPECT_EQ(one->digest(), same->digest());
  EXPECT_NE(one->digest(), other->digest());
  EXPECT_EQ(one->digest().size(), 16u);
}

TEST(NodeFile, IsReadAsItWasWritten) {
  const std::string id(40, 'a');
  const std::string digest(16, '0');
  for (const NodeFile& node : {NodeFile{.id = id, .name = {}, .digest = {}},
                               NodeFile{.id = id, .name = "n1", .digest = {}},
                               NodeFile{.id = id, .name = "n1", .epoch = 9, .digest = digest}}) {
    const auto read = parse_node_file(node_file_text(node));
    ASSERT_TRUE(read.ok()) << node_file_text(node);
    EXPECT_EQ(*read, node);
  }
}

TEST(NodeFile, NothingElseIsGuessed) {
  const std::string id(40, 'a');
  for (const std::string& text :
       {std::string(), std::string("x\n"), id, id + "\nname\n", id + "\nname n1", id + "\n\n",
        id + "\ntopology 0 0000000000000000\n", id + "\ntopology 1 0\n", id + "\n" + id + "\n",
        id + "\nfuture n1\n", std::string(40, 'G') + "\n"}) {
    EXPECT_FALSE(parse_node_file(text).ok()) << text;
  }
}

}  // namespace
}  // namespace weir::server
