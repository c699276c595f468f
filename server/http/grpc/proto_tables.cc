#include "server/http/grpc/proto_tables.h"

#include <string>
#include <string_view>
#include <utility>

namespace weir::server::grpc {
namespace {

using enum ProtoType;

constexpr bool kIsRepeated = true;

// Names and numbers are those of the published files. DO NOT CHANGE.
constexpr std::string_view kDurationFile = "google/protobuf/duration.proto";
constexpr std::string_view kStructFile = "google/protobuf/struct.proto";
constexpr std::string_view kWrappersFile = "google/protobuf/wrappers.proto";
constexpr std::string_view kUnitFile = "envoy/type/v3/ratelimit_unit.proto";
constexpr std::string_view kHeaderFile = "envoy/config/core/v3/base.proto";
constexpr std::string_view kDescriptorFile = "envoy/extensions/common/ratelimit/v3/ratelimit.proto";
constexpr std::string_view kServiceFile = "envoy/service/ratelimit/v3/rls.proto";

constexpr const char* kDurationType = ".google.protobuf.Duration";
constexpr const char* kStructType = ".google.protobuf.Struct";
constexpr const char* kValueType = ".google.protobuf.Value";
constexpr const char* kUint32ValueType = ".google.protobuf.UInt32Value";
constexpr const char* kUint64ValueType = ".google.protobuf.UInt64Value";
constexpr const char* kDescriptorType = ".envoy.extensions.common.ratelimit.v3.RateLimitDescriptor";
constexpr const char* kRequestType = ".envoy.service.ratelimit.v3.RateLimitRequest";
constexpr const char* kResponseType = ".envoy.service.ratelimit.v3.RateLimitResponse";
constexpr const char* kVerdictType = ".envoy.service.ratelimit.v3.RateLimitResponse.Code";

// In the order of their numbers.
std::vector<std::string_view> units() {
  return {"UNKNOWN", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR", "WEEK"};
}

ProtoFile duration_file() {
  return {.name = std::string(kDurationFile),
          .package = "google.protobuf",
          .messages = {{"Duration", {{"seconds", 1, kInt64}, {"nanos", 2, kInt32}}}}};
}

ProtoFile wrappers_file() {
  return {.name = std::string(kWrappersFile),
          .package = "google.protobuf",
          .messages = {{"UInt64Value", {{"value", 1, kUint64}}},
                       {"UInt32Value", {{"value", 1, kUint32}}}}};
}

ProtoFile struct_file() {
  const ProtoMessage entry = {.name = "FieldsEntry",
                              .fields = {{"key", 1, kString}, {"value", 2, kMessage, kValueType}},
                              .is_map_entry = true};
  const std::vector<ProtoField> fields = {
      {"fields", 1, kMessage, ".google.protobuf.Struct.FieldsEntry", kIsRepeated}};
  const auto choice = [](std::string_view name, uint32_t number, ProtoType type,
                         std::string type_name = {}) {
    return ProtoField{name, number, type, std::move(type_name), !kIsRepeated, "kind"};
  };
  return {.name = std::string(kStructFile),
          .package = "google.protobuf",
          .messages = {{"Struct", fields, {entry}},
                       {"Value",
                        {choice("null_value", 1, kEnum, ".google.protobuf.NullValue"),
                         choice("number_value", 2, kDouble), choice("string_value", 3, kString),
                         choice("bool_value", 4, kBool),
                         choice("struct_value", 5, kMessage, kStructType),
                         choice("list_value", 6, kMessage, ".google.protobuf.ListValue")}},
                       {"ListValue", {{"values", 1, kMessage, kValueType, kIsRepeated}}}},
          .enums = {{"NullValue", {"NULL_VALUE"}}}};
}

ProtoFile unit_file() {
  return {.name = std::string(kUnitFile),
          .package = "envoy.type.v3",
          .enums = {{"RateLimitUnit", units()}}};
}

ProtoFile header_file() {
  return {.name = std::string(kHeaderFile),
          .package = "envoy.config.core.v3",
          .messages = {{"HeaderValue", {{"key", 1, kString}, {"value", 2, kString}}}}};
}

ProtoFile descriptor_file() {
  const std::string entry = std::string(kDescriptorType) + ".Entry";
  const std::string limit = std::string(kDescriptorType) + ".RateLimitOverride";
  return {.name = std::string(kDescriptorFile),
          .package = "envoy.extensions.common.ratelimit.v3",
          .imports = {kUnitFile, kWrappersFile},
          .messages = {{"RateLimitDescriptor",
                        {{"entries", 1, kMessage, entry, kIsRepeated},
                         {"limit", 2, kMessage, limit},
                         {"hits_addend", 3, kMessage, kUint64ValueType},
                         {"is_negative_hits", 4, kBool}},
                        {{"Entry", {{"key", 1, kString}, {"value", 2, kString}}},
                         {"RateLimitOverride",
                          {{"requests_per_unit", 1, kUint32},
                           {"unit", 2, kEnum, ".envoy.type.v3.RateLimitUnit"},
                           {"unit_multiplier", 3, kMessage, kUint32ValueType}}}}}}};
}

ProtoMessage rate_limit_request() {
  return {"RateLimitRequest",
          {{"domain", 1, kString},
           {"descriptors", 2, kMessage, kDescriptorType, kIsRepeated},
           {"hits_addend", 3, kUint32}}};
}

ProtoMessage rate_limit_response() {
  const std::string status = std::string(kResponseType) + ".DescriptorStatus";
  const std::string limit = std::string(kResponseType) + ".RateLimit";
  const std::string unit = limit + ".Unit";
  return {
      "RateLimitResponse",
      {{"overall_code", 1, kEnum, kVerdictType},
       {"statuses", 2, kMessage, status, kIsRepeated},
       {"response_headers_to_add", 3, kMessage, ".envoy.config.core.v3.HeaderValue", kIsRepeated},
       {"dynamic_metadata", 6, kMessage, kStructType}},
      {{"RateLimit",
        {{"requests_per_unit", 1, kUint32},
         {"unit", 2, kEnum, unit},
         {"name", 3, kString},
         {"unit_multiplier", 4, kMessage, kUint32ValueType}},
        {},
        {{"Unit", units()}}},
       {"DescriptorStatus",
        {{"code", 1, kEnum, kVerdictType},
         {"current_limit", 2, kMessage, limit},
         {"limit_remaining", 3, kUint32},
         {"duration_until_reset", 4, kMessage, kDurationType}}}},
      {{"Code", {"UNKNOWN", "OK", "OVER_LIMIT"}}}};
}

ProtoFile envoy_file() {
  return {.name = std::string(kServiceFile),
          .package = "envoy.service.ratelimit.v3",
          .imports = {kHeaderFile, kDescriptorFile, kDurationFile, kStructFile, kWrappersFile},
          .messages = {rate_limit_request(), rate_limit_response()},
          .services = {{"RateLimitService", {{"ShouldRateLimit", kRequestType, kResponseType}}}}};
}

ProtoFile kuadrant_file() {
  const std::string package = "kuadrant.service.ratelimit.v1";
  const auto typed = [&package](std::string_view name) {
    return "." + package + "." + std::string(name);
  };
  const std::vector<ProtoMessage> messages = {
      {"ReserveRequest",
       {{"domain", 1, kString},
        {"descriptors", 2, kMessage, kDescriptorType, kIsRepeated},
        {"amount", 3, kUint64},
        {"ttl", 4, kMessage, kDurationType}}},
      {"ReserveResponse", {{"code", 1, kEnum, kVerdictType}, {"reservation_id", 2, kString}}},
      {"CommitRequest",
       {{"domain", 1, kString},
        {"descriptors", 2, kMessage, kDescriptorType, kIsRepeated},
        {"reservation_id", 3, kString},
        {"actual_amount", 4, kUint64}}},
      {"CommitResponse", {{"reservation_released", 1, kBool}}}};
  return {.name = "kuadrantrls.proto",
          .package = package,
          .imports = {kServiceFile, kDescriptorFile, kDurationFile},
          .messages = messages,
          .services = {{"RateLimitService",
                        {{"CheckRateLimit", kRequestType, kResponseType},
                         {"Report", kRequestType, kResponseType},
                         {"Reserve", typed("ReserveRequest"), typed("ReserveResponse")},
                         {"Commit", typed("CommitRequest"), typed("CommitResponse")}}}}};
}

ProtoFile health_file() {
  return {
      .name = "grpc/health/v1/health.proto",
      .package = "grpc.health.v1",
      .messages = {{"HealthCheckRequest", {{"service", 1, kString}}},
                   {"HealthCheckResponse",
                    {{"status", 1, kEnum, ".grpc.health.v1.HealthCheckResponse.ServingStatus"}},
                    {},
                    {{"ServingStatus", {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"}}}}},
      .services = {{"Health",
                    {{"Check", ".grpc.health.v1.HealthCheckRequest",
                      ".grpc.health.v1.HealthCheckResponse"}}}}};
}

// `version` is "v1" or "v1alpha".
ProtoFile reflection_file(const std::string& version) {
  const std::string package = "grpc.reflection." + version;
  const auto typed = [&package](std::string_view name) {
    return "." + package + "." + std::string(name);
  };
  const auto choice = [&typed](std::string_view name, uint32_t number, std::string_view type,
                               std::string_view one_of) {
    if (type.empty()) return ProtoField{name, number, kString, {}, !kIsRepeated, one_of};
    return ProtoField{name, number, kMessage, typed(type), !kIsRepeated, one_of};
  };
  const std::string_view request = "message_request";
  const std::string_view response = "message_response";
  const std::vector<ProtoMessage> messages = {
      {"ServerReflectionRequest",
       {{"host", 1, kString},
        choice("file_by_filename", 3, "", request),
        choice("file_containing_symbol", 4, "", request),
        choice("file_containing_extension", 5, "ExtensionRequest", request),
        choice("all_extension_numbers_of_type", 6, "", request),
        choice("list_services", 7, "", request)}},
      {"ExtensionRequest", {{"containing_type", 1, kString}, {"extension_number", 2, kInt32}}},
      {"ServerReflectionResponse",
       {{"valid_host", 1, kString},
        {"original_request", 2, kMessage, typed("ServerReflectionRequest")},
        choice("file_descriptor_response", 4, "FileDescriptorResponse", response),
        choice("all_extension_numbers_response", 5, "ExtensionNumberResponse", response),
        choice("list_services_response", 6, "ListServiceResponse", response),
        choice("error_response", 7, "ErrorResponse", response)}},
      {"FileDescriptorResponse", {{"file_descriptor_proto", 1, kBytes, {}, kIsRepeated}}},
      {"ExtensionNumberResponse",
       {{"base_type_name", 1, kString}, {"extension_number", 2, kInt32, {}, kIsRepeated}}},
      {"ListServiceResponse", {{"service", 1, kMessage, typed("ServiceResponse"), kIsRepeated}}},
      {"ServiceResponse", {{"name", 1, kString}}},
      {"ErrorResponse", {{"error_code", 1, kInt32}, {"error_message", 2, kString}}}};
  return {.name = "grpc/reflection/" + version + "/reflection.proto",
          .package = package,
          .messages = messages,
          .services = {{"ServerReflection",
                        {{"ServerReflectionInfo", typed("ServerReflectionRequest"),
                          typed("ServerReflectionResponse"), true}}}}};
}

}  // namespace

const std::vector<ProtoFile>& proto_files() {
  static const std::vector<ProtoFile> all = {duration_file(),
                                             wrappers_file(),
                                             struct_file(),
                                             unit_file(),
                                             header_file(),
                                             descriptor_file(),
                                             envoy_file(),
                                             kuadrant_file(),
                                             health_file(),
                                             reflection_file("v1"),
                                             reflection_file("v1alpha")};
  return all;
}

}  // namespace weir::server::grpc
