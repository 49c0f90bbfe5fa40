#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "blueprint/blueprint.hpp"
#include "blueprint/parse/parse.hpp"
#include "resolve/resolution.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/metadata_fixture.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

std::string stream_document(const std::string& name, const std::string& stream,
                            const std::string& artifacts, const std::string& extra = "") {
    return "---\ndocument: modulemd\nversion: 2\ndata:\n  name: " + name + "\n  stream: \"" +
           stream +
           "\"\n  version: 10\n  context: aaaaaaaa\n  arch: x86_64\n  summary: x\n"
           "  description: x\n  license: {module: [MIT]}\n" +
           extra + "  artifacts: {rpms: [" + artifacts + "]}\n";
}

std::string driver_artifacts(const std::string& version) {
    return "nvidia-driver-3:" + version + "-1.x86_64, nvidia-kmod-common-3:" + version +
           "-1.noarch";
}

std::string driver_stream_document(const std::string& stream, const std::string& artifacts) {
    return stream_document("nvidia-driver", stream, artifacts,
                           "  profiles:\n    ks: {rpms: [nvidia-driver, nvidia-kmod-common]}\n");
}

void add_driver(std::vector<std::string>& packages, const std::string& version) {
    packages.push_back("nvidia-driver-3:" + version +
                       "-1.x86_64 | requires: nvidia-kmod-common = 3:" + version);
    packages.push_back("nvidia-kmod-common-3:" + version +
                       "-1.noarch | requires: nvidia-kmod = 3:" + version);
}

/// `title` is what the name has after "kmod-nvidia-": the version, "open-" before it or not.
void add_kmod(std::vector<std::string>& packages, const std::string& title,
              const std::string& version, const std::string& kernel) {
    packages.push_back("kmod-nvidia-" + title + "-" + kernel + "-3:" + version +
                       "-3.el9.x86_64 | provides: nvidia-kmod = 3:" + version +
                       ", kernel-modules = " + kernel +
                       ".el9.x86_64 | requires: (kernel = " + kernel + ".el9 if kernel)");
}

void add_kmod(std::vector<std::string>& packages, const std::string& version,
              const std::string& kernel) {
    add_kmod(packages, version, version, kernel);
}

void add_kernel(std::vector<std::string>& packages, const std::string& name,
                const std::string& evr) {
    packages.push_back(name + "-" + evr + ".x86_64 | requires: " + name + "-core = " + evr);
    packages.push_back(name + "-core-" + evr + ".x86_64 | provides: kernel-uname-r = " + evr +
                       ".x86_64" + (name == "kernel" ? ", kernel = " + evr : "") +
                       " | files: /lib/modules/" + evr + ".x86_64/vmlinuz");
}

/// Explanations of blueprints that cannot be solved, compared with
/// tests/data/explanations/NAME.txt; EDGEGPU_UPDATE_GOLDEN=1 writes those files instead. Every
/// printed change is then made in the blueprint's text, and the changed text has to be solvable.
class Explain : public testing::Test {
protected:
    Explain() : console_(Color::never, true) {
        ctx_.cache = directory_.path() / "cache";
        ctx_.console = &console_;
        make_base();
        make_nvidia();
        test::make_metadata(directory_.path() / "extras",
                            {"extra-tool-1-1.x86_64", "hidden-lib-2-1.x86_64 | provides: glue"});
    }

    void make_base() {
        std::vector<std::string> packages{"app-1.0-1.x86_64 | requires: lib >= 2",
                                          "app-2.0-1.x86_64 | requires: lib >= 2",
                                          "lib-2.0-1.x86_64",
                                          "fighter-1-1.x86_64 | conflicts: lib",
                                          "outer-1-1.x86_64 | requires: inner",
                                          "inner-1-1.x86_64 | requires: glue",
                                          "future-1-1.x86_64 | requires: lib >= 9",
                                          "nowhere-1-1.x86_64 | requires: never-packaged",
                                          "nodejs-1:18.1-1.x86_64",
                                          "nodejs-1:20.1-1.x86_64",
                                          "webapp-1-1.x86_64 | requires: nodejs >= 1:20",
                                          "foreign-1-1.aarch64",
                                          "standard-1-1.x86_64"};
        add_kernel(packages, "kernel", "6.1.0-50.el9");
        add_kernel(packages, "kernel", "6.1.0-56.el9");
        add_kernel(packages, "kernel-rt", "6.1.0-55.rt7.el9");
        test::make_metadata(
            directory_.path() / "base", packages,
            stream_document("nodejs", "18", "nodejs-1:18.1-1.x86_64") +
                stream_document("nodejs", "20", "nodejs-1:20.1-1.x86_64") +
                stream_document("web", "1", "",
                                "  dependencies:\n  - requires: {nodejs: [\"20\"]}\n"));
    }

