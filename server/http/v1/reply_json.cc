#include "server/http/v1/reply_json.h"

#include <algorithm>

#include "server/http/format/json.h"

namespace weir::server::http {
namespace {

using resp::Value;
using Elements = std::vector<Value>;

Json field_of(const AnswerField& field, const Value& value);

const AnswerField* find_field(const Shape& shape, std::string_view name) {
  const auto found = std::find_if(shape.fields.begin(), shape.fields.end(),
                                  [name](const AnswerField& field) { return field.name == name; });
  return found == shape.fields.end() ? nullptr : &*found;
}

Json mapped(const Shape& shape, const Elements& elements) {
  Json object = Json::object();
  for (size_t i = 0; i + 1 < elements.size(); i += 2) {
    const AnswerField* field = find_field(shape, elements[i].text);
    object.add(elements[i].text,
               field != nullptr ? field_of(*field, elements[i + 1]) : json_of(elements[i + 1]));
  }
  return object;
}

// What a tuple has beside the fields is left out.
Json listed(const Shape& shape, const Elements& elements) {
  Json object = Json::object();
  for (size_t i = 0; i < std::min(shape.fields.size(), elements.size()); ++i)
    object.add(shape.fields[i].name, field_of(shape.fields[i], elements[i]));
  return object;
}

Json named(const Shape& shape, const Elements& elements) {
  Json array = Json::array();
  for (size_t i = 0; i + 1 < elements.size(); i += 2) {
    Json object = Json::object();
    object.add(shape.fields.front().name, Json::bytes(elements[i].text));
    const Json rest = mapped(shape, elements[i + 1].elements);
    for (size_t j = 0; j < rest.names.size(); ++j) object.add(rest.names[j], rest.elements[j]);
    array.elements.push_back(std::move(object));
  }
  return array;
}

template <typename Convert>
Json each_of(const Elements& elements, Convert convert) {
  Json array = Json::array();
  for (const Value& element : elements) array.elements.push_back(convert(element));
  return array;
}

Json field_of(const AnswerField& field, const Value& value) {
  switch (field.kind) {
    case FieldKind::kFlag:
      return Json::boolean(value.type == Value::Type::kStatus || value.integer != 0);
    case FieldKind::kObject:
      return mapped(*field.of, value.elements);
    case FieldKind::kObjects:
      return each_of(value.elements,
                     [&field](const Value& each) { return mapped(*field.of, each.elements); });
    case FieldKind::kTuples:
      return each_of(value.elements,
                     [&field](const Value& each) { return listed(*field.of, each.elements); });
    case FieldKind::kNamed:
      return named(*field.of, value.elements);
    default:
      return json_of(value);
  }
}

}  // namespace

Json answer_of(const Endpoint& endpoint, const Value& reply) {
  if (reply.is_null()) return {};
  switch (endpoint.form) {
    case ReplyForm::kMap:
      return mapped(*endpoint.shape, reply.elements);
    case ReplyForm::kTuple:
      return listed(*endpoint.shape, reply.elements);
    case ReplyForm::kValue:
      break;
  }
  const AnswerField& only = endpoint.shape->fields.front();
  Json object = Json::object();
  object.add(only.name, field_of(only, reply));
  return object;
}

}  // namespace weir::server::http
