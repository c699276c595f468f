#include "storage/shared_logs/nats/outcome.h"

#include "storage/shared_logs/nats/answers.h"

namespace weir::storage::nats {

using replication::Appended;

namespace {

AppendEnd unknown(std::string trouble) { return {.told = {}, .trouble = std::move(trouble)}; }

bool is_refusal(const Problem& problem) {
  return problem.code == kWrongLastSequence || problem.code == kBusySubject;
}

}  // namespace

AppendEnd end_of_append(const Reply& reply, const std::string& stream,
                        const std::optional<replication::Head>& expected, uint64_t crc) {
  switch (reply.kind) {
    case Reply::Kind::kNobody:
      return unknown("the stream has no leader at the moment");
    case Reply::Kind::kExpired:
      return unknown("an append was not answered in time");
    case Reply::Kind::kLost:
      return unknown("the connection was lost under an append");
    case Reply::Kind::kAnswer:
      break;
  }
  const auto answer = stored(reply.text, stream);
  if (!answer && is_refusal(answer.error()))
    return {.told = {.outcome = Appended::Outcome::kRefused, .head = {}}, .trouble = ""};
  if (!answer) return unknown(answer.error().text);
  if (answer->is_duplicate) return unknown("the stream had stored an append already");
  if (expected && answer->sequence != expected->log_index + 1)
    return unknown("the stream put an append at another log index than its condition allows");
  return {.told = {.outcome = Appended::Outcome::kDone,
                   .head = {.log_index = answer->sequence, .crc = crc}},
          .trouble = ""};
}

}  // namespace weir::storage::nats
