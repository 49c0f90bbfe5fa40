#include "blueprint/tables/test_table.hpp"

#include <algorithm>
#include <system_error>

#include "blueprint/toml/validate.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// A name is a column of a report, and a line of a pipeline's page.
constexpr std::size_t longest_check_name = 100;
constexpr std::int64_t longest_timeout = 86400;

std::vector<TestPhase> read_phases(const TableReader& table, std::vector<TestPhase> fallback) {
    if (!table.has("phases")) {
        return fallback;
    }
    std::vector<TestPhase> phases;
    const std::vector<LocatedString> names = table.strings("phases");
    for (const LocatedString& name : names) {
        if (const std::optional<TestPhase> phase = value_named<TestPhase>(name.value)) {
            phases.push_back(*phase);
        } else {
            table.note(error_at(name.location, "there is no phase \"{}\"", name.value)
                           .hinted("one of " + expected_names<TestPhase>()));
        }
    }
    if (names.empty()) {
        table.note(
            error_at(table, "phases", "\"{}\" must be a list of phases", table.full_name("phases"))
                .hinted("without it, the check runs in \"boot\" and \"upgrade\""));
    }
    return phases;
}

TestCheckRequest read_test_check(const TableReader& table, const ParseScope& scope) {
    TestCheckRequest check;
    check.location = table.location();
    table.attempt([&] { check.name = table.required_string("name"); });
    if (check.name.size() > longest_check_name) {
        table.note(error_at(table, "name", "the name of a check has at most {} bytes",
                            longest_check_name));
    }
    check.script = table.text("script");
    if (const std::string path = table.string("path"); !path.empty()) {
        check.path = path_at(scope, table.location("path"), path);
    }
    if (table.has("script") == table.has("path")) {
        table.note(error_at(check.location, "a check has either script or path")
                       .hinted("script = \"the text of a program\", or path = \"FILE\", relative "
                               "to the blueprint"));
    } else if (check.script.empty() && check.path.empty()) {
        const char* const key = table.has("script") ? "script" : "path";
        table.note(error_at(table, key, "\"{}\" is empty", table.full_name(key)));
    } else if (check.script.size() > largest_test_check) {
        table.note(error_at(table, "script", "a check has at most 4 MiB"));
    }
    check.user = table.string("user", check.user);
    table.attempt([&] { require_account_name(table.location("user"), "user", check.user); });
    if (const auto timeout = table.integer("timeout", 1, longest_timeout)) {
        check.timeout = static_cast<std::uint32_t>(*timeout);
    }
    check.phases = read_phases(table, std::move(check.phases));
    table.finish();
    return check;
}

/// A name of SELinux: those of types may have the namespaces of CIL.
std::string read_policy_name(const TableReader& table, std::string_view key,
                             std::string_view others) {
    std::string name;
    table.attempt([&] {
        name = table.required_string(key);
        if (!is_plain_name(name, others)) {
            throw error_at(table, key, "\"{}\" is not the name of a {}", name,
                           key == "class" ? "class" : "type")
                .hinted(
                    "as a denial has it: in scontext=u:r:TYPE:s0, tcontext=u:r:TYPE:s0 and "
                    "tclass=CLASS; patterns are not accepted");
        }
    });
    return name;
}

AllowedDenialRequest read_allowed_denial(const TableReader& table) {
    AllowedDenialRequest allowed;
    allowed.location = table.location();
    allowed.source = read_policy_name(table, "source", "_.-");
    allowed.target = read_policy_name(table, "target", "_.-");
    allowed.object_class = read_policy_name(table, "class", "_");
    const std::vector<LocatedString> permissions = table.string_or_strings("permissions");
    for (const LocatedString& permission : permissions) {
        if (is_plain_name(permission.value, "_")) {
            allowed.permissions.push_back(permission.value);
        } else {
            table.note(error_at(permission.location, "\"{}\" is not the name of a permission",
                                permission.value));
        }
    }
    if (permissions.empty()) {
        table.note(error_at(table, "permissions", "an allowance without permissions")
                       .hinted("as a denial has them between braces: permissions = [\"map\"]"));
    }
    allowed.reason = table.string("reason");
    if (allowed.reason.find_first_not_of(' ') == std::string::npos) {
        table.note(error_at(table, "reason", "an allowance without a reason")
                       .hinted("say why the denial does not matter: reason = \"…\""));
    }
    table.finish();
    return allowed;
}

}  // namespace

TestRequest read_test_table(const TableReader& table, const ParseScope& scope) {
    TestRequest test;
    for (const TableReader& one : table.tables("checks")) {
        TestCheckRequest check = read_test_check(one, scope);
        const auto earlier = std::ranges::find_if(
            test.checks, [&](const TestCheckRequest& other) { return other.name == check.name; });
        if (earlier != test.checks.end() && !check.name.empty()) {
            table.note(error_at(check.location, "duplicate check \"{}\" (first at {})", check.name,
                                place_seen_from(check.location, earlier->location)));
        }
        test.checks.push_back(std::move(check));
    }
    for (const TableReader& one : table.tables("allow_denials")) {
        test.allow_denials.push_back(read_allowed_denial(one));
    }
    table.finish();
    return test;
}

void find_mistakes(const TestRequest& test, Mistakes& mistakes) {
    for (const TestCheckRequest& check : test.checks) {
        if (check.path.empty()) {
            continue;
        }
        mistakes.attempt([&] {
            std::error_code failure;
            if (!fs::is_regular_file(check.path, failure)) {
                throw error_at(check.location, "check \"{}\": no such file: {}", check.name,
                               check.path.string());
            }
            try {
                if (read_file(check.path, largest_test_check).empty()) {
                    throw error(ErrorKind::usage, "{}: the file is empty", check.path.string());
                }
            } catch (const Error& unreadable) {
                throw error_at(check.location, "check \"{}\": {}", check.name,
                               unreadable.message());
            }
        });
    }
}

}  // namespace edgegpu
