#include "storage/shared_logs/nats/session.h"

#include <charconv>
#include <tuple>
#include <utility>

namespace weir::storage::nats {
namespace {

using Version = std::tuple<int, int, int>;

constexpr Version kOldest{2, 12, 7};

// Of "2.12.7" and "2.13.0-RC.1"; nothing of anything else.
std::optional<Version> version_of(std::string_view text) {
  int parts[3] = {};
  for (int& part : parts) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.starts_with('.')) text.remove_prefix(1);
  }
  return Version{parts[0], parts[1], parts[2]};
}

}  // namespace

std::string weakness_of(const StreamInfo& info) {
  const auto version = version_of(info.version);
  if (!version || *version < kOldest)
    return "nats-server " + (info.version.empty() ? "before 2.11" : info.version) +
           " is too old for the shared log: 2.12.7 is the first that will do";
  if (!info.unlike_ours.empty())
    return "the stream is not as --new-shard makes it: " + info.unlike_ours;
  return "";
}

Outgoing Session::next() const {
  if (state_ == State::kMakeLog) return make_log(names_, replicas_, plan_.bytes_max);
  if (state_ == State::kMakeRegistry) return make_registry(names_, info_.replicas);
  if (state_ == State::kReadOnce) return get_message(names_.log_stream(), 1);
  return get_info(names_.log_stream());
}

Session::Step Session::take(const Reply& reply) {
  if (reply.kind == Reply::Kind::kNobody)
    return fail("the server has no JetStream, or not for this user", false);
  if (reply.kind != Reply::Kind::kAnswer) return fail("JetStream does not answer", false);
  if (state_ == State::kReadOnce) return Step::kReady;
  return state_ == State::kLook ? look(reply.text) : make(reply.text);
}

Session::Step Session::fail(std::string failure, bool needs_person) {
  failure_ = std::move(failure);
  needs_person_ = needs_person;
  return Step::kFailed;
}

Session::Step Session::look(const std::string& answer) {
  const auto info = stream_info(answer);
  if (!info && info.error().code == kNoStream && plan_.makes_shard && !has_made_) {
    state_ = State::kMakeLog;
    return Step::kMore;
  }
  if (!info && info.error().code == kNoStream)
    return fail("there is no stream " + names_.log_stream() +
                    ": weir-server --new-shard makes it, once, on one machine",
                true);
  if (!info) return fail(info.error().text, false);
  info_ = *info;
  const std::string weakness = weakness_of(info_);
  if (!weakness.empty() && !plan_.allows_weak_engine)
    return fail(weakness + " (log-allow-weak-engine yes takes it nevertheless)", true);
  if (!plan_.makes_shard) return Step::kReady;
  state_ = State::kMakeRegistry;
  return Step::kMore;
}

// Without a cluster there is one copy, of which the server warns when it starts. A cluster that
// knows of too few servers refuses, so that no shard is made weaker by chance. A server that it
// knows of and that is away gets its copy when it is back.
Session::Step Session::make(const std::string& answer) {
  const auto made = done(answer);
  const bool makes_log = state_ == State::kMakeLog;
  if (!made && made.error().code == kNotClustered && makes_log && replicas_ > 1) {
    replicas_ = 1;
    return Step::kMore;
  }
  const bool is_there = made || made.error().code == kNameInUse;
  if (!is_there) {
    const std::string stream = makes_log ? names_.log_stream() : names_.registry_stream();
    const int64_t code = made.error().code;
    const bool is_full = code == kNoPeers || code == kServersFull || code == kAccountFull;
    return fail("cannot make the stream " + stream + ": " + made.error().text +
                    (makes_log && is_full ? "; it wants " + std::to_string(replicas_) +
                                                " servers with " + std::to_string(plan_.bytes_max) +
                                                " bytes for it, twice log-bytes-max"
                                          : ""),
                false);
  }
  if (!makes_log) {
    // The leader of a new stream tells of it some milliseconds before it reads from it.
    state_ = State::kReadOnce;
    return Step::kMore;
  }
  has_made_ = true;
  state_ = State::kLook;
  return Step::kMore;
}

}  // namespace weir::storage::nats
