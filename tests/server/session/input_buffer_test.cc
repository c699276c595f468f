// How much room the buffer takes for what it is told and for what it is not.
#include "server/session/input_buffer.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::server {
namespace {

TEST(InputBuffer, HasRoomForNoMoreThanIsTold) {
  constexpr size_t kTold = 314'572;
  InputBuffer buffer;
  const std::string piece(10'000, 'x');
  while (buffer.size() + piece.size() <= kTold) {
    buffer.append(piece, kTold);
    EXPECT_LE(buffer.capacity(), kTold);
  }
  buffer.append(std::string(kTold - buffer.size(), 'y'), kTold);
  EXPECT_EQ(buffer.capacity(), kTold);
  buffer.append("and the next", 0);
  EXPECT_EQ(buffer.size(), kTold + 12);
}

// Whoever tells of much and sends little has little.
TEST(InputBuffer, TakesNoRoomOnTrust) {
  InputBuffer buffer;
  for (size_t sent = 100; sent < 100'000; sent += 100) {
    buffer.append(std::string(100, 'x'), size_t{1} << 29);
    EXPECT_LE(buffer.capacity(), 2 * sent);
  }
}

TEST(InputBuffer, CountsFromWhatIsUnused) {
  InputBuffer buffer;
  buffer.append(std::string(1000, 'x'));
  buffer.use(400);
  buffer.append(std::string(500, 'y'), 5000);
  EXPECT_EQ(buffer.size(), 1100u);
  EXPECT_LE(buffer.capacity(), 2000u);
}

}  // namespace
}  // namespace weir::server
