#include "tests/simulation/client.h"

#include "tests/simulation/violation.h"

namespace weir::simulation {

void Client::read(std::string_view bytes,
                  const std::function<void(const Request&, const resp::Value&)>& seen) {
  received_ += bytes;
  size_t at = 0;
  while (true) {
    resp::Value value;
    size_t consumed = 0;
    const auto rest = std::string_view(received_).substr(at);
    const resp::DecodeStatus status = resp::decode(rest, &value, &consumed);
    if (status == resp::DecodeStatus::kError) {
      throw Violation("a reply that is none: " + std::string(rest.substr(0, 100)));
    }
    if (status == resp::DecodeStatus::kNeedMore) break;
    at += consumed;
    if (unanswered.empty()) throw Violation("a reply too many: " + resp::to_string(value));
    const RequestPointer request = unanswered.front();
    unanswered.pop_front();
    if (!request->expected.fits(value)) {
      std::string asked;
      for (const std::string& arg : request->args) asked += arg + " ";
      throw Violation(asked + "answers " + resp::to_string(value) + ", expected " +
                      request->expected.description());
    }
    seen(*request, value);
  }
  received_.erase(0, at);
}

}  // namespace weir::simulation
