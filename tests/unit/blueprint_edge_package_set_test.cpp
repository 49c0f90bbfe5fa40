#include <algorithm>
#include <set>

#include <gmock/gmock.h>

#include "blueprint/distro/edge_package_set.hpp"
#include "blueprint/distro/host.hpp"
#include "blueprint/parse/parse.hpp"
#include "unit/blueprint_testing.hpp"

namespace edgegpu {

namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

PackageSet set_of(const std::string& distro, const std::string& architecture = "x86_64") {
    const auto found = find_package_set(split_distro({}, distro), architecture);
    EXPECT_TRUE(found) << distro;
    return found.value_or(PackageSet{});
}

class EdgeSetTest : public BlueprintTest {
protected:
    /// Makes the machine one of this distribution.
    void host(const std::string& id, const std::string& version, const std::string& more = "") {
        make_directories(top_ / "host/etc/yum.repos.d");
        write_file(top_ / "host/etc/os-release",
                   "NAME=\"x\"\nID=\"" + id + "\"\nVERSION_ID=" + version + "\n" + more);
    }
    void host_file(const std::string& name, const std::string& content) {
        make_directories((top_ / "host/etc" / name).parent_path());
        write_file(top_ / "host/etc" / name, content);
    }
    Blueprint parse_with(std::string_view text, const BlueprintOptions& options) {
        put("b.toml", text);
        return parse_blueprint(directory_ / "b.toml", options);
    }
    std::string option_failure(const BlueprintOptions& options) {
        try {
            (void)parse_with("", options);
        } catch (const Error& error) {
            return error.message();
        }
        return "no error";
    }
};

TEST(EdgePackageSets, follow_the_version) {
    const PackageSet rhel94 = set_of("rhel-9.4");
    EXPECT_EQ(rhel94.name, "edge-commit");
    EXPECT_EQ(rhel94.packages.size(), 93U);
    EXPECT_FALSE(rhel94.weak_dependencies);
    EXPECT_THAT(rhel94.packages, AllOf(Contains("rpm-ostree"), Contains("ignition"),
                                       Contains("dnsmasq"), Contains("shim-x64")));
    EXPECT_THAT(rhel94.excludes, ElementsAre("rng-tools", "bootupd"));
    EXPECT_THAT(rhel94.services,
                ElementsAre("NetworkManager.service", "firewalld.service", "sshd.service",
                            "fdo-client-linuxapp.service", "ignition-firstboot-complete.service",
                            "coreos-ignition-write-issues.service"));
    EXPECT_THAT(set_of("rhel-9.1").packages, Not(Contains("ignition")));
    EXPECT_EQ(set_of("rhel-9.1").services.size(), 4U);
    EXPECT_THAT(set_of("rhel-9.6").packages, Not(Contains("dnsmasq")));
    EXPECT_THAT(set_of("rhel-9.7").excludes, Contains("bootupd"));
    EXPECT_THAT(set_of("rhel-9.8").excludes, ElementsAre("rng-tools"));
    EXPECT_THAT(set_of("rhel-9.10").excludes, ElementsAre("rng-tools"));
    const PackageSet arm = set_of("rhel-9.4", "aarch64");
    EXPECT_THAT(arm.packages, AllOf(Contains("shim-aa64"), Not(Contains("shim-x64")),
                                    Not(Contains("microcode_ctl"))));
}

TEST(EdgePackageSets, of_el8_and_centos_and_fedora) {
    EXPECT_TRUE(set_of("rhel-8.10").weak_dependencies);
    EXPECT_THAT(set_of("rhel-810").packages, Contains("fdo-client"));
    EXPECT_THAT(set_of("rhel-8.4").packages,
                AllOf(Contains("greenboot-status"), Not(Contains("fdo-client"))));
    EXPECT_EQ(set_of("rhel-8.4").services.size(), 11U);
    EXPECT_EQ(set_of("rhel-8.5").services.size(), 3U);
    EXPECT_EQ(set_of("rhel-8.6").services.size(), 4U);
    // CentOS Stream is newer than every minor version, and so is "rhel-9".
    EXPECT_EQ(set_of("centos-stream-9").packages, set_of("rhel-9.99").packages);
    EXPECT_EQ(set_of("rhel-9").excludes, set_of("rhel-9.99").excludes);
    EXPECT_EQ(set_of("fedora-40").name, "iot-commit");
    EXPECT_THAT(set_of("fedora-42").packages, Contains("basesystem"));
    EXPECT_THAT(set_of("fedora-43").packages, AllOf(Contains("filesystem"), Contains("ssh-key-dir"),
                                                    Not(Contains("basesystem"))));
    EXPECT_THAT(set_of("fedora-44").packages, Not(Contains("ssh-key-dir")));
    EXPECT_EQ(set_of("fedora-43").services.size(), 5U);
    for (const char* other : {"lab-12", "rhel-10.0", "rhel-7.9", "centos-10", "rocky-9.4"}) {
        EXPECT_FALSE(find_package_set(split_distro({}, other), "x86_64")) << other;
    }
}

TEST(EdgePackageSets, name_nothing_twice) {
    for (const char* distro : {"rhel-8.4", "rhel-8.10", "rhel-9.0", "rhel-9.9", "fedora-40"}) {
        for (const char* architecture : {"x86_64", "aarch64"}) {
            const PackageSet set = set_of(distro, architecture);
            const std::set<std::string> names(set.packages.begin(), set.packages.end());
            EXPECT_EQ(names.size(), set.packages.size()) << distro;
            EXPECT_FALSE(names.contains("")) << distro;
        }
    }
}

TEST(Distro, spellings) {
    for (const auto& [text, plain] : {std::pair{"rhel-94", "rhel-9.4"},
                                      {"rhel-9.4", "rhel-9.4"},
                                      {"rhel-8", "rhel-8"},
                                      {"rhel-810", "rhel-8.10"},
                                      {"rhel-10", "rhel-10"},
                                      {"rhel-101", "rhel-10.1"},
                                      {"centos-9", "centos-9"},
                                      {"centos-stream-9", "centos-9"},
                                      {"fedora-40", "fedora-40"},
                                      {"lab-12", "lab-12"}}) {
        EXPECT_EQ(split_distro({}, text).text(), plain);
    }
    EXPECT_EQ(split_distro({}, "rhel-810").major, "8");
    EXPECT_EQ(default_ref(split_distro({}, "rhel-94"), "x86_64"), "rhel/9/x86_64/edge");
    EXPECT_EQ(default_ref(split_distro({}, "fedora-40"), "aarch64"), "fedora/40/aarch64/iot");
    for (const char* text :
         {"", "rhel", "-9", "rhel-", "rhel-x", "rhel-9.", "rhel-9..4", "rhel-.9", "rhel 9-4"}) {
        EXPECT_THROW((void)split_distro({}, text), Error) << text;
    }
    EXPECT_TRUE(is_older_version("9.4", "9.10"));
    EXPECT_FALSE(is_older_version("9.4", "9.4"));
    EXPECT_FALSE(is_older_version("9", "9.8"));
    EXPECT_TRUE(is_older_version("8", "9.0"));
}

TEST_F(EdgeSetTest, is_the_default_of_its_distributions) {
    EXPECT_EQ(parse("distro = \"rhel-94\"\n").package_set.name, "edge-commit");
    EXPECT_EQ(parse("distro = \"rhel-94\"\n").distro, "rhel-9.4");
    EXPECT_EQ(parse("distro = \"fedora-40\"\n").package_set.name, "iot-commit");
    EXPECT_EQ(parse("distro = \"fedora-40\"\n").ostree.ref, "fedora/40/x86_64/iot");
    EXPECT_EQ(parse("distro = \"lab-12\"\n").package_set.name, "");
    const Blueprint none = parse("distro = \"rhel-9.4\"\n[image]\npackage_set = \"none\"\n");
    EXPECT_THAT(none.package_set.packages, IsEmpty());
    EXPECT_THAT(none.package_set.services, IsEmpty());
    EXPECT_THAT(parse("distro = \"rhel-10.0\"\n").notes,
                ElementsAre(HasSubstr("no package set is known for rhel-10.0")));
}

TEST_F(EdgeSetTest, what_the_blueprint_names_is_not_excluded) {
    EXPECT_THAT(parse("distro = \"rhel-9.4\"\n[[packages]]\nname = \"rng-tools\"\n"
                      "version = \"6.*\"\n")
                    .package_set.excludes,
                ElementsAre("bootupd"));
}

TEST_F(EdgeSetTest, unknown_sets) {
    const std::string hint =
        "hint: \"edge-commit\" is for rhel and centos 8 and 9 and for fedora; \"none\" for others, "
        "with all packages in the blueprint\n";
    EXPECT_EQ(failure("distro = \"lab-12\"\n[image]\npackage_set = \"edge-commit\"\n"),
              "error: b.toml:3:15: no package set \"edge-commit\" is known for lab-12\n" + hint);
    EXPECT_EQ(failure("distro = \"rhel-9.4\"\n[image]\npackage_set = \"iot-commit\"\n"),
              "error: b.toml:3:15: no package set \"iot-commit\" is known for rhel-9.4\n" + hint);
    EXPECT_EQ(failure("[ostree]\nref = \"a\"\n[image]\npackage_set = \"edge-commit\"\n"),
              "error: b.toml:4:15: no package set \"edge-commit\" is known for a blueprint without "
              "distro\n" +
                  hint);
    EXPECT_THAT(failure("distro = \"rhel-9.4\"\n[image]\npackage_set = \"edge\"\n"),
                HasSubstr("package_set"));
    EXPECT_THAT(failure("distro = \"rhel-9.4\"\n[image]\npackages = 1\n"),
                HasSubstr("image.packages"));
    EXPECT_EQ(parse("distro = \"rhel-9.4\"\n[image]\n").package_set.name, "edge-commit");
}

TEST_F(EdgeSetTest, distribution_of_the_machine) {
    host("rhel", "\"9.4\"");
    const Blueprint blueprint = parse("name = \"x\"\n");
    EXPECT_EQ(blueprint.distro, "rhel-9.4");
    EXPECT_EQ(blueprint.ostree.ref, "rhel/9/x86_64/edge");
    EXPECT_EQ(blueprint.package_set.name, "edge-commit");
    EXPECT_THAT(blueprint.notes, Contains(HasSubstr("distro rhel-9.4 is taken from this machine")));
    EXPECT_EQ(parse("distro = \"lab-12\"\n").distro, "lab-12");
    EXPECT_EQ(parse_with("distro = \"lab-12\"\n", {{}, "fedora-41"}).distro, "fedora-41");
    // Without RPM packages it is no distribution of an image.
    host("debian", "\"12\"");
    EXPECT_THAT(failure("name = \"x\"\n"), HasSubstr("no ostree ref"));
    host("rocky", "9.4", "ID_LIKE=\"rhel centos fedora\"\n");
    EXPECT_EQ(parse("name = \"x\"\n").distro, "rocky-9.4");
    host("rhel", "nonsense");
    EXPECT_THAT(failure("name = \"x\"\n"), HasSubstr("no ostree ref"));
}

TEST_F(EdgeSetTest, options_that_are_wrong) {
    EXPECT_EQ(option_failure({{}, "rhel"}),
              "--distro: \"distro\" must be NAME-VERSION, not \"rhel\"");
    EXPECT_EQ(option_failure({{"/nonexistent.repo"}, "rhel-9"}),
              "--repository-file: no such file: /nonexistent.repo");
    put("bad.repo", "[a\n");
    EXPECT_THAT(option_failure({{directory_ / "bad.repo"}, "rhel-9"}),
                HasSubstr("bad.repo:1:1: malformed section header"));
    // Not in silence those of the machine.
    host("rhel", "9.4");
    host_file("yum.repos.d/own.repo", "[own]\nbaseurl=https://e/\n");
    put("empty.repo", "# nothing yet\n");
    EXPECT_EQ(
        option_failure({{directory_ / "empty.repo"}, "rhel-9"}),
        "--repository-file: the file has no repository: " + (directory_ / "empty.repo").string());
}

TEST_F(EdgeSetTest, known_distributions_are_written_in_lower_case) {
    for (const auto& [distro, right] : {std::pair{"SLES-15.6", "sles-15.6"},
                                        {"SL-Micro-6.0", "sl-micro-6.0"},
                                        {"openSUSE-Leap-15.6", "opensuse-leap-15.6"},
                                        {"RHEL-94", "rhel-94"},
                                        {"CentOS-9", "centos-9"},
                                        {"CentOS-Stream-9", "centos-stream-9"},
                                        {"AlmaLinux-9.4", "almalinux-9.4"},
                                        {"Fedora-40", "fedora-40"}}) {
        const std::string said =
            fmt::format("\"distro\" is written in lower case, not \"{}\"", distro);
        try {
            static_cast<void>(parse(fmt::format("name = \"a\"\ndistro = \"{}\"\n", distro)));
            ADD_FAILURE() << distro;
        } catch (const Error& failure) {
            EXPECT_THAT(failure.message(), HasSubstr(":2:"));
            EXPECT_THAT(failure.message(), HasSubstr(said));
            EXPECT_THAT(failure.message(), Not(HasSubstr("ref"))) << "no consequential errors";
            EXPECT_EQ(failure.hint(), fmt::format("write \"{}\"", right));
        }
        EXPECT_EQ(option_failure({{}, distro}), "--distro: " + said);
    }
    EXPECT_EQ(parse("distro = \"EdgeOS-1\"\nostree.ref = \"a\"\n").distro, "EdgeOS-1");
}

TEST_F(EdgeSetTest, nearly_known_distributions_are_noted) {
    EXPECT_THAT(parse_with("", {{}, "rehl-9.4"}).notes,
                Contains("edgegpu knows no distribution 'rehl': did you mean 'rhel'?"));
    EXPECT_THAT(parse("distro = \"centso-9\"\n").notes,
                Contains("edgegpu knows no distribution 'centso': did you mean 'centos'?"));
    for (const char* distro : {"lab-12", "rhel-9.4", "rocky-9", "edgeos-1"}) {
        EXPECT_THAT(parse_with("", {{}, distro}).notes, Not(Contains(HasSubstr("did you mean"))))
            << distro;
    }
}

TEST_F(EdgeSetTest, repositories_from_the_command_line) {
    put("one.repo", "[one]\nbaseurl=https://e/$releasever/\n");
    put("two.repo", "[two]\nbaseurl=https://e/$stream/\n");
    const Blueprint blueprint =
        parse_with("distro = \"centos-9\"\n[[repositories]]\nid = \"own\"\nbaseurl = \"/x\"\n",
                   {{directory_ / "one.repo", directory_ / "two.repo"}, ""});
    ASSERT_EQ(blueprint.repositories.size(), 3U);
    EXPECT_EQ(blueprint.repositories[0].id, "own");
    EXPECT_THAT(blueprint.repositories[1].baseurls, ElementsAre("https://e/9/"));
    EXPECT_THAT(blueprint.repositories[2].baseurls, ElementsAre("https://e/9-stream/"));
    put("again.repo", "[own]\nbaseurl=https://e/\n");
    const Blueprint again =
        parse_with("distro = \"centos-9\"\n[[repositories]]\nid = \"own\"\nbaseurl = \"/x\"\n",
                   {{directory_ / "again.repo"}, ""});
    ASSERT_EQ(again.repositories.size(), 1U);
    EXPECT_THAT(again.repositories[0].baseurls, ElementsAre("file:///x"));
    EXPECT_THAT(again.warnings,
                ElementsAre(HasSubstr("again.repo:1:1: repository \"own\" is ignored")));
}

TEST_F(EdgeSetTest, repositories_of_the_machine) {
    host("rhel", "9.4");
    host_file("yum.repos.d/b.repo", "[b]\nbaseurl=https://b/$releasever/$mine\n");
    host_file("yum.repos.d/a.repo", "[a]\nbaseurl=https://a/\nenabled=0\n");
    host_file("yum.repos.d/README", "no repository");
    host_file("yum/vars/mine", "old\n");
    host_file("dnf/vars/mine", "value\nsecond line\n");
    const Blueprint blueprint = parse("distro = \"rhel-9.6\"\n");
    ASSERT_EQ(blueprint.repositories.size(), 2U);
    EXPECT_EQ(blueprint.repositories[0].id, "a");
    EXPECT_THAT(blueprint.repositories[1].baseurls, ElementsAre("https://b/9/value"));
    EXPECT_THAT(blueprint.notes, ElementsAre(HasSubstr("using the repositories of this machine")));
    // subscription-manager release --set=9.4 writes this.
    host_file("dnf/vars/releasever", "9.4\n");
    EXPECT_THAT(parse("distro = \"rhel-9.6\"\n").repositories[1].baseurls,
                ElementsAre("https://b/9.4/value"));
    EXPECT_THAT(parse("distro = \"rhel-9.6\"\nreleasever = \"9.2\"\n").repositories[1].baseurls,
                ElementsAre("https://b/9.2/value"));
    EXPECT_THAT(parse("distro = \"rhel-8.10\"\n").repositories, IsEmpty());
    EXPECT_THAT(parse("distro = \"rhel-8.10\"\n").notes,
                ElementsAre("the repositories of this machine are for rhel-9.4, not for rhel-8.10: "
                            "they are not used"));
    // Who names one has named them all.
    const Blueprint own =
        parse("distro = \"rhel-9.4\"\n[[repositories]]\nid = \"own\"\nbaseurl = \"/x\"\n");
    ASSERT_EQ(own.repositories.size(), 1U);
    EXPECT_THAT(own.notes, IsEmpty());
    host_file("yum.repos.d/c.repo", "[c]\nbaseurl=https://c/\ngpgcheck=maybe\n");
    EXPECT_THAT(failure("distro = \"rhel-9.4\"\n"), HasSubstr("c.repo"));
}

}  // namespace

}  // namespace edgegpu
