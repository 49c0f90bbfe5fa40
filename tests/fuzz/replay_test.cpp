#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz/targets.hpp"
#include "support/files/file.hpp"

namespace edgegpu::fuzz {
namespace {

namespace fs = std::filesystem;

fs::path corpus_of(const std::string& target) {
    return fs::path(EDGEGPU_SOURCE_DIR) / "tests/fuzz/corpus" / target;
}

/// Reads every input of the corpus, each also cut off at 16 places.
class Corpus : public testing::TestWithParam<Target> {};

TEST_P(Corpus, IsReadOrRefused) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& file : fs::directory_iterator(corpus_of(GetParam().name))) {
        files.push_back(file.path());
    }
    std::sort(files.begin(), files.end());
    EXPECT_FALSE(files.empty());
    for (const fs::path& file : files) {
        SCOPED_TRACE(file.filename().string());
        const std::string content = read_file(file);
        GetParam().one_input(content);
        const std::size_t step = std::max<std::size_t>(content.size() / 16, 1);
        for (std::size_t size = 0; size < content.size(); size += step) {
            // A string of its own, so that reading past it is seen.
            const std::string part = content.substr(0, size);
            GetParam().one_input(part);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const testing::TestParamInfo<Target>& info) {
                             std::string name = info.param.name;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(FuzzCorpora, BelongToTargets) {
    std::set<std::string> known;
    for (const Target& target : targets()) {
        known.insert(target.name);
    }
    EXPECT_EQ(known.size(), targets().size());
    for (const fs::directory_entry& directory : fs::directory_iterator(corpus_of(""))) {
        EXPECT_TRUE(known.contains(directory.path().filename().string())) << directory.path();
    }
}

}  // namespace
}  // namespace edgegpu::fuzz
