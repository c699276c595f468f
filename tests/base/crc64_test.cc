#include "base/crc64.h"

#include <gtest/gtest.h>

#include <boost/crc.hpp>
#include <string>

namespace weir {
namespace {

TEST(Crc64, HasTheSumsOfTheirCatalogue) {
  EXPECT_EQ(crc64_xz("123456789"), 0x995dc9bbdf1939fau);
  EXPECT_EQ(crc64_redis("123456789"), 0xe9c6d914c4b8d9cau);
  EXPECT_EQ(crc64_xz(""), 0u);
  EXPECT_EQ(crc64_redis(""), 0u);
}

TEST(Crc64, GoesOn) { EXPECT_EQ(crc64_xz("6789", crc64_xz("12345")), crc64_xz("123456789")); }

TEST(Crc64, OfBytesAndTheirSumIsZero) {
  std::string bytes = "bytes with their sum after them";
  const uint64_t sum = crc64_redis(bytes);
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  EXPECT_EQ(crc64_redis(bytes), 0u);
}

// Boost's, which takes a byte at a time, is the oracle.
TEST(Crc64, AgreesWithBoost) {
  std::string bytes;
  for (int size = 0; size < 300; ++size, bytes.push_back(static_cast<char>(size * 37))) {
    boost::crc_optimal<64, 0xad93d23594c935a9, 0, 0, true, true> redis;
    boost::crc_optimal<64, 0x42f0e1eba9ea3693, UINT64_MAX, UINT64_MAX, true, true> xz;
    redis.process_bytes(bytes.data(), bytes.size());
    xz.process_bytes(bytes.data(), bytes.size());
    EXPECT_EQ(crc64_redis(bytes), redis.checksum()) << size;
    EXPECT_EQ(crc64_xz(bytes), xz.checksum()) << size;
  }
}

}  // namespace
}  // namespace weir
