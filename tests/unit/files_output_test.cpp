#include "support/files/output.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

/// The hint of an error that had another one, for the user of --output.
std::string hint_of(const std::string& message) {
    Error failure = Error(message).hinted("as before");
    hint_at_full_disk(failure);
    return failure.hint();
}

TEST(HintAtFullDisk, NamesWhatIsFull) {
    const std::string temporary = std::filesystem::temp_directory_path() / "edgegpu-labels.x/file";
    EXPECT_THAT(hint_of(temporary + ": No space left on device"), testing::HasSubstr("TMPDIR"));
    EXPECT_THAT(hint_of("/srv/disk.raw: no space left on device"), testing::HasSubstr("--output"));
    EXPECT_THAT(hint_of("/srv/disk.raw: Disk quota exceeded"), testing::HasSubstr("--output"));
    EXPECT_EQ(hint_of("/srv/disk.raw: Input/output error"), "as before");
}

}  // namespace
}  // namespace edgegpu
