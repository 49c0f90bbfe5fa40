#include <map>

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "blueprint/sources/overlay_source.hpp"

#include "blueprint/sources/overlay_checker.hpp"
#include "support/handles.hpp"
#include "unit/blueprint_testing.hpp"
#include "unit/tar_fixture.hpp"

namespace edgegpu {

using test::tar_archive;
using test::TarPart;

class OverlaySourceTest : public BlueprintTest {
protected:
    OverlaySourceTest() {
        overlay_.location = {"b.toml", 5, 1};
        overlay_.source = directory_ / "x.tar";
    }
    void archive(std::initializer_list<TarPart> parts) { put("x.tar", tar_archive(parts)); }
    /// path in the image → what it is: "d", "f content", "x content", "l target", "h linked"
    std::map<std::string, std::string> visit(const OverlayLimits& limits = {}) {
        std::map<std::string, std::string> found;
        visit_overlay(
            overlay_, top_,
            [&](const OverlayMember& member) {
                std::string text = "d";
                if (member.type == MemberType::symlink) {
                    text = "l " + member.target;
                } else if (!member.linked.empty()) {
                    text = "h " + member.linked;
                } else if (member.type == MemberType::file) {
                    text = (member.executable ? "x " : "f ") + read_file(member.content);
                }
                found[member.path] = text + (member.privileged ? " !" : "");
            },
            limits);
        return found;
    }
    std::string refusal(const OverlayLimits& limits = {}) {
        try {
            visit(limits);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            std::string text = error.message();
            const std::string prefix = directory_.string() + "/";
            const std::size_t at = text.find(prefix);
            return at == std::string::npos ? text : text.erase(at, prefix.size());
        }
        return "no error";
    }
    std::string refusal_of(const TarPart& part) {
        archive({part});
        return refusal();
    }
    OverlayRequest overlay_;
};

using Found = std::map<std::string, std::string>;

TEST_F(OverlaySourceTest, archives_become_paths_of_the_image) {
    archive({{"./", '5'},
             {"./usr/bin/tool", '0', "#!", "", 04755},
             {"./usr/lib64/libx.so.1", '0', "elf"},
             {"./usr/lib64/libx.so", '2', "", "libx.so.1"},
             {"./usr/lib64/copy", '1', "", "./usr/lib64/libx.so.1"}});
    EXPECT_EQ(visit(), (Found{{"/usr", "d"},
                              {"/usr/bin", "d"},
                              {"/usr/bin/tool", "x #! !"},
                              {"/usr/lib64", "d"},
                              {"/usr/lib64/libx.so.1", "f elf"},
                              {"/usr/lib64/libx.so", "l libx.so.1"},
                              {"/usr/lib64/copy", "h /usr/lib64/libx.so.1"}}));
    overlay_.target = "/opt/vendor";
    overlay_.strip_components = 1;
    EXPECT_EQ(visit().at("/opt/vendor/lib64/copy"), "h /opt/vendor/lib64/libx.so.1");
    EXPECT_FALSE(visit().contains("/opt"));
    overlay_.strip_components = 3;
    EXPECT_EQ(refusal(), "b.toml:5:1: overlay x.tar: strip_components = 3 leaves nothing of it");
}

TEST_F(OverlaySourceTest, every_compression_gives_the_same) {
    using Filter = int (*)(struct archive*);
    for (const Filter filter :
         {archive_write_add_filter_none, archive_write_add_filter_gzip, archive_write_add_filter_xz,
          archive_write_add_filter_zstd, archive_write_add_filter_bzip2}) {
        const Handle<struct archive, archive_write_free> writer(archive_write_new());
        filter(writer.get());
        archive_write_set_format_pax_restricted(writer.get());
        ASSERT_EQ(archive_write_open_filename(writer.get(), overlay_.source.c_str()), ARCHIVE_OK);
        const Handle<archive_entry, archive_entry_free> entry(archive_entry_new());
        const std::string name = "usr/share/" + std::string(120, 'n') +
                                 "/gr\xc3\xb6\xc3\x9f"
                                 "e";
        archive_entry_set_pathname(entry.get(), name.c_str());
        archive_entry_set_filetype(entry.get(), AE_IFREG);
        archive_entry_set_perm(entry.get(), 0644);
        archive_entry_set_size(entry.get(), 3);
        archive_write_header(writer.get(), entry.get());
        archive_write_data(writer.get(), "abc", 3);
        ASSERT_EQ(archive_write_close(writer.get()), ARCHIVE_OK);
        EXPECT_EQ(visit().at("/" + name), "f abc");
    }
}

TEST_F(OverlaySourceTest, names_that_leave_the_overlay) {
    EXPECT_EQ(refusal_of({"usr/../../etc/passwd"}),
              "b.toml:5:1: overlay x.tar: \"usr/../../etc/passwd\" leaves the overlay (\"..\")");
    EXPECT_EQ(refusal_of({"/etc/passwd"}),
              "b.toml:5:1: overlay x.tar: \"/etc/passwd\" has an absolute name");
    EXPECT_EQ(refusal_of({"usr/a\033[2Jb"}),
              "b.toml:5:1: overlay x.tar: \"usr/a\\x1b[2Jb\" has a control character");
    EXPECT_EQ(refusal_of({"usr/gr\xfc\xdf"
                          "e"}),
              "b.toml:5:1: overlay x.tar: \"usr/gr\\xfc\\xdf"
              "e\" has a name that is not UTF-8");
    EXPECT_EQ(refusal_of({"usr/lib/x", '2', "", "../../../etc/shadow"}),
              "b.toml:5:1: overlay x.tar: \"usr/lib/x\" is a link to ../../../etc/shadow, which "
              "leaves the image");
    EXPECT_EQ(refusal_of({"usr/lib/x", '2', "", "/a/../../b"}),
              "b.toml:5:1: overlay x.tar: \"usr/lib/x\" is a link to /a/../../b, which leaves the "
              "image");
    EXPECT_EQ(refusal_of({"usr/lib/x", '2', "", "../../etc/x"}), "no error");
    EXPECT_EQ(refusal_of({"usr/lib/x", '1', "", "../etc/shadow"}),
              "b.toml:5:1: overlay x.tar: \"../etc/shadow\" is a hard link to ../etc/shadow, which "
              "leaves the overlay (\"..\")");
    EXPECT_EQ(refusal_of({"usr/lib/x", '1', "", "etc/shadow"}),
              "b.toml:5:1: overlay x.tar: \"usr/lib/x\" is a hard link to etc/shadow, which is not "
              "a file before it in the archive");
}

TEST_F(OverlaySourceTest, members_below_links_and_files_of_the_archive) {
    archive({{"usr/lib/out", '2', "", "/etc"}, {"usr/lib/out/passwd", '0', "x"}});
    EXPECT_EQ(refusal(),
              "b.toml:5:1: overlay x.tar: \"usr/lib/out/passwd\" is below /usr/lib/out, which is "
              "a link of the same overlay");
    archive({{"usr/lib/out", '0', "x"}, {"usr/lib/out/passwd", '0', "x"}});
    EXPECT_NE(refusal().find("which is a file of the same overlay"), std::string::npos);
    archive({{"usr/x", '0', "1"}, {"./usr/x", '0', "2"}});
    EXPECT_EQ(refusal(),
              "b.toml:5:1: overlay x.tar: \"./usr/x\" is a second /usr/x in the same overlay");
    archive({{"usr/x", '5'}, {"usr/x/", '5'}});
    EXPECT_EQ(refusal(), "no error");
}

TEST_F(OverlaySourceTest, what_no_image_carries) {
    EXPECT_EQ(refusal_of({"dev/x", '3'}),
              "b.toml:5:1: overlay x.tar: \"dev/x\" is a character device");
    EXPECT_EQ(refusal_of({"usr/x", '4'}), "b.toml:5:1: overlay x.tar: \"usr/x\" is a block device");
    EXPECT_EQ(refusal_of({"usr/x", '6'}), "b.toml:5:1: overlay x.tar: \"usr/x\" is a fifo");
    EXPECT_EQ(refusal_of({"var/lib/x/state", '0', "a"}),
              "b.toml:5:1: an image cannot carry /var/lib/x/state of overlay x.tar: /var belongs "
              "to the device: its content is not updated with the image");
    EXPECT_EQ(refusal_of({"var/lib/x", '5'}), "no error");
    EXPECT_EQ(
        refusal_of({"run/x", '5'}),
        "b.toml:5:1: an image cannot carry /run of overlay x.tar: /run is created at boot; use a "
        "tmpfiles.d file");
    EXPECT_NE(refusal_of({"usr/local/bin/x"}).find("/usr/local belongs to the device"),
              std::string::npos);
    for (const char* place : {"boot/x", "root/x", "home/u/x", "bin/x", "usr/etc/x", "srv/x",
                              "usr/lib/passwd", "usr/lib/group"}) {
        EXPECT_NE(refusal_of({place}).find("an image cannot carry"), std::string::npos) << place;
    }
    EXPECT_NE(unfit_member_hint("/var/lib/x/state").find("C /var/lib/x/state"), std::string::npos);
}

TEST_F(OverlaySourceTest, bombs) {
    OverlayLimits limits;
    limits.bytes = 1ULL << 30U;
    limits.members = 3;
    TarPart sparse{"usr/huge", '0'};
    sparse.size = "77777777777";  // 8 GiB less a byte, and nothing of it there
    archive({sparse});
    EXPECT_EQ(refusal(limits),
              "b.toml:5:1: overlay x.tar: \"usr/huge\" makes the overlay larger than 1 GiB");
    archive({{"usr/a"}, {"usr/b"}, {"usr/c"}, {"usr/d"}});
    EXPECT_EQ(refusal(limits),
              "b.toml:5:1: overlay x.tar: \"usr/d\" is beyond the 3 objects that an overlay may "
              "have");
}

TEST_F(OverlaySourceTest, damaged_archives) {
    const std::string whole =
        tar_archive({{"usr/a", '0', "a"}, {"usr/b", '0', std::string(5000, 'b')}});
    put("x.tar", whole.substr(0, 2500));
    EXPECT_EQ(refusal().substr(0, 69),
              "b.toml:5:1: overlay x.tar is corrupt or truncated at member \"usr/b\": ");
    std::string broken = whole;
    broken[1024 + 10] = 'X';  // the second header's checksum no longer fits
    put("x.tar", broken);
    EXPECT_NE(refusal().find("is corrupt or truncated at member \"usr/a\""), std::string::npos);
    put("x.tar", "PK\003\004 this is no tar archive");
    EXPECT_NE(refusal().find("overlay x.tar is corrupt or truncated: "), std::string::npos);
    put("x.tar", "");
    EXPECT_NE(refusal().find("corrupt or truncated"), std::string::npos);
    std::filesystem::remove(overlay_.source);
    EXPECT_EQ(refusal(), "b.toml:5:1: overlay not found: x.tar");
}

TEST_F(OverlaySourceTest, rules_must_fit_something) {
    archive({{"usr/bin/a"}});
    OverlayRule rule;
    rule.path = "/usr/bin/b*";
    rule.location = {"b.toml", 9, 1};
    overlay_.rules = {rule};
    EXPECT_EQ(refusal(), "b.toml:9:1: nothing in overlay x.tar matches \"/usr/bin/b*\"");
    overlay_.rules[0].path = "/usr/bin/*";
    EXPECT_EQ(refusal(), "no error");
}

using OverlayTableTest = BlueprintTest;

TEST_F(OverlayTableTest, every_key) {
    const Blueprint blueprint = parse(
        "distro = \"lab-12\"\n[[overlays]]\nsource = \"./v.tar.xz\"\ntarget = \"/opt/v\"\n"
        "strip_components = 2\nuser = \"svc\"\ngroup = 990\nreplace = true\n"
        "[[overlays.rules]]\npath = \"/opt/v/bin/*\"\nmode = \"4755\"\nlabel = \"bin_t\"\n"
        "[[overlays.rules]]\npath = \"/opt/v/etc/**\"\nuser = \"root\"\ngroup = 0\n");
    const OverlayRequest& overlay = blueprint.overlays.at(0);
    EXPECT_EQ(overlay.source, directory_ / "v.tar.xz");
    EXPECT_EQ(overlay.target, "/opt/v");
    EXPECT_EQ(overlay.strip_components, 2U);
    EXPECT_EQ(overlay.user, "svc");
    EXPECT_EQ(overlay.group, "990");
    EXPECT_TRUE(overlay.replace);
    ASSERT_EQ(overlay.rules.size(), 2U);
    EXPECT_EQ(overlay.rules[0].mode, 04755U);
    EXPECT_EQ(overlay.rules[0].label, "bin_t");
    EXPECT_FALSE(overlay.rules[0].user);
    EXPECT_EQ(overlay.rules[1].group, "0");
    EXPECT_FALSE(overlay.rules[1].mode);
}

TEST_F(OverlayTableTest, mistakes) {
    const auto rule = [&](const std::string& text) {
        return failure_of("[[overlays]]\nsource = \"x\"\n[[overlays.rules]]\n" + text);
    };
    EXPECT_EQ(rule("path = \"usr/bin/*\"\n"),
              "error: b.toml:5:8: \"overlays.rules.path\" must be a pattern of absolute paths in "
              "the image, not \"usr/bin/*\"\n"
              "hint: as in \"/usr/bin/*\" or \"/usr/lib/vendor/**\"\n");
    EXPECT_EQ(rule("path = \"/usr/bin/*\"\n"),
              "error: b.toml:4:1: the rule for \"/usr/bin/*\" sets nothing\n"
              "hint: set user, group, mode or label\n");
    EXPECT_EQ(rule("path = \"/usr/[\"\nmode = \"0755\"\n"),
              "error: b.toml:5:8: '/usr/[' has a '[' without its ']'\n");
    EXPECT_EQ(rule("path = \"/x\"\nmode = \"0999\"\n"),
              "error: b.toml:6:8: \"overlays.rules.mode\" must be an octal number as a string, not "
              "\"0999\"\nhint: as in mode = \"0644\"\n");
    EXPECT_EQ(rule("path = \"/x\"\nlabel = \"bin_t:s0\"\n"),
              "error: b.toml:6:9: \"bin_t:s0\" is neither an SELinux type nor a context\n"
              "hint: as in label = \"bin_t\" or \"system_u:object_r:bin_t:s0\"\n");
    EXPECT_EQ(rule("path = \"/x\"\nmod = \"1\"\n"),
              "error: b.toml:6:1: unknown key \"overlays.rules.mod\"\n"
              "hint: did you mean \"overlays.rules.mode\"?\n");
    EXPECT_EQ(failure_of("[[overlays]]\nsource = \"x\"\ntarget = \"/boot\"\n"),
              "error: b.toml:4:10: an image cannot carry /boot: /boot is written when a commit is "
              "deployed; kernels belong in /usr/lib/modules\n");
    EXPECT_EQ(failure_of("[[overlays]]\nsource = \"x\"\ntarget = \"opt\"\n"),
              "error: b.toml:4:10: \"overlays.target\" must be an absolute path, not \"opt\"\n");
}

}  // namespace edgegpu
