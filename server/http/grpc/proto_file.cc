#include "server/http/grpc/proto_file.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"
#include "base/protobuf.h"

namespace weir::server::grpc {
namespace {

namespace descriptor {

// Numbers of google/protobuf/descriptor.proto. DO NOT CHANGE.
constexpr uint32_t kName = 1;  // of everything
constexpr uint32_t kPackage = 2, kImport = 3, kFileMessage = 4, kFileEnum = 5, kFileService = 6;
constexpr uint32_t kSyntax = 12;
constexpr uint32_t kField = 2, kNested = 3, kNestedEnum = 4, kOptions = 7, kOneOf = 8;
constexpr uint32_t kIsMapEntry = 7;
constexpr uint32_t kNumber = 3, kLabel = 4, kType = 5, kTypeName = 6, kOneOfPlace = 9;
constexpr uint32_t kJsonName = 10;
constexpr uint32_t kEnumValue = 2, kEnumNumber = 2;
constexpr uint32_t kMethod = 2, kRequest = 2, kResponse = 3, kRequestStreams = 5;
constexpr uint32_t kResponseStreams = 6;
constexpr uint64_t kOptional = 1, kRepeated = 3;

}  // namespace descriptor

std::string written_enum(const ProtoEnum& described) {
  ProtobufWriter writer;
  writer.text(descriptor::kName, described.name);
  for (size_t i = 0; i < described.values.size(); ++i) {
    ProtobufWriter value;
    value.text(descriptor::kName, described.values[i]);
    value.number(descriptor::kEnumNumber, i);
    writer.bytes(descriptor::kEnumValue, value.message());
  }
  return writer.message();
}

// The choices of a message, in their order.
std::vector<std::string_view> one_ofs(const ProtoMessage& message) {
  std::vector<std::string_view> all;
  for (const ProtoField& field : message.fields) {
    if (!field.one_of.empty() && std::ranges::find(all, field.one_of) == all.end())
      all.push_back(field.one_of);
  }
  return all;
}

// a_name is aName in JSON.
std::string json_name(std::string_view name) {
  std::string written;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool is_next = i > 0 && name[i - 1] == '_';
    if (name[i] != '_') written.push_back(is_next ? to_upper(name[i]) : name[i]);
  }
  return written;
}

std::string written_message(const ProtoMessage& message) {
  ProtobufWriter writer;
  writer.text(descriptor::kName, message.name);
  const std::vector<std::string_view> choices = one_ofs(message);
  for (const ProtoField& described : message.fields) {
    ProtobufWriter field;
    field.text(descriptor::kName, described.name);
    field.number(descriptor::kNumber, described.number);
    field.number(descriptor::kLabel,
                 described.is_repeated ? descriptor::kRepeated : descriptor::kOptional);
    field.number(descriptor::kType, static_cast<uint64_t>(described.type));
    field.text(descriptor::kTypeName, described.type_name);
    if (!described.one_of.empty()) {
      const auto place = std::ranges::find(choices, described.one_of) - choices.begin();
      field.number(descriptor::kOneOfPlace, static_cast<uint64_t>(place));
    }
    field.text(descriptor::kJsonName, json_name(described.name));
    writer.bytes(descriptor::kField, field.message());
  }
  for (const ProtoMessage& nested : message.messages)
    writer.bytes(descriptor::kNested, written_message(nested));
  for (const ProtoEnum& nested : message.enums)
    writer.bytes(descriptor::kNestedEnum, written_enum(nested));
  if (message.is_map_entry) {
    ProtobufWriter options;
    options.number(descriptor::kIsMapEntry, 1);
    writer.bytes(descriptor::kOptions, options.message());
  }
  for (const std::string_view name : choices) {
    ProtobufWriter choice;
    choice.text(descriptor::kName, name);
    writer.bytes(descriptor::kOneOf, choice.message());
  }
  return writer.message();
}

std::string written_service(const ProtoService& service) {
  ProtobufWriter writer;
  writer.text(descriptor::kName, service.name);
  for (const ProtoMethod& described : service.methods) {
    ProtobufWriter method;
    method.text(descriptor::kName, described.name);
    method.text(descriptor::kRequest, described.request);
    method.text(descriptor::kResponse, described.response);
    method.nonzero(descriptor::kRequestStreams, described.streams ? 1 : 0);
    method.nonzero(descriptor::kResponseStreams, described.streams ? 1 : 0);
    writer.bytes(descriptor::kMethod, method.message());
  }
  return writer.message();
}

void add_symbols(const std::string& outside, const ProtoMessage& message,
                 std::vector<std::string>* all) {
  const std::string name = outside + "." + std::string(message.name);
  all->push_back(name);
  for (const ProtoMessage& nested : message.messages) add_symbols(name, nested, all);
  for (const ProtoEnum& nested : message.enums)
    all->push_back(name + "." + std::string(nested.name));
}

}  // namespace

std::string written_file(const ProtoFile& file) {
  ProtobufWriter writer;
  writer.text(descriptor::kName, file.name);
  writer.text(descriptor::kPackage, file.package);
  for (const std::string_view import : file.imports) writer.bytes(descriptor::kImport, import);
  for (const ProtoMessage& message : file.messages)
    writer.bytes(descriptor::kFileMessage, written_message(message));
  for (const ProtoEnum& described : file.enums)
    writer.bytes(descriptor::kFileEnum, written_enum(described));
  for (const ProtoService& service : file.services)
    writer.bytes(descriptor::kFileService, written_service(service));
  writer.bytes(descriptor::kSyntax, "proto3");
  return writer.message();
}

std::vector<std::string> symbols_of(const ProtoFile& file) {
  std::vector<std::string> all;
  for (const ProtoMessage& message : file.messages) add_symbols(file.package, message, &all);
  for (const ProtoEnum& described : file.enums)
    all.push_back(file.package + "." + std::string(described.name));
  for (const ProtoService& service : file.services) {
    const std::string name = file.package + "." + std::string(service.name);
    all.push_back(name);
    for (const ProtoMethod& method : service.methods)
      all.push_back(name + "." + std::string(method.name));
  }
  return all;
}

}  // namespace weir::server::grpc