    void make_nvidia() {
        std::vector<std::string> packages;
        for (const char* version : {"535.200.01", "535.261.03", "550.127.05"}) {
            add_driver(packages, version);
        }
        add_kmod(packages, "535.261.03", "6.1.0-50");
        add_kmod(packages, "550.127.05", "6.1.0-50");
        add_kmod(packages, "550.127.05", "6.1.0-56");
        for (const char* version : {"1.16.2", "1.17.8"}) {
            packages.push_back(std::string("nvidia-container-toolkit-") + version +
                               "-1.x86_64 | requires: nvidia-container-toolkit-base = " + version +
                               "-1, libnvidia-container1 >= " + version);
            packages.push_back(std::string("nvidia-container-toolkit-base-") + version +
                               "-1.x86_64");
            packages.push_back(std::string("libnvidia-container1-") + version + "-1.x86_64");
        }
        test::make_metadata(directory_.path() / "nvidia", packages,
                            driver_stream_document("535", driver_artifacts("535.261.03") + ", " +
                                                              driver_artifacts("535.200.01")) +
                                driver_stream_document("550", driver_artifacts("550.127.05")));
    }

    /// Makes a repository with driver 570 and its open modules, compiled for the newest kernel and
    /// as sources.
    [[nodiscard]] std::string newer_driver() const {
        std::vector<std::string> packages;
        add_driver(packages, "570.133.20");
        add_kmod(packages, "open-570.133.20", "570.133.20", "6.1.0-56");
        packages.push_back(
            "kmod-nvidia-open-dkms-3:570.133.20-1.noarch | provides: nvidia-kmod = 3:570.133.20");
        test::make_metadata(directory_.path() / "newer", packages,
                            driver_stream_document("570-open", driver_artifacts("570.133.20")));
        return repository("newer");
    }

    /// The repositories every blueprint here begins with.
    [[nodiscard]] std::string head() const {
        return "name = \"test\"\ndistro = \"lab-9\"\n\n" + repository("base") +
               repository("nvidia") + repository("extras", "enabled = false   # on demand\n");
    }
    [[nodiscard]] std::string repository(const std::string& id,
                                         const std::string& more = "") const {
        return "[[repositories]]\nid = \"" + id + "\"\nbaseurl = \"" +
               (directory_.path() / id).string() + "\"\nrepo_gpgcheck = false\n" + more + "\n";
    }

    Error failure(const fs::path& file, bool proof = false) {
        const Blueprint blueprint = parse_blueprint(file);
        try {
            (void)resolve(ctx_, blueprint, {proof});
        } catch (const Error& problem) {
            return problem;
        }
        ADD_FAILURE() << "nothing was thrown";
        return Error("nothing");
    }

    fs::path write(const std::string& text) {
        fs::path file = directory_.path() / "blueprint.toml";
        write_file(file, text);
        return file;
    }

    /// The error's text with the scratch directory's name taken out.
    std::string plain(std::string text) {
        const std::string own = directory_.path().string() + "/";
        for (std::size_t at = text.find(own); at != std::string::npos; at = text.find(own)) {
            text.erase(at, own.size());
        }
        return text;
    }

    void expect_golden(const std::string& name, const std::string& rest, bool proof = false,
                       const std::string& top = "") {
        const std::string blueprint = top + head() + rest;
        const Error problem = failure(write(blueprint), proof);
        EXPECT_EQ(problem.kind(), ErrorKind::unsolvable);
        const std::string text = plain(problem.render());
        const fs::path golden =
            fs::path(EDGEGPU_SOURCE_DIR) / "tests/data/explanations" / (name + ".txt");
        if (std::getenv("EDGEGPU_UPDATE_GOLDEN") != nullptr) {
            write_file(golden, text);
        }
        EXPECT_EQ(text, read_file(golden));
        for (const std::string& changed : changed_texts(text, blueprint)) {
            EXPECT_NO_THROW((void)resolve(ctx_, parse_blueprint(write(changed)))) << changed;
        }
    }

