// Protocol Buffers on the wire.
#include "server/http/grpc/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/protobuf.h"

namespace weir::server::grpc {
namespace {

using namespace std::string_view_literals;

std::string shown(std::string_view message) {
  std::string text;
  WireReader reader(message);
  while (reader.next()) {
    for (uint32_t field = 1; field < 20; ++field) {
      if (reader.is_number(field))
        text += std::to_string(field) + "=" + std::to_string(reader.number()) + " ";
      if (reader.is_bytes(field))
        text += std::to_string(field) + "=" + std::string(reader.bytes()) + " ";
    }
  }
  return text + (reader.ok() ? "." : "!");
}

TEST(Wire, ReadsFieldsInAnyOrder) {
  EXPECT_EQ(shown(""), ".");
  EXPECT_EQ(shown("\x08\x96\x01\x12\x02hi\x08\x00"sv), "1=150 2=hi 1=0 .");
  EXPECT_EQ(shown("\x09 fixed64\x0d 32b\x12\x00"sv), "2= .");  // passed over
}

TEST(Wire, BytesThatAreNoMessage) {
  for (const std::string_view bytes :
       {"\x08"sv, "\x12\x05no"sv, "\x00\x00"sv, "\x0b\x0c"sv, "\x0f"sv, "\x09short"sv, "\x0d???"sv,
        "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"sv,
        "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, "\xf8\xff\xff\xff\x7f\x00"sv})
    EXPECT_EQ(shown(bytes), "!") << testing::PrintToString(bytes);
}

TEST(Wire, ReadsWhatIsWritten) {
  ProtobufWriter writer;
  writer.nonzero(1, 0);  // as absent
  writer.nonzero(1, UINT64_MAX);
  writer.text(2, "");
  writer.text(2, "text");
  writer.bytes(19, "");
  EXPECT_EQ(shown(writer.message()), "1=18446744073709551615 2=text 19= .");
}

}  // namespace
}  // namespace weir::server::grpc
