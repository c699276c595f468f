#include "server/core/clients/client_list.h"

#include "base/ascii.h"
#include "base/time_units.h"
#include "server/acl/user.h"

namespace weir::server {
namespace {

void add(std::string* line, std::string_view name, std::string_view value) {
  if (!line->empty()) line->push_back(' ');
  line->append(name).append("=").append(value);
}

void add(std::string* line, std::string_view name, uint64_t value) {
  add(line, name, std::string_view(std::to_string(value)));
}

std::string flags_of(const Session& session) {
  std::string flags;
  const Transaction& transaction = session.transaction();
  const Listening& listening = session.listening();
  if (listening.monitors) flags += 'O';
  if (listening.subscribed()) flags += 'P';
  if (transaction.open()) flags += 'x';
  if (session.wait_state().waiting() || session.hold() == Hold::kPause) flags += 'b';
  if (listening.tracking.on) flags += 't';
  if (listening.tracking.redirect_broken) flags += 'R';
  if (listening.tracking.broadcasts) flags += 'B';
  if (transaction.watched_touched()) flags += 'd';
  if (session.closing() && !session.dead()) flags += 'c';
  if (session.dead()) flags += 'A';
  if (session.client().peer().type == ConnectionType::kUnixSocket) flags += 'U';
  if (session.client().switches().no_evict) flags += 'e';
  if (session.client().switches().no_touch) flags += 'T';
  return flags.empty() ? "N" : flags;
}

void add_buffers(std::string* line, const Session& session) {
  const size_t unsent = session.replies().unsent_bytes();
  add(line, "qbuf", session.input().size());
  add(line, "qbuf-free", session.input().capacity() - session.input().size());
  add(line, "argv-mem", session.wait_state().words_bytes());
  add(line, "multi-mem", session.kept().of(Kept::kQueued) + session.kept().of(Kept::kWatches));
  add(line, "rbs", session.replies().queue().capacity());
  add(line, "rbp", unsent);
  add(line, "obl", unsent);
  add(line, "oll", 0);
  add(line, "omem", unsent);
  add(line, "tot-mem", session.memory_bytes());
}

}  // namespace

std::string client_line(const Session& session, int64_t now_ns) {
  const auto seconds = [](int64_t ns) { return static_cast<uint64_t>(ns / kNsPerS); };
  std::string line;
  add(&line, "id", session.id);
  const Client& client = session.client();
  add(&line, "addr", client.peer().address);
  add(&line, "laddr", client.peer().local_address);
  add(&line, "fd", std::to_string(client.peer().descriptor));
  add(&line, "name", client.name());
  const Activity& activity = session.activity();
  add(&line, "age", seconds(activity.age_ns(now_ns)));
  // A client that talks in this turn is not idle.
  add(&line, "idle", session.replies().queue().in_turn() ? 0 : seconds(activity.idle_ns(now_ns)));
  add(&line, "flags", flags_of(session));
  add(&line, "db", static_cast<uint64_t>(client.database()));
  const Subscriptions& listens = session.listening().subscriptions;
  add(&line, "sub", listens.of(SubscriptionKind::kChannel).size());
  add(&line, "psub", listens.of(SubscriptionKind::kPattern).size());
  add(&line, "ssub", listens.of(SubscriptionKind::kShard).size());
  const Transaction& transaction = session.transaction();
  add(&line, "multi", transaction.open() ? std::to_string(transaction.queued().count()) : "-1");
  add_buffers(&line, session);
  add(&line, "events",
      session.replies().unsent_bytes() > 0 && !session.replies().queue().in_turn() ? "rw" : "r");
  add(&line, "cmd", activity.last_command() == nullptr ? "NULL" : activity.last_command()->name);
  add(&line, "user", client.user().name());
  const TrackingState& tracking = session.listening().tracking;
  add(&line, "redir", tracking.on ? std::to_string(tracking.redirect) : "-1");
  add(&line, "resp", static_cast<uint64_t>(session.replies().protocol()));
  add(&line, "lib-name", client.library_name());
  add(&line, "lib-ver", client.library_version());
  return line;
}

std::optional<ClientClass> parse_client_class(std::string_view word) {
  if (equals_ignoring_case(word, "normal")) return ClientClass::kNormal;
  if (equals_ignoring_case(word, "replica") || equals_ignoring_case(word, "slave"))
    return ClientClass::kReplica;
  if (equals_ignoring_case(word, "pubsub")) return ClientClass::kPubsub;
  if (equals_ignoring_case(word, "master")) return ClientClass::kMaster;
  return std::nullopt;
}

ClientClass class_of(const Session& session) {
  return session.listening().subscribed() ? ClientClass::kPubsub : ClientClass::kNormal;
}

bool ClientFilter::fits(const Session& session) const {
  if (id && *id != session.id) return false;
  if (address && *address != session.client().peer().address) return false;
  if (local_address && *local_address != session.client().peer().local_address) return false;
  if (user && *user != session.client().user().name()) return false;
  return !client_class || *client_class == class_of(session);
}

}  // namespace weir::server