    /// The blueprint after each of the changes that an explanation prints.
    static std::vector<std::string> changed_texts(const std::string& explanation,
                                                  const std::string& blueprint) {
        std::vector<std::string> results;
        std::istringstream stream(
            explanation.substr(std::min(explanation.find("\nhint: "), explanation.size())));
        struct Change {
            std::size_t line = 0;
            std::vector<std::string> removed;
            std::vector<std::string> inserted;
        };
        std::vector<std::vector<Change>> fixes;
        for (std::string line; std::getline(stream, line);) {
            if (line.starts_with("  ") && line.find(". gives ") == 3) {
                fixes.emplace_back();
            } else if (line.starts_with("     blueprint.toml:")) {
                fixes.back().push_back({std::stoul(line.substr(line.find(':') + 1)), {}, {}});
            } else if (line.starts_with("     - ")) {
                fixes.back().back().removed.push_back(line.substr(7));
            } else if (line.starts_with("     + ")) {
                fixes.back().back().inserted.push_back(line.substr(7));
            }
        }
        for (std::vector<Change>& changes : fixes) {
            std::vector<std::string> lines;
            std::istringstream text(blueprint);
            for (std::string line; std::getline(text, line);) {
                lines.push_back(line);
            }
            std::sort(changes.begin(), changes.end(),
                      [](const Change& a, const Change& b) { return a.line > b.line; });
            for (const Change& change : changes) {
                const auto at = lines.begin() + static_cast<std::ptrdiff_t>(change.line) - 1;
                const auto end = at + static_cast<std::ptrdiff_t>(change.removed.size());
                std::vector<std::string> old(at, end);
                EXPECT_EQ(old, change.removed);
                lines.insert(lines.erase(at, end), change.inserted.begin(), change.inserted.end());
            }
            std::string& changed = results.emplace_back();
            for (const std::string& line : lines) {
                changed += line + "\n";
            }
        }
        return results;
    }

    test::TemporaryDirectory directory_;
    Console console_;
    Context ctx_;
};

constexpr const char* gpu = "[nvidia]\ndriver = \"535\"\nkernel = \"newest\"      # always\n";

TEST_F(Explain, BranchWithoutKmodForTheWantedKernel) {
    expect_golden("branch-without-kmod", gpu);
}

TEST_F(Explain, ExactDriverWithoutAnyKmod) {
    expect_golden("driver-without-kmod", "[nvidia]\ndriver = \"535.200.01\"\n");
}

TEST_F(Explain, KmodOfAnRtKernel) {
    expect_golden("rt-kernel",
                  "[nvidia]\ndriver = \"535\"\n\n[customizations.kernel]\nname = \"kernel-rt\"\n");
}

TEST_F(Explain, StreamNotEnabled) {
    expect_golden("stream-not-enabled",
                  "[[enabled_modules]]\nname = \"nodejs\"\nstream = \"18\"\n\n[[packages]]\nname = "
                  "\"webapp\"\n");
}

TEST_F(Explain, NoStreamEnabled) {
    expect_golden("no-stream-enabled", "[[packages]]\nname = \"nodejs\"\n");
}

TEST_F(Explain, ConflictingStreams) {
    expect_golden("conflicting-streams",
                  "[[enabled_modules]]\nname = \"nodejs\"\nstream = \"18\"\n\n"
                  "[[enabled_modules]]\nname = \"web\"\nstream = \"1\"\n");
}

TEST_F(Explain, UnknownStream) {
    expect_golden("unknown-stream", "[[enabled_modules]]\nname = \"nodejs\"\nstream = \"19\"\n");
}

TEST_F(Explain, ToolkitPartsOfDifferentVersions) {
    expect_golden("toolkit-versions",
                  "[nvidia]\ndriver = \"535\"\ntoolkit = \"1.17.*\"\n\n[[packages]]\nname = "
                  "\"libnvidia-container1\"\nversion = \"1.16.2\"\n");
}

TEST_F(Explain, PackageOfADisabledRepository) {
    expect_golden("disabled-repository", "[[packages]]\nname = \"extra-tool\"\n");
}

TEST_F(Explain, MissingDependencyFromADisabledRepository) {
    expect_golden("dependency-in-disabled-repository", "[[packages]]\nname = \"outer\"\n");
}

