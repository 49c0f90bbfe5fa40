#include <cstdlib>
#include <sstream>
#include <vector>

#include <sys/stat.h>

#include "blueprint/parse/parse.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "support/files/data_directory.hpp"
#include "unit/blueprint_testing.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

using Strings = std::vector<std::string>;

/// What the file says that the answer is.
Strings expected_answers(const fs::path& file) {
    constexpr std::string_view mark = "# expect: ";
    Strings answers;
    std::istringstream lines(read_file(file));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(mark)) {
            answers.push_back(line.substr(mark.size()));
        }
    }
    return answers;
}

Strings answers(const fs::path& file) {
    try {
        const fs::path repositories = file.parent_path() / "site.repo";
        static_cast<void>(load_blueprint(file, {{repositories}, "rhel-9.4"}));
        return {"ok"};
    } catch (const Error& failure) {
        Strings found;
        for (const Error& single : single_errors(failure)) {
            const Mistake mistake = mistake_of(single);
            EXPECT_EQ(mistake.location.file, file.string());
            found.push_back(std::to_string(mistake.location.line) + ": " + mistake.message);
        }
        return found;
    }
}

}  // namespace

TEST_F(BlueprintTest, every_mistake_is_told_in_order_of_lines) {
    EXPECT_EQ(
        failure("nmae = \"x\"\ndistro = \"rhel\"\nexcludes = [\"a b\", \"ok\", \"-x y\"]\n"
                "[[packages]]\nversion = 5\n"
                "[[repositories]]\nid = \"a\"\nbaseurl = \"https://x/$releasever\"\n"
                "gpgkey = \"k\"\npriority = \"1\"\n"
                "[customizations]\nhostname = \"-\"\n"
                "[[customizations.user]]\nname = \"joe\"\nhome = \"x\"\nuid = \"1\"\n"
                "shel = \"/bin/sh\"\n"
                "[[customizations.user]]\nuid = 5\n"
                "[nvidia]\nmodules = \"none\"\n"
                "[customizations.sshd]\n[customizations.rpm]\n",
                false),
        "error: b.toml:1:1: unknown key \"nmae\"\nhint: did you mean \"name\"?\n"
        "error: b.toml:2:10: \"distro\" must be NAME-VERSION, not \"rhel\"\n"
        "hint: as in \"rhel-9.4\", \"centos-9\" or \"fedora-40\"\n"
        "error: b.toml:3:13: invalid package glob \"a b\"\n"
        "error: b.toml:3:26: invalid package glob \"-x y\"\n"
        "error: b.toml:4:1: \"packages.name\" is missing\n"
        "error: b.toml:5:11: \"packages.version\" must be a string, not an integer\n"
        "error: b.toml:10:12: \"repositories.priority\" must be an integer, not a string\n"
        "error: b.toml:12:12: invalid host name \"-\"\n"
        "hint: at most 64 letters, digits, '-' and '.'\n"
        "error: b.toml:15:8: \"customizations.user.home\" must be an absolute path, not \"x\"\n"
        "error: b.toml:16:7: \"customizations.user.uid\" must be an integer, not a string\n"
        "error: b.toml:17:1: unknown key \"customizations.user.shel\"\n"
        "hint: did you mean \"customizations.user.shell\"?\n"
        "error: b.toml:18:1: \"customizations.user.name\" is missing\n"
        "error: b.toml:20:1: \"nvidia.driver\" is missing\n"
        "error: b.toml:21:11: \"nvidia.modules\" must be one of \"auto\", \"precompiled\", "
        "\"dkms\", not \"none\"\n"
        "error: b.toml:22:17: not for an edge commit: customizations.sshd\n"
        "hint: add a file in /etc/ssh/sshd_config.d with customizations.files\n"
        "error: b.toml:23:17: not for an edge commit: customizations.rpm\n"
        "hint: the rpm database of a commit is read-only on the device: give the keys to "
        "customizations.repositories (gpgkeys)\n");
}

