// What an endpoint under /v1/ is: a row. Which members its body may have, the words of the command
// that they become, and the form of the answer.
//
// Everything is made of the row: the body is read by it (body_words.h), the reply written
// (reply_json.h), and the OpenAPI document (openapi.h). It is a table so that an option of a
// command is one row more, and that the document cannot say what the server does not do. What is
// given up: a new word of RL.TAKE has to be written down here too, which a test asks for.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace weir::server::http {

// What a member of a body may be.
enum class MemberKind : uint8_t {
  kKey,       // a string, an integer, or {"hex": "..."}: any bytes
  kKeys,      // an array of 1 to 16 of them: their number, and they
  kName,      // a string of 1 to 128 bytes
  kLimits,    // words of limits: a string, or an array of strings
  kEach,      // an array of 1 to 16 objects with a policy, limits or both: EACH, and their words
  kInteger,   // from `least` to `most`
  kCosts,     // an integer from 0 to 10^12, or an array of 1 to 256 of them
  kToken,     // a string of 1 to 64 bytes, or an integer
  kDuration,  // a string: an integer and a unit
  kTime,      // the same, or an integer, which is milliseconds; from `least` to `most` ms
  kFlag,      // true: the word; false is as if it were not there
  kChoice,    // one of `choices`, in any case
};

struct Member {
  std::string_view name;  // in lower case; it is accepted in any
  MemberKind kind;
  // Before the value. Empty: the value stands alone; of kFlag: nothing stands there.
  std::string_view word = {};
  bool must = false;  // be given; the others may also be null, which is as if they were not there
  int64_t least = 0;
  int64_t most = 0;
  std::span<const std::string_view> choices = {};
  std::string_view about = {};  // a sentence for the document
};

// Of which members one has to be given, at least.
enum class Needs : uint8_t {
  kNothing,
  kLimits,        // policy or limits, or both
  kLimitsOrEach,  // the same, or each without the two
  kKeyOrPrefix,   // one of the two alone
};

struct Shape;

enum class FieldKind : uint8_t {
  kInteger,
  kIntegerOrNull,
  kFlag,         // of an integer, or of OK
  kText,         // ASCII
  kTextOrNull,   //
  kBytes,        // a string, or {"hex": "..."}
  kBytesOrNull,  //
  kTexts,        // an array of kBytes
  kTextsByName,  // an object of them
  kObject,       // of a map
  kObjects,      // of an array of maps
  kTuples,       // objects of an array of arrays
  kNamed,        // objects of a map by name; the name is the first field
};

// A member of an answer.
struct AnswerField {
  std::string_view name;
  FieldKind kind;
  const Shape* of = nullptr;  // of kObject, kObjects, kTuples and kNamed
  bool may_lack = false;
};

// An object of an answer, under its name in the document.
struct Shape {
  std::string_view name;
  std::span<const AnswerField> fields;
};

// How a reply becomes the object.
enum class ReplyForm : uint8_t {
  kMap,    // by its names
  kTuple,  // by their order
  kValue,  // it is the value of the only field
};

struct Endpoint {
  std::string_view path;     // after /v1/: "take", "policies/set"
  std::string_view command;  // words with blanks between: "RL.POLICY SET"
  // In the order of the words; policy and limits are in that of the body.
  std::span<const Member> members = {};
  Needs needs = Needs::kNothing;
  std::string_view last = {};  // a word that is asked for in any case
  ReplyForm form;
  const Shape* shape;
  bool may_be_null = false;  // the answer
  bool in_batch = true;
  bool waits = false;
  bool traced = false;  // it takes TRACEPARENT, which the request's field says
};

}  // namespace weir::server::http
