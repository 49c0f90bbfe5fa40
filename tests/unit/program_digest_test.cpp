#include "sandbox/program_digest.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "../support/rpm_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class ProgramDigest : public testing::Test {
protected:
    test::TemporaryDirectory directory;
    fs::path program = directory.path() / "program";
    Context ctx;
};

TEST_F(ProgramDigest, IsThatOfTheContentWheneverItChanges) {
    write_file(program, "#!/bin/sh\necho one\n", 0755);
    const std::string one = program_digest(ctx, program);
    EXPECT_EQ(program_digest(ctx, program), one);
    // As long, and within the same tick of the clock.
    write_file(program, "#!/bin/sh\necho two\n", 0755);
    const std::string two = program_digest(ctx, program);
    EXPECT_NE(two, one);
    fs::remove(program);
    EXPECT_THROW((void)program_digest(ctx, program), Error);
    write_file(program, "#!/bin/sh\necho one\n", 0755);
    EXPECT_EQ(program_digest(ctx, program), one);
    EXPECT_EQ(program_digest(ctx, {}), "");
}

TEST_F(ProgramDigest, OfAnElfProgramHasItsLibraries) {
    fs::copy_file("/bin/true", program);
    const std::string digest = program_digest(ctx, program);
    EXPECT_EQ(digest, program_digest(ctx, "/bin/true"));
    // The same program without a loader has none.
    std::string content = read_file(program);
    const std::size_t loader = content.find("/lib64/ld-linux");
    ASSERT_NE(loader, std::string::npos);
    content.replace(loader, 5, "/none");
    write_file(program, content, 0755);
    EXPECT_THROW((void)program_digest(ctx, program), Error);
}

}  // namespace
}  // namespace edgegpu
