// Files of Protocol Buffers as tables of their messages and services, and what a client that asks a
// server about itself is sent of them: messages of google/protobuf/descriptor.proto.
//
// No compiler makes these bytes, as none makes those of the messages themselves
// (base/protobuf.h): a table is as long as the file that it describes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server::grpc {

// The numbers are on the wire. DO NOT CHANGE.
enum class ProtoType : uint8_t {
  kDouble = 1,
  kInt64 = 3,
  kUint64 = 4,
  kInt32 = 5,
  kBool = 8,
  kString = 9,
  kMessage = 11,
  kBytes = 12,
  kUint32 = 13,
  kEnum = 14,
};

struct ProtoField {
  std::string_view name;
  uint32_t number;
  ProtoType type;
  std::string type_name = {};  // of a message or an enum, with a dot before its package
  bool is_repeated = false;
  std::string_view one_of = {};  // fields of one choice stand together
};

struct ProtoEnum {
  std::string_view name;
  std::vector<std::string_view> values;  // numbered from 0 on
};

struct ProtoMessage {
  std::string_view name;
  std::vector<ProtoField> fields = {};
  std::vector<ProtoMessage> messages = {};  // inside it
  std::vector<ProtoEnum> enums = {};
  bool is_map_entry = false;
};

struct ProtoMethod {
  std::string_view name;
  std::string request;
  std::string response;
  bool streams = false;  // both
};

struct ProtoService {
  std::string_view name;
  std::vector<ProtoMethod> methods;
};

struct ProtoFile {
  std::string name;
  std::string package;
  std::vector<std::string_view> imports = {};
  std::vector<ProtoMessage> messages = {};
  std::vector<ProtoEnum> enums = {};
  std::vector<ProtoService> services = {};
};

// A FileDescriptorProto.
std::string written_file(const ProtoFile& file);

// The full names of what a file defines: messages, enums, services and methods.
std::vector<std::string> symbols_of(const ProtoFile& file);

}  // namespace weir::server::grpc
