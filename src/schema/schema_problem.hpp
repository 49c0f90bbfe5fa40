#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace edgegpu {

/// What is wrong with an object, in one place of it.
struct SchemaProblem {
    /// JSON pointer (RFC 6901) to the place, "/spec/template/spec/containers/0"; for a member that
    /// is missing, to where it would be. Empty: the object itself.
    std::string pointer;
    /// One line with the place as kubectl writes it, which ends without a full stop:
    /// `spec.replicas: "three" is not an integer`.
    std::string message;

    bool operator==(const SchemaProblem&) const = default;
};

/// The way to a value within an object: keys and indexes.
using ObjectPath = std::vector<std::variant<std::string, std::size_t>>;

/// "/metadata/labels/app.kubernetes.io~1name"
[[nodiscard]] std::string pointer_of(const ObjectPath& path);

/// `spec.containers[0].image`, `metadata.labels["app.kubernetes.io/name"]`; long keys are cut.
[[nodiscard]] std::string text_of(const ObjectPath& path);

/// A problem at `path`: "PATH: TEXT".
[[nodiscard]] SchemaProblem problem_at(const ObjectPath& path, const std::string& text);

/// `text` in quotation marks as a message shows it: cut if it is long, escaped as JSON is, and with
/// replacements for what is not UTF-8.
[[nodiscard]] std::string quoted_text(const std::string& text);

}  // namespace edgegpu
