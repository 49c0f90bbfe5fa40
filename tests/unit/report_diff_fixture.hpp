#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "report/diff.hpp"
#include "report/format/formats.hpp"
#include "support/commit_fixture.hpp"
#include "support/files/file.hpp"
#include "unit/selinux_cil.hpp"

namespace edgegpu::test {

/// A tree with the directories that the parts of a diff look at.
class ReportDiff : public CilPolicies {
protected:
    static constexpr const char* units = "/usr/lib/systemd/system";
    static constexpr const char* local_units = "/usr/etc/systemd/system";

    /// The section that begins with `title`, without the empty line behind it.
    static std::string section(const std::string& text, const std::string& title) {
        const std::size_t begin = text.find("\n" + title);
        if (begin == std::string::npos) {
            return "no section " + title + " in:\n" + text;
        }
        return text.substr(begin + 1, text.find("\n\n", begin + 1) - begin);
    }

    ReportDiff() {
        for (const char* path :
             {"/usr/lib/systemd", units, "/usr/lib/systemd/system/sysinit.target.wants",
              "/usr/etc/systemd", local_units, "/usr/etc/systemd/system/multi-user.target.wants",
              "/usr/etc/modprobe.d", "/usr/etc/microshift", "/usr/etc/microshift/manifests",
              "/usr/etc/microshift/manifests.d", "/usr/etc/selinux", "/usr/etc/selinux/targeted",
              "/usr/etc/selinux/targeted/policy", "/usr/etc/selinux/targeted/contexts",
              "/usr/etc/selinux/targeted/contexts/files", "/usr/etc/selinux/targeted/active",
              "/usr/etc/selinux/targeted/active/modules",
              "/usr/etc/selinux/targeted/active/modules/100",
              "/usr/etc/selinux/targeted/active/modules/disabled"}) {
            fixture_.add_directory(path);
        }
        fixture_.add_file("/usr/etc/selinux/config",
                          "# SELINUX=x\nSELINUX=enforcing\nSELINUXTYPE=targeted\n");
    }

    void add_module(const std::string& name, const std::string& content) {
        const std::string path = "/usr/etc/selinux/targeted/active/modules/100/" + name;
        fixture_.add_directory(path);
        fixture_.add_file(path + "/cil", content);
        fixture_.add_file(path + "/lang_ext", "pp");
    }

    void add_policy(const std::string& rules) {
        fixture_.add_file("/usr/etc/selinux/targeted/policy/policy.33",
                          read_file(compile_file(rules)));
    }

    void add_package(const std::string& name, std::uint32_t epoch, const std::string& version) {
        fixture_.tree.packages.push_back({name, epoch, version, "1", "x86_64"});
    }

    void erase(const std::string& path) { fixture_.tree.entries.erase(path); }

    /// Commits the tree as it is now.
    void commit(const std::string& inputs) { (void)fixture_.build(inputs); }

    /// Compares the newest commit with its parent.
    [[nodiscard]] Diff diff() const {
        const RepositoryView repository(fixture_.repo());
        return diff_commits(fixture_.ctx(), repository.open(fixture_.blueprint.ostree.ref + "^"),
                            repository.open(fixture_.blueprint.ostree.ref));
    }

    [[nodiscard]] std::string text(DiffTextOptions options = {}) const {
        return diff_text(diff(), options);
    }

    CommitFixture fixture_;
};

}  // namespace edgegpu::test
