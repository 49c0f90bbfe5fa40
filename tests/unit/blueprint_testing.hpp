#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "blueprint/blueprint.hpp"
#include "blueprint/parse/parse.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

/// A directory of its own for each test, with helpers that write a blueprint and read it.
class BlueprintTest : public ::testing::Test {
protected:
    BlueprintTest() {
        std::string name = (std::filesystem::temp_directory_path() / "blueprint.XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            std::abort();
        }
        top_ = name;
        directory_ = top_ / "blueprints";
        make_directories(directory_);
        // No test may depend on the distribution of the machine that it runs on.
        ::setenv("EDGEGPU_HOST_ROOT", (top_ / "host").c_str(), 1);
    }
    ~BlueprintTest() override {
        ::unsetenv("EDGEGPU_HOST_ROOT");
        remove_tree(top_);
    }

    /// Writes a file relative to the blueprint's directory.
    void put(const std::string& name, std::string_view content) const {
        const std::filesystem::path path = directory_ / name;
        make_directories(path.parent_path());
        write_file(path, content);
    }
    [[nodiscard]] Blueprint parse(std::string_view text) const {
        put("b.toml", text);
        return parse_blueprint(directory_ / "b.toml");
    }
    /// The warnings of parsing and checking, with the temporary directory taken out.
    [[nodiscard]] std::vector<std::string> warnings_of(std::string_view text) const {
        put("b.toml", text);
        std::vector<std::string> warnings = load_blueprint(directory_ / "b.toml").warnings;
        for (std::string& warning : warnings) {
            warning = shown(warning);
        }
        return warnings;
    }
    /// The error of parsing (and checking), with the temporary directory taken out.
    [[nodiscard]] std::string failure(std::string_view text, bool check = false) const {
        try {
            put("b.toml", text);
            static_cast<void>(check ? load_blueprint(directory_ / "b.toml")
                                    : parse_blueprint(directory_ / "b.toml"));
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            return shown(error.render());
        }
        return "no error";
    }
    /// The same for a text that follows a distro line, which most cases need.
    [[nodiscard]] std::string failure_of(std::string_view text) const {
        return failure("distro = \"lab-12\"\n" + std::string(text));
    }

    /// A message without the temporary directory.
    [[nodiscard]] std::string shown(std::string message) const {
        for (const std::string& prefix : {directory_.string() + '/', top_.string() + '/'}) {
            for (std::size_t at = message.find(prefix); at != std::string::npos;
                 at = message.find(prefix)) {
                message.erase(at, prefix.size());
            }
        }
        return message;
    }

    std::filesystem::path top_;
    std::filesystem::path directory_;
};

/// Of what a check finds in one table of a blueprint that has nothing wrong otherwise.
class CheckedBlueprintTest : public BlueprintTest {
protected:
    /// A usable repository, before the table.
    static constexpr std::string_view unsigned_repository =
        "distro = \"lab-12\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\ngpgcheck = false\n"
        "repo_gpgcheck = false\n";
    /// What the cases are not about, behind it.
    static constexpr std::string_view no_login = "[accounts]\nlogin = \"none\"\n";

    /// The error of checking a blueprint with this table.
    [[nodiscard]] std::string check(const std::string& text) const {
        return failure(std::string(unsigned_repository) + text + std::string(no_login), true);
    }
    /// The warnings of such a blueprint, but for the one about its repository.
    [[nodiscard]] std::vector<std::string> warned(const std::string& text) const {
        std::vector<std::string> warnings =
            warnings_of(std::string(unsigned_repository) + text + std::string(no_login));
        warnings.erase(warnings.begin());
        return warnings;
    }
};

}  // namespace edgegpu
