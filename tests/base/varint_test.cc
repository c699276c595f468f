#include "base/varint.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace weir {
namespace {

std::string encoded(uint64_t value) {
  char bytes[kVarintBytesMax];
  return std::string(bytes, put_varint(bytes, value));
}

TEST(Varint, HasTheBytesThatAreOnDisk) {
  EXPECT_EQ(encoded(0), std::string(1, '\0'));
  EXPECT_EQ(encoded(127), "\x7f");
  EXPECT_EQ(encoded(128), "\x80\x01");
  EXPECT_EQ(encoded(300), "\xac\x02");
  EXPECT_EQ(encoded(UINT64_MAX), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(Varint, IsReadBack) {
  std::vector<uint64_t> values = {0, UINT64_MAX};
  for (int bit = 0; bit < 64; ++bit) {
    for (const int64_t off : {-1, 0, 1}) values.push_back((uint64_t{1} << bit) + uint64_t(off));
  }
  for (const uint64_t value : values) {
    const std::string bytes = encoded(value) + "rest";
    uint64_t read = 1;
    const char* stop = read_varint(bytes.data(), bytes.data() + bytes.size(), &read);
    ASSERT_EQ(stop, bytes.data() + bytes.size() - 4) << value;
    EXPECT_EQ(read, value);
    for (size_t size = 0; size + 4 < bytes.size(); ++size)
      EXPECT_EQ(read_varint(bytes.data(), bytes.data() + size, &read), nullptr) << value;
  }
}

TEST(Varint, RefusesMoreThan64Bits) {
  uint64_t read;
  for (const std::string bytes : {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
                                  "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"}) {
    EXPECT_EQ(read_varint(bytes.data(), bytes.data() + bytes.size(), &read), nullptr);
  }
}

TEST(Varint, OfEitherSignIsSmallWhereTheNumberIs) {
  EXPECT_EQ(to_zigzag(0), 0u);
  EXPECT_EQ(to_zigzag(-1), 1u);
  EXPECT_EQ(to_zigzag(1), 2u);
  EXPECT_EQ(to_zigzag(INT64_MIN), UINT64_MAX);
  for (const int64_t value : {INT64_MIN, INT64_MIN + 1, int64_t{-1}, int64_t{0}, INT64_MAX})
    EXPECT_EQ(from_zigzag(to_zigzag(value)), value);
}

}  // namespace
}  // namespace weir
