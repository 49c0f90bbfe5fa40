#pragma once

#include <map>
#include <string>

#include "repository/commit_view.hpp"

namespace edgegpu {

/// Name → content of the files of a commit's package database (/usr/share/rpm), for programs that
/// read it in a sandbox: the commit may be anybody's. Without a file called `except`, which is
/// where the program writes. Empty if there is no database.
[[nodiscard]] std::map<std::string, std::string> package_database(const CommitView& commit,
                                                                  const std::string& except);

}  // namespace edgegpu
