// Kuadrant's Reserve and Commit, as commands: what a request may use is held, and when it is known
// what it has used, the hold becomes that.
//
//     Reserve   RL.TAKE, or RL.MTAKE for all descriptors, with HOLD: from all or from none. An
//               amount of 0 takes nothing, and asks by RL.PEEK whether one permit is there
//     Commit    RL.SETTLE of each hold. What is not held any more was charged as it was reserved:
//               what was used beyond that is taken by FORCE. So is all, where nothing was held
//
// The id of a reservation says what was held, so nothing is kept between the two:
//
//     amount ':' hold ':' hold ...    a hold of each key, in the descriptors' order; '-': none
//
// A client that makes up an id, or sends another's, settles what it could have settled anyway: the
// holds are of the keys that its descriptors have.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/grpc/ask.h"
#include "server/http/grpc/rate_limit_messages.h"

namespace weir::server::grpc {

inline constexpr int64_t kReserveMsDefault = 60'000;
inline constexpr int64_t kReserveMsMax =
    86'400'000;  // a hold lasts no longer; what is more, is this

class Reservation final : public Ask {
 public:
  // Nothing of the request is needed afterwards.
  static Result<std::unique_ptr<Ask>, Status> reserve(const ReserveRequest& request,
                                                      const DescriptorRules& rules);
  static Result<std::unique_ptr<Ask>, Status> commit(const CommitRequest& request,
                                                     const DescriptorRules& rules);

  std::vector<Words> next() override;
  Result<void, Status> take(size_t place, const resp::Value& reply) override;
  bool is_over() const override { return is_over_; }
  std::string message() const override;
  size_t memory_bytes() const override;

 private:
  enum class Method : uint8_t { kReserve, kCommit };
  // One or several descriptors that have one key.
  struct Item {
    std::string key;
    Words limits;
    int64_t times = 1;       // descriptors
    bool is_closed = false;  // nobody has the permits
    std::string hold = {};   // its id; "": there is none
    bool is_settled = false;
  };

  Reservation(Method method, int64_t amount) : method_(method), amount_(amount) {}

  Result<void, Status> add(std::string_view domain, const std::vector<Descriptor>& descriptors,
                           const DescriptorRules& rules);
  Result<void, Status> add_item(AskedKey asked);
  void read_id(std::string_view id);
  std::string id() const;
  std::vector<Words> reserving() const;
  std::vector<Words> settling();
  std::vector<Words> forcing();
  Result<void, Status> take_granted(const resp::Value& reply);

  const Method method_;
  const int64_t amount_;  // of each descriptor
  int64_t hold_ms_ = kReserveMsDefault;
  int64_t reserved_ = 0;  // of each descriptor, when it is committed
  std::vector<Item> items_;
  std::vector<size_t> asked_;  // the items that the commands of a part are for
  int phase_ = 0;
  bool is_over_ = false;
  bool has_settled_ = false;
};

}  // namespace weir::server::grpc