TEST_F(BlueprintTest, a_hint_that_several_have_is_there_once) {
    EXPECT_EQ(failure_of("[[customizations.user]]\nname = \"a\"\npassword = \"x\"\n"
                         "[[customizations.user]]\nname = \"b\"\npassword = \"y\"\n"),
              "error: b.toml:4:12: \"customizations.user.password\" must be a crypt(3) hash, and "
              "this is plain text\nhint: create one with: openssl passwd -6\n"
              "error: b.toml:7:12: \"customizations.user.password\" must be a crypt(3) hash, and "
              "this is plain text\n");
}

TEST_F(BlueprintTest, reading_and_checking_tell_their_mistakes_together) {
    put("b.toml",
        "distro = \"lab-12\"\nwhat = 1\n[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\n"
        "gpgkey = \"absent\"\n[[overlays]]\nsource = \"./absent\"\n");
    put("x.repo", "[b]\nbaseurl=http://x/\nenabled=perhaps\ncost=no\n");
    try {
        (void)load_blueprint(directory_ / "b.toml", {{directory_ / "x.repo"}, {}});
        FAIL() << "no error";
    } catch (const Error& failure) {
        const std::vector<Error> all = single_errors(failure);
        ASSERT_EQ(all.size(), 5U) << failure.render();
        EXPECT_EQ(mistake_of(all[0]).location.line, 2U);
        EXPECT_EQ(mistake_of(all[1]).location.line, 3U);
        EXPECT_EQ(mistake_of(all[2]).location.line, 7U);
        EXPECT_EQ(mistake_of(all[3]).location.file, (directory_ / "x.repo").string());
        EXPECT_EQ(mistake_of(all[3]).message,
                  "\"enabled\" must be a boolean (1 or 0), not \"perhaps\"");
        EXPECT_EQ(mistake_of(all[4]).location.line, 4U);
        EXPECT_EQ(render_error(failure, false), failure.render());
        EXPECT_NE(render_error(failure, true).find("\033[1;31merror\033[0m: " + all[4].message()),
                  std::string::npos);
    }
}

TEST_F(BlueprintTest, thousands_of_mistakes_are_counted) {
    std::string text = "distro = \"lab-12\"\n";
    for (int i = 0; i < 5000; ++i) {
        text += "k" + std::to_string(i) + " = 1\n";
    }
    const std::string message = failure(text);
    EXPECT_NE(message.find("error: b.toml:101:1: "), std::string::npos);
    EXPECT_EQ(message.find("error: b.toml:102:1: "), std::string::npos);
    EXPECT_NE(message.find("b.toml: 4900 more errors\n"), std::string::npos);
}

TEST_F(BlueprintTest, accounts_and_mounts_are_not_to_be_written) {
    for (const char* path : {"/etc/passwd", "/etc/shadow", "/etc/group", "/etc/fstab",
                             "/etc/gshadow", "/usr/lib/passwd"}) {
        const std::string message =
            failure_of("[[customizations.files]]\npath = \"" + std::string(path) + "\"\n");
        EXPECT_EQ(message.substr(0, message.find('\n')),
                  "error: b.toml:3:8: " + std::string(path) + " cannot be written by a blueprint");
        EXPECT_NE(message.find("\nhint: "), std::string::npos);
    }
    EXPECT_NE(failure_of("[[customizations.directories]]\npath = \"/etc/fstab/x\"\n"), "no error");
    const Blueprint blueprint = parse(
        "distro = \"lab-12\"\n[[customizations.files]]\npath = \"/etc/passwd.d\"\n"
        "[[customizations.files]]\npath = \"/usr/lib/x\"\n"
        "[[customizations.files]]\npath = \"/usr/local/bin/x\"\n");
    EXPECT_EQ(blueprint.files.size(), 3U);
    std::size_t notes = 0;
    for (const std::string& note : blueprint.notes) {
        notes += note.find("image builder refuses") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(notes, 1U);
}

TEST_F(BlueprintTest, hostile_documents) {
    std::string deep = "a = ";
    deep.append(100000, '[');
    const std::string nested = ": malformed TOML: nested deeper than 64 levels\n";
    EXPECT_EQ(failure(deep), "error: b.toml:1:69" + nested);
    std::string dotted = "[a";
    for (int i = 0; i < 100000; ++i) {
        dotted += ".a";
    }
    EXPECT_EQ(failure(dotted + "]\n"), "error: b.toml:1:129" + nested);
    EXPECT_EQ(failure("description = \"[[[[ . . {{{{ " + std::string(200, '[') + "\"\n# " +
                      std::string(200, '[') + "\ndistro = \"lab-12\"\n"),
              "no error");
    EXPECT_EQ(failure("description = '''" + std::string(200, '{') + "\n" + std::string(200, '.') +
                      "'''\ndistro = \"lab-12\"\n"),
              "no error");
    EXPECT_NE(failure(std::string("name = \"a\0b\"\n", 13)).find("control character"),
              std::string::npos);
    EXPECT_NE(failure("name = \"\xff\"\n").find("is not UTF-8"), std::string::npos);
    EXPECT_LT(failure("distro = \"" + std::string(1000000, 'x') + "\"\n").size(), 1000U);
    EXPECT_LT(failure("distro = \"lab-12\"\n" + std::string(1000000, 'x') + " = 1\n").size(),
              1000U);
    EXPECT_EQ(
        failure("  {\"name\": \"x\"}\n"),
        "error: b.toml:1:1: this is JSON; a blueprint must be TOML\n"
        "hint: image builder exports blueprints as TOML: composer-cli blueprints save NAME\n");
}

TEST_F(BlueprintTest, what_is_no_file_does_not_hang) {
    ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0600), 0);
    for (const std::filesystem::path& path :
         {directory_ / "fifo", directory_, std::filesystem::path("/dev/zero")}) {
        try {
            (void)parse_blueprint(path);
            FAIL() << "no error";
        } catch (const Error& failure) {
            EXPECT_EQ(failure.message(), path.string() + ": not a regular file");
        }
    }
}

