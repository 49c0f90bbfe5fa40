#include "support/build_id.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/file.hpp"

namespace edgegpu::test {
namespace {

std::string bytes_of_id(const std::string& hexadecimal) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

TEST(BuildId, IsTheNoteInTheProgramsFile) {
    const std::string& id = program_build_id();
    ASSERT_EQ(id.size(), 40U);  // SHA-1, what linkers write
    // NT_GNU_BUILD_ID is 3, and the name comes before the id.
    const std::string note = std::string("\3\0\0\0GNU\0", 8) + bytes_of_id(id);
    EXPECT_NE(read_file("/proc/self/exe", std::uint64_t{1} << 32U).find(note), std::string::npos);
    EXPECT_EQ(program_build_id(), id);
}

TEST(BuildId, LibrariesHaveTheirOwn) {
    const std::string rpm = library_build_id("librpm.so.");
    const std::string sqlite = library_build_id("libsqlite3.so.");
    EXPECT_GE(rpm.size(), 40U);
    EXPECT_GE(sqlite.size(), 40U);
    EXPECT_NE(rpm, sqlite);
    EXPECT_NE(rpm, program_build_id());
    EXPECT_EQ(library_build_id("libnone.so."), "");
}

}  // namespace
}  // namespace edgegpu::test
