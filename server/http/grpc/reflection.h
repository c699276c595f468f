// grpc.reflection.v1.ServerReflection and v1alpha, which are the same messages by two names: what a
// client without files of ours, as grpcurl, asks to learn which services there are and what their
// messages are.
//
// It describes the fields that are read or written here; published files of these names have more.
// It tells nothing of who asks or of the data, so it asks for no user.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "server/http/grpc/status.h"

namespace weir::server::grpc {

inline constexpr std::string_view kReflectionPath =
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
inline constexpr std::string_view kReflectionAlphaPath =
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

// Answers one question of a dialogue, both as they are on the wire.
Result<std::string, Status> reflect(std::string_view message);

}  // namespace weir::server::grpc
