#include "bundles/go_module.hpp"

#include <gtest/gtest.h>

#include "execution/program_path.hpp"
#include "sandbox/tool.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

/// Build information as Go's linker writes it: header, Go's version, framed text.
std::string go_build_info(const std::string& text, unsigned char flags = 2) {
    const auto sized = [](const std::string& string) {
        std::string result;
        std::size_t size = string.size();
        for (; size > 127; size >>= 7U) {
            result += static_cast<char>(size | 128U);
        }
        return result + static_cast<char>(size) + string;
    };
    const std::string frame(16, 'f');
    return "\xff Go buildinf:" + std::string(1, '\x08') + static_cast<char>(flags) +
           std::string(16, '\0') + sized("go1.19.8") + sized(frame + text + frame);
}

const std::string kustomize_text =
    "path\tsigs.k8s.io/kustomize/kustomize/v5\nmod\tsigs.k8s.io/kustomize/kustomize/v5\tv5.0.3\th1:"
    "3krCsUOkGhECi/uP8eZ2e6nR9i/ht+5xIdXeg12Pso4=\ndep\tgithub.com/x\tv1.4.2\th1:x=\n";

TEST(GoModule, IsReadFromBuildInformation) {
    const auto module =
        go_module_of(std::string(4096, 'x') + go_build_info(kustomize_text) + "rest");
    ASSERT_TRUE(module);
    EXPECT_EQ(module->path, "sigs.k8s.io/kustomize/kustomize/v5");
    EXPECT_EQ(module->version, "v5.0.3");
    const auto devel = go_module_of(go_build_info("path\ta\nmod\ta/v5\t(devel)\t\n"));
    ASSERT_TRUE(devel);
    EXPECT_EQ(devel->version, "(devel)");
}

TEST(GoModule, OnlyAtItsAlignment) {
    EXPECT_FALSE(go_module_of("x" + go_build_info(kustomize_text)));
    // A program that reads build information has the mark in its constants as well.
    EXPECT_TRUE(
        go_module_of("\xff Go buildinf:" + std::string(34, '\0') + go_build_info(kustomize_text)))
        << "the second of two";
}

TEST(GoModule, NothingInOtherFiles) {
    EXPECT_FALSE(go_module_of(""));
    EXPECT_FALSE(go_module_of("#!/bin/sh\necho v5.0.3\n"));
    EXPECT_FALSE(go_module_of(go_build_info(kustomize_text, 0))) << "addresses instead of strings";
    EXPECT_FALSE(go_module_of(go_build_info("path\tcommand-line-arguments\n")));
    EXPECT_FALSE(go_module_of(go_build_info("mod\tx\n")));
    const std::string whole = go_build_info(kustomize_text);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(go_module_of(whole.substr(0, size))) << size;
    }
    std::string endless = whole.substr(0, 32) + std::string(20, '\xff');
    EXPECT_FALSE(go_module_of(endless));
}

TEST(GoModule, OfTheInstalledKustomize) {
    const auto module = go_module_of(read_file(find_in_path("kustomize")));
    ASSERT_TRUE(module);
    EXPECT_EQ(module->path, "sigs.k8s.io/kustomize/kustomize/v5");
}

}  // namespace
}  // namespace edgegpu
