#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "commit/metadata.hpp"
#include "resolve/resolution.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/metadata_fixture.hpp"
#include "support/resolve_fixture.hpp"

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Update {
    std::string id;
    std::string severity;
    /// name, epoch, version, release, arch
    std::vector<std::array<std::string, 5>> packages;
    std::string references;
    std::string type = "security";
    std::string status = "final";
};

std::string xml(const std::vector<Update>& updates) {
    std::string text = "<updates>";
    for (const Update& update : updates) {
        text += "<update from=\"x\" status=\"" + update.status + "\" type=\"" + update.type +
                "\" version=\"1\"><id>" + update.id + "</id><title>x</title><severity>" +
                update.severity + "</severity><references>" + update.references +
                "</references><pkglist><collection short=\"x\"><name>x</name>";
        for (const auto& [name, epoch, version, release, arch] : update.packages) {
            text += "<package name=\"" + name + "\" epoch=\"" + epoch + "\" version=\"" + version +
                    "\" release=\"" + release + "\" arch=\"" + arch +
                    "\"><filename>x.rpm</filename></package>";
        }
        text += "</collection></pkglist></update>";
    }
    return text + "</updates>";
}

std::string reference(const std::string& type, const std::string& url, const std::string& id,
                      const std::string& title) {
    return "<reference type=\"" + type + "\" href=\"" + url + "\" id=\"" + id + "\" title=\"" +
           title + "\"/>";
}

/// Two repositories; the image has a kernel, bash and, with an epoch, ssh.
class Advisories : public test::ResolveFixture {
protected:
    Advisories() : ResolveFixture({"base", "more"}) {
        request("bash");
        request("ssh");
    }
    const Resolution& solve(const std::vector<Update>& base, const std::vector<Update>& more = {}) {
        test::make_metadata(directory_.path() / "base",
                            {"kernel-core-5.14.0-1.el9.x86_64 | provides: kernel = 5.14.0-1.el9, "
                             "kernel-uname-r = 5.14.0-1.el9.x86_64",
                             "bash-5.1-2.el9.x86_64", "ssh-1:9.0-3.el9.noarch"},
                            "", "", xml(base));
        test::make_metadata(directory_.path() / "more", {"zsh-5-1.el9.x86_64"}, "", "", xml(more));
        resolution_ = resolve(ctx_, blueprint_);
        return resolution_;
    }
    std::vector<std::string> ids() const {
        std::vector<std::string> found;
        for (const FixedAdvisory& advisory : resolution_.advisories) {
            found.push_back(advisory.id);
        }
        return found;
    }
    /// As `ostree show --print-metadata-key` prints it.
    std::string printed() const {
        const VariantHandle metadata =
            commit_metadata(ctx_, blueprint_, resolution_, Tree{}, "digest");
        const VariantHandle value(g_variant_lookup_value(metadata.get(), "rpmostree.advisories",
                                                         G_VARIANT_TYPE("a(suuasa{sv})")));
        if (!value) {
            return "";
        }
        const VariantHandle native(g_variant_byteswap(value.get()));
        const std::unique_ptr<char, decltype(&g_free)> text(g_variant_print(native.get(), TRUE),
                                                            g_free);
        return text.get();
    }

    Resolution resolution_;
};

const std::array<std::string, 5> bash_fix{"bash", "0", "5.1", "2.el9", "x86_64"};
const std::array<std::string, 5> ssh_fix{"ssh", "1", "9.0", "3.el9", "noarch"};

TEST_F(Advisories, ThoseThatNameAPackageInExactlyItsVersion) {
    solve({{"SA-3", "Low", {bash_fix}, ""},
           {"SA-1", "Critical", {ssh_fix, bash_fix, {"zsh", "0", "5", "1.el9", "x86_64"}}, ""},
           {"SA-older", "Low", {{"bash", "0", "5.1", "1.el9", "x86_64"}}, ""},
           {"SA-newer", "Low", {{"bash", "0", "5.1", "3.el9", "x86_64"}}, ""},
           {"SA-arch", "Low", {{"bash", "0", "5.1", "2.el9", "i686"}}, ""},
           {"SA-epoch", "Low", {{"ssh", "0", "9.0", "3.el9", "noarch"}}, ""},
           {"BA-1", "None", {bash_fix}, "", "bugfix"},
           {"SA-none", "Low", {}, ""}});
    EXPECT_THAT(ids(), ElementsAre("SA-1", "SA-3"));
    EXPECT_THAT(resolution_.advisories[0].packages,
                ElementsAre("bash-5.1-2.el9.x86_64", "ssh-1:9.0-3.el9.noarch"));
    // The second time they come from libsolv's form of them.
    const std::vector<FixedAdvisory> first = resolution_.advisories;
    EXPECT_EQ(resolve(ctx_, blueprint_).advisories, first);
}

