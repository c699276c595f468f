// The smaller parts of a member: the failure detector, the search for a common bookmark, the lease,
// the timeline, own epochs, and the turns it holds.
#include <gtest/gtest.h>

#include "storage/replication/bookmark_search.h"
#include "storage/replication/bookmark_trail.h"
#include "storage/replication/claims.h"
#include "storage/replication/failure_detector.h"
#include "storage/replication/held_turns.h"
#include "storage/replication/lease.h"
#include "storage/replication/timeline.h"
#include "tests/replication/disk.h"
#include "tests/replication/time_units.h"

namespace weir::storage::replication {
namespace {

constexpr Times kTimes = {.lease_ns = 1500 * kMs, .failover_after_ns = 2 * kSecond};

FailureDetector silent_for(int reads, int64_t step_ns) {
  FailureDetector detector;
  detector.new_record(0);
  for (int i = 0; i <= reads; ++i) detector.successful_read(i * step_ns);
  return detector;
}

LogBookmark bookmark_at(uint64_t log_index, uint64_t turn) {
  return {.head = {.log_index = log_index, .crc = 100 + log_index},
          .epoch = {},
          .next_turn = turn + 1,
          .times = kTimes};
}

TEST(BookmarkTrail, TellsThePlaceThatTheStateFilesHaveReached) {
  BookmarkTrail trail({bookmark_at(1, 0), bookmark_at(4, 10), bookmark_at(6, 20)});
  EXPECT_EQ(trail.reached(9), bookmark_at(1, 0).head);
  trail.note(21, bookmark_at(9, 25));
  EXPECT_EQ(trail.reached(24), bookmark_at(6, 20).head) << "the newest that is not newer";
  trail.note(26, bookmark_at(30, 25));  // only HEARTBEATs came
  EXPECT_EQ(trail.reached(25), bookmark_at(30, 25).head) << "the same turn has a newer bookmark";
  EXPECT_EQ(BookmarkTrail().reached(5), Head{});
  EXPECT_EQ(BookmarkTrail({bookmark_at(4, 10)}).reached(5), Head{}) << "none is old enough";
}

TEST(BookmarkTrail, ARewindTakesPlacesBack) {
  BookmarkTrail trail({bookmark_at(1, 0), bookmark_at(4, 10), bookmark_at(6, 20)});
  trail.note(11, bookmark_at(5, 15));
  EXPECT_EQ(trail.reached(30), bookmark_at(5, 15).head);
  trail = BookmarkTrail({bookmark_at(1, 0), bookmark_at(4, 10), bookmark_at(6, 20)});
  trail.note(5, bookmark_at(3, 25));  // longer, and another history from turn 5 on
  EXPECT_EQ(trail.reached(24), bookmark_at(1, 0).head);
}

TEST(FailureDetector, CountsWhatItReads) {
  EXPECT_EQ(silent_for(19, 100 * kMs).sum_ns(), 1900 * kMs);
  EXPECT_FALSE(silent_for(19, 100 * kMs).is_over(kTimes, kTimes));
  EXPECT_TRUE(silent_for(21, 100 * kMs).is_over(kTimes, kTimes));
}

TEST(FailureDetector, OwnPausesCountLittle) {
  EXPECT_EQ(silent_for(1, 3600 * kSecond).sum_ns(), FailureDetector::kStepMaxNs);
  EXPECT_EQ(silent_for(1, -kSecond).sum_ns(), 0);
}

TEST(FailureDetector, StartsAgain) {
  FailureDetector detector = silent_for(30, 100 * kMs);
  detector.failed_read();
  EXPECT_EQ(detector.sum_ns(), 0);
  EXPECT_EQ(detector.wanted_ns(kTimes, kTimes), 2 * kSecond + 1 + FailureDetector::kTroubleNs);
  detector.successful_read(10 * kSecond);
  EXPECT_EQ(detector.sum_ns(), 0) << "the time since before the failure does not count";
  detector.new_record(0);
  EXPECT_EQ(detector.wanted_ns(kTimes, kTimes), 2 * kSecond + 1) << "the trouble is over";
}

TEST(FailureDetector, WaitsLongerForEachClaimInVain) {
  FailureDetector detector = silent_for(30, 100 * kMs);
  int64_t wanted = detector.wanted_ns(kTimes, kTimes);
  for (int i = 0; i < 10; ++i) {
    detector.unacknowledged_claim();
    EXPECT_EQ(detector.sum_ns(), 0);
    wanted = std::min(2 * wanted, FailureDetector::kDoubledNsMax);
    EXPECT_EQ(detector.wanted_ns(kTimes, kTimes), wanted);
  }
  EXPECT_EQ(wanted, 30 * kSecond);
}

TEST(FailureDetector, RespectsEveryConstant) {
  FailureDetector detector;
  detector.new_record(5);
  const Times slow = {.lease_ns = 0, .failover_after_ns = 9 * kSecond};
  const Times leasing = {.lease_ns = 9 * kSecond, .failover_after_ns = kSecond};
  EXPECT_EQ(detector.wanted_ns(slow, kTimes), 9 * kSecond + 5);
  EXPECT_EQ(detector.wanted_ns(kTimes, slow), 9 * kSecond + 5);
  EXPECT_EQ(detector.wanted_ns(kTimes, leasing), 12 * kSecond + 6);
}

LogBookmark bookmark_at(uint64_t log_index) {
  return {.head = {log_index, log_index}, .epoch = {1, 1}, .next_turn = log_index, .times = {}};
}

// All combinations of how many bookmarks there are, how many are trimmed and where the log broke
// off.
TEST(BookmarkSearch, FindsTheNewestThatIsConfirmed) {
  for (uint64_t count = 0; count <= 9; ++count) {
    std::vector<LogBookmark> bookmarks;
    for (uint64_t i = 1; i <= count; ++i) bookmarks.push_back(bookmark_at(i));
    for (uint64_t kept_from = 1; kept_from <= count + 1; ++kept_from) {
      for (uint64_t end = 0; end <= count; ++end) {
        BookmarkSearch search(bookmarks);
        int probes = 0;
        for (; !search.is_done(); ++probes) {
          const uint64_t log_index = search.probe().log_index;
          search.answer(log_index > end         ? Read::Outcome::kRewound
                        : log_index < kept_from ? Read::Outcome::kTrimmed
                                                : Read::Outcome::kRecords);
        }
        EXPECT_LE(probes, 4);
        const bool any = kept_from <= end;
        ASSERT_EQ(search.found().has_value(), any);
        if (any) {
          EXPECT_EQ(search.found()->head.log_index, end);
        }
      }
    }
  }
}

TEST(Lease, CountsFromTheSending) {
  Lease lease;
  EXPECT_FALSE(lease.covers(0, kSecond)) << "nothing is acknowledged";
  lease.begin_epoch(0);
  lease.acknowledge(10, 500);
  EXPECT_TRUE(lease.covers(10 + kSecond - 1, kSecond));
  EXPECT_FALSE(lease.covers(10 + kSecond, kSecond));
  EXPECT_FALSE(lease.covers(10, 0)) << "a lease of 0 covers nothing";
  lease.begin_epoch(0);
  EXPECT_FALSE(lease.covers(20, kSecond)) << "the new epoch is not acknowledged";
  lease.acknowledge(5, 600);
  EXPECT_EQ(lease.sent_boot_ns(), 10) << "an older append renews nothing";
}

TEST(Lease, WaitsForTheLeaseBefore) {
  Lease lease;
  EXPECT_TRUE(lease.may_let_out(0));
  lease.begin_epoch(Lease::wait_for(1000));
  EXPECT_FALSE(lease.may_let_out(1'000'000)) << "the wait begins at the acknowledgement";
  lease.acknowledge(100, 200);
  EXPECT_FALSE(lease.may_let_out(200 + 1250));
  EXPECT_TRUE(lease.may_let_out(200 + 1251));
  lease.end();
  EXPECT_TRUE(lease.may_let_out(0));
}

TEST(Timeline, GoesOnFromTheNewestRecord) {
  Timeline timeline(1000);
  EXPECT_EQ(timeline.at({.boot_ns = 5, .wall_ns = 3000}), 3000) << "a cold start";
  EXPECT_EQ(timeline.at({.boot_ns = 5, .wall_ns = 10}), 1000) << "never back";
  timeline.note(2000, {.boot_ns = 50, .wall_ns = 0});
  EXPECT_EQ(timeline.at({.boot_ns = 60, .wall_ns = 9000}), 9000) << "read when catching up";
  timeline.begin_live();
  timeline.note(2500, {.boot_ns = 100, .wall_ns = 0});
  EXPECT_EQ(timeline.at({.boot_ns = 160, .wall_ns = 9000}), 2560) << "the wall clock is not asked";
  timeline.note(2100, {.boot_ns = 170, .wall_ns = 0});
  EXPECT_EQ(timeline.at({.boot_ns = 180, .wall_ns = 0}), 2580)
      << "an older instant changes nothing";
  EXPECT_EQ(timeline.newest_ns(), 2500);
  timeline.note(2500, {.boot_ns = 200, .wall_ns = 0});
  EXPECT_EQ(timeline.at({.boot_ns = 210, .wall_ns = 0}), 2610)
      << "nor does the newest one, read again after a rewind";
}

TEST(Claims, AreOwnUntilTheDemotion) {
  Claims claims;
  EXPECT_FALSE(claims.found({5, 77}).has_value());
  claims.sent({.crc = 77, .waits = true});
  EXPECT_TRUE(claims.found({5, 77})->waits);
  EXPECT_TRUE(claims.is_own({5, 77}));
  EXPECT_FALSE(claims.is_own({6, 77}));
  EXPECT_FALSE(claims.found({5, 77}).has_value()) << "found once";
  claims.sent({.crc = 88});
  claims.spend_all();
  EXPECT_FALSE(claims.is_own({5, 77}));
  EXPECT_TRUE(claims.found({9, 88}).has_value()) << "one that was never used may come late";
  for (uint64_t crc = 0; crc < 1000; ++crc) claims.sent({.crc = crc});
  EXPECT_FALSE(claims.found({9, 1}).has_value());
  EXPECT_TRUE(claims.found({9, 999}).has_value());
}

TEST(HeldTurns, SealedOnesLeaveWhenTheyAreWritten) {
  using Match = HeldTurns::Match;
  Disk disk;
  disk.write({.first_turn = 1, .turns = {"a", "b"}, .bookmark = bookmark_at(3)}, false);
  HeldTurns held(&disk);
  EXPECT_EQ(held.newest(), 2u);
  held.seal(3, "c");
  held.seal(4, "d");
  EXPECT_EQ(held.newest(), 4u);
  EXPECT_EQ(held.newest_local(), 2u);
  EXPECT_EQ(held.bytes_of(2) + held.bytes_of(4), "bd");
  EXPECT_EQ(held.match(1, "a"), Match::kSame);
  EXPECT_EQ(held.match(2, "x"), Match::kLocalDiffers);
  EXPECT_EQ(held.match(3, "c"), Match::kSame);
  EXPECT_EQ(held.match(4, "x"), Match::kSealedDiffers);
  EXPECT_EQ(held.match(5, "e"), Match::kNew);
  held.accept({.first_turn = 3, .turns = {"c"}, .bookmark = bookmark_at(4)});
  EXPECT_EQ(held.first_accepted(), 3u);
  const std::vector<Batch> batches = held.take_accepted();
  ASSERT_EQ(batches.size(), 1u);
  disk.write(batches[0], false);
  held.wrote(batches[0]);
  EXPECT_EQ(held.newest_local(), 3u);
  EXPECT_EQ(held.newest(), 4u);
  EXPECT_EQ(held.bytes_of(3), "c");
  held.drop_sealed();
  EXPECT_EQ(held.newest(), 3u);
}

}  // namespace
}  // namespace weir::storage::replication
