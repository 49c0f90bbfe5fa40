#include "execution/program_path.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/files/directory.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

TEST(ProgramPath, IsTheFirstExecutableFileInAnAbsoluteDirectory) {
    const TemporaryDirectory top(fs::temp_directory_path() / "program-path");
    for (const char* name : {"a", "b", "c", "d"}) {
        make_directories(top / name);
    }
    make_directories(top / "a/tool");
    write_file(top / "b/tool", "", 0644);
    write_file(top / "c/tool", "", 0755);
    write_file(top / "d/tool", "", 0755);
    const std::string here = top.path().string();
    EXPECT_EQ(find_program("tool", here + "/a:" + here + "/b:" + here + "/c:" + here + "/d"),
              top / "c/tool")
        << "not a directory, nor a file that cannot be executed";
    EXPECT_EQ(find_program("tool", ""), fs::path());
    EXPECT_EQ(find_program("tool", here + "/none:"), fs::path());
    EXPECT_EQ(find_program("c/tool", ".:c::" + here), top / "c/tool");
    const fs::path before = fs::current_path();
    fs::current_path(top / "c");
    EXPECT_EQ(find_program("tool", ".::bin"), fs::path()) << "a program of the current directory";
    fs::current_path(before);
}

}  // namespace
}  // namespace edgegpu
