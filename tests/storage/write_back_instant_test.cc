// The instant of a write-back.
#include "base/time_units.h"
#include "tests/storage/keyspace_fixture.h"

namespace weir::storage {
namespace {

class PassInstant : public KeyspaceTest {};

// Else a restart could find a time before the expiry, and a limiter whose state is gone.
TEST_F(PassInstant, IsThatOfTheLastStepInWhichEntriesWereHandedOver) {
  keys();
  put(0, "a", "1", now_ms() + 10);
  commit();
  keys_->work().write_back_now();
  now_ns_ += 20 * kNsPerMs;
  EXPECT_FALSE(keys().look_up(0, "a").exists());
  for (int i = 0; i < 100'000 && keys_->work().writing_back(); ++i) work();
  start();
  EXPECT_GE(keys_->metrics().instant_ns, now_ns_);
}

}  // namespace
}  // namespace weir::storage
