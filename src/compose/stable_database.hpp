#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace edgegpu {

/// The file `name` of a package database that rpm's bdb or ndb backend has written, without what
/// differs each time although the packages are the same; other files are returned as they are.
///
/// Berkeley DB does not clear pages that it uses again: what is left of their old content is
/// overwritten with zeros, and the file's random id becomes one of `name`. Formats: dbinc/db_page.h
/// of Berkeley DB 5.3, hash and B-tree. ndb records when it wrote each package: that becomes
/// `time`, in seconds since 1970. Format: lib/backend/ndb/rpmpkg.c of rpm.
///
/// Throws Error naming the file for a damaged one, and for a form that rpm does not write
/// (encrypted, with checksums, big-endian).
[[nodiscard]] std::string stable_database_file(std::string content, std::string_view name,
                                               std::int64_t time);

}  // namespace edgegpu
