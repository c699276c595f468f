#include "server/http/grpc/reflection.h"

#include <algorithm>
#include <vector>

#include "base/protobuf.h"
#include "server/http/grpc/proto_file.h"
#include "server/http/grpc/proto_tables.h"
#include "server/http/grpc/wire.h"

namespace weir::server::grpc {
namespace {

namespace reflected {

// Numbers of grpc/reflection/v1/reflection.proto. DO NOT CHANGE.
// Of ServerReflectionRequest, and of its ExtensionRequest.
constexpr uint32_t kHost = 1, kByFilename = 3, kBySymbol = 4, kByExtension = 5;
constexpr uint32_t kExtensionNumbers = 6, kListServices = 7;
constexpr uint32_t kContainingType = 1;
// Of ServerReflectionResponse, and of what it has one of.
constexpr uint32_t kValidHost = 1, kOriginal = 2, kFiles = 4, kNumbers = 5, kServices = 6;
constexpr uint32_t kError = 7;
constexpr uint32_t kFileBytes = 1, kBaseType = 1, kService = 1, kServiceName = 1;
constexpr uint32_t kErrorCode = 1, kErrorText = 2;

}  // namespace reflected

// A file as it is sent, and what it is found by.
struct Described {
  std::string name;
  std::vector<std::string> symbols;
  std::string bytes;
};

const std::vector<Described>& all_described() {
  static const std::vector<Described> all = [] {
    std::vector<Described> made;
    for (const ProtoFile& file : proto_files())
      made.push_back({file.name, symbols_of(file), written_file(file)});
    return made;
  }();
  return all;
}

const Described* find_file(std::string_view name) {
  const auto found = std::ranges::find(all_described(), name, &Described::name);
  return found == all_described().end() ? nullptr : &*found;
}

const Described* find_symbol(std::string_view name) {
  const auto found = std::ranges::find_if(all_described(), [name](const Described& file) {
    return std::ranges::find(file.symbols, name) != file.symbols.end();
  });
  return found == all_described().end() ? nullptr : &*found;
}

std::string list_of_services() {
  ProtobufWriter list;
  for (const ProtoFile& file : proto_files()) {
    for (const ProtoService& service : file.services) {
      ProtobufWriter one;
      one.text(reflected::kServiceName, file.package + "." + std::string(service.name));
      list.bytes(reflected::kService, one.message());
    }
  }
  return list.message();
}

struct Question {
  uint32_t kind = 0;  // the last one of those of which there is to be one
  std::string_view name;
  std::string_view host;
};

// The type of an extension is all that matters of a question for one.
std::string_view containing_type(std::string_view message) {
  std::string_view type;
  WireReader reader(message);
  while (reader.next()) {
    if (reader.is_bytes(reflected::kContainingType)) type = reader.bytes();
  }
  return type;
}

void set_error(Code code, std::string_view text, ProtobufWriter* response) {
  ProtobufWriter error;
  error.number(reflected::kErrorCode, static_cast<uint64_t>(code));
  error.text(reflected::kErrorText, text);
  response->bytes(reflected::kError, error.message());
}

void set_file(const Described* file, std::string_view what, ProtobufWriter* response) {
  if (file == nullptr) return set_error(Code::kNotFound, what, response);
  ProtobufWriter files;
  files.bytes(reflected::kFileBytes, file->bytes);
  response->bytes(reflected::kFiles, files.message());
}

void set_answer(const Question& question, ProtobufWriter* response) {
  switch (question.kind) {
    case reflected::kByFilename:
      return set_file(find_file(question.name), "there is no such file", response);
    case reflected::kBySymbol:
      return set_file(find_symbol(question.name), "there is no such symbol", response);
    case reflected::kByExtension:
      return set_error(Code::kNotFound, "there are no extensions", response);
    case reflected::kExtensionNumbers: {
      if (find_symbol(question.name) == nullptr)
        return set_error(Code::kNotFound, "there is no such type", response);
      ProtobufWriter none;
      none.text(reflected::kBaseType, question.name);
      return response->bytes(reflected::kNumbers, none.message());
    }
    case reflected::kListServices:
      return response->bytes(reflected::kServices, list_of_services());
    default:
      return set_error(Code::kInvalidArgument, "the request asks for nothing", response);
  }
}

}  // namespace

Result<std::string, Status> reflect(std::string_view message) {
  Question question;
  WireReader reader(message);
  while (reader.next()) {
    if (reader.is_bytes(reflected::kHost)) question.host = reader.bytes();
    for (const uint32_t kind :
         {reflected::kByFilename, reflected::kBySymbol, reflected::kByExtension,
          reflected::kExtensionNumbers, reflected::kListServices}) {
      if (reader.is_bytes(kind)) question = {kind, reader.bytes(), question.host};
    }
  }
  if (!reader.ok()) return Status{Code::kInvalidArgument, "this is no ServerReflectionRequest"};
  if (question.kind == reflected::kByExtension) question.name = containing_type(question.name);
  ProtobufWriter response;
  response.text(reflected::kValidHost, question.host);
  response.bytes(reflected::kOriginal, message);
  set_answer(question, &response);
  return response.message();
}

}  // namespace weir::server::grpc
