#include "server/http/v1/schemas.h"

#include "algorithms/limit.h"
#include "algorithms/limiter_record.h"
#include "server/http/v1/members.h"
#include "server/limiter/policy/request.h"

namespace weir::server::http {
namespace {

// What algorithms/rate_text.h reads, but that it reads long names in any case, and more digits
// before short ones: a text has at most kNumberBytesMax bytes, of which a unit has up to seven.
constexpr std::string_view kDurationPattern =
    "^(0|[1-9][0-9]{0,24})"
    "(ns|us|ms|s|m|h|d|w|sec|seconds?|min|minutes?|hours?|days?|weeks?)$";

Json typed(std::string_view type) { return made_object({{"type", Json::words(type)}}); }

Json any_of(std::vector<Json> schemas) {
  return made_object({{"anyOf", Json::array(std::move(schemas))}});
}

Json integer_schema(int64_t least, int64_t most) {
  return made_object({{"type", Json::words("integer")},
                      {"minimum", Json::number(least)},
                      {"maximum", Json::number(most)}});
}

Json any_integer() { return integer_schema(INT64_MIN, INT64_MAX); }

Json string_schema(int64_t least, int64_t most) {
  return made_object({{"type", Json::words("string")},
                      {"minLength", Json::number(least)},
                      {"maxLength", Json::number(most)}});
}

Json array_schema(Json items, int64_t most) {
  return made_object({{"type", Json::words("array")},
                      {"items", std::move(items)},
                      {"minItems", Json::number(1)},
                      {"maxItems", Json::number(most)}});
}

Json key_schema() {
  return any_of({typed("string"), any_integer(), reference("schemas", "Bytes")});
}

Json limits_schema() {
  Json text = made_object({{"type", Json::words("string")},
                           {"minLength", Json::number(1)},
                           {"format", Json::words("weir-limits")}});
  Json array = made_object(
      {{"type", Json::words("array")}, {"items", typed("string")}, {"minItems", Json::number(1)}});
  return any_of({std::move(text), std::move(array)});
}

Json duration_schema() {
  return made_object({{"type", Json::words("string")}, {"pattern", Json::words(kDurationPattern)}});
}

Json words_schema(std::span<const std::string_view> words) {
  Json list = Json::array();
  for (const std::string_view word : words) list.elements.push_back(Json::words(word));
  return made_object({{"type", Json::words("string")}, {"enum", std::move(list)}});
}

// {"required": [name], "properties": {name: {"not": {"type": "null"}}}}
Json given(std::string_view name) {
  Json present = made_object({{name, made_object({{"not", typed("null")}})}});
  return made_object({{"required", Json::array({Json::words(name)})}, {"properties", present}});
}

Json given_limits() { return any_of({given("policy"), given("limits")}); }

Json each_schema() {
  const Json policy = any_of({string_schema(1, kPolicyNameBytesMax), typed("null")});
  const Json limits = any_of({limits_schema(), typed("null")});
  Json of_key = made_object({{"type", Json::words("object")},
                             {"properties", made_object({{"policy", policy}, {"limits", limits}})},
                             {"additionalProperties", Json::boolean(false)}});
  const Json needs = given_limits();
  of_key.add("anyOf", *needs.find("anyOf"));
  return array_schema(std::move(of_key), algorithms::kLimitsMax);
}

Json cost_schema() {
  const Json one = integer_schema(0, algorithms::kCostMax);
  return any_of({one, array_schema(one, kCostsMax)});
}

Json value_schema(const Member& member) {
  switch (member.kind) {
    case MemberKind::kKey:
      return key_schema();
    case MemberKind::kKeys:
      return array_schema(key_schema(), algorithms::kLimitsMax);
    case MemberKind::kName:
      return string_schema(1, kPolicyNameBytesMax);
    case MemberKind::kLimits:
      return limits_schema();
    case MemberKind::kEach:
      return each_schema();
    case MemberKind::kInteger:
      return integer_schema(member.least, member.most);
    case MemberKind::kCosts:
      return cost_schema();
    case MemberKind::kToken:
      return any_of({string_schema(1, kIdBytesMax), any_integer()});
    case MemberKind::kDuration:
      return duration_schema();
    case MemberKind::kTime:
      return any_of({duration_schema(), integer_schema(member.least, member.most)});
    case MemberKind::kFlag:
      return typed("boolean");
    case MemberKind::kChoice:
      return words_schema(member.choices);
  }
  return {};
}

Json member_schema(const Member& member) {
  Json schema = member.must ? value_schema(member) : any_of({value_schema(member), typed("null")});
  if (!member.about.empty()) schema.add("description", Json::words(member.about));
  return schema;
}

Json field_schema(const AnswerField& field) {
  const auto nullable = [](Json schema) { return any_of({std::move(schema), typed("null")}); };
  const Json bytes = any_of({typed("string"), reference("schemas", "Bytes")});
  const auto list = [](Json items) {
    return made_object({{"type", Json::words("array")}, {"items", std::move(items)}});
  };
  switch (field.kind) {
    case FieldKind::kInteger:
      return typed("integer");
    case FieldKind::kIntegerOrNull:
      return nullable(typed("integer"));
    case FieldKind::kFlag:
      return typed("boolean");
    case FieldKind::kText:
      return typed("string");
    case FieldKind::kTextOrNull:
      return nullable(typed("string"));
    case FieldKind::kBytes:
      return bytes;
    case FieldKind::kBytesOrNull:
      return nullable(bytes);
    case FieldKind::kTexts:
      return list(bytes);
    case FieldKind::kTextsByName:
      return made_object(
          {{"type", Json::words("object")}, {"additionalProperties", typed("string")}});
    case FieldKind::kObject:
      return reference("schemas", field.of->name);
    case FieldKind::kObjects:
    case FieldKind::kTuples:
    case FieldKind::kNamed:
      return list(reference("schemas", field.of->name));
  }
  return {};
}

}  // namespace

Json made_object(JsonMembers members) {
  Json object = Json::object();
  for (const auto& [name, value] : members) object.add(name, value);
  return object;
}

Json reference(std::string_view kind, std::string_view name) {
  return made_object(
      {{"$ref", Json::words("#/components/" + std::string(kind) + "/" + std::string(name))}});
}

Json body_schema(const Endpoint& endpoint) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Member& member : endpoint.members) {
    properties.add(member.name, member_schema(member));
    if (member.must) required.elements.push_back(Json::words(member.name));
  }
  Json schema = made_object({{"type", Json::words("object")}, {"properties", properties}});
  if (!required.elements.empty()) schema.add("required", required);
  schema.add("additionalProperties", Json::boolean(false));
  switch (endpoint.needs) {
    case Needs::kNothing:
      break;
    case Needs::kLimits:
      schema.add("anyOf", Json::array({given("policy"), given("limits")}));
      break;
    case Needs::kLimitsOrEach:
      schema.add("oneOf", Json::array({given("each"), given_limits()}));
      break;
    case Needs::kKeyOrPrefix:
      schema.add("oneOf", Json::array({given("key"), given("prefix")}));
      break;
  }
  return schema;
}

Json shape_schema(const Shape& shape) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const AnswerField& field : shape.fields) {
    properties.add(field.name, field_schema(field));
    if (!field.may_lack) required.elements.push_back(Json::words(field.name));
  }
  return made_object({{"type", Json::words("object")},
                      {"properties", std::move(properties)},
                      {"required", std::move(required)}});
}

void collect_shapes(const Shape& shape, std::map<std::string_view, const Shape*>* shapes) {
  if (!shapes->emplace(shape.name, &shape).second) return;
  for (const AnswerField& field : shape.fields) {
    if (field.of != nullptr) collect_shapes(*field.of, shapes);
  }
}

Json bytes_schema() {
  return made_object(
      {{"type", Json::words("object")},
       {"description", Json::words("Bytes that are no UTF-8, in hexadecimal digits.")},
       {"properties",
        made_object({{"hex", made_object({{"type", Json::words("string")},
                                          {"pattern", Json::words("^([0-9a-fA-F]{2})*$")}})}})},
       {"required", Json::array({Json::words("hex")})},
       {"additionalProperties", Json::boolean(false)}});
}

}  // namespace weir::server::http
