// By which of the server's ports a client has come, and so what it speaks.
#pragma once

#include <cstdint>

namespace weir::server {

enum class ConnectionType : uint8_t {
  kTcp,         // port
  kTls,         // tls-port
  kUnixSocket,  // unixsocket
  kHttp,        // http-port
  kHttps,       // http-tls-port
  kMetrics,     // metrics-port
  kMetricsTls,  // metrics-tls-port
  kGrpc,        // grpc-port
  kGrpcTls,     // grpc-tls-port
};

constexpr bool uses_tls(ConnectionType type) {
  return type == ConnectionType::kTls || type == ConnectionType::kHttps ||
         type == ConnectionType::kMetricsTls || type == ConnectionType::kGrpcTls;
}

// Metrics, and the page for people.
constexpr bool is_for_metrics(ConnectionType type) {
  return type == ConnectionType::kMetrics || type == ConnectionType::kMetricsTls;
}

// gRPC, over HTTP/2.
constexpr bool speaks_grpc(ConnectionType type) {
  return type == ConnectionType::kGrpc || type == ConnectionType::kGrpcTls;
}

// HTTP, of whatever version, in place of Redis' protocol.
constexpr bool speaks_http(ConnectionType type) {
  return type == ConnectionType::kHttp || type == ConnectionType::kHttps || is_for_metrics(type) ||
         speaks_grpc(type);
}

}  // namespace weir::server
