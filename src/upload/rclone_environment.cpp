#include "upload/rclone_environment.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <unistd.h>

namespace edgegpu {

namespace {

/// Global options of rclone as variables, without "RCLONE_"; of those that end with "*", all that
/// begin like them.
constexpr std::array<std::string_view, 55> left_out{
    // what is copied
    "DRY_RUN", "INTERACTIVE", "FILTER*", "EXCLUDE*", "INCLUDE*", "FILES_FROM*", "MIN_SIZE",
    "MAX_SIZE", "MIN_AGE", "MAX_AGE", "MAX_DEPTH", "DELETE_*", "HASH_FILTER", "IGNORE_*",
    "SIZE_ONLY", "CHECKSUM", "UPDATE", "IMMUTABLE", "BACKUP_DIR", "SUFFIX*", "COMPARE_DEST",
    "COPY_DEST", "MAX_TRANSFER", "MAX_DURATION", "CUTOFF_MODE", "NO_TRAVERSE", "NO_CHECK_DEST",
    "FAST_LIST", "HEADER_UPLOAD", "DOWNLOAD", "ONE_WAY", "CHECKFILE", "METADATA", "TRACK_RENAMES*",
    "RETRIES*", "BWLIMIT_FILE", "ABSOLUTE", "MAX_DELETE*", "NAME_TRANSFORM*", "DISABLE*",
    "ERROR_ON_NO_TRANSFER",
    // what is printed, and to whom
    "LOG_*", "VERBOSE", "QUIET", "PROGRESS*", "STATS*", "USE_JSON_LOG", "DUMP*", "RC*", "CSV",
    "COMBINED", "DIFFER", "MATCH", "ERROR", "MISSING_ON_*"};

/// What rclone does unless the user's environment says otherwise.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> defaults{{
    // Most objects are small: the time goes into waiting for answers.
    {"RCLONE_TRANSFERS", "16"},
    {"RCLONE_CHECKERS", "16"},
    // A misspelt name is not to become a bucket.
    {"RCLONE_S3_NO_CHECK_BUCKET", "true"},
    {"RCLONE_ASK_PASSWORD", "false"},
}};

std::string_view name_in(std::string_view assignment) {
    return assignment.substr(0, assignment.find('='));
}

}  // namespace

bool is_for_rclone(std::string_view name) {
    if (name == "TZ" || name.starts_with("LC_") || name == "LANG" || name == "LANGUAGE") {
        return false;
    }
    constexpr std::string_view prefix = "RCLONE_";
    if (!name.starts_with(prefix)) {
        return true;
    }
    const std::string_view option = name.substr(prefix.size());
    return std::ranges::none_of(left_out, [&](std::string_view left) {
        return left.ends_with('*') ? option.starts_with(left.substr(0, left.size() - 1))
                                   : option == left;
    });
}

std::vector<std::string> rclone_environment() {
    std::vector<std::string> result{"LC_ALL=C", "TZ=UTC"};
    for (char** variable = ::environ; *variable != nullptr; ++variable) {
        if (is_for_rclone(name_in(*variable))) {
            result.emplace_back(*variable);
        }
    }
    for (const auto& [name, value] : defaults) {
        if (std::getenv(std::string(name).c_str()) == nullptr) {
            result.push_back(std::string(name) + '=' + std::string(value));
        }
    }
    return result;
}

}  // namespace edgegpu