TEST_F(Advisories, WhatTwoRepositoriesSayIsOne) {
    solve({{"SA-1", "Low", {bash_fix}, ""}}, {{"SA-1", "Low", {ssh_fix, bash_fix}, ""}});
    EXPECT_THAT(ids(), ElementsAre("SA-1"));
    EXPECT_THAT(resolution_.advisories[0].packages,
                ElementsAre("bash-5.1-2.el9.x86_64", "ssh-1:9.0-3.el9.noarch"));
}

TEST_F(Advisories, TheCommitSaysItAsRpmOstreeDoes) {
    solve({{"SA-1",
            "Important",
            {bash_fix},
            reference("bugzilla", "https://b/2", "2", "CVE-2024-1 again") +
                reference("bugzilla", "https://b/1", "1", "CVE-2024-1 CVE-2024-2 bash: bad") +
                reference("bugzilla", "https://b/3", "3", "no security") +
                reference("cve", "https://c/2", "CVE-2024-2", "CVE-2024-2") +
                reference("cve", "https://c/3", "CVE-2024-3", "") +
                reference("self", "https://s/1", "SA-1", "CVE-2024-4")},
           {"SA-2", "odd", {ssh_fix}, ""}});
    EXPECT_EQ(printed(),
              "[('SA-1', uint32 1, uint32 3, ['bash-5.1-2.el9.x86_64'], {'cve_references': <["
              "('https://b/1', 'CVE-2024-1 CVE-2024-2 bash: bad'), ('https://c/3', 'CVE-2024-3')]>"
              "}), ('SA-2', 1, 0, ['ssh-1:9.0-3.el9.noarch'], {'cve_references': <@a(ss) []>})]");
    const auto lock = directory_.path() / "lock";
    write_lockfile(lock, resolution_);
    EXPECT_EQ(read_lockfile(lock).advisories, resolution_.advisories);
    EXPECT_EQ(resolve_locked(ctx_, blueprint_, read_lockfile(lock)).advisories,
              resolution_.advisories);
}

TEST_F(Advisories, TheHighestSeverityOfAnIdWins) {
    solve({{"SA-1", "Low", {bash_fix}, ""}, {"SA-2", "Critical", {bash_fix}, ""}},
          {{"SA-1", "Important", {bash_fix}, ""}, {"SA-2", "None", {bash_fix}, ""}});
    ASSERT_THAT(ids(), ElementsAre("SA-1", "SA-2"));
    EXPECT_EQ(resolution_.advisories[0].severity, "Important");
    EXPECT_EQ(resolution_.advisories[1].severity, "Critical");
}

TEST_F(Advisories, RetractedOnesAreLeftOut) {
    solve({{"SA-1", "Low", {bash_fix}, ""},
           {"SA-2", "Low", {bash_fix}, "", "security", "retracted"}});
    EXPECT_THAT(ids(), ElementsAre("SA-1"));
}

TEST_F(Advisories, CveNumbersAreWordsOfAnyLength) {
    const std::string digits(30000, '1');
    solve({{"SA-1",
            "Low",
            {bash_fix},
            reference("bugzilla", "https://b/1", "1", "CVE-1-" + digits) +
                reference("bugzilla", "https://b/2", "2", "CVE-" + digits) +
                reference("bugzilla", "https://b/3", "3", "xCVE-1-2 CVE-1-2x CVE--2 CVE-1- CVE-") +
                reference("bugzilla", "https://b/4", "4", "CVE-1-CVE-1-2, bad") +
                reference("bugzilla", "https://b/5", "5", "(CVE-1-3)") +
                reference("cve", "https://c/1", "CVE-2-" + digits, "")}});
    std::vector<std::string> urls;
    for (const FixedAdvisory::Reference& reference : resolution_.advisories.at(0).references) {
        urls.push_back(reference.url);
    }
    EXPECT_THAT(urls, ElementsAre("https://b/1", "https://b/4", "https://b/5", "https://c/1"));
}

TEST_F(Advisories, NoneAndUnreadableOnes) {
    solve({});
    EXPECT_THAT(ids(), IsEmpty());
    EXPECT_EQ(printed(), "");
    solve({{"SA-1", "Low", {bash_fix}, ""}});
    ctx_.cache = directory_.path() / "another";
    test::make_metadata(directory_.path() / "more", {"zsh-5-1.el9.x86_64"}, "", "",
                        "<updates><update");
    // They inform and no more: the build goes on.
    resolution_ = resolve(ctx_, blueprint_);
    EXPECT_THAT(ids(), ElementsAre("SA-1"));
}

}  // namespace
}  // namespace edgegpu
