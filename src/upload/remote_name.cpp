#include "upload/remote_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include <fmt/format.h>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// In names of parameters with secrets.
constexpr std::array<std::string_view, 7> secret_words{"pass", "secret", "key", "token",
                                                       "auth", "sas",    "cred"};

/// A remote's text, taken apart.
struct RemoteParts {
    std::string_view name;
    /// "PARAMETER=VALUE", quoted where it was
    std::vector<std::string_view> parameters;
    /// with the colon before it; empty: there is none
    std::string_view path;
};

/// A colon ends the parameters, and a comma one of them, but not inside quotes.
RemoteParts parts_of(std::string_view remote) {
    RemoteParts parts;
    char quote = 0;
    std::size_t begin = 0;
    bool named = false;
    const auto end_part = [&](std::size_t end) {
        const std::string_view part = remote.substr(begin, end - begin);
        named ? parts.parameters.push_back(part) : static_cast<void>(parts.name = part);
        named = true;
        begin = end + 1;
    };
    for (std::size_t i = 0; i < remote.size(); ++i) {
        const char c = remote[i];
        if (quote != 0) {
            quote = c == quote ? char{0} : quote;
        } else if (named && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == ',') {
            end_part(i);
        } else if (c == ':' && i > 0) {
            end_part(i);
            parts.path = remote.substr(i);
            return parts;
        }
    }
    end_part(remote.size());
    return parts;
}

/// A quoted value as rclone reads it: a quote within is doubled.
std::string unquoted(std::string_view value) {
    if (value.size() < 2 || (value.front() != '"' && value.front() != '\'') ||
        value.front() != value.back()) {
        return std::string(value);
    }
    const char quote = value.front();
    std::string text;
    for (std::size_t i = 1; i + 1 < value.size(); ++i) {
        text += value[i];
        i += static_cast<std::size_t>(value[i] == quote && i + 2 < value.size() &&
                                      value[i + 1] == quote);
    }
    return text;
}

}  // namespace

bool is_remote(std::string_view text) {
    const RemoteParts parts = parts_of(text);
    return !parts.path.empty() && !text.starts_with('-') &&
           parts.name.find('/') == std::string_view::npos;
}

std::string shown_remote(std::string_view remote) {
    const RemoteParts parts = parts_of(remote);
    return parts.parameters.empty() ? std::string(remote)
                                    : fmt::format("{},…{}", parts.name, parts.path);
}

std::vector<std::string> secrets_of_remote(std::string_view remote) {
    std::vector<std::string> secrets;
    for (const std::string_view parameter : parts_of(remote).parameters) {
        const std::size_t equals = std::min(parameter.find('='), parameter.size());
        const std::string name = lower_case(parameter.substr(0, equals));
        if (equals < parameter.size() &&
            std::ranges::any_of(secret_words, [&](std::string_view word) {
                return name.find(word) != std::string::npos;
            })) {
            // As it is given, and as it is meant: rclone says either.
            const std::string_view given = parameter.substr(equals + 1);
            for (const std::string& secret : {std::string(given), unquoted(given)}) {
                if (!secret.empty() && std::ranges::find(secrets, secret) == secrets.end()) {
                    secrets.push_back(secret);
                }
            }
        }
    }
    // A longer one may have a shorter one in it.
    std::ranges::stable_sort(secrets, std::ranges::greater(), &std::string::size);
    return secrets;
}

}  // namespace edgegpu
