#include "support/files/build_id.hpp"

#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "support/files/file.hpp"

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

TEST(BuildId, TheIdentityIsThatOfTheProgramWithItsLibraries) {
    const std::string& identity = program_identity();
    EXPECT_EQ(identity.size(), 16U);
    EXPECT_EQ(identity.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_FALSE(program_build_id().starts_with(identity));
    // What is loaded later changes nothing.
    void* const library = ::dlopen("libresolv.so.2", RTLD_NOW);
    EXPECT_EQ(program_identity(), identity);
    if (library != nullptr) {
        ::dlclose(library);
    }
}

}  // namespace
}  // namespace edgegpu::test
