#pragma once

#include <filesystem>
#include <vector>

#include "execution/context.hpp"
#include "rootfs/import.hpp"

namespace edgegpu {

// librpm takes what it must not take from the builder, the time of installation above all, from the
// environment and from macros, which belong to the whole process. A build has other threads at that
// time, which may read the environment (getenv(3)). So the database is written in a process of its
// own (execution/child_call.hpp).

/// Name of the database's file.
inline constexpr const char* sqlite_database = "rpmdb.sqlite";
/// Name of the file with the headers: each of them preceded by its magic number.
inline constexpr const char* headers_name = "headers";

/// Writes both files into the empty directory `scratch`: `installed`, headers of another database,
/// then `packages`. Throws Error with librpm's messages if it
/// fails.
void run_rpmdb_process(const Context& ctx, const std::vector<std::string>& installed,
                       const std::vector<ImportedPackage>& packages,
                       const std::filesystem::path& scratch);

}  // namespace edgegpu
