// Bytes that are written as text.
#include "base/encoded_bytes.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(EncodedBytes, HexadecimalDigits) {
  EXPECT_EQ(bytes_of_hex(""), "");
  EXPECT_EQ(bytes_of_hex("6bfF"), "k\xff");
  for (const char* wrong : {"6", "6b7", "6g", "g6", " 6", "+6"})
    EXPECT_FALSE(bytes_of_hex(wrong)) << wrong;
}

TEST(EncodedBytes, PercentEncoding) {
  EXPECT_EQ(percent_decoded(""), "");
  EXPECT_EQ(percent_decoded("a%20b%25%ff"), "a b%\xff");
  EXPECT_EQ(percent_decoded("a+b"), "a+b");
  for (const char* wrong : {"%", "a%2", "%2g", "%+5", "%%20"})
    EXPECT_FALSE(percent_decoded(wrong)) << wrong;
}

}  // namespace
}  // namespace weir
