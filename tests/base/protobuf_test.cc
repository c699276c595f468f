// Golden bytes: Google's own library has made them.
#include "base/protobuf.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/ascii.h"

namespace weir {
namespace {

std::string hex(const ProtobufWriter& out) {
  const std::string& bytes = out.message();
  return hex_text({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

TEST(ProtobufWriter, WritesNumbersOfEachSize) {
  ProtobufWriter out;
  out.number(1, 150);
  out.number(16, 0);
  out.number(2, UINT64_MAX);
  EXPECT_EQ(hex(out),
            "0896018001"
            "00"
            "10ffffffffffffffffff01");
}

TEST(ProtobufWriter, WritesWhatHasEightBytes) {
  ProtobufWriter out;
  out.fixed64(1, 1);
  out.fixed64(6, static_cast<uint64_t>(int64_t{-2}));
  out.real(4, 0.375);
  EXPECT_EQ(hex(out),
            "090100000000000000"
            "31feffffffffffffff"
            "21000000000000d83f");
}

TEST(ProtobufWriter, LeavesOutEmptyTextAndNoMessage) {
  ProtobufWriter out;
  out.text(1, "");
  EXPECT_EQ(hex(out), "");
  out.text(1, "ab");
  out.bytes(2, "");
  EXPECT_EQ(hex(out),
            "0a026162"
            "1200");
}

TEST(ProtobufWriter, WritesALengthOfSeveralBytes) {
  ProtobufWriter out;
  out.bytes(3, std::string(300, 'x'));
  EXPECT_EQ(hex(out).substr(0, 8), "1aac0278");
  EXPECT_EQ(out.message().size(), 303u);
}

TEST(ProtobufWriter, PacksNumbers) {
  ProtobufWriter out;
  out.fixed64s(6, std::vector<uint64_t>{1, 256});
  out.reals(7, std::vector<double>{0.25});
  EXPECT_EQ(hex(out),
            "321001000000000000000001000000000000"
            "3a08000000000000d03f");
}

}  // namespace
}  // namespace weir
