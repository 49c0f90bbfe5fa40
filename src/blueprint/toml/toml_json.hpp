#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "support/source_location.hpp"

namespace edgegpu {

/// A table of a TOML document as JSON.
struct JsonTable {
    /// Without the values that JSON does not have.
    nlohmann::json object = nlohmann::json::object();
    /// JSON pointer (RFC 6901) of each value → where its key, or the element of an array, is.
    std::map<std::string, SourceLocation> places;
};

}  // namespace edgegpu
