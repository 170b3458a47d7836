// A client of Confluent's schema registry, and of those with its interface: schemas by id, as text.
//
// Threads: one at a time. A fetch waits at most some seconds for each step of the answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"

namespace hourfold {

class SchemaRegistry {
 public:
  // url: http or https, perhaps with user:password@ (where %XX is a byte) and a path in front of /schemas.
  // https is checked against the certificates of the host, or of the file in SSL_CERT_FILE. Refused: it is no
  // such URL. Connects to nothing yet.
  static Result<std::unique_ptr<SchemaRegistry>> create(const std::string& url);
  ~SchemaRegistry();
  SchemaRegistry(const SchemaRegistry&) = delete;
  SchemaRegistry& operator=(const SchemaRegistry&) = delete;

  // The schema's text, with all that it refers to. Refused: the registry says that there is none of this id,
  // or what it has can never be one of Avro. Unavailable: anything else, with what the registry or the
  // network said; never a password.
  Result<std::string> fetch(std::int32_t id);

 private:
  class Impl;
  explicit SchemaRegistry(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace hourfold