TEST_F(Explain, MissingDependency) {
    expect_golden("missing-dependency",
                  "[[packages]]\nname = \"nowhere\"\n\n[[packages]]\nname = \"app\"\n");
}

TEST_F(Explain, DependencyOfAVersionNobodyHas) {
    expect_golden("too-old", "[[packages]]\nname = \"future\"\n");
}

TEST_F(Explain, TwoPinsOfOnePackage) {
    expect_golden("two-pins",
                  "[[packages]]\nname = \"app\"\nversion = \"1.*\"\n\n[[packages]]\nname = "
                  "\"app\"\nversion = \"2.*\"\n");
}

TEST_F(Explain, PinnedVersionThatIsGone) {
    expect_golden("pin-gone", "[[packages]]\nname = \"app\"\nversion = \"3.*\"\n");
}

TEST_F(Explain, PackagesInConflict) {
    expect_golden("conflict", "", false,
                  "packages = [\n  { name = \"app\" },\n  { name = \"fighter\" },\n]\n");
}

TEST_F(Explain, TypoInAPackageName) {
    expect_golden("typo", "[[packages]]\nname = \"standrad\"   # twisted\n");
}

TEST_F(Explain, TwoTyposAreMendedTogether) {
    expect_golden("two-typos",
                  "[[packages]]\nname = \"standrad\"\n\n[[packages]]\nname = \"ap\"\n");
}

TEST_F(Explain, ExcludedPackage) {
    expect_golden("excluded", "[[packages]]\nname = \"app\"\n", false,
                  "excludes = [\"li*\", \"other\"]\n");
}

TEST_F(Explain, PackageOfAnotherArchitecture) {
    expect_golden("architecture", "[[packages]]\nname = \"foreign\"\n");
}

TEST_F(Explain, KernelOfARepositoryOfLowerPriority) {
    std::vector<std::string> packages;
    add_kernel(packages, "kernel", "6.6.0-1.el9");
    add_kmod(packages, "535.261.03", "6.6.0-1");
    test::make_metadata(directory_.path() / "kernels", packages);
    expect_golden("repository-priority",
                  repository("kernels", "priority = 200\n") +
                      "[nvidia]\ndriver = \"535\"\nkernel = \"kernel-6.6*\"\n");
}

TEST_F(Explain, GpuThatTheBranchDoesNotDrive) {
    expect_golden("gpu-of-a-later-branch",
                  newer_driver() + "[nvidia]\ndriver = \"550\"\ndevices = [\"10de:2901\"]\n");
}

TEST_F(Explain, GpuThatNoBranchAroundDrives) {
    expect_golden("gpu-of-an-older-branch",
                  "[nvidia]\ndriver = \"550\"\ndevices = [\"10de:20b7\", \"10de:102d\"]\n");
}

TEST_F(Explain, ProprietaryModulesForAGpuThatNeedsTheOpenOnes) {
    expect_golden("gpu-of-the-other-flavor",
                  newer_driver() +
                      "[nvidia]\ndriver = \"570\"\nflavor = \"proprietary\"\n"
                      "devices = [\"10de:2901\"]\n");
}

TEST_F(Explain, ModulesToCompileWithoutTheirSources) {
    expect_golden("no-sources", "[nvidia]\ndriver = \"535\"\nmodules = \"dkms\"\n");
}

TEST_F(Explain, CompilerInADisabledRepository) {
    test::make_metadata(directory_.path() / "tools",
                        {"gcc-12-1.x86_64", "make-4-1.x86_64", "dkms-3-1.noarch",
                         "kernel-devel-6.1.0-56.el9.x86_64"});
    expect_golden("compiler-in-disabled-repository",
                  repository("tools", "enabled = false\n") + newer_driver() +
                      "[nvidia]\ndriver = \"570\"\nmodules = \"dkms\"\n");
}

/// Kernels as RHEL's are, with checksums of what they export, and a vendor's module for one of
/// them.
std::string symbols(const std::string& one, const std::string& two) {
    return "kernel(one) = " + one + ", kernel(two) = " + two + ", kernel(three) = 0x33";
}

