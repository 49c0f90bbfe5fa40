#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "blueprint/parse/parse.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "unit/blueprint_testing.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

using Strings = std::vector<std::string>;

/// What the file says that the answer is.
Strings expected_answers(const fs::path& file) {
    constexpr std::string_view mark = "# expect: ";
    Strings answers;
    std::istringstream lines(read_file(file));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(mark)) {
            answers.push_back(line.substr(mark.size()));
        }
    }
    return answers;
}

Strings answers(const fs::path& file) {
    try {
        const fs::path repositories = file.parent_path() / "site.repo";
        static_cast<void>(load_blueprint(file, {{repositories}, "rhel-9.4"}));
        return {"ok"};
    } catch (const Error& failure) {
        Strings found;
        for (const Error& single : single_errors(failure)) {
            const Mistake mistake = mistake_of(single);
            EXPECT_EQ(mistake.location.file, file.string());
            found.push_back(std::to_string(mistake.location.line) + ": " + mistake.message);
        }
        return found;
    }
}

}  // namespace

TEST_F(BlueprintTest, those_of_the_field_are_answered_rightly) {
    // Nothing of this machine is to count.
    ASSERT_EQ(::setenv("EDGEGPU_HOST_ROOT", top_.c_str(), 1), 0);
    std::size_t seen = 0;
    const fs::path directory = fs::path(EDGEGPU_SOURCE_DIR) / "tests/data/blueprints/field";
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
        if (entry.path().extension() == ".toml") {
            ++seen;
            const Strings wanted = expected_answers(entry.path());
            EXPECT_FALSE(wanted.empty()) << entry.path();
            EXPECT_EQ(answers(entry.path()), wanted) << entry.path();
        }
    }
    EXPECT_GE(seen, 13U);
    ::unsetenv("EDGEGPU_HOST_ROOT");
}

}  // namespace edgegpu
