// Certificates and keys for a test, made when it runs, as files in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <ctime>
#include <string>

#include "server/tls/openssl.h"
#include "tests/server/real_sockets.h"

namespace weir::server {

using X509Pointer = std::unique_ptr<X509, OpensslFree<X509_free>>;

struct Certificate {
  X509Pointer x509;
  KeyPointer key;
};

inline void name_it(X509* x509, const std::string& common_name) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(common_name.data());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_UTF8, bytes,
                             static_cast<int>(common_name.size()), -1, 0);
}

// An elliptic key, and a certificate for it that is valid until `seconds` from now.
inline Certificate make_certificate(const std::string& common_name, const Certificate* authority,
                                    long seconds = 3600) {
  Certificate made = {.x509 = X509Pointer(X509_new()), .key = KeyPointer(EVP_EC_gen("P-256"))};
  X509* x509 = made.x509.get();
  static long serial = std::time(nullptr) << 8;
  X509_set_version(x509, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(x509), -7200);
  X509_gmtime_adj(X509_getm_notAfter(x509), seconds);
  X509_set_pubkey(x509, made.key.get());
  name_it(x509, common_name);
  const Certificate& issuer = authority == nullptr ? made : *authority;
  X509_set_issuer_name(x509, X509_get_subject_name(issuer.x509.get()));
  if (authority == nullptr) {
    X509_EXTENSION* ca =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
    X509_add_ext(x509, ca, -1);
    X509_EXTENSION_free(ca);
  }
  EXPECT_GT(X509_sign(x509, issuer.key.get(), EVP_sha256()), 0);
  return made;
}

// An authority, a certificate for a server, and one for a client; and files of them.
class Certificates {
 public:
  Certificates()
      : authority(make_certificate("the authority", nullptr)),
        server(make_certificate("weir", &authority)),
        client(make_certificate("shop", &authority)) {
    write("ca.pem", authority);
    write("server.pem", server);
    write_key("server.key", server);
  }

  std::string path(const std::string& name) const { return folder_.path + '/' + name; }

  std::string write(const std::string& name, const Certificate& certificate) const {
    FILE* file = std::fopen(path(name).c_str(), "w");
    EXPECT_EQ(PEM_write_X509(file, certificate.x509.get()), 1);
    std::fclose(file);
    return path(name);
  }
  // Encrypted if there is a password.
  std::string write_key(const std::string& name, const Certificate& certificate,
                        const std::string& password = "") const {
    FILE* file = std::fopen(path(name).c_str(), "w");
    const EVP_CIPHER* cipher = password.empty() ? nullptr : EVP_aes_256_cbc();
    const auto* bytes = reinterpret_cast<const unsigned char*>(password.data());
    EXPECT_EQ(PEM_write_PrivateKey(file, certificate.key.get(), cipher, bytes,
                                   static_cast<int>(password.size()), nullptr, nullptr),
              1);
    std::fclose(file);
    return path(name);
  }
  std::string write_text(const std::string& name, const std::string& text) const {
    FILE* file = std::fopen(path(name).c_str(), "w");
    std::fputs(text.c_str(), file);
    std::fclose(file);
    return path(name);
  }

 private:
  TemporaryFolder folder_;

 public:
  const Certificate authority;
  const Certificate server;
  const Certificate client;
};

}  // namespace weir::server
