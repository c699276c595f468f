// The digest of a stage, by which the exhaustive search knows a state again.
#include <map>

#include "tests/replication/stage.h"

namespace weir::storage::replication {
namespace {

// Numbers strings in the order in which they first appear.
class Names {
 public:
  std::string of(const std::string& bytes) {
    return std::to_string(numbers_.emplace(bytes, numbers_.size()).first->second);
  }

 private:
  std::map<std::string, size_t> numbers_;
};

class Digest {
 public:
  explicit Digest(Names* names) : names_(names) {}

  std::string head(const Head& head) {
    if (head.log_index == 0) return "-";
    return names_->of(std::to_string(head.log_index) + "/" + std::to_string(head.crc));
  }

  std::string record(const std::string& bytes) {
    const auto decoded = decode_record(bytes);
    if (!decoded) return "strange";
    std::string text =
        std::to_string(static_cast<int>(decoded->kind())) + "@" + head(decoded->envelope.epoch);
    if (const auto* turns = std::get_if<Turns>(&decoded->body)) {
      text += "+" + std::to_string(turns->first_turn);
      for (const std::string_view turn : turns->turns) text += "," + names_->of(std::string(turn));
    } else if (const auto* claim = std::get_if<Claim>(&decoded->body)) {
      text += claim->author.node;
    }
    return text;
  }

 private:
  Names* names_;
};

}  // namespace

std::string Stage::digest() const {
  Names names;
  Digest digest(&names);
  std::string text;
  for (size_t branch = 0; branch <= log_.leader(); ++branch) {
    text += "|" + std::to_string(log_.durable(branch)) + ":";
    for (const Record& record : log_.records(branch)) {
      text += digest.head(record.head) + "=" + digest.record(record.bytes) + " ";
    }
  }
  for (const PendingAppend& lost : lost_) text += "?" + digest.record(lost.record);
  for (size_t i = 0; i < members_.size(); ++i) {
    const Actor& actor = members_[i];
    text += "#" + std::to_string(actor.branch);
    for (const auto& [turn, bytes] : actor.disk->turns()) text += " " + names.of(bytes);
    for (const LogBookmark& bookmark : actor.disk->bookmarks())
      text += " s" + digest.head(bookmark.head);
    text += "u" + std::to_string(actor.disk->unsynced() > 0);
    if (actor.process == nullptr) continue;
    const Member& member = actor.process->member();
    text += digest.head(member.log_state().head()) + "e" + digest.head(member.log_state().epoch());
    const std::string line = weir::storage::replication::describe(member);
    text += line.substr(0, line.find(" head")) + line.substr(line.find(" next"));
    text += may_answer_reads(i) ? "r" : "-";
    text += actor.process->owes_replies() ? "o" : "-";
    if (actor.append) {
      text += "a" + std::to_string(actor.append->branch) + digest.record(actor.append->record);
      if (actor.append->expected) text += ">" + digest.head(*actor.append->expected);
      if (actor.append->result)
        text += std::to_string(static_cast<int>(actor.append->result->outcome));
    }
  }
  return text;
}

}  // namespace weir::storage::replication
