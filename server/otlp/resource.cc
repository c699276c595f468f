#include "server/otlp/resource.h"

#include "server/os/version.h"

namespace weir::server::otlp {

std::string key_value(std::string_view key, std::string_view value) {
  ProtobufWriter any;
  any.bytes(1, value);  // string_value
  ProtobufWriter out;
  out.bytes(1, key);
  out.bytes(2, any.message());
  return out.message();
}

std::string request_of(const Attributes& resource, const std::vector<std::string>& items) {
  ProtobufWriter who;
  for (const auto& [name, value] : resource) who.bytes(1, key_value(name, value));
  ProtobufWriter scope;
  scope.text(1, "weir");
  scope.text(2, weir_version());
  ProtobufWriter of_scope;
  of_scope.bytes(1, scope.message());
  for (const std::string& item : items) of_scope.bytes(2, item);
  ProtobufWriter of_resource;
  of_resource.bytes(1, who.message());
  of_resource.bytes(2, of_scope.message());
  ProtobufWriter request;
  request.bytes(1, of_resource.message());
  return request.message();
}

}  // namespace weir::server::otlp
