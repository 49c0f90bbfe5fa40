#include "doctor/programs.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bundles/renderer.hpp"
#include "machine/accelerator.hpp"
#include "machine/uefi_firmware.hpp"
#include "sandbox/tool.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/ranges.hpp"
#include "support/text/number.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"
#include "upload/rclone.hpp"

namespace edgegpu {

namespace {

/// What runs programs of this machine, and which.
struct Purpose {
    const char* subject;
    /// of a program that is missing
    Readiness readiness;
    /// Names separated by spaces; of NAME|NAME, one is enough.
    const char* programs;
    const char* cure;
};

constexpr Purpose purposes[] = {
    {"programs of each build", Readiness::broken, "bwrap prlimit gpg",
     "install bubblewrap, util-linux and gnupg (Fedora, RHEL: gnupg2)"},
    {"SELinux modules (.te)", Readiness::limited, "checkmodule semodule_package",
     "install checkpolicy and semodule-utils (Fedora, RHEL: checkpolicy and policycoreutils)"},
    {"signatures of commits", Readiness::limited, "gpg-agent gpgconf",
     "install gpg-agent and gpgconf (Fedora, RHEL: gnupg2)"},
    {"disk images", Readiness::limited,
     "mke2fs sfdisk mkfs.vfat mcopy qemu-img zstd grub-mkimage|grub2-mkimage",
     "install e2fsprogs, dosfstools, mtools, zstd, fdisk, qemu-utils and grub-common (Fedora, "
     "RHEL: util-linux, qemu-img and grub2-tools instead of the last three)"},
    {"encrypted disk images", Readiness::limited, "cryptsetup",
     "install cryptsetup-bin (Fedora, RHEL: cryptsetup)"},
    {"installation media", Readiness::limited, "xorriso", "install xorriso"},
    {"packages of a driver's run file", Readiness::limited, "rpmbuild createrepo_c",
     "install rpm and createrepo-c (Fedora, RHEL: rpm-build and createrepo_c)"},
};

/// The file of the first of NAME|NAME that there is; empty without any.
std::string file_of_one(std::string_view names) {
    for (const std::string_view name : split(names, '|')) {
        if (std::string file = tool_file(name).string(); !file.empty()) {
            return file;
        }
    }
    return {};
}

Finding find_purpose(const Purpose& purpose) {
    std::vector<std::string> files;
    std::vector<std::string_view> missing;
    for (const std::string_view names : split(purpose.programs, ' ')) {
        if (std::string file = file_of_one(names); !file.empty()) {
            files.push_back(std::move(file));
        } else {
            missing.push_back(names.substr(0, names.find('|')));
        }
    }
    if (missing.empty()) {
        return {purpose.subject, Readiness::good, fmt::format("{}", fmt::join(files, ", ")), ""};
    }
    return {purpose.subject, purpose.readiness,
            fmt::format("not installed: {}", fmt::join(missing, ", ")), purpose.cure};
}

/// Throws Error if it is missing or older than what edgegpu uses of it.
std::string find_skopeo(const Context& ctx) {
    constexpr const char* cure = "install skopeo 1.9 or newer";
    const std::string file = tool_file("skopeo").string();
    if (file.empty()) {
        throw error("not installed: skopeo").hinted(cure);
    }
    ToolCommand command;
    command.argv = {"skopeo", "--version"};
    const std::string output = run_tool(ctx, command).output;
    // "skopeo version 1.9.3"
    const std::vector<std::string_view> words = words_of(output);
    const std::vector<std::string_view> parts =
        words.size() < 3 ? std::vector<std::string_view>() : split(words[2], '.');
    const auto number = [&](std::size_t at) { return leading_number<unsigned>(parts[at]); };
    if (parts.size() < 2 || std::pair(number(0), number(1)) < std::pair(1U, 9U)) {
        throw error("{} is too old, or does not say its version: {}", file,
                    printable_line(trim(output)))
            .hinted(cure);
    }
    return fmt::format("skopeo {}: {}", words[2], file);
}

/// What `find` returns, or the error that it throws.
Finding tried(const char* subject, const std::function<std::string()>& find) {
    try {
        return {subject, Readiness::good, find(), ""};
    } catch (const Error& problem) {
        if (problem.kind() == ErrorKind::interrupted) {
            throw;
        }
        Finding finding{subject, Readiness::limited, problem.message(), problem.hint()};
        for (const std::string& trace : problem.traces()) {
            finding.found += "\n" + trace;
        }
        return finding;
    }
}

/// Whether machines of `edgegpu test` run at the speed of this one, tried with the firmware that
/// they have.
Finding try_kvm(const Context& ctx) {
    Finding finding = tried("KVM", [&] {
        const TemporaryDirectory place(temporary_directory() / "edgegpu-doctor");
        return choose_execution(
                   ctx, find_qemu(), Accelerator::kvm,
                   with_own_variables(find_uefi_firmware(false), place / "firmware-variables"))
            .text;
    });
    if (finding.readiness != Readiness::good && finding.cure.empty()) {
        finding.cure = "machines are emulated without it, which takes about ten times as long";
    }
    return finding;
}

}  // namespace

std::vector<Finding> find_programs(const Context& ctx) {
    std::vector<Finding> findings = mapped(purposes, find_purpose);
    findings.push_back(tried("container images", [&] { return find_skopeo(ctx); }));
    findings.push_back(tried("uploads", [&] {
        const RcloneProgram rclone = find_rclone(ctx);
        return fmt::format("rclone {}: {}", rclone.version, rclone.file.string());
    }));
    findings.push_back(tried("bundles of manifests", [&] {
        const Renderer renderer = find_renderer(ctx);
        return fmt::format("{}: {}", renderer.title(), renderer.file.string());
    }));
    findings.push_back(tried("machines of edgegpu test", [&] {
        return fmt::format("{}, {}", find_qemu(), find_uefi_firmware(false).code.string());
    }));
    if (findings.back().readiness == Readiness::good) {
        findings.push_back(try_kvm(ctx));
    }
    return findings;
}

}  // namespace edgegpu
