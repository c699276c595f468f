// The poller with real descriptors. It never looks at a connection, so that any address will do.
#include "server/net/poller.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

namespace weir::server {
namespace {

constexpr Interest kNothing = {};
constexpr Interest kRead = {.read = true};
constexpr Interest kWrite = {.write = true};
constexpr Interest kBoth = {.read = true, .write = true};
constexpr Interest kAtOnce = {.at_once = true};
constexpr Interest kReadAtOnce = {.read = true, .at_once = true};

// Two connected sockets; `near` is watched.
struct Pair {
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    near = ends[0];
    far = ends[1];
  }
  ~Pair() {
    ::close(near);
    if (far >= 0) ::close(far);
  }
  void write() const { EXPECT_EQ(::write(far, "x", 1), 1); }
  void close_far() { ::close(std::exchange(far, -1)); }
  Connection* connection() { return reinterpret_cast<Connection*>(this); }

  int near = -1;
  int far = -1;
};

class PollerTest : public testing::Test {
 protected:
  bool watch(Pair& pair, Interest before, Interest now) {
    return poller_.watch(pair.near, before, now, pair.connection());
  }
  std::vector<Poller::Ready> poll() {
    const auto ready = poller_.poll(list_.get());
    return {ready.begin(), ready.end()};
  }

  boost::asio::io_context io_;
  Poller poller_{&io_};
  std::unique_ptr<Poller::ReadyList> list_ = std::make_unique<Poller::ReadyList>();
};

TEST_F(PollerTest, NamesWhoIsReadyAgainAndAgain) {
  Pair one, other;
  EXPECT_TRUE(watch(one, kNothing, kRead));
  EXPECT_TRUE(watch(other, kNothing, kRead));
  EXPECT_TRUE(poll().empty());
  one.write();
  for (int i = 0; i < 3; ++i) {
    const auto ready = poll();
    ASSERT_EQ(ready.size(), 1u);
    EXPECT_EQ(ready[0].connection, one.connection());
    EXPECT_EQ(ready[0].can, kRead);
  }
}

TEST_F(PollerTest, NamesOnlyWhatIsOfInterest) {
  Pair pair;
  pair.write();
  EXPECT_TRUE(watch(pair, kNothing, kWrite));
  ASSERT_EQ(poll().size(), 1u);
  EXPECT_EQ(poll()[0].can, kWrite);
  EXPECT_TRUE(watch(pair, kWrite, kBoth));
  EXPECT_EQ(poll()[0].can, kBoth);
  EXPECT_TRUE(watch(pair, kBoth, kNothing));
  EXPECT_TRUE(poll().empty());
}

TEST_F(PollerTest, APeerThatIsGoneMakesBothDirectionsReady) {
  Pair pair;
  EXPECT_TRUE(watch(pair, kNothing, kRead));
  pair.close_far();
  ASSERT_EQ(poll().size(), 1u);
  EXPECT_EQ(poll()[0].can, kBoth);
}

TEST_F(PollerTest, OfAPeerThatIsGoneNothingIsSaidToWhoWatchesForNothing) {
  Pair pair;
  EXPECT_TRUE(watch(pair, kNothing, kRead));
  EXPECT_TRUE(watch(pair, kRead, kNothing));
  pair.close_far();
  EXPECT_TRUE(poll().empty());
}

TEST_F(PollerTest, SaysThatADescriptorCannotBeWatched) {
  Pair pair;
  EXPECT_FALSE(poller_.watch(-1, kNothing, kRead, pair.connection()));
}

TEST_F(PollerTest, HeldInputIsReadyWhateverTheDescriptorSays) {
  Pair pair;
  EXPECT_TRUE(watch(pair, kNothing, kReadAtOnce));
  for (int i = 0; i < 2; ++i) {
    const auto ready = poll();
    ASSERT_EQ(ready.size(), 1u);
    EXPECT_EQ(ready[0].connection, pair.connection());
    EXPECT_EQ(ready[0].can, kRead);
  }
  EXPECT_TRUE(watch(pair, kReadAtOnce, kRead));
  EXPECT_TRUE(poll().empty());
}

TEST_F(PollerTest, HeldInputNeedsNoDescriptorInTheSet) {
  Pair pair;
  EXPECT_TRUE(watch(pair, kNothing, kAtOnce));
  EXPECT_EQ(poll().size(), 1u);
  EXPECT_TRUE(watch(pair, kAtOnce, kNothing));
  EXPECT_TRUE(poll().empty());
}

TEST_F(PollerTest, WhoIsReadyForTwoReasonsIsNamedOnce) {
  Pair pair;
  EXPECT_TRUE(watch(pair, kNothing, {.write = true, .at_once = true}));
  const auto ready = poll();
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready[0].can, kBoth);
}

TEST_F(PollerTest, MoreThanTheListHoldsAreNamedWhenThereIsRoom) {
  std::vector<char> connections(Poller::kReadyMax + 10);
  const auto address = [&](size_t i) { return reinterpret_cast<Connection*>(&connections[i]); };
  for (size_t i = 0; i < connections.size(); ++i) {
    EXPECT_TRUE(poller_.watch(-1, kNothing, kAtOnce, address(i)));
  }
  std::set<Connection*> named;
  while (named.size() < connections.size()) {
    const auto ready = poll();
    ASSERT_FALSE(ready.empty());
    for (const Poller::Ready& each : ready) {
      EXPECT_TRUE(named.insert(each.connection).second);
      EXPECT_TRUE(poller_.watch(-1, kAtOnce, kNothing, each.connection));
    }
  }
  EXPECT_TRUE(poll().empty());
}

TEST_F(PollerTest, TheLoopSleepsUntilAConnectionIsReady) {
  Pair pair;
  EXPECT_TRUE(watch(pair, kNothing, kRead));
  poller_.wake_loop();
  poller_.wake_loop();  // it is waiting already
  EXPECT_EQ(io_.poll(), 0u);
  pair.write();
  EXPECT_EQ(io_.run_one(), 1u);
  EXPECT_EQ(poll().size(), 1u);
  io_.restart();
  EXPECT_EQ(io_.poll(), 0u);
}

}  // namespace
}  // namespace weir::server