std::vector<std::string> kernel_with_symbols(const std::string& evr, const std::string& one,
                                             const std::string& two) {
    return {"kernel-core-" + evr + ".x86_64 | provides: kernel-uname-r = " + evr +
                ".x86_64 | files: /lib/modules/" + evr + ".x86_64/vmlinuz",
            "kernel-modules-core-" + evr + ".x86_64 | provides: " + symbols(one, two) +
                " | requires: kernel-core = " + evr};
}

void make_kabi(const fs::path& repository, const std::string& wanted) {
    std::vector<std::string> packages = kernel_with_symbols("6.2.0-1.el9", "0x11", "0x21");
    for (std::string& line : kernel_with_symbols("6.2.0-2.el9", "0x12", "0x22")) {
        packages.push_back(std::move(line));
    }
    packages.push_back("kmod-fast-1-1.el9.x86_64 | requires: " + wanted + ", kernel-modules-core");
    test::make_metadata(repository, packages);
}

TEST_F(Explain, ModuleOfAnotherKabi) {
    make_kabi(directory_.path() / "kabi",
              symbols("0x10", "0x20") + ", kernel(four) = 0x44, ksym(five) = 0x55");
    expect_golden("kabi", repository("kabi") + "[[packages]]\nname = \"kmod-fast\"\n");
}

TEST_F(Explain, ModuleOfTheKabiOfAKernelThatIsExcluded) {
    make_kabi(directory_.path() / "kabi", symbols("0x11", "0x21"));
    expect_golden("kabi-of-an-excluded-kernel",
                  repository("kabi") + "[[packages]]\nname = \"kmod-fast\"\n", false,
                  "excludes = [\"kernel*-6.2.0-1.el9\"]\n");
}

TEST_F(Explain, ManyKernelsWithManySymbols) {
    const auto many = [](const std::string& checksum) {
        std::string text;
        for (int i = 0; i < 1000; ++i) {
            text += "kernel(s" + std::to_string(i) + ") = " + checksum + ", ";
        }
        return text;
    };
    std::vector<std::string> packages;
    for (int i = 10; i < 30; ++i) {
        const std::string evr = "6.2.0-" + std::to_string(i) + ".el9";
        packages.push_back(
            "kernel-core-" + evr + ".x86_64 | provides: " + many("0x" + std::to_string(i)) +
            "kernel-uname-r = " + evr + ".x86_64 | files: /lib/modules/" + evr + ".x86_64/vmlinuz");
    }
    packages.push_back("kmod-fast-1-1.el9.x86_64 | requires: " + many("0x10") + "kernel-core");
    test::make_metadata(directory_.path() / "kabi", packages);
    const Resolution found =
        resolve(ctx_, parse_blueprint(write(head() + repository("kabi") +
                                            "[[packages]]\nname = \"kmod-fast\"\n")));
    EXPECT_EQ(found.kernel.evr(), "6.2.0-10.el9");
    ASSERT_EQ(found.passed_over.size(), 19U);
    EXPECT_EQ(found.passed_over[0].reason,
              "kmod-fast-1-1.el9.x86_64 was built for another kABI: symbol s0 has checksum 0x29 in "
              "kernel 6.2.0-29.el9, the module wants 0x10");
}

TEST_F(Explain, ModuleTakesTheKernelWhoseKabiItWasBuiltFor) {
    make_kabi(directory_.path() / "kabi", symbols("0x11", "0x21"));
    const Resolution found =
        resolve(ctx_, parse_blueprint(write(head() + repository("kabi") +
                                            "[[packages]]\nname = \"kmod-fast\"\n")));
    EXPECT_EQ(found.kernel.evr(), "6.2.0-1.el9");
    ASSERT_FALSE(found.passed_over.empty());
    EXPECT_EQ(
        found.passed_over[0].reason,
        "kmod-fast-1-1.el9.x86_64 was built for another kABI: symbol one has checksum 0x12 in "
        "kernel 6.2.0-2.el9, the module wants 0x11");
}

TEST_F(Explain, StreamOfARequestThatDoesNotExist) {
    expect_golden("unknown-stream-of-a-group", "[[packages]]\nname = \"@nodejs:19\"\n");
}

TEST_F(Explain, ModuleWithoutDefaultProfile) {
    expect_golden("no-default-profile", "[[packages]]\nname = \"@nodejs:18\"\n");
}

TEST_F(Explain, ProofOnRequest) {
    expect_golden("proof", "[[packages]]\nname = \"outer\"\n", true);
}

}  // namespace
}  // namespace edgegpu