TEST_F(BlueprintTest, what_means_the_same_is_taken) {
    const Blueprint blueprint = parse(
        "distro = \"lab-12\"\nversion = \"\"\n"
        "[[customizations.user]]\nname = \"a\"\nhome = \"/home/a/\"\n"
        "[[enabled_modules]]\nname = \"nodejs\"\nstream = \"18\"\n"
        "[[packages]]\nname = \"@nodejs:18/minimal\"\n"
        "[[enabled_modules]]\nname = \"php\"\nstream = \"8.1/common\"\n");
    EXPECT_EQ(blueprint.users[0].home, "/home/a");
    ASSERT_EQ(blueprint.modules.size(), 2U);
    EXPECT_EQ(blueprint.modules[1].stream, "8.1");
    EXPECT_TRUE(blueprint.modules[1].profiles.empty());
}

TEST_F(BlueprintTest, shipped_data_are_found) {
    const std::filesystem::path sources = top_ / "sources";
    make_directories(sources / "selinux");
    make_directories(top_ / "build");
    write_file(top_ / "build/CMakeCache.txt",
               "A:STRING=x\nCMAKE_HOME_DIRECTORY:INTERNAL=" + sources.string() + "\n");
    EXPECT_EQ(data_directory_of(top_ / "build/edgegpu", nullptr), sources);
    EXPECT_EQ(data_directory_of(top_ / "build/edgegpu", ""), sources);
    EXPECT_EQ(data_directory_of(top_ / "build/edgegpu", "/else/where/"), "/else/where/");
    make_directories(top_ / "usr/bin");
    make_directories(top_ / "usr/share/edgegpu");
    EXPECT_EQ(data_directory_of(top_ / "usr/bin/edgegpu", nullptr), top_ / "usr/share/edgegpu");
}

TEST_F(BlueprintTest, those_of_the_field_are_answered_rightly) {
    // Nothing of this machine is to count.
    ASSERT_EQ(::setenv("EDGEGPU_HOST_ROOT", top_.c_str(), 1), 0);
    std::size_t seen = 0;
    const fs::path directory = fs::path(EDGEGPU_SOURCE_DIR) / "tests/data/blueprints/field";
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
        if (entry.path().extension() == ".toml") {
            ++seen;
            const Strings wanted = expected_answers(entry.path());
            EXPECT_FALSE(wanted.empty()) << entry.path();
            EXPECT_EQ(answers(entry.path()), wanted) << entry.path();
        }
    }
    EXPECT_GE(seen, 13U);
    ::unsetenv("EDGEGPU_HOST_ROOT");
}

}  // namespace edgegpu
