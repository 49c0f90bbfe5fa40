#include "image_file/licence_token.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "blueprint/gpu_settings.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/base64.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t token_limit = 1U << 20U;
constexpr std::uint64_t gridd_conf_limit = 1U << 20U;
constexpr const char* token_key = "client_token";

/// The last value of `name` in gridd.conf.
std::string gridd_value(std::string_view gridd_conf, std::string_view name) {
    std::string value;
    for (const std::string_view line : lines_of(gridd_conf)) {
        const std::string_view text = trim(line);
        const std::size_t sign = text.find('=');
        if (!text.starts_with('#') && sign != std::string_view::npos &&
            trim(text.substr(0, sign)) == name) {
            value = trim(text.substr(sign + 1));
        }
    }
    return value;
}

/// A part of a JWT: base64 with '-' and '_', without padding; nothing if it is none, or no JSON.
std::optional<nlohmann::json> token_part(std::string_view text) {
    const bool good = !text.empty() && std::ranges::all_of(text, [](char c) {
        return is_plain_name(std::string_view(&c, 1), "_") || c == '-' || c == '=';
    });
    if (!good) {
        return std::nullopt;
    }
    std::string standard(text);
    std::ranges::replace(standard, '-', '+');
    std::ranges::replace(standard, '_', '/');
    standard.erase(std::min(standard.find('='), standard.size()));
    standard.append((4 - standard.size() % 4) % 4, '=');
    nlohmann::json value = nlohmann::json::parse(from_base64(standard), nullptr, false);
    return value.is_object() ? std::optional(std::move(value)) : std::nullopt;
}

/// What the token says; nothing if it is none.
std::optional<nlohmann::json> token_claims(std::string_view token) {
    token = trim(token);
    const std::size_t first = token.find('.');
    const std::size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
    if (second == std::string_view::npos || second + 1 == token.size() ||
        token.find('.', second + 1) != std::string_view::npos ||
        !token_part(token.substr(0, first))) {
        return std::nullopt;
    }
    return token_part(token.substr(first + 1, second - first - 1));
}

void require_gridd(const TableReader& table, const CommitView& commit,
                   std::string_view gridd_conf) {
    if (!commit.find("/usr/lib/systemd/system/nvidia-gridd.service") &&
        !commit.find("/usr/bin/nvidia-gridd")) {
        throw error_at(table.location(token_key),
                       "the image has no nvidia-gridd, which reads the token")
            .hinted("[nvidia.vgpu] of the blueprint is for guests with a virtual GPU");
    }
    for (const char* other : {"ServerAddress", "FeatureType"}) {
        const std::string value = gridd_value(gridd_conf, other);
        const bool none = std::string_view(other) == "FeatureType" ? value == "0" : !value.empty();
        if (none) {
            throw error_at(table.location(token_key),
                           "the image's gridd.conf has {}={}, with which no token is used", other,
                           value)
                .hinted("leave the token out, or change [nvidia.vgpu] of the blueprint");
        }
    }
}

}  // namespace

std::string token_directory_of(std::string_view gridd_conf) {
    std::string directory = gridd_value(gridd_conf, "ClientConfigTokenPath");
    while (directory.size() > 1 && directory.ends_with('/')) {
        directory.pop_back();
    }
    return directory.empty() ? usual_token_directory : directory;
}

Injected read_licence_token(const TableReader& table, const fs::path& base,
                            const CommitView& commit) {
    const fs::path source = fs::absolute(base) / table.required_string(token_key);
    table.finish();
    const SourceLocation at = table.location(token_key);
    const std::string gridd_conf =
        commit.read("/usr/etc/nvidia/gridd.conf", gridd_conf_limit).value_or(std::string());
    require_gridd(table, commit, gridd_conf);
    const std::string name = source.filename().string();
    if (!name.ends_with(".tok") || !is_plain_name(name, "_.-")) {
        throw error_at(at, "{}: a token's file is called *.tok", name)
            .hinted("keep the licence server's name, client_configuration_token_….tok");
    }
    std::string content;
    try {
        content = read_file(source, token_limit);
    } catch (Error& failure) {
        throw error_at(at, "{}", failure.message());
    }
    const std::optional<nlohmann::json> claims = token_claims(content);
    if (!claims) {
        throw error_at(at, "{} is not a client's token", name)
            .hinted("three parts of base64 with dots between them, as the licence server gives it");
    }
    const auto expiry = claims->find("exp");
    if (expiry != claims->end() && expiry->is_number()) {
        const auto end = expiry->get<double>();
        const bool earlier = end < static_cast<double>(commit.info().time);
        // The commit may be as old as its newest package.
        if (earlier || end < static_cast<double>(std::time(nullptr))) {
            throw error_at(at, "{} {}", name,
                           earlier ? "expired before the commit was made" : "has expired")
                .hinted("have the licence server make another one");
        }
    }
    Injected token;
    token.path = fmt::format("{}/{}", token_directory_of(gridd_conf), name);
    token.content = std::move(content);
    token.mode = 0744;
    return token;
}

}  // namespace edgegpu
