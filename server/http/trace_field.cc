#include "server/http/trace_field.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/trace_parent.h"

namespace weir::server::http {

void add_trace(Fields fields, std::vector<std::string>* words) {
  constexpr const char* kWord = "TRACEPARENT";
  constexpr std::string_view kThatTakeIt[] = {"RL.TAKE", "RL.MTAKE", "RL.PEEK", "RL.ACQUIRE",
                                              "RL.RESERVE"};
  if (std::find(std::begin(kThatTakeIt), std::end(kThatTakeIt), words->front()) ==
      std::end(kThatTakeIt))
    return;
  const std::optional<std::string> value = combined(fields, kWord);
  if (!value || !parse_trace_parent(*value)) return;
  if (std::find(words->begin(), words->end(), kWord) != words->end()) return;
  words->insert(words->end(), {kWord, *value});
}

}  // namespace weir::server::http
